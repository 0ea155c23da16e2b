// Matrices are structs. The barrier behind the loop over the tile is missing.
#define SIDE 16
struct Matrix {
    int columns, rows;
    float* numbers;
};

__global__ void product(Matrix a, Matrix b, Matrix c) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
    float sum = 0;
    for (int t = 0; t < a.columns / SIDE; ++t) {
        left[y][x] = a.numbers[row * a.columns + t * SIDE + x];
        right[y][x] = b.numbers[(t * SIDE + y) * b.columns + column];
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) sum += left[y][k] * right[k][x];
    }
    c.numbers[row * c.columns + column] = sum;
}

Matrix on_device(const Matrix from) {
    Matrix made = from;
    size_t bytes = from.columns * from.rows * sizeof(float);
    cudaMalloc(&made.numbers, bytes);
    cudaMemcpy(made.numbers, from.numbers, bytes, cudaMemcpyHostToDevice);
    return made;
}

int main() {
    static float numbers[64 * 64];
    Matrix a = {64, 32, numbers}, b{48, 64, numbers}, c;
    c.columns = b.columns;
    c.rows = a.rows;
    c.numbers = numbers;
    Matrix p = on_device(a), q = on_device(b), r = on_device(c);
    dim3 block(SIDE, SIDE), grid(b.columns / block.x, a.rows / block.y);
    product<<<grid, block>>>(p, q, r);
}
