// Your own kernel: what you type here is on screen a moment later, 60 times a second.
//
// The program looks for a kernel called scratch that takes these arguments:
//   pixels  the picture to draw: width * height of them, row after row from the top, all zero
//   width, height  of the picture in pixels: any, so look before you store
//   time    in seconds: 0 for the first picture, 1/60 more for each one after it
//   mouse   .x, .y: where the mouse is, in pixels from the top left, maybe beyond the edges;
//           .z: 1 while its left button is down, else 0
// and, only if it goes on from the picture before, a sixth: const Pixel* before, all zero at first.
//
// Threads come in blocks of 16x16, as many as it takes to have one for each pixel.

using Pixel = unsigned;  // four bytes: red lowest, then green, blue, and alpha, which is 255

__device__ unsigned byte(float value) {
    return __float2uint_rn(255.0f * __saturatef(value));
}

// From colours that are 0 to 1.
__device__ Pixel rgb(float red, float green, float blue) {
    return 0xff000000u | byte(blue) << 16 | byte(green) << 8 | byte(red);
}

// Rings that run outwards: -1 to 1, at a distance in heights of the picture.
__device__ float ring(float distance, float time) {
    return cospif(16.0f * distance - 2.0f * time);
}

extern "C" __global__ void scratch(Pixel* pixels, int width, int height, float time, float3 mouse) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    // Blocks at the edges have threads outside. They may leave here only because no barrier
    // follows: __syncthreads() is for every thread of the block.
    if (x >= width || y >= height) return;

    // Two stones in the water: one is the mouse, the other one goes round the middle.
    const float dx = (x - mouse.x) / height, dy = (y - mouse.y) / height;
    const float near = sqrtf(dx * dx + dy * dy);
    const float ex = (x - 0.5f * width) / height - 0.5f * cospif(0.25f * time);
    const float ey = (y - 0.5f * height) / height - 0.3f * sinpif(0.25f * time);
    const float far = sqrtf(ex * ex + ey * ey);

    const float water = 0.25f * (ring(near, time) + ring(far, time)) + 0.5f;
    const float light = (mouse.z + 0.35f) / (1.0f + 40.0f * near * near);
    const float crest = water * water * water;
    pixels[y * width + x] = rgb(0.75f * crest * crest + light, 0.15f + 0.6f * crest + 0.6f * light,
                                0.3f + 0.6f * water + 0.2f * light);
}
