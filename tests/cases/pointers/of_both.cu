// All of these pointers lead to memory that the device can use.
#include <cstdlib>
#include <vector>

struct Signal {
    float* samples;
    int count;
};

__global__ void fill(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

void allocate(float*& x, int n) {
    cudaMalloc(&x, n * sizeof(float));
}

float* allocated(int n) {
    float* x;
    cudaMalloc((void**)&x, n * sizeof(float));
    return x;
}

void allocate_signal(Signal* signal, int n) {
    signal->count = n;
    cudaMalloc(&signal->samples, n * sizeof(float));
}

int main(int argc, char** argv) {
    const int n = 300;
    float *managed, *pinned, *by_reference, *chosen;
    cudaMallocManaged(&managed, n * sizeof(float));
    fill<<<3, 128>>>(managed, n);
    cudaMallocHost(&pinned, n * sizeof(float));
    fill<<<3, 128>>>(pinned, n);
    allocate(by_reference, n);
    fill<<<3, 128>>>(by_reference, n);
    fill<<<3, 128>>>(allocated(n), n);
    Signal signal;
    allocate_signal(&signal, n);
    fill<<<3, 128>>>(signal.samples, signal.count);
    if (argc > 1)
        cudaMallocManaged(&chosen, n * sizeof(float));
    else
        cudaMalloc(&chosen, n * sizeof(float));
    fill<<<3, 128>>>(chosen, n);
    float* rows[2];
    for (int r = 0; r < 2; ++r) cudaMalloc(&rows[r], n * sizeof(float));
    for (int r = 0; r < 2; ++r) fill<<<3, 128>>>(rows[r], n);
    cudaDeviceSynchronize();
}
