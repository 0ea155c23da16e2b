// The pointer in the structure is that of the host.
struct Signal {
    float* samples;
    int count;
};

__global__ void scale(Signal signal) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < signal.count) signal.samples[i] *= 2;
}

int main() {
    Signal signal;
    signal.count = 300;
    signal.samples = new float[300];
    for (int i = 0; i < 300; ++i) signal.samples[i] = i;
    scale<<<3, 128>>>(signal);
    cudaDeviceSynchronize();
}
