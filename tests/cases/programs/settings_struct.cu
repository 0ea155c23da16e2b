// A struct has the sizes and the block. The arrays have one layer too few.
struct Settings {
    int columns = 64, rows = 48, layers = 4;
    float rate = 0.25f;
    dim3 block{16, 8, 1};
};

__global__ void heat(const float* u, float* v, int columns, int rows, int layers, float rate) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows || blockIdx.z >= layers) return;
    int i = (blockIdx.z * rows + y) * columns + x;
    v[i] = u[i] * rate;
}

void run(const Settings& set) {
    const size_t cells = (size_t)set.columns * set.rows * (set.layers - 1);
    float *u, *v;
    cudaMalloc(&u, cells * sizeof(float));
    cudaMalloc(&v, cells * sizeof(float));
    dim3 grid((set.columns + set.block.x - 1) / set.block.x,
              (set.rows + set.block.y - 1) / set.block.y, set.layers);
    heat<<<grid, set.block>>>(u, v, set.columns, set.rows, set.layers, set.rate);
}

int main() {
    Settings settings;
    settings.layers = 3;
    run(settings);
}
