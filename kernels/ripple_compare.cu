// Compares two pictures of the ripple and makes the picture that is shown.

constexpr unsigned side = 16;  // of a block: 16x16 threads

using Pixel = unsigned;  // 4 bytes: red lowest, then green, blue and alpha
constexpr Pixel opaque = 0xff000000u;
constexpr Pixel magenta = 0xffff00ffu;

enum View { picture_view, wrong_view, stale_view, split_view };

// Adds the number of the block's threads whose `hit` is true to *counter. Every thread calls it.
__device__ void count_hits(bool hit, unsigned* counter) {
    const unsigned hits = __ballot_sync(0xffffffffu, hit);
    const unsigned thread = threadIdx.y * side + threadIdx.x;
    if (thread % 32 == 0 && hits != 0) atomicAdd(counter, __popc(hits));
}

// Counts the pixels of `shown` that differ from `reference`, and draws `picture` as `view` says:
//   picture_view  `shown`
//   wrong_view    `shown` at a quarter of its brightness, the pixels that differ in magenta
//   stale_view    the same with the pixels in magenta whose byte of `stale` is not 0
//   split_view    the left half of `without` and the right half of `with`
// All pictures have width * height pixels.
extern "C" __global__ void compare(const Pixel* shown, const Pixel* reference, const Pixel* without,
                                   const Pixel* with, const unsigned char* stale, Pixel* picture,
                                   int width, int height, int view, unsigned* wrong_count) {
    const unsigned x = blockIdx.x * side + threadIdx.x;
    const unsigned y = blockIdx.y * side + threadIdx.y;
    bool wrong = false;
    if (x < width && y < height) {
        const unsigned place = y * width + x;
        Pixel pixel = shown[place];
        wrong = pixel != reference[place];
        if (view == split_view) {
            pixel = x < width / 2 ? without[place] : with[place];
        } else if (view != picture_view) {
            const bool marked = view == wrong_view ? wrong : stale[place];
            pixel = marked ? magenta : opaque | (pixel >> 2 & 0x3f3f3fu);
        }
        picture[place] = pixel;
    }
    count_hits(wrong, wrong_count);
}
