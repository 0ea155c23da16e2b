#include "experiments/replicas/searches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "experiments/live.h"

namespace warpscope::experiments {
namespace {

using tests::Live;
using Settings = std::vector<Assignment>;

NeededBarriers needed_of(const char* experiment, const Settings& settings) {
    Live live(experiment, settings);
    return find_needed(
        std::make_shared<LaunchState>(live.entry(), live.experiment(), compute::RunSettings()),
        std::chrono::minutes(1));
}

std::size_t count(const std::vector<Dependence>& elements, Dependence what) {
    return std::size_t(std::ranges::count(elements, what));
}

TEST(FindNeeded, EachBarrierOfTheExperimentsIsNeeded) {
    struct Whole {
        const char* experiment;
        Settings settings;
        const char* result;
        std::size_t elements;
    };
    for (const Whole& whole : {Whole{"ripple", {{"size", "64"}}, "pixel", 64 * 64},
                               Whole{"dot", {{"n", "3000"}}, "partial sum", 12},
                               Whole{"reduction", {{"n", "3000"}}, "partial sum", 12},
                               Whole{"nbody", {{"bodies", "512"}}, "body", 512}}) {
        SCOPED_TRACE(whole.experiment);
        const NeededBarriers needed = needed_of(whole.experiment, whole.settings);
        EXPECT_GE(needed.barriers.size(), 1u);
        ASSERT_EQ(needed.results.size(), 1u);
        EXPECT_EQ(needed.results[0].name, whole.result);
        EXPECT_EQ(needed.results[0].is_picture, std::string(whole.result) == "pixel");
        for (const auto& barrier : needed.barriers) {
            EXPECT_TRUE(barrier.is_needed) << barrier.finding.sentence.english();
            ASSERT_EQ(barrier.elements.size(), 1u);
            EXPECT_EQ(barrier.elements[0].size(), whole.elements);
            EXPECT_GT(count(barrier.elements[0], Dependence::depends), 0u);
            EXPECT_LE(count(barrier.elements[0], Dependence::depends), barrier.finding.count);
        }
    }
}

// Both waits of the kernel are in one function, at one line. Without the second one a block reads
// the shared memory of a block that has ended.
TEST(FindNeeded, TheBarrierOfAClusterIsTakenOutToo) {
    const NeededBarriers needed = needed_of("ripple", {{"size", "64"}, {"layout", "cluster"}});
    ASSERT_EQ(needed.barriers.size(), 1u);
    EXPECT_TRUE(needed.barriers[0].is_needed);
    EXPECT_TRUE(needed.barriers[0].finding.sentence.english().starts_with(
        "It is needed: without it the launch fails: kernel ripple_cluster"))
        << needed.barriers[0].finding.sentence.english();
}

// Above the diagonal the kernel shows what it has read from the tile, below what it computes.
TEST(FindNeeded, ThePixelsOfTheTransposedPictureThatAreReadFromTheTileDependOnItsBarrier) {
    const NeededBarriers needed = needed_of("transpose", {});
    ASSERT_EQ(needed.barriers.size(), 1u);
    ASSERT_EQ(needed.results.size(), 1u);
    const std::vector<std::size_t>& shape = needed.results[0].values.shape;
    const auto& elements = needed.barriers[0].elements.at(0);
    std::size_t above = 0, examined = 0;
    for (std::size_t k = 0; k < elements.size(); ++k) {
        if (elements[k] == Dependence::unknown) continue;
        const std::size_t x = k % shape[1], y = k / shape[1];
        if (x <= y) {
            EXPECT_EQ(elements[k], Dependence::none) << x << " " << y;
            continue;
        }
        ++examined;
        above += elements[k] == Dependence::depends;
    }
    EXPECT_GT(above, examined * 8 / 10);
    EXPECT_EQ(above, needed.barriers[0].finding.count);
}

TEST(FindNeeded, TheBodiesAreWhereThePictureShowsThem) {
    const NeededBarriers needed = needed_of("nbody", {{"bodies", "512"}});
    ASSERT_TRUE(needed.places);
    Live live("nbody", {{"bodies", "512"}});
    Array origin(needed.results[0].values.type, {1});
    const auto middle = needed.places(live.experiment().parameters(), {128, 96}, origin);
    ASSERT_EQ(middle.size(), 1u);
    EXPECT_DOUBLE_EQ(middle[0].x, 64);
    EXPECT_DOUBLE_EQ(middle[0].y, 48);
    const auto places =
        needed.places(live.experiment().parameters(), {128, 96}, needed.results[0].values);
    EXPECT_EQ(places.size(), 512u);
    // A picture of the bodies is light where one of them is.
    const auto picture = live.picture();
    std::size_t light = 0, inside = 0;
    for (const Pointer& at : places) {
        if (!(at.x >= 0 && at.y >= 0 && at.x < 128 && at.y < 96)) continue;
        ++inside;
        const Rgba pixel = picture[std::size_t(at.y) * 128 + std::size_t(at.x)];
        light += pixel.b > 20;
    }
    EXPECT_GT(inside, 300u);
    EXPECT_GT(light, inside * 9 / 10);
}

}  // namespace
}  // namespace warpscope::experiments
