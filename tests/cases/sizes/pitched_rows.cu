// Rows of 70 bytes begin at multiples of the pitch, so 16 bytes at a time may be loaded.
__global__ void invert(char* image, size_t pitch, int rows) {
    const int y = blockIdx.x, x = threadIdx.x;
    if (y >= rows || x >= 5) return;
    int4* row = reinterpret_cast<int4*>(image + y * pitch);
    int4 pixels = row[x];
    pixels.x = ~pixels.x;
    row[x] = pixels;
}

int main() {
    char* image;
    size_t pitch;
    cudaMallocPitch(&image, &pitch, 70, 33);
    cudaMemset2D(image, pitch, 0, 70, 33);
    invert<<<33, 32>>>(image, pitch, 33);
    cudaDeviceSynchronize();
}
