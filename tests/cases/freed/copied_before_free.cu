// The variable of the device holds a structure whose pointer is that of memory which is freed.
struct Settings {
    float* values;
    float factor;
    short count, step;
    double unused;
};

__constant__ Settings settings;

__global__ void scale() {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < settings.count) settings.values[i * settings.step] = settings.factor * i;
}

int main() {
    Settings host = {};
    host.count = 50;
    host.step = 2;
    host.factor = 0.5f;
    host.unused = -1;
    cudaMalloc(&host.values, 100 * sizeof(float));
    cudaMemset(host.values, 0, 100 * sizeof(float));
    cudaMemcpyToSymbol(settings, &host, sizeof(host));
    scale<<<1, 64>>>();
    cudaFree(host.values);
    host.count = 70;
    cudaMalloc(&host.values, 140 * sizeof(float));
    scale<<<2, 64>>>();
}
