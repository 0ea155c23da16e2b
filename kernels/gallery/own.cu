// Your own kernel: change this text, and the new picture is on the screen a moment later.
//
// The tab Launch says how the kernel is launched in each frame: with which grid, blocks and
// arguments. Change the parameters as you like, and give new ones a value there. Here:
//   pixels         the picture to draw: a buffer of `height` rows of `width` pixels, all 0
//   width, height  scalars: the size of the picture
//   time           in seconds: 0 for the first frame, 1/60 more for each frame after it
//   mouse          .x and .y: the position of the mouse in pixels from the top left corner, which
//                  may be outside the picture; .z: 1 while the left button is down, otherwise 0
// life.cu shows how a kernel reads the picture of the frame before.

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha, which is 255

__device__ unsigned byte(float value) {
    return __float2uint_rn(255.0f * __saturatef(value));
}

// A pixel of these colours, each from 0 to 1.
__device__ Pixel rgb(float red, float green, float blue) {
    return 0xff000000u | byte(blue) << 16 | byte(green) << 8 | byte(red);
}

// The height of rings that move outwards, from -1 to 1. `distance` 1 is the height of the picture.
__device__ float ring(float distance, float time) {
    return cospif(16.0f * distance - 2.0f * time);
}

extern "C" __global__ void rings(Pixel* pixels, int width, int height, float time, float3 mouse) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    // Blocks at the edges have threads outside the picture. They may return here only because no
    // barrier follows: every thread of a block must reach each __syncthreads().
    if (x >= width || y >= height) return;

    // Rings around two points: one is the mouse, the other one circles around the middle.
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
