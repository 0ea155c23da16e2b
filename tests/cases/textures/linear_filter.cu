// The texture has a linear filter: between 0 and 10 it reads 5. A wrong element would be an invalid access.
__global__ void between(cudaTextureObject_t line, int* hits, int n) {
    const int i = threadIdx.x;
    const float v = tex2D<float>(line, i + 1.0f, 0.5f);  // half of element i and half of element i + 1
    if (i + 1 < n) hits[6 * i + int(v - 10 * i)] = i;    // the last of 6
}

int main() {
    const int n = 16;
    float h[n];
    for (int i = 0; i < n; ++i) h[i] = 10 * i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray_t array;
    cudaMallocArray(&array, &format, n, 1);
    cudaMemcpy2DToArray(array, 0, 0, h, n * sizeof(float), n * sizeof(float), 1, cudaMemcpyHostToDevice);
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof(resource));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description;
    memset(&description, 0, sizeof(description));
    description.addressMode[0] = cudaAddressModeClamp;
    description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = 0;
    cudaTextureObject_t line = 0;
    cudaCreateTextureObject(&line, &resource, &description, NULL);
    int* hits;
    cudaMalloc(&hits, 6 * (n - 1) * sizeof(int));
    between<<<1, n>>>(line, hits, n);
    cudaDeviceSynchronize();
}
