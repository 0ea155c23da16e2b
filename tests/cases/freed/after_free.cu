// turn() reads a table that the program has freed.
__global__ void fill(int* table, int n) {
    int i = threadIdx.x;
    if (i < n) table[i] = 3 * i;
}

__global__ void turn(const int* table, int* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = table[n - 1 - i];
}

int main() {
    const int n = 96;
    int *table, *out;
    cudaMalloc(&table, n * sizeof(int));
    fill<<<1, 128>>>(table, n);
    cudaFree(table);
    cudaMalloc(&out, n * sizeof(int));
    turn<<<1, 128>>>(table, out, n);
    cudaFree(out);
}
