// The block has as many threads as the user says: at most 1024.
#include <cstdlib>
__global__ void reversed(const char* in, char* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[n - 1 - i] = in[i];
}

int main(int argc, char** argv) {
    if (argc < 2) return 1;
    int n = atoi(argv[1]);
    char *in, *out;
    cudaMalloc(&in, n);
    cudaMalloc(&out, n);
    cudaMemset(in, 0, n);
    reversed<<<1, n>>>(in, out, n);
}
