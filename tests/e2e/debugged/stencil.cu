// A stencil that holds a column in registers, in the style of NVIDIA's sample FDTD3d.
#include <cstdio>

constexpr int RADIUS = 2;
__constant__ float weights[RADIUS + 1] = {0.5F, 0.25F, 0.125F};

__global__ void stencil(double* output, const float* input, const int dimx, const int dimz) {
    __shared__ float tile[32 + 2 * RADIUS];
    const int ltid = threadIdx.x, lane = ltid + RADIUS;
    bool valid = ltid < dimx;
    float infront[RADIUS], behind[RADIUS], current;
    int inputIndex = ltid;
    const int stride = dimx;
    int outputIndex = 0;
    for (int i = RADIUS - 2; i >= 0; --i) {
        behind[i] = input[inputIndex];
        inputIndex += stride;
    }
    behind[RADIUS - 1] = 0;
    current = input[inputIndex];
    outputIndex = inputIndex;
    inputIndex += stride;
    for (int i = 0; i < RADIUS; ++i) {
        infront[i] = input[inputIndex];
        inputIndex += stride;
    }
    for (int iz = 0; iz < dimz; ++iz) {
        tile[lane] = valid ? current : 0;
        if (ltid < RADIUS) tile[ltid] = tile[lane + 32 - RADIUS] = 1;
        __syncthreads();
        double value = weights[0] * current;
        for (int i = 1; i <= RADIUS; ++i)
            value += weights[i] * (infront[i - 1] + behind[i - 1] + tile[lane - i] + tile[lane + i]);
        if (iz == 1 && ltid == 7)
            printf("values: dimx=%d dimz=%d ltid=%d lane=%d valid=%d infront[1]=%f behind[0]=%f behind[1]=%f current=%f inputIndex=%d stride=%d outputIndex=%d iz=%d value=%f tile[9]=%f weights[2]=%f input[5]=%f output[7]=%f\n",
                   dimx, dimz, ltid, lane, valid, infront[1], behind[0], behind[1], current, inputIndex, stride, outputIndex, iz, value, tile[9], weights[2], input[5], output[7]);
        output[outputIndex] = value;
        __syncthreads();
        behind[1] = behind[0];
        behind[0] = current;
        current = infront[0];
        infront[0] = infront[1];
        infront[1] = input[inputIndex];
        inputIndex += stride;
        outputIndex += stride;
    }
}

int main() {
    float host[320], *input;
    double* output;
    for (int k = 0; k < 320; ++k) host[k] = 0.5F * k;
    cudaMalloc(&input, sizeof host);
    cudaMalloc(&output, sizeof host * 2);
    cudaMemset(output, 0, sizeof host * 2);
    cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice);
    stencil<<<1, 32>>>(output, input, 32, 3);
    return cudaDeviceSynchronize();
}
