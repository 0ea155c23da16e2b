// A function makes the texture. A second kernel has another texture by the same name, of linear memory.
__global__ void resize(cudaTextureObject_t tex, float* out, int w, int h) {
    const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < w && y < h) out[y * w + x] = tex2D<float>(tex, (x + 0.5f) / w, (y + 0.5f) / h);
}

__global__ void follow(cudaTextureObject_t tex, int* out) {
    out[tex1Dfetch<int>(tex, threadIdx.x)] = threadIdx.x;
}

void make(cudaTextureObject_t* made, cudaArray_t array, bool linear) {
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description;
    memset(&description, 0, sizeof description);
    description.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    description.normalizedCoords = 1;
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeWrap;
    cudaCreateTextureObject(made, &resource, &description, 0);
}

int main() {
    const int w = 64, h = 32;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &format, w, h);
    cudaTextureObject_t image, indices;
    make(&image, array, true);
    float* out;
    cudaMalloc(&out, w * h * sizeof(float));
    resize<<<dim3(4, 2), dim3(16, 16)>>>(image, out, w, h);
    int h_next[100], *next, *marks;
    for (int i = 0; i < 100; ++i) h_next[i] = 99 - i;
    cudaMalloc(&next, sizeof h_next);
    cudaMalloc(&marks, 99 * sizeof(int));
    cudaMemcpy(next, h_next, sizeof h_next, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = next;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = sizeof h_next;
    cudaTextureDesc plain = {};
    cudaCreateTextureObject(&indices, &resource, &plain, nullptr);
    follow<<<1, 100>>>(indices, marks);
    cudaDeviceSynchronize();
}
