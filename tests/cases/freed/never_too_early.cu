// No launch gets freed memory: what frees it does not run, or is followed by another allocation.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

__global__ void raise(int* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

struct Guard {
    std::function<void()> run;
    ~Guard() { run(); }
};

struct Owner {
    int* p = nullptr;
    int n = 0;
    explicit Owner(int count) { resize(count); }
    ~Owner() { cudaFree(p); }
    void resize(int count) {
        cudaFree(p);
        p = nullptr;
        cudaMalloc(&p, count * sizeof(int));
        cudaMemset(p, 0, count * sizeof(int));
        n = count;
    }
};

void run(int n) {
    int* p;
    cudaMalloc(&p, n * sizeof(int));
    cudaMemset(p, 0, n * sizeof(int));
    raise<<<(n + 63) / 64, 64>>>(p, n);
    cudaFree(p);
}

int main(int argc, char** argv) {
    int *a, *b;
    cudaMalloc(&a, 100 * sizeof(int));
    Guard guard{[&] { cudaFree(a); }};
    if (cudaMalloc(&b, 100 * sizeof(int)) != cudaSuccess) {
        cudaFree(b);
        return 1;
    }
    std::unique_ptr<int, void (*)(int*)> owned(b, [](int* a) { cudaFree(a); });
    cudaMemset(a, 0, 100 * sizeof(int));
    cudaMemset(b, 0, 100 * sizeof(int));
    if (argc < 1) {
        cudaFree(a);
        exit(1);
    }
    raise<<<2, 64>>>(a, 100);
    raise<<<2, 64>>>(b, 100);
    run(70);
    run(70);
    Owner owner(80);
    raise<<<2, 64>>>(owner.p, owner.n);
    owner.resize(90);
    raise<<<2, 64>>>(owner.p, owner.n);
    cudaFree(a);
    cudaMalloc(&a, 120 * sizeof(int));
    cudaMemset(a, 0, 120 * sizeof(int));
    raise<<<2, 64>>>(a, 120);
}
