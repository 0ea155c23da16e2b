// FAULT: the offset is one element too large for the last thread.
#define RADIUS 3
__global__ void step(const float* in, float* out)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    out[g] = in[g + RADIUS] - in[g - RADIUS];
}
int main()
{
    int n = 256;
    float *in, *out;
    cudaMalloc(&in, (n + 2 * RADIUS) * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    step<<<n / 64, 64>>>(in + RADIUS + 1, out);
}
