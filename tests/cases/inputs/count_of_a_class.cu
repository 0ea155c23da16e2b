// A function of the class reads the count from the command line.
#include <cstdlib>
#include <cuda_runtime.h>

struct Settings {
    int count = 0;
    static Settings read(int argc, char** argv) {
        return {argc > 1 ? std::atoi(argv[1]) : 100};
    }
};

__global__ void twice(float* p, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}

int main(int argc, char** argv) {
    Settings settings = Settings::read(argc, argv);
    float* p;
    cudaMalloc(&p, settings.count * sizeof(float));
    cudaMemset(p, 0, settings.count * sizeof(float));
    twice<<<(settings.count + 127) / 128, 128>>>(p, settings.count);
    cudaDeviceSynchronize();
}
