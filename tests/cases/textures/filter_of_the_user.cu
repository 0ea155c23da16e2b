// FAULT: whatever filter the user chooses, the index that the texture gives leads past the end.
#include <cstdlib>
__global__ void pick(cudaTextureObject_t line, int* out) {
    out[int(tex2D<float>(line, threadIdx.x + 1.0f, 0.5f))] = 1;
}

int main(int argc, char** argv) {
    float h[8];
    for (int i = 0; i < 8; ++i) h[i] = i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &format, 8, 1);
    cudaMemcpyToArray(array, 0, 0, h, sizeof h, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.filterMode = cudaTextureFilterMode(atoi(argv[1]));
    cudaTextureObject_t line;
    cudaCreateTextureObject(&line, &resource, &description, nullptr);
    int* out;
    cudaMalloc(&out, 4 * sizeof(int));
    pick<<<1, 8>>>(line, out);
    cudaDeviceSynchronize();
}
