// Loops that count with while, do and a step in the index.
#include <cstring>
__global__ void gather(const int* from, const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[from[i]];
}

__global__ void count(const char* text, int length, int* letters) {
    const int i = threadIdx.x;
    if (i < length) atomicAdd(&letters[text[i] - 'a'], 1);
}

int main() {
    const int n = 96;
    const char* text = "thequickbrownfox";
    int from[n], *d_from, *letters;
    float in[n], *d_in, *d_out;
    char* d_text;
    int i = 0;
    while (i < n) {
        from[i] = n - 1 - i;
        i++;
    }
    int j = 0;
    do {
        in[j++] = 2;
    } while (j < n);
    cudaMalloc(&d_from, n * sizeof(int));
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMalloc(&d_text, strlen(text));
    cudaMalloc(&letters, 26 * sizeof(int));
    cudaMemset(letters, 0, 26 * sizeof(int));
    cudaMemcpy(d_from, from, sizeof(from), cudaMemcpyHostToDevice);
    cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice);
    cudaMemcpy(d_text, text, strlen(text), cudaMemcpyHostToDevice);
    gather<<<3, 32>>>(d_from, d_in, d_out, n);
    count<<<1, 32>>>(d_text, strlen(text), letters);
    cudaDeviceSynchronize();
}
