// Copies a picture to the screen and makes it opaque, so that a kernel may use alpha for itself.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha

// `count` is the number of pixels; one thread copies one pixel.
extern "C" __global__ void show(const Pixel* picture, Pixel* target, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) target[i] = picture[i] | 0xff000000u;
}
