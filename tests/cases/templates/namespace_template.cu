// Templates of kernels in namespaces: launched from inside and from outside.
#include <cuda_runtime.h>

namespace sound {
namespace filters {

template <typename Sample>
__global__ void amplify(Sample* samples, int count) {
    const int i = threadIdx.x;
    if (i < count) samples[i] *= 3;
}

void run(float* samples, int count) {
    amplify<float><<<1, 64>>>(samples, count);
}

}  // namespace filters
}  // namespace sound

namespace image::points {

template <int Step>
__global__ void brighten(int* pixels) {
    pixels[threadIdx.x] += Step;
}

}  // namespace image::points

int main() {
    float* samples;
    int* pixels;
    cudaMalloc(&samples, 48 * sizeof(float));
    cudaMalloc(&pixels, 64 * sizeof(int));
    cudaMemset(samples, 0, 48 * sizeof(float));
    cudaMemset(pixels, 0, 64 * sizeof(int));
    sound::filters::run(samples, 48);
    image::points::brighten<5><<<1, 64>>>(pixels);
    cudaDeviceSynchronize();
}
