// The structure that is copied has a pointer to one float too few.
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
    cudaMalloc(&host.values, 98 * sizeof(float));
    cudaMemset(host.values, 0, 98 * sizeof(float));
    cudaMemcpyToSymbol(settings, &host, sizeof(host));
    host.count = 70;
    scale<<<1, 64>>>();
}
