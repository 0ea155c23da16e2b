#include "experiments/measure/kernel_figures.h"

#include <gtest/gtest.h>

namespace warpscope::experiments {
namespace {

using emulator::HeatArray;
using emulator::HeatFigure;
using emulator::KernelHeat;

HeatArray example() {
    HeatArray array{.name = "", .shared = false, .begin = 4096, .bytes = 400, .parameter = 1};
    array.counts[std::size_t(HeatFigure::reads)].add(10, 20, 3);
    array.counts[std::size_t(HeatFigure::reads)].add(15, 1, 4);
    array.counts[std::size_t(HeatFigure::writes)].add(40, 2, 1);
    return array;
}

TEST(HeatRuns, JoinNeighboursWithEqualCounts) {
    const std::vector<HeatRun> runs = heat_runs(example());
    ASSERT_EQ(runs.size(), 4u);
    EXPECT_EQ(runs[0].first, 10u);
    EXPECT_EQ(runs[0].words, 5u);
    EXPECT_EQ(runs[1].first, 15u);
    EXPECT_EQ(runs[1].count(HeatFigure::reads), 7u);
    EXPECT_EQ(runs[2].words, 14u);
    EXPECT_EQ(runs[3].count(HeatFigure::writes), 1u);
    EXPECT_EQ(heat_total(runs, HeatFigure::reads), 64u);
    EXPECT_EQ(heat_total(runs, HeatFigure::writes), 2u);

    const std::vector<HeatRun> sorted = hottest(runs, HeatFigure::reads);
    ASSERT_EQ(sorted.size(), 3u) << "a run without reads is left out";
    EXPECT_EQ(sorted[0].first, 15u);
    EXPECT_EQ(sorted[1].first, 10u);
    EXPECT_EQ(sorted[2].first, 16u);
}

TEST(HeatWords, HaveRacesOnlyWhereTheRaceCheckRan) {
    KernelHeat kernel;
    const auto names = [&] {
        std::string all;
        for (const auto& word : heat_words(kernel)) all += std::string(word.name) + " ";
        return all;
    };
    EXPECT_EQ(names(), "reads writes atomics conflicts ");
    kernel.has_races = true;
    EXPECT_EQ(names(), "reads writes atomics races conflicts ");
}

TEST(HeatName, IsThatOfTheParameterInTheSource) {
    KernelHeat kernel;
    kernel.kernel = "dot_book";
    kernel.file = "kernels/dot.cu";
    HeatArray array = example();
    EXPECT_EQ(heat_name(kernel, array, {}), "b");
    array.parameter = 7;
    EXPECT_EQ(heat_name(kernel, array, {}), "parameter 8") << "the kernel has 4";
    array.parameter = -1;
    EXPECT_EQ(heat_name(kernel, array, {}), "400 bytes");
    array.name = "cache";
    EXPECT_EQ(heat_name(kernel, array, {}), "cache");
}

// The names of an edit's kernels differ in its source and in its PTX.
TEST(HeatName, ComesFromTheSourceOfAnEdit) {
    const auto edit = std::make_shared<compute::KernelEdit>();
    edit->from = "mine.cu";
    edit->source = "template <class T> __global__ void scale(T* in, T* out) {}";
    edit->names = {{"_Z5scaleIfEvPT_S1_", "scale<float>"}};
    KernelHeat kernel;
    kernel.kernel = "_Z5scaleIfEvPT_S1_";
    kernel.file = "mine.cu";
    EXPECT_EQ(heat_name(kernel, example(), {{"mine", edit}}), "out");
}

}  // namespace
}  // namespace warpscope::experiments
