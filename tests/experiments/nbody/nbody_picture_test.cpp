#include "experiments/nbody/nbody_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/devices.h"

namespace warpscope::experiments {
namespace {

constexpr Size size{203, 101};  // no multiples of the glow's cells
constexpr Orbit from_above{0, 90, 10};

class NBodyPictures : public tests::OnDevices {
  protected:
    std::vector<Rgba> draw(const Bodies& bodies, const Orbit& orbit = from_above,
                           double reference_speed = 1, double exposure = 1, Size of = size,
                           NBodyKernel kernel = NBodyKernel::tiled) {
        const NBodyState state(device(), kernel, bodies);
        // 64 more that must stay as they are.
        compute::Buffer<Rgba> pixels(device(), std::size_t(of.width) * of.height + 64);
        pixels.fill(0xab);
        NBodyPicture(device()).draw(state, {orbit, exposure, reference_speed, of},
                                    pixels.pointer());
        auto values = pixels.download();
        for (std::size_t i = values.size() - 64; i < values.size(); ++i)
            EXPECT_EQ(values[i].g, 0xab) << "drew beyond the picture";
        values.resize(values.size() - 64);
        return values;
    }

    static int brightness(const Rgba& pixel) { return pixel.r + pixel.g + pixel.b; }

    /// Column and row of the brightest pixel.
    static std::pair<int, int> brightest(const std::vector<Rgba>& pixels, Size of = size) {
        const auto most = std::ranges::max_element(pixels, {}, brightness);
        const int index = int(most - pixels.begin());
        return {index % of.width, index / of.width};
    }
};
WARPSCOPE_ON_DEVICES(NBodyPictures);

Body at(float x, float y, float z) {
    Body body;
    body.position = {x, y, z};
    body.mass = 1;
    return body;
}

bool operator_same(const Rgba& a, const Rgba& b) {
    return a.r == b.r && a.g == b.g && a.b == b.b && a.a == b.a;
}

// From above with yaw 0 the eye's right is +y and down is +x; a pixel at distance 10 is
// 10 / focal wide, focal = 50.5 / 0.4.
TEST_P(NBodyPictures, OneBodyLightsItsPixel) {
    const float pixel = 10 / (50.5f / 0.4f);
    using Place = std::pair<int, int>;
    EXPECT_EQ(brightest(draw({at(0, 0, 0)})), (Place{101, 50}));
    EXPECT_EQ(brightest(draw({at(0, 30 * pixel, 0)})), (Place{131, 50}));
    EXPECT_EQ(brightest(draw({at(20 * pixel, 0, 0)})), (Place{101, 70}));
    // Half as far away, twice as far from the centre.
    EXPECT_EQ(brightest(draw({at(0, -15 * pixel, 5)})), (Place{71, 50}));
    // From the side, z is up.
    EXPECT_EQ(brightest(draw({at(0, 0, 20 * pixel)}, {0, 0, 10})), (Place{101, 30}));
    EXPECT_EQ(brightest(draw({at(0, 0, 20 * pixel)}, {123, 0, 10})), (Place{101, 30}));
    EXPECT_EQ(brightest(draw({at(20 * pixel, 0, 0)}, {-90, 0, 10})), (Place{121, 50}));
}

TEST_P(NBodyPictures, AllMemoryLayoutsGiveEqualPictures) {
    const Bodies bodies = plummer_sphere(100, 1);
    const auto picture = draw(bodies);
    for (NBodyKernel kernel : {NBodyKernel::float3, NBodyKernel::float4})
        EXPECT_TRUE(std::ranges::equal(draw(bodies, from_above, 1, 1, size, kernel), picture,
                                       operator_same));
}

TEST_P(NBodyPictures, DoesNotDependOnTheOrderOfBodies) {
    Bodies bodies = plummer_sphere(2000, 1);
    const auto picture = draw(bodies);
    std::ranges::reverse(bodies);
    std::rotate(bodies.begin(), bodies.begin() + 333, bodies.end());
    EXPECT_TRUE(std::ranges::equal(draw(bodies), picture, operator_same));
    bodies.back().position[0] += 0.5f;
    EXPECT_FALSE(std::ranges::equal(draw(bodies), picture, operator_same));
}

TEST_P(NBodyPictures, SlowIsBlueAndFastIsOrange) {
    Body slow = at(0, 0, 0), fast = slow;
    slow.velocity = {0.01f, 0, 0};
    fast.velocity = {0, 0, 100};
    const auto color = [&](const Body& body) { return draw({body})[50 * size.width + 101]; };
    EXPECT_GT(color(slow).b, color(slow).r + 30);
    EXPECT_GT(color(fast).r, color(fast).b + 30);
}

TEST_P(NBodyPictures, IsNearlyBlackWhereNoBodyIs) {
    Body hidden = at(0, 0, 11);  // behind the eye
    for (const auto& picture : {draw({hidden}), draw({at(0, 1000, 0)})})
        for (const Rgba& pixel : picture) {
            ASSERT_LE(pixel.r, 5);
            ASSERT_LE(pixel.b, 11);
            ASSERT_EQ(pixel.a, 255);
        }
}

// Less luminosity makes a body darker, more exposure makes it brighter.
TEST_P(NBodyPictures, LuminosityAndExposureChangeTheBrightness) {
    Body faint = at(0, 0, 0);
    faint.luminosity = 0.1f;
    const auto peak = [&](const Body& body, double exposure) {
        return brightness(draw({body}, from_above, 1, exposure)[50 * size.width + 101]);
    };
    EXPECT_LT(peak(faint, 0.1), peak(at(0, 0, 0), 0.1));
    EXPECT_LT(peak(at(0, 0, 0), 0.05), peak(at(0, 0, 0), 0.1));
}

TEST_P(NBodyPictures, AnySize) {
    for (Size of : {Size{1, 1}, Size{8, 8}, Size{9, 7}, Size{1, 300}, Size{257, 2}}) {
        const auto picture = draw({at(0, 0, 0)}, from_above, 1, 50, of);
        const auto [x, y] = brightest(picture, of);
        EXPECT_NEAR(x, of.width / 2, 1);
        EXPECT_NEAR(y, of.height / 2, 1);
    }
}

// All bodies on one spot: the sums must not overflow into each other.
TEST_P(NBodyPictures, ManyBodiesOnOnePixelAreWhiteAndDoNotOverflow) {
    const Bodies crowd(100000, at(0, 0, 0));
    const auto picture = draw(crowd);
    EXPECT_EQ(brightest(picture), (std::pair{101, 50}));
    const Rgba& peak = picture[50 * size.width + 101];
    EXPECT_GT(std::min({peak.r, peak.g, peak.b}), 200);
    EXPECT_LE(picture[0].b, 11);
}

}  // namespace
}  // namespace warpscope::experiments
