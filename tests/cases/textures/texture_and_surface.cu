// FAULT: nobody writes the arrays. A kernel reads a texture, another one a surface.
__global__ void blur(cudaTextureObject_t image, float* out, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int d = -1; d <= 1; ++d) sum += tex2D<float>(image, x + d + 0.5f, y + 0.5f);
    out[y * w + x] = sum / 3;
}

__global__ void invert(cudaSurfaceObject_t pixels, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    uchar4 pixel;
    surf2Dread(&pixel, pixels, x * sizeof(uchar4), y);
    pixel.x = 255 - pixel.x;
    surf2Dwrite(pixel, pixels, x * sizeof(uchar4), y);
}

int main() {
    const int w = 48, h = 40;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array, bytes;
    cudaMallocArray(&array, &format, w, h);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t image = 0;
    cudaCreateTextureObject(&image, &resource, &description, nullptr);
    float* out;
    cudaMalloc(&out, w * h * sizeof(float));
    const dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    blur<<<grid, block>>>(image, out, w, h);
    const cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
    cudaMallocArray(&bytes, &four, w, h, cudaArraySurfaceLoadStore);
    resource.res.array.array = bytes;
    cudaSurfaceObject_t pixels = 0;
    cudaCreateSurfaceObject(&pixels, &resource);
    invert<<<grid, block>>>(pixels, w, h);
    cudaDeviceSynchronize();
}
