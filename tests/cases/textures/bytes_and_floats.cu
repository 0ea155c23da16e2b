// FAULT: nobody writes the pixels of a texture of four bytes. Beside it are a surface of floats and a texture of linear memory.
__global__ void grey(cudaTextureObject_t image, cudaTextureObject_t gains, cudaSurfaceObject_t out, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float4 pixel = tex2D<float4>(image, (x + 0.5f) / w, (y + 0.5f) / h);
    const float sum = (pixel.x + pixel.y + pixel.z) * tex1Dfetch<float>(gains, x);
    surf2Dwrite(sum, out, x * sizeof(float), y);
}

int main() {
    const int w = 20, h = 12;
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>(), floats = cudaCreateChannelDesc<float>();
    cudaArray_t pixels, sums;
    cudaMallocArray(&pixels, &bytes, w, h);
    cudaMallocArray(&sums, &floats, w, h, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = pixels;
    cudaTextureDesc description = {};
    for (int d = 0; d < 2; ++d) description.addressMode[d] = cudaAddressModeMirror;
    description.filterMode = cudaFilterModePoint;
    description.readMode = cudaReadModeNormalizedFloat;
    description.normalizedCoords = true;
    cudaTextureObject_t image, gains;
    cudaCreateTextureObject(&image, &resource, &description, nullptr);
    float *d_gains, h_gains[w];
    for (int i = 0; i < w; ++i) h_gains[i] = 1;
    cudaMalloc(&d_gains, w * sizeof(float));
    cudaMemcpy(d_gains, h_gains, w * sizeof(float), cudaMemcpyHostToDevice);
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = d_gains;
    linear.res.linear.desc = cudaCreateChannelDesc<float>();
    linear.res.linear.sizeInBytes = w * sizeof(float);
    cudaTextureDesc plain = {};
    cudaCreateTextureObject(&gains, &linear, &plain, nullptr);
    resource.res.array.array = sums;
    cudaSurfaceObject_t out;
    cudaCreateSurfaceObject(&out, &resource);
    grey<<<dim3(2, 1), dim3(16, 16)>>>(image, gains, out, w, h);
    cudaDeviceSynchronize();
}
