#include "experiments/replicas/wrong_results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "experiments/live.h"

namespace warpscope::experiments {
namespace {

using tests::Live;
using Settings = std::vector<Assignment>;

WrongResults results_of(Live& live) {
    return WrongResults(std::make_shared<const LaunchState>(live.entry(), live.experiment(),
                                                            live.experiment().device().settings()));
}

TEST(WrongResults, AreNoneWhereTheKernelIsRight) {
    for (const auto& [experiment, settings] :
         {std::pair<const char*, Settings>{"ripple", {{"size", "64"}}},
          {"dot", {{"n", "3000"}}},
          {"reduction", {{"n", "3000"}, {"kernel", "reduce0"}}},
          {"pipeline", {{"size", "256"}}},
          {"pipeline", {{"size", "256"}, {"copies", "bulk"}}}}) {
        SCOPED_TRACE(experiment);
        Live live(experiment, settings);
        const WrongResults results = results_of(live);
        ASSERT_EQ(results.results().size(), 1u);
        EXPECT_FALSE(results.first_wrong());
        EXPECT_THROW(results.find("first"), std::invalid_argument);
    }
}

// A thread of the ripple writes cell [x][y] of the tile and reads the opposite one.
TEST(WrongResults, APixelOfTheRippleIsWrongBecauseTheOppositeThreadHasNotWritten) {
    Live live("ripple", {{"size", "64"}, {"sync", "off"}});
    const WrongResults results = results_of(live);
    std::size_t explained = 0;
    for (std::size_t pixel = 0; pixel < 64 * 64; pixel += 37) {
        const unsigned x = pixel % 64, y = unsigned(pixel / 64);
        const ElementPlace place = results.find(std::to_string(x) + "," + std::to_string(y));
        EXPECT_EQ(place.element, pixel);
        if (!results.is_wrong(place)) continue;
        const WrongReason reason = results.why(place);
        SCOPED_TRACE(reason.brief.english());
        ASSERT_TRUE(reason.block);
        EXPECT_EQ(*reason.block, (emulator::Dim3{x / 16, y / 16, 0}));
        const auto at = reason.word->place();
        ASSERT_TRUE(at);
        EXPECT_EQ(at->warp * 32 + at->lane, y % 16 * 16 + x % 16) << "a thread draws its own pixel";
        ASSERT_TRUE(reason.word->writer);
        EXPECT_EQ(reason.word->writer->warp * 32 + reason.word->writer->lane,
                  (15 - y % 16) * 16 + 15 - x % 16);
        ASSERT_TRUE(reason.word->writer->step);
        EXPECT_GT(*reason.word->writer->step, at->step) << "it writes after the read";
        EXPECT_NE(reason.brief.english().find(" read before warp "), std::string::npos);
        // The right slice goes on in the writer; the wrong one ends at the read.
        ASSERT_TRUE(reason.word->right);
        EXPECT_GT(reason.word->right->slice.nodes.size(), reason.word->run.slice.nodes.size());
        EXPECT_FALSE(slice_lines(reason, true).empty());
        ++explained;
    }
    EXPECT_GE(explained, 10u);
}

TEST(WrongResults, ASumOfTheDotProductIsWrongBecauseOfAReadOfTheTree) {
    for (const char* kernel : {"no_first_barrier", "no_loop_barrier", "no_barriers"}) {
        SCOPED_TRACE(kernel);
        Live live("dot", {{"n", "3000"}, {"kernel", kernel}});
        const WrongResults results = results_of(live);
        ASSERT_TRUE(results.first_wrong());
        const WrongReason reason = results.why(results.find("first"));
        EXPECT_TRUE(reason.element.english().starts_with("partial sum["))
            << reason.element.english();
        ASSERT_TRUE(reason.word && reason.word->parting);
        EXPECT_NE(reason.brief.english().find(" read "), std::string::npos)
            << reason.brief.english();
        EXPECT_NE(reason.whole.english().find("kernels/dot.cu:"), std::string::npos)
            << reason.whole.english();
    }
}

TEST(WrongResults, ABodyIsWrongWhereABarrierOfTheTileIsMissing) {
    for (const char* barrier : {"load_barrier", "reuse_barrier"}) {
        SCOPED_TRACE(barrier);
        Live live("nbody", {{"bodies", "512"}, {barrier, "off"}});
        const WrongResults results = results_of(live);
        ASSERT_TRUE(results.first_wrong());
        const WrongReason reason = results.why(results.find("first"));
        EXPECT_TRUE(reason.element.english().starts_with("body[")) << reason.element.english();
        ASSERT_TRUE(reason.word && reason.word->right && reason.word->parting);
        EXPECT_NE(reason.whole.english().find("kernels/nbody.cu:"), std::string::npos)
            << reason.whole.english();
    }
    Live whole("nbody", {{"bodies", "512"}});
    EXPECT_FALSE(results_of(whole).first_wrong());
}

TEST(WrongResults, ATileOfThePipelineIsReadBeforeItsCopyLands) {
    Live live("pipeline", {{"size", "256"}, {"wait", "off"}});
    const WrongResults results = results_of(live);
    const WrongReason reason = results.why(results.find("first"));
    EXPECT_NE(reason.brief.english().find(" read before the copy of thread "), std::string::npos)
        << reason.brief.english();
}

TEST(WrongResults, SayWhichElementsCanBeNamed) {
    Live live("ripple", {{"size", "64"}});
    const WrongResults results = results_of(live);
    EXPECT_EQ(results.find("63,1").element, 64u + 63u);
    for (const char* unknown : {"64,0", "1", "x", "y[1]", ""}) {
        SCOPED_TRACE(unknown);
        EXPECT_THROW(results.find(unknown), std::invalid_argument);
    }
    const WrongReason right = results.why(results.find("3,4"));
    EXPECT_TRUE(right.brief.english().starts_with("pixel (3, 4) is right"))
        << right.brief.english();
}

}  // namespace
}  // namespace warpscope::experiments
