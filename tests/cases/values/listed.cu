// Rows of a sparse matrix: the numbers of the arrays are listed.
__global__ void rows(int count, const int* first, const int* column, const float* value,
                     const float* x, float* y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    y[r] = 0;
    for (int k = first[r]; k < first[r + 1]; k++) y[r] += value[k] * x[column[k]];
}

int main() {
    int first[] = {0, 2, 4, 5, 7}, column[] = {0, 1, 1, 2, 3, 0, 3};
    float value[] = {1, 2, 3, 4, 5, 6, 7}, x[4] = {1, 1, 1, 1};
    const int count = 4, values = sizeof(value) / sizeof(value[0]);
    int *f, *c;
    float *v, *p, *y;
    cudaMalloc(&f, sizeof(first));
    cudaMalloc(&c, sizeof column);
    cudaMalloc(&v, values * sizeof(float));
    cudaMalloc(&p, sizeof(x));
    cudaMalloc(&y, count * sizeof(float));
    cudaMemcpy(f, first, sizeof(first), cudaMemcpyHostToDevice);
    cudaMemcpy(c, column, sizeof(column), cudaMemcpyHostToDevice);
    cudaMemcpy(v, value, sizeof(value), cudaMemcpyHostToDevice);
    cudaMemcpy(p, x, sizeof(x), cudaMemcpyHostToDevice);
    rows<<<1, 32>>>(count, f, c, v, p, y);
}
