// Kernels of two sources with one name, whose headers lie in other folders.
#include "../book.h"

void launch_a(float* values);
void launch_b(float* values);

int main() {
    float* values;
    HANDLE_ERROR(cudaMallocManaged(&values, 64 * sizeof(float)));
    for (int i = 0; i < 64; ++i) values[i] = float(i);
    launch_a(values);
    launch_b(values);
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("%g %g\n", values[1], values[63]);
}
