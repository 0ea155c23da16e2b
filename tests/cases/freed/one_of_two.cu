// The kernel uses one of the two pointers that it gets, and does not load the other one, whose memory is freed.
struct Rows {
    int *first, *second;
};

__global__ void raise(Rows rows, int n) {
    int i = threadIdx.x;
    if (i < n) rows.second[i] += 1;
}

int main() {
    Rows rows;
    cudaMalloc(&rows.first, 64 * sizeof(int));
    cudaMalloc(&rows.second, 64 * sizeof(int));
    cudaMemset(rows.second, 0, 64 * sizeof(int));
    cudaFree(rows.first);
    raise<<<1, 64>>>(rows, 64);
}
