// A function, a macro, another name, a list, a lambda and a thread write these arrays.
#include <functional>
#include <thread>
#include <vector>

#define CLEAR cudaMemset(cleared, 0, 256)

void prepare(float* p) { cudaMemset(p, 0, 256); }
void run(const std::function<void()>& what) { what(); }

float* global;

void clear_global() { cudaMemset(global, 0, 256); }

__global__ void raise(float* p) { p[threadIdx.x] += 1; }

int main() {
    float *prepared, *cleared, *aliased, *copied, *listed, *by_lambda;
    cudaMalloc(&prepared, 256);
    cudaMalloc(&cleared, 256);
    cudaMalloc(&aliased, 256);
    cudaMalloc(&copied, 256);
    cudaMalloc(&listed, 256);
    cudaMalloc(&by_lambda, 256);
    cudaMalloc(&global, 256);
    prepare(prepared);
    CLEAR;
    float* alias = aliased;
    cudaMemset(alias, 0, 256);
    std::vector<float> host(64);
    cudaMemcpy(copied, host.data(), 256, cudaMemcpyHostToDevice);
    float* list[] = {listed};
    cudaMemset(list[0], 0, 256);
    auto clear = [&] { cudaMemset(by_lambda, 0, 256); };
    run(clear);
    std::thread(clear_global).join();
    raise<<<1, 64>>>(prepared);
    raise<<<1, 64>>>(cleared);
    raise<<<1, 64>>>(aliased);
    raise<<<1, 64>>>(copied);
    raise<<<1, 64>>>(listed);
    raise<<<1, 64>>>(by_lambda);
    raise<<<1, 64>>>(global);
}
