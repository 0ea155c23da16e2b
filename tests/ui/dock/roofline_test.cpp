#include "ui/dock/roofline_panel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpscope::ui {
namespace {

using compute::Ceilings;
using compute::KernelTiming;

/// 1 TB/s and 20 Tflop/s: the ridge is at 20 flops a byte.
Ceilings round_ceilings() {
    return {.bytes_per_second = 1e12, .read_bytes_per_second = 1.1e12, .flops_per_second = 20e12};
}

KernelTiming timed(const std::string& name, const compute::Work& work, float ms = 1) {
    KernelTiming kernel;
    kernel.name = name;
    kernel.work = work;
    kernel.launches = 10;
    kernel.recent_ms = std::vector<float>(9, ms);
    return kernel;
}

TEST(LogAxis, PlacesPowersOfTenAtEqualDistances) {
    const LogAxis axis{9, 13};
    EXPECT_DOUBLE_EQ(axis.at(1e9), 0);
    EXPECT_DOUBLE_EQ(axis.at(1e13), 1);
    EXPECT_NEAR(axis.at(std::sqrt(10.0) * 1e10), 0.375, 1e-12);
    EXPECT_NEAR(axis.value(axis.at(3e11)), 3e11, 1);
    EXPECT_EQ(axis.at(0), 0);
    EXPECT_EQ(axis.at(-1), 0);
}

TEST(LogAxis, TicksAreWholePowersOfTenUpToTheLimit) {
    EXPECT_EQ((LogAxis{-0.5, 2.5}.ticks(10)), (std::vector<double>{1, 10, 100}));
    EXPECT_EQ((LogAxis{-1, 1}.ticks(10)), (std::vector<double>{0.1, 1, 10}));
    for (int most = 1; most < 8; ++most)
        EXPECT_LE(LogAxis({-3.2, 9.9}).ticks(most).size(), std::size_t(most));
}

TEST(LogAxis, TickWords) {
    EXPECT_EQ(tick_words(0.01), "0.01");
    EXPECT_EQ(tick_words(1), "1");
    EXPECT_EQ(tick_words(100), "100");
    EXPECT_EQ(tick_words(1e3), "1 k");
    EXPECT_EQ(tick_words(1e11), "100 G");
    EXPECT_EQ(tick_words(1e18), "1000 P");
}

TEST(Roofline, TheRoofIsTheLowerOfTheTwoCeilings) {
    const Roofline line = roofline_of({}, round_ceilings());
    EXPECT_DOUBLE_EQ(line.ridge(), 20);
    EXPECT_DOUBLE_EQ(line.roof(0.25), 0.25e12);
    EXPECT_DOUBLE_EQ(line.roof(20), 20e12);
    EXPECT_DOUBLE_EQ(line.roof(1e4), 20e12);
}

TEST(Roofline, KernelsArePlacedByTheWorkThatIsCounted) {
    // A sum of 2^20 floats in 10 µs, 4 bytes and a flop each; a picture; one that counts nothing.
    const double n = 1 << 20;
    const std::vector<KernelTiming> kernels{timed("sum", {.bytes = 4 * n, .flops = n}, 0.01F),
                                            timed("picture", {.bytes = 4 * n}), timed("clear", {}),
                                            timed("flops", {.flops = n})};
    const Roofline line = roofline_of(kernels, round_ceilings());
    ASSERT_EQ(line.points.size(), 1u);
    EXPECT_EQ(line.points[0].kernel, &kernels[0]);
    EXPECT_DOUBLE_EQ(line.points[0].intensity, 0.25);
    EXPECT_NEAR(line.points[0].flops_per_second, n * 1e5, n);
    ASSERT_EQ(line.strip.size(), 1u);
    EXPECT_EQ(line.strip[0].kernel, &kernels[1]);
    EXPECT_NEAR(line.strip[0].bytes_per_second, 4e3 * n, 1);
    EXPECT_EQ(line.left_out, (std::vector<std::string>{"clear", "flops"}));
}

TEST(Roofline, AxesHoldEveryPointTheRidgeAndBothCeilings) {
    const std::vector<KernelTiming> kernels{
        timed("slow", {.bytes = 1e3, .flops = 10}, 100),
        timed("nbody", {.bytes = 1e6, .interactions = 1e9, .flops = 2e10}),
        timed("picture", {.bytes = 10})};
    const Roofline line = roofline_of(kernels, round_ceilings());
    const auto inside = [](const LogAxis& axis, double value) {
        return axis.at(value) > 0.02 && axis.at(value) < 0.98;
    };
    for (const RooflinePoint& p : line.points) {
        EXPECT_TRUE(inside(line.intensity, p.intensity)) << p.kernel->name;
        EXPECT_TRUE(inside(line.flops, p.flops_per_second)) << p.kernel->name;
    }
    EXPECT_TRUE(inside(line.bytes, 1e4));
    EXPECT_TRUE(inside(line.bytes, 1e12));
    EXPECT_TRUE(inside(line.intensity, line.ridge()));
    EXPECT_TRUE(inside(line.flops, 20e12));
    // Their names stand above the ceilings.
    EXPECT_LE(line.flops.at(20e12), 0.85);
    EXPECT_LE(line.bytes.at(1e12), 0.85);
    // The slope begins above the lower edge.
    EXPECT_TRUE(inside(line.flops, line.roof(line.intensity.value(0))));
}

TEST(Roofline, TooltipStatesBothConventionsOfAnInteraction) {
    // 1e9 interactions in 2 ms: 0.5e12 a second, 10 Tflop/s of 20; 6.5e12 of the 10e12 FP32
    // instructions that the ceiling issues a second.
    const std::string words = roofline_words(
        timed("nbody", {.bytes = 1e6, .interactions = 1e9, .flops = 2e10}, 2), round_ceilings());
    EXPECT_NE(words.find("10.0 Tflop/s, 50 % of the FP32 rate"), std::string::npos) << words;
    EXPECT_NE(words.find("20000 flops per byte"), std::string::npos) << words;
    EXPECT_NE(words.find("20 flops by convention"), std::string::npos) << words;
    EXPECT_NE(words.find("at least 13 instructions"), std::string::npos) << words;
    EXPECT_NE(words.find(": 65 % of the instructions at the ceiling"), std::string::npos) << words;
}

TEST(Roofline, TooltipOfAKernelWithoutFlopsSaysSo) {
    EXPECT_EQ(roofline_words(timed("picture", {.bytes = 5e8}), round_ceilings()),
              "picture\n500 GB/s, 50 % of the copy bandwidth\nIts flops are not counted.");
}

bool meet(const Box& a, const Box& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

TEST(PlaceLabels, TakesTheFirstFreeSideWithoutOverlap) {
    const Box area{0, 0, 200, 100};
    const std::vector<Box> sizes(3, Box{0, 0, 60, 12});
    // The second one's right side is taken by the third point, the third stands at the edge.
    const std::vector<Box> points{{20, 20, 8, 8}, {100, 60, 8, 8}, {185, 60, 8, 8}};
    const auto labels = place_labels(points, sizes, area, {}, 4);
    ASSERT_TRUE(labels[0] && labels[1]);
    EXPECT_EQ(labels[0]->x, 32);
    EXPECT_EQ(labels[0]->y, 18);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (!labels[i]) continue;
        for (const Box& point : points) EXPECT_FALSE(meet(*labels[i], point));
        for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(labels[j] && meet(*labels[i], *labels[j]));
    }
}

// A name too wide for either side moves along the edge, above the point.
TEST(PlaceLabels, AtAnEdgeTakesTheSideAboveOrBelow) {
    const std::vector<Box> point{{4, 40, 8, 8}}, size{{0, 0, 60, 12}};
    const auto label = place_labels(point, size, {0, 0, 70, 80}, {}, 4)[0];
    ASSERT_TRUE(label);
    EXPECT_EQ(label->x, 0);
    EXPECT_EQ(label->y, 24);
}

TEST(PlaceLabels, LabelsWithoutRoomAreLeftOut) {
    const std::vector<Box> point{{20, 20, 8, 8}}, size{{0, 0, 60, 12}};
    EXPECT_FALSE(place_labels(point, size, {0, 0, 50, 50}, {}, 4)[0]);
    EXPECT_FALSE(place_labels(point, size, {0, 0, 200, 100}, {{0, 0, 200, 100}}, 4)[0]);
    EXPECT_TRUE(place_labels(point, size, {0, 0, 200, 100}, {}, 4)[0]);
}

}  // namespace
}  // namespace warpscope::ui
