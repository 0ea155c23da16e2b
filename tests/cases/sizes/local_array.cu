// Arrays of the host program give the sizes: one of a function, one of the file.
#define N 48
const int ROWS = 12, COLUMNS = 20;
float table[ROWS][COLUMNS];

__global__ void twice(int* p) {
    p[threadIdx.x] *= 2;
}

__global__ void shrink(float* t, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) t[i] *= 0.5f;
}

int main() {
    int numbers[N], *p;
    for (int i = 0; i < N; i++) numbers[i] = i;
    cudaMalloc(&p, sizeof numbers);
    cudaMemcpy(p, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    twice<<<1, N>>>(p);
    float* t;
    cudaMalloc(&t, sizeof(table));
    cudaMemcpy(t, table, sizeof(table), cudaMemcpyHostToDevice);
    shrink<<<4, 64>>>(t, sizeof(table) / sizeof(table[0][0]));
}
