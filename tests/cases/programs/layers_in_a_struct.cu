// A struct that is passed by value has an array of structs with pointers, and one of numbers.
struct Layer {
    float* weights;
    int count;
};
struct Net {
    Layer layers[2];
    float bias[3];
};

__global__ void forward(Net net, const float* in, float* out) {
    const int i = threadIdx.x;
    float sum = net.bias[2];
    for (int l = 0; l < 2; ++l)
        if (i < net.layers[l].count) sum += net.layers[l].weights[i] * in[i];
    out[i] = sum;
}

int main() {
    Net net;
    net.layers[0].count = 48;
    net.layers[1].count = 2 * net.layers[0].count;
    net.bias[0] = 0;
    net.bias[1] = 0;
    net.bias[2] = 1.5f;
    cudaMalloc(&net.layers[0].weights, 48 * sizeof(float));
    cudaMalloc(&net.layers[1].weights, 64 * sizeof(float));
    cudaMemset(net.layers[0].weights, 0, 48 * sizeof(float));
    cudaMemset(net.layers[1].weights, 0, 64 * sizeof(float));
    float *in, *out;
    cudaMalloc(&in, 96 * sizeof(float));
    cudaMalloc(&out, 96 * sizeof(float));
    cudaMemset(in, 0, 96 * sizeof(float));
    forward<<<1, 96>>>(net, in, out);
    cudaDeviceSynchronize();
}
