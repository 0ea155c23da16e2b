// Reads a volume, layers and the faces of a cube.
__global__ void through(cudaTextureObject_t volume, float* out) {
    out[threadIdx.x] = tex3D<float>(volume, 1.0f, 0.5f, threadIdx.x + 0.5f);
}
__global__ void layer(cudaTextureObject_t planes, cudaTextureObject_t lines, float* out) {
    out[threadIdx.x] = tex2DLayered<float>(planes, 1.0f, 0.5f, threadIdx.x) +
                       tex1DLayered<float>(lines, 0.5f, threadIdx.x);
}
__global__ void face(cudaTextureObject_t cube, float* out) {
    const float side = threadIdx.x % 2 ? -1.0f : 1.0f;
    const int axis = threadIdx.x / 2;
    out[threadIdx.x] = texCubemap<float>(cube, axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0);
}
__global__ void deeper(cudaSurfaceObject_t written) {
    const int z = threadIdx.x;
    surf3Dwrite(10.0f * z, written, 0, 0, z);
}
