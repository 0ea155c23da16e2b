// Draws bodies as points of light. splat_bodies adds the light of each body to two buffers: a sharp
// one with one cell per pixel and a coarse one for the glow. tone_map turns light into colours.
//
// The low 32 bits of a cell are the light that fell on it. The high 32 bits are that light times
// its heat, which is 0 for slow bodies and 1 for fast ones. Both are integers, in quanta, because a
// sum of integers does not depend on the order of the bodies. A body gives at most `quanta` in all;
// neither half overflows as long as n * quanta < 2^32.

typedef unsigned long long Cell;

// From the world to the picture. A body at p appears at x = center_x + focal * dot(right, p) /
// depth and, from the top, at y = center_y + focal * dot(down, p) / depth, where depth =
// dot(forward, p) + distance.
struct Camera {
    float right[3];
    float down[3];
    float forward[3];
    float distance;            // from the eye to the world's origin
    float focal;               // pixels at depth 1
    float center_x, center_y;  // pixels
};

// One glow cell spans 8x8 pixels.
constexpr int glow_pixels = 8;

// The weights of a quadratic B-spline for three neighbouring cells. `at` is the distance from the
// centre of the middle cell, from -0.5 to 0.5. The weights always add up to 1, so that a moving
// body does not flicker.
__device__ static void spline(float at, float weight[3]) {
    weight[0] = 0.5f * (0.5f - at) * (0.5f - at);
    weight[1] = 0.75f - at * at;
    weight[2] = 0.5f * (0.5f + at) * (0.5f + at);
}

// Adds a spot of 3x3 cells around (x, y). Coordinates are in cells: cell k covers k to k + 1.
__device__ static void add_spot(Cell* cells, int width, int height, float x, float y, float light,
                                float heat) {
    int column = (int)floorf(x);
    int row = (int)floorf(y);
    float across[3], down[3];
    spline(x - column - 0.5f, across);
    spline(y - row - 0.5f, down);
    for (int v = 0; v < 3; ++v) {
        for (int u = 0; u < 3; ++u) {
            int cx = column + u - 1;
            int cy = row + v - 1;
            float share = light * across[u] * down[v];
            Cell sum = ((Cell)(unsigned)(share * heat) << 32) | (unsigned)share;
            if (cx >= 0 && cx < width && cy >= 0 && cy < height) {
                atomicAdd(&cells[cy * width + cx], sum);
            }
        }
    }
}

// `positions` and `velocities` hold `stride` floats per body (3 or 4), x, y and z first;
// `luminosity` is from 0 to 1. A body with the speed reference_speed has the heat 0.5. `light` has
// width x height cells, `glow` an eighth of that in each direction, rounded up; both must be
// cleared before.
extern "C" __global__ void splat_bodies(Cell* light, Cell* glow, const float* positions,
                                        const float* velocities, const float* luminosity,
                                        int stride, int n, Camera camera, int width, int height,
                                        float quanta, float reference_speed) {
    int body = blockIdx.x * blockDim.x + threadIdx.x;
    if (body >= n) return;

    const float* p = positions + (size_t)body * stride;
    float px = p[0], py = p[1], pz = p[2];
    const float* f = camera.forward;
    float depth = f[0] * px + f[1] * py + f[2] * pz + camera.distance;
    if (!(depth > 0.02f * camera.distance)) return;  // behind or close to the eye

    float scale = camera.focal / depth;
    float x = (camera.right[0] * px + camera.right[1] * py + camera.right[2] * pz) * scale;
    float y = (camera.down[0] * px + camera.down[1] * py + camera.down[2] * pz) * scale;
    x += camera.center_x;
    y += camera.center_y;
    float margin = 2 * glow_pixels;
    if (!(x > -margin && y > -margin && x < width + margin && y < height + margin)) return;

    const float* v = velocities + (size_t)body * stride;
    float speed2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    float heat = speed2 / (speed2 + reference_speed * reference_speed);
    float amount = quanta * luminosity[body];

    add_spot(light, width, height, x, y, amount, heat);
    int glow_width = (width + glow_pixels - 1) / glow_pixels;
    int glow_height = (height + glow_pixels - 1) / glow_pixels;
    add_spot(glow, glow_width, glow_height, x / glow_pixels, y / glow_pixels, amount, heat);
}

struct Light {
    float amount, heat;
};

__device__ static Light unpack(Cell cell) {
    return {(float)(unsigned)cell, (float)(unsigned)(cell >> 32)};
}

__device__ static float mix(float a, float b, float t) {
    return a + (b - a) * t;
}

// From a brightness, 0 or more, to a byte: close to 1 - exp(-x), but computed with correctly
// rounded operations only.
__device__ static unsigned tone(float x, float background) {
    float rest = 1.0f / (1.0f + 0.25f * x);
    rest *= rest;
    rest *= rest;
    return (unsigned)(255.0f - (255.0f - background) * rest);
}

// Slow bodies are blue, faster ones white, the fastest ones orange. Very bright light becomes
// white.
__device__ static unsigned color(Light light) {
    float heat = light.heat / fmaxf(light.amount, 1e-30f);
    float t = fminf(fmaxf(5.0f * heat - 1.5f, 0.0f), 2.0f);
    float cold = fminf(t, 1.0f);
    float hot = t - cold;
    float r = mix(0.22f, 1.0f, cold) + 0.25f * hot;
    float g = mix(0.45f, 0.88f, cold) - 0.43f * hot;
    float b = mix(1.5f, 0.85f, cold) - 0.70f * hot;
    unsigned red = tone(r * light.amount, 4.0f);
    unsigned green = tone(g * light.amount, 5.0f);
    unsigned blue = tone(b * light.amount, 10.0f);
    return red | green << 8 | blue << 16 | 0xff000000u;
}

// One thread colours the pixels of a row that lie in one glow cell, so that it loads the glow
// around them once. A row of `pixels` has `width` pixels of 4 bytes: red lowest, then green, blue,
// alpha. `gain` and `glow_gain` are the brightness of one quantum of light and of glow. The grid
// has a thread for each column of glow cells in x and for each row of pixels in y.
extern "C" __global__ void tone_map(unsigned* pixels, const Cell* light, const Cell* glow,
                                    int width, int height, float gain, float glow_gain) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int glow_width = (width + glow_pixels - 1) / glow_pixels;
    int glow_height = (height + glow_pixels - 1) / glow_pixels;
    if (column >= glow_width || y >= height) return;

    // Bilinear interpolation of the glow: first in y, in the three columns around the pixels, then
    // in x for each pixel.
    float at = (y + 0.5f) / glow_pixels - 0.5f;
    int above = (int)floorf(at);
    float down = at - above;
    const Cell* upper = glow + max(above, 0) * glow_width;
    const Cell* lower = glow + min(above + 1, glow_height - 1) * glow_width;
    Light around[3];
    for (int k = 0; k < 3; ++k) {
        int c = min(max(column + k - 1, 0), glow_width - 1);
        Light a = unpack(upper[c]);
        Light b = unpack(lower[c]);
        around[k] = {mix(a.amount, b.amount, down) * glow_gain,
                     mix(a.heat, b.heat, down) * glow_gain};
    }

    for (int k = 0; k < glow_pixels; ++k) {
        int x = column * glow_pixels + k;
        if (x >= width) return;
        bool left_half = k < glow_pixels / 2;
        float across = (k + 0.5f) / glow_pixels + (left_half ? 0.5f : -0.5f);
        Light a = around[left_half ? 0 : 1];
        Light b = around[left_half ? 1 : 2];
        Light sharp = unpack(light[y * width + x]);
        Light sum = {sharp.amount * gain + mix(a.amount, b.amount, across),
                     sharp.heat * gain + mix(a.heat, b.heat, across)};
        pixels[y * width + x] = color(sum);
    }
}
