#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/framework/experiment.h"
#include "experiments/settings.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using compute::DevicePointer;
using Draw = compute::Kernel<DevicePointer<Rgba>, int, int, float, int>;

enum Pattern { spheres, rings };

const std::vector<Size> sizes{{1, 1}, {15, 16}, {16, 15}, {16, 16}, {17, 17}, {1, 40}, {131, 67}};

compute::LaunchShape shape_of(Size size) {
    return {.grid = {unsigned(size.width + 15) / 16, unsigned(size.height + 15) / 16},
            .block = {16, 16}};
}

/// The picture and 64 pixels beyond its end, all bytes 0xab before.
std::vector<Rgba> draw(compute::Device& device, Draw kernel, Size size, float ticks,
                       Pattern pattern) {
    compute::Buffer<Rgba> pixels(device, std::size_t(size.width) * size.height + 64);
    pixels.fill(0xab);
    device.launch(kernel, shape_of(size), {}, pixels.pointer(), size.width, size.height, ticks,
                  pattern);
    return pixels.download();
}

std::vector<Rgba> draw(compute::Device& device, const std::string& name, Size size, float ticks,
                       Pattern pattern) {
    const char* file = name == "ripple_txty" ? "ripple" : "ripple_layouts";
    return draw(device, device.kernel<DevicePointer<Rgba>, int, int, float, int>(file, name), size,
                ticks, pattern);
}

/// 0 .. 255, not rounded, that the thread of pixel (x, y) computes.
double level(Pattern pattern, int x, int y, Size size, double ticks) {
    const double pi = std::numbers::pi;
    if (pattern == spheres)
        return 255 * (std::sin(2 * pi * x / 128) + 1) * (std::sin(2 * pi * y / 128) + 1) / 4;
    const double d = std::hypot(x - size.width / 2, y - size.height / 2);
    return 128 + 127 * std::cos(d / 10 - ticks / 7) / (d / 10 + 1);
}

/// Number of shades whose error is larger than rounding explains.
std::size_t wrong_shades(const std::vector<Rgba>& picture, Pattern pattern, Size size, double ticks,
                         double tolerance = 1e-3) {
    std::size_t wrong = 0;
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            const int from_x = x / 16 * 16 + 15 - x % 16;
            const int from_y = y / 16 * 16 + 15 - y % 16;
            const double exact = level(pattern, from_x, from_y, size, ticks);
            const Rgba pixel = picture[std::size_t(y) * size.width + x];
            const bool near = pixel.g >= std::floor(exact - tolerance) &&
                              pixel.g <= std::floor(exact + tolerance);
            const int other = pattern == spheres ? 0 : pixel.g;
            wrong += !near || pixel.r != other || pixel.b != other || pixel.a != 255;
        }
    return wrong;
}

class RippleKernel : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(RippleKernel);

TEST_P(RippleKernel, EveryLayoutDrawsEverySizeRight) {
    for (const char* name :
         {"ripple_txty", "ripple_tytx", "ripple_padded17", "ripple_padded", "ripple_bytes"})
        for (const Size size : sizes)
            for (const Pattern pattern : {spheres, rings}) {
                const std::vector<Rgba> picture = draw(device(), name, size, 5.0f, pattern);
                EXPECT_EQ(wrong_shades(picture, pattern, size, 5.0), 0u)
                    << name << ' ' << size.width << 'x' << size.height << " pattern " << pattern;
                EXPECT_TRUE(std::all_of(picture.end() - 64, picture.end(),
                                        [](Rgba p) { return p.r == 0xab && p.a == 0xab; }))
                    << name << " stores beyond the picture";
            }
}

TEST_P(RippleKernel, FastMathIsWithinOneShade) {
    compute::RunSettings fast = device().settings();
    fast.math = compute::Math::fast;
    device().set(fast);
    for (const Pattern pattern : {spheres, rings}) {
        const Size size{200, 100};
        EXPECT_EQ(wrong_shades(draw(device(), "ripple_txty", size, 3.0f, pattern), pattern, size,
                               3.0, 1.0),
                  0u);
    }
}

// sin is 0, 1 and -1 at x = 0, 32 and 96, and a tile turns by 180 degrees: element (0, 0) of tile
// (2, 2), pixel (32, 32), shows at pixel (47, 47).
TEST_P(RippleKernel, SpheresHaveTheValuesWorkedOutByHand) {
    const Size size{128, 128};
    const std::vector<Rgba> picture = draw(device(), "ripple_txty", size, 0.0f, spheres);
    const auto shade = [&](int x, int y) { return int(picture[std::size_t(y) * 128 + x].g); };
    EXPECT_EQ(shade(47, 47), 255);
    EXPECT_EQ(shade(15, 15), 63) << "255 * 1 * 1 / 4 = 63.75";
    EXPECT_EQ(shade(47, 15), 127) << "255 * 2 * 1 / 4 = 127.5";
    EXPECT_EQ(shade(15, 47), 127);
    EXPECT_EQ(shade(111, 47), 0);
    EXPECT_EQ(shade(111, 15), 0);
    EXPECT_EQ(shade(0, 0), 178) << "255 * (sin(2 pi 15 / 128) + 1)^2 / 4 = 178.1";
}

TEST_P(RippleKernel, RingsHaveTheValuesWorkedOutByHand) {
    const Size size{32, 32};
    EXPECT_EQ(draw(device(), "ripple_txty", size, 0.0f, rings)[31 * 32 + 31].r, 255)
        << "the centre: 128 + 127 * cos 0";
    EXPECT_EQ(
        draw(device(), "ripple_txty", size, float(7 * std::numbers::pi), rings)[31 * 32 + 31].b, 1)
        << "128 + 127 * cos pi";
}

// Mutations of the kernels that EveryLayoutDrawsEverySizeRight must notice.
TEST_P(RippleKernel, ATransposedReadIsNoticed) {
    const Size size{128, 128};
    const std::vector<Rgba> picture = draw(device(), "ripple_txty", size, 0, spheres);
    std::vector<Rgba> transposed = picture;
    for (int y = 0; y < 128; ++y)
        for (int x = 0; x < 128; ++x)
            transposed[std::size_t(y * 128 + x)] =
                picture[std::size_t((y / 16 * 16 + x % 16) * 128 + x / 16 * 16 + y % 16)];
    EXPECT_EQ(wrong_shades(picture, spheres, size, 0), 0u);
    EXPECT_GT(wrong_shades(transposed, spheres, size, 0), 8000u);
}

TEST_P(RippleKernel, ADroppedBarrierIsNoticed) {
    const Size size{512, 512};
    const auto mutant = device().kernel_from_ptx<DevicePointer<Rgba>, int, int, float, int>(
        tests::ptx_without("ripple", "bar.sync"), "ripple_txty");
    EXPECT_EQ(wrong_shades(draw(device(), "ripple_txty", size, 0, spheres), spheres, size, 0), 0u);
    SharedMemoryCleaner(device()).launch();
    EXPECT_GT(wrong_shades(draw(device(), mutant, size, 0, spheres), spheres, size, 0), 0u);
}

TEST_P(RippleKernel, CompareCountsAndPaints) {
    const int width = 37, height = 18;
    std::vector<Rgba> reference(width * height, Rgba{8, 40, 200, 255});
    std::vector<Rgba> shown = reference;
    const std::vector<Rgba> without(width * height, Rgba{1, 2, 3, 255});
    const std::vector<Rgba> with(width * height, Rgba{4, 5, 6, 255});
    const std::vector<std::size_t> wrong{0, 36, 37, 300, width * height - 1};
    for (const std::size_t i : wrong) shown[i].g = 41;
    std::vector<std::uint8_t> stale(width * height, 0);
    for (std::size_t i = 5; i < stale.size(); i += 7) stale[i] = 1;

    const auto run = [&](int view) {
        compute::Buffer<Rgba> a(device(), shown), b(device(), reference), c(device(), without),
            d(device(), with);
        compute::Buffer<std::uint8_t> mask(device(), stale);
        compute::Buffer<Rgba> out(device(), shown.size());
        compute::Buffer<unsigned> count(device(), 1);
        count.fill(0);
        const auto kernel =
            device()
                .kernel<DevicePointer<Rgba>, DevicePointer<Rgba>, DevicePointer<Rgba>,
                        DevicePointer<Rgba>, DevicePointer<std::uint8_t>, DevicePointer<Rgba>, int,
                        int, int, DevicePointer<unsigned>>("ripple_compare", "compare");
        device().launch(kernel, shape_of({width, height}), {}, a.pointer(), b.pointer(),
                        c.pointer(), d.pointer(), mask.pointer(), out.pointer(), width, height,
                        view, count.pointer());
        EXPECT_EQ(count.download()[0], wrong.size());
        return out.download();
    };
    const auto equal = [](Rgba a, Rgba b) { return a.r == b.r && a.g == b.g && a.b == b.b; };
    const std::vector<Rgba> picture = run(0), painted = run(1), old = run(2), split = run(3);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const bool is_wrong = std::find(wrong.begin(), wrong.end(), i) != wrong.end();
        EXPECT_TRUE(equal(picture[i], shown[i]));
        const Rgba magenta{255, 0, 255, 255}, dimmed{2, 10, 50, 255};
        EXPECT_TRUE(equal(painted[i], is_wrong ? magenta : dimmed));
        EXPECT_TRUE(equal(old[i], stale[i] ? magenta : dimmed));
        EXPECT_TRUE(equal(split[i], i % width < 18 ? without[i] : with[i]));
    }
}

}  // namespace
}  // namespace warpscope::experiments
