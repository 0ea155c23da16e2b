#include "experiments/measure/user_paths.h"

#include <gtest/gtest.h>

namespace warpscope::experiments {
namespace {

compute::KernelEdits edits() {
    compute::KernelEdit edit{.file = "launch/mine", .from = "../my.cu"};
    edit.names = {{"_Z6mirrorPi", "mirror"}};
    edit.headers = {{"<tile.h>", "../tile.h"}, {"<a/tile.h>", "../a/tile.h"}};
    return {{edit.file, std::make_shared<const compute::KernelEdit>(edit)}};
}

TEST(SourceNames, AreThePathsThatTheUserGave) {
    EXPECT_EQ(as_named(std::string("<tile.h>:4 (called at <a/tile.h>:5, in _Z6mirrorPi, tile.h)"),
                       edits()),
              "../tile.h:4 (called at ../a/tile.h:5, in mirror, tile.h)");
}

TEST(SourceNames, OfAProgramAreNotThoseOfTheirCopies) {
    compute::KernelEdits all = edits();
    compute::KernelEdit copy = *all.begin()->second;
    copy.copies = "/cache/programs/steps/sources/0123456789abcdef/";
    copy.from = copy.copies + "src/steps.cu";
    copy.headers = {{"<tile.h>", copy.copies + "tile.h"}};
    all.begin()->second = std::make_shared<const compute::KernelEdit>(copy);
    EXPECT_EQ(as_shown("<tile.h>:4 (called at kernels/launch/mine.cu:9)", all),
              "tile.h:4 (called at src/steps.cu:9)");
}

TEST(SourceNames, OfAFindingAreThoseOfBothAccesses) {
    emulator::Finding f;
    f.kernel = "_Z6mirrorPi";
    f.first = {"kernels/launch/mine.cu", 6, {}, {}, {{"<tile.h>", 4, false}}};
    f.second = {"kernels/launch/mine.cu", 7, {}, {}, {{"cuda/x.cuh", 9, true}}};
    f.sentence = f.first.where() + " and " + f.second->where_in_full();
    const emulator::Finding named = as_named(std::vector{f}, edits()).front();
    EXPECT_EQ(named.kernel, "mirror");
    EXPECT_EQ(named.sentence,
              "../tile.h:4 (called at ../my.cu:6) and ../my.cu:7 (in the toolkit's x.cuh:9)");
    EXPECT_EQ(named.first.where(), "../tile.h:4 (called at ../my.cu:6)");
    EXPECT_EQ(named.second->where_in_full(), "../my.cu:7 (in the toolkit's x.cuh:9)");
}

}  // namespace
}  // namespace warpscope::experiments
