#include "experiments/sums/dot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compute/device/kernel_files.h"
#include "compute/pick_device.h"
#include "experiments/framework/cuda_source.h"
#include "experiments/framework/experiment.h"
#include "experiments/settings.h"
#include "experiments/sums/sums.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using compute::DevicePointer;
using tests::reading;
using tests::set;
using Floats = DevicePointer<float>;
using DotKernel = compute::Kernel<Floats, Floats, Floats, unsigned>;

constexpr int seed_n = 33 * 1024;
constexpr double seed_exact = 25'723'564'731'392.0;

class DotExperiment : public tests::OnDevices {
  protected:
    Dot& dot() {
        if (!dot_) dot_.emplace(device());
        return *dot_;
    }

    /// The kernel over the book's vectors, 32 blocks of 256, with b[changed] = 0.
    double run(DotKernel kernel, int changed = -1) {
        std::vector<float> a(seed_n), b(seed_n);
        for (int i = 0; i < seed_n; ++i) {
            a[std::size_t(i)] = float(i);
            b[std::size_t(i)] = i == changed ? 0.0f : 2.0f * float(i);
        }
        compute::Buffer<float> x(device(), a), y(device(), b), partial(device(), 32);
        device().launch(kernel, {.grid = {32}, .block = {256}}, {}, x.pointer(), y.pointer(),
                        partial.pointer(), unsigned(seed_n));
        double sum = 0;
        for (const float value : partial.download()) sum += double(value);
        return sum;
    }
    DotKernel kernel(std::string_view name) {
        const bool ladder = name == "dot_shuffle" || name == "dot_vectorized";
        return device().kernel<Floats, Floats, Floats, unsigned>(ladder ? "dot_ladder" : "dot",
                                                                 name);
    }

  private:
    std::optional<Dot> dot_;
};
WARPSCOPE_ON_DEVICES(DotExperiment);

TEST_P(DotExperiment, FindsTheBooksValue) {
    const Report report = dot().report();
    EXPECT_EQ(reading(report, "exact").value, seed_exact);
    EXPECT_NEAR(reading(report, "value").value, seed_exact, seed_exact * 1e-6);
    EXPECT_LT(reading(report, "relative_error").value, 1e-6);
    EXPECT_EQ(reading(report, "relative_error").verdict, Verdict::pass);
    EXPECT_EQ(reading(report, "wrong_launches").value, 0);
}

TEST(DotParameters, SayWhichBarriersTheKernelIsCompiledWith) {
    DotParameters chosen;
    const auto barriers = [&](const std::string& kernel) {
        chosen.kernel.parse(kernel);
        return std::pair(chosen.has_barrier_if("first_barrier"),
                         chosen.has_barrier_if("loop_barrier"));
    };
    EXPECT_EQ(barriers("no_first_barrier"), std::pair(false, true));
    EXPECT_EQ(barriers("no_loop_barrier"), std::pair(true, false));
    EXPECT_EQ(barriers("no_barriers"), std::pair(false, false));
    EXPECT_TRUE(chosen.has_barrier_if("anything_else"));
}

TEST_P(DotExperiment, AnyLengthAndBlockSizeIsRight) {
    set(dot(), {{"launches", "1"}});
    for (const char* kernel : {"book", "shuffle", "vectorized", "single_pass"})
        for (const int block : {1, 2, 31, 32, 33, 100, 256, 400, 1024})
            for (const int n : {1, 2, 3, 4, 31, 32, 33, 255, 256, 257, 1025, 4099, seed_n}) {
                set(dot(), {{"kernel", kernel},
                            {"n", std::to_string(n)},
                            {"block", std::to_string(block)}});
                const Report report = dot().report();
                const double exact = double(n - 1) * n * (2.0 * n - 1) / 3;
                EXPECT_EQ(reading(report, "exact").value, exact) << n;
                EXPECT_EQ(reading(report, "relative_error").verdict, Verdict::pass)
                    << kernel << ", " << n << " in blocks of " << block << ": "
                    << reading(report, "value").value << " instead of " << exact;
            }
}

TEST_P(DotExperiment, ASinglePassGivesEqualSumsInEveryLaunch) {
    set(dot(), {{"kernel", "single_pass"}, {"launches", "1"}, {"n", "1000003"}});
    const double first = reading(dot().report(), "value").value;
    for (int launch = 0; launch < 10; ++launch) {
        dot().step();
        EXPECT_EQ(reading(dot().report(), "value").value, first);
    }
}

TEST_P(DotExperiment, ASinglePassIsOneLaunch) {
    set(dot(), {{"kernel", "single_pass"}, {"launches", "5"}});
    device().synchronize();
    device().timings().clear();
    EXPECT_EQ(reading(dot().report(), "wrong_launches").value, 0);
    device().synchronize();
    ASSERT_EQ(device().timings().kernels().size(), 1U);
    EXPECT_EQ(device().timings().kernels()[0].name, "dot_single_pass");
    EXPECT_EQ(device().timings().kernels()[0].launches, 5U);
}

TEST_P(DotExperiment, SumsOfSmallWholeNumbersAreExact) {
    set(dot(), {{"launches", "1"}, {"n", "200"}});
    for (const char* block : {"1", "7", "33", "64", "100", "200", "256"})
        for (const char* kernel :
             {"book", "divergent", "divergent_bounded", "shuffle", "vectorized", "single_pass"}) {
            set(dot(), {{"block", block}, {"kernel", kernel}, {"hold", "10"}});
            EXPECT_EQ(reading(dot().report(), "value").value, 199.0 * 200 * 399 / 3)
                << kernel << ' ' << block;
        }
}

TEST_P(DotExperiment, TheExactValueIsThatOfTheFloats) {
    // Beyond 2^24 not every i is a float: 2^24 + 1 is held as 2^24, 2^24 + 3 as 2^24 + 4.
    const auto exact = [&](int n) {
        set(dot(), {{"launches", "1"}, {"n", std::to_string(n)}});
        return reading(dot().report(), "exact").value;
    };
    const double before = exact((1 << 24) + 1);
    const double held = 0x1p24;
    EXPECT_NEAR(exact((1 << 24) + 2) - before, 2 * held * held, 1e7);
}

TEST_P(DotExperiment, WithoutBarriersSumsAreWrong) {
    set(dot(), {{"kernel", "no_barriers"}});
    const Report report = dot().report();
    EXPECT_GT(reading(report, "wrong_launches").value, 0);
    EXPECT_EQ(reading(report, "relative_error").verdict, Verdict::finding);
    EXPECT_FALSE(has_failure(report));
}

TEST_P(DotExperiment, TheDivergentBarrierEndsWithTheRightSum) {
    for (const char* kernel : {"divergent", "divergent_bounded"})
        for (const char* block : {"256", "100", "33"}) {
            set(dot(), {{"kernel", kernel}, {"block", block}, {"launches", "3"}});
            const Report report = dot().report();
            EXPECT_EQ(reading(report, "wrong_launches").value, 0) << kernel;
            EXPECT_EQ(reading(report, "wrong_launches").verdict, Verdict::unproven);
            EXPECT_EQ(reading(report, "relative_error").verdict, Verdict::unproven);
        }
}

TEST_P(DotExperiment, TheBarrierWaitsForThreadsThatSkipItAndContinue) {
    set(dot(), {{"kernel", "divergent_bounded"}, {"launches", "1"}, {"hold", "0"}});
    const double none = reading(dot().report(), "waited").value;
    set(dot(), {{"hold", "200000"}});
    const double some = reading(dot().report(), "waited").value;
    EXPECT_LT(none, 100000);
    EXPECT_GT(some, 200000);
}

TEST_P(DotExperiment, MeasuresWhatTheBarriersOfThisDeviceDo) {
    set(dot(), {{"hold", "100000"}, {"launches", "3"}});
    const double value = reading(dot().report(), "value").value;
    const Report report = dot().measure_barriers().value();
    const Reading& ended = reading(report, "ended_threads");
    EXPECT_LT(ended.value, 1e-6) << "the right sum";
    EXPECT_NE(ended.sentence.english().find("with the right sum"), std::string::npos)
        << ended.sentence.english();
    const Reading& waited = reading(report, "waited");
    EXPECT_GE(waited.value, 100'000);
    // 8 steps, each for one thread's life; on the emulator others begin theirs meanwhile.
    EXPECT_LT(waited.value, GetParam() == "cuda" ? 8 * 110'000 : 16 * 100'000);
    const std::string start =
        GetParam() == "cuda" ? "On " + device().info().name : "Under Volta rules";
    for (const Reading& r : report)
        EXPECT_TRUE(r.sentence.english().starts_with(start)) << r.sentence.english();
    EXPECT_NE(waited.sentence.english().find("waits for every thread"), std::string::npos);
    EXPECT_EQ(reading(dot().report(), "value").value, value) << "the newest launches are unchanged";
    EXPECT_EQ(reading(dot().report(), "wrong_launches").value, 0);
}

TEST(DotBarriers, BeforeVoltaWarpsAreWaitedFor) {
    const auto device = compute::pick_device("emulator");
    device->set({.barriers = compute::BarrierPolicy::before_volta});
    Dot dot(*device);
    set(dot, {{"block", "64"}, {"n", "64"}, {"hold", "10000"}});
    const Report report = dot.measure_barriers().value();
    const Reading& waited = reading(report, "waited");
    EXPECT_GE(waited.value, 10000);
    EXPECT_NE(waited.sentence.english().find("waits for every warp"), std::string::npos)
        << waited.sentence.english();
}

TEST(DotBarriers, BeforeVoltaLanesOfOneWarpAreNotWaitedFor) {
    const auto waited = [](compute::BarrierPolicy policy) {
        const auto device = compute::pick_device("emulator");
        device->set({.schedule = compute::Schedule::run_to_barrier, .barriers = policy});
        Dot dot(*device);
        // One block of one warp: the threads that skip the barrier are in the warp that waits.
        set(dot, {{"block", "32"}, {"n", "32"}, {"hold", "10000"}});
        const Report report = dot.measure_barriers().value();
        EXPECT_LT(reading(report, "ended_threads").value, 1e-6);
        return reading(report, "waited");
    };
    EXPECT_GE(waited(compute::BarrierPolicy::volta).value, 10'000);
    EXPECT_LT(waited(compute::BarrierPolicy::before_volta).value, 1'000);
    EXPECT_NE(waited(compute::BarrierPolicy::before_volta).sentence.english().find("did not wait"),
              std::string::npos);
    EXPECT_THROW(waited(compute::BarrierPolicy::strict), compute::DeviceError);
}

TEST_P(DotExperiment, EveryFrameIsALaunch) {
    set(dot(), {{"launches", "2"}});
    dot().report();
    const auto launches = [&] {
        device().synchronize();
        return device().timings().find("dot_book")->launches;
    };
    const auto before = launches();
    dot().step();
    dot().step();
    dot().step();
    dot().report();
    EXPECT_EQ(launches(), before + 3);
    EXPECT_EQ(dot().frame(), 3u);
}

TEST_P(DotExperiment, VectorsLargerThanTheMemoryAreAnErrorAndChangeNothing) {
    EXPECT_THROW(set(dot(), {{"n", "268435457"}}), ParameterError);
    EXPECT_THROW(set(dot(), {{"n", "0"}}), ParameterError);
    EXPECT_THROW(set(dot(), {{"block", "1025"}}), ParameterError);
    EXPECT_THROW(set(dot(), {{"kernel", "bok"}}), ParameterError);
    EXPECT_EQ(reading(dot().report(), "exact").value, seed_exact);
    EXPECT_THROW(require_memory(device(), std::int64_t(1) << 50, 8), compute::DeviceError);
}

TEST_P(DotExperiment, ComparesTheKernels) {
    const Comparison comparison = dot().compare().value();
    ASSERT_GE(comparison.rows.size(), 9u);
    for (std::size_t i = 6; i < comparison.rows.size(); ++i) {
        const Comparison::Row& row = comparison.rows[i];
        EXPECT_EQ(row.verdict, Verdict::pass) << row.id;
        EXPECT_LT(row.error, 1e-6) << row.id;
        EXPECT_GE(row.p99_ms, row.median_ms) << row.id;
    }
    EXPECT_EQ(comparison.rows[8].id, "single_pass");
    EXPECT_EQ(comparison.rows[0].id, "book");
    EXPECT_EQ(comparison.rows[0].verdict, Verdict::pass);
    EXPECT_GT(comparison.rows[3].error, 1e-6) << "no_barriers";
    for (const Comparison::Row& row : comparison.rows) EXPECT_GT(row.median_ms, 0) << row.id;
    EXPECT_EQ(reading(dot().report(), "relative_error").verdict, Verdict::pass);
}

// Mutations that the error bound of the book's size must notice: 5 products a thread and 8 steps.
TEST_P(DotExperiment, TheBoundIsTightEnough) {
    const double bound = float_error_bound(13) * seed_exact;
    EXPECT_LE(std::abs(run(kernel("dot_book")) - seed_exact), bound);
    for (const int dropped : {3300, 20000, seed_n - 1})
        EXPECT_GT(std::abs(run(kernel("dot_book"), dropped) - seed_exact), bound)
            << "without element " << dropped;
}

TEST_P(DotExperiment, TheVectorKernelsBoundsAreTightToo) {
    // 32 blocks of 256 threads hold the book's vectors in two tiles each: a product's rounding, 9
    // additions in its thread, 9 in its block.
    const double bound = float_error_bound(1 + 9 + 9) * seed_exact;
    for (const char* name : {"dot_shuffle", "dot_vectorized"}) {
        EXPECT_LE(std::abs(run(kernel(name)) - seed_exact), bound) << name;
        for (const int dropped : {5000, 20000, seed_n - 1})
            EXPECT_GT(std::abs(run(kernel(name), dropped) - seed_exact), bound)
                << name << " without element " << dropped;
    }
}

TEST_P(DotExperiment, RemovedBarriersGiveWrongSums) {
    const auto mutant = device().kernel_from_ptx<Floats, Floats, Floats, unsigned>(
        tests::ptx_without("dot", "bar.sync"), "dot_book");
    double worst = 0;
    for (int launch = 0; launch < 20; ++launch)
        worst = std::max(worst, std::abs(run(mutant) - seed_exact));
    EXPECT_GT(worst, float_error_bound(13) * seed_exact);
}

TEST(DotSentences, NameTheLinesOfBarriers) {
    const auto device = compute::pick_device("emulator");
    Dot dot(*device);
    for (const char* kernel :
         {"no_first_barrier", "no_loop_barrier", "no_barriers", "divergent", "divergent_bounded"}) {
        set(dot, {{"kernel", kernel}});
        const std::string sentence = reading(dot.report(), "relative_error").sentence;
        const std::size_t colon = sentence.find("dot.cu:");
        ASSERT_NE(colon, std::string::npos) << sentence;
        std::string rest = sentence.substr(colon + 7);
        std::size_t length = 0;
        const int line = std::stoi(rest, &length);
        EXPECT_NE(tests::source_line("dot.cu", line).find("__syncthreads();"), std::string::npos)
            << kernel << ' ' << line;
        if (rest.compare(length, 5, " and ") == 0) {
            const int second = std::stoi(rest.substr(length + 5));
            EXPECT_NE(tests::source_line("dot.cu", second).find("__syncthreads();"),
                      std::string::npos);
        }
    }
}

// a[i] b[i] = 2 i^2 with one element a thread: 0 2 8 18 32 50 72 98.
TEST(DotTree, ShowsTheCacheAtEveryBarrier) {
    const auto device = compute::pick_device("emulator");
    Dot dot(*device);
    set(dot, {{"n", "8"}, {"block", "8"}});
    const Tree* tree = dot.tree();
    ASSERT_NE(tree, nullptr);
    ASSERT_EQ(tree->rows.size(), 4u);
    EXPECT_EQ(tree->title, "cache[] of block 0, kernel dot_book, as the emulator runs it");
    EXPECT_EQ(tree->rows[0].values, (std::vector<float>{0, 2, 8, 18, 32, 50, 72, 98}));
    EXPECT_EQ(tree->rows[1].values, (std::vector<float>{32, 52, 80, 116, 32, 50, 72, 98}));
    EXPECT_EQ(tree->rows[2].values, (std::vector<float>{112, 168, 80, 116, 32, 50, 72, 98}));
    EXPECT_EQ(tree->rows[3].values, (std::vector<float>{280, 168, 80, 116, 32, 50, 72, 98}));
    EXPECT_EQ(tree->rows[0].active, std::vector<bool>(8, true));
    EXPECT_EQ(tree->rows[2].active,
              (std::vector<bool>{true, true, false, false, false, false, false, false}));
    EXPECT_EQ(tree->rows[3].edges, (std::vector<std::pair<unsigned, unsigned>>{{0, 0}, {1, 0}}));
    const std::vector<int> barriers =
        barrier_lines(compute::kernel_source("kernels/dot.cu"), "dot_book");
    ASSERT_EQ(barriers.size(), 2u);
    EXPECT_EQ(tree->rows[0].label, fmt::format("barrier 1, dot.cu:{}", barriers[0]));
    EXPECT_EQ(tree->rows[1].label, fmt::format("barrier 2, dot.cu:{}", barriers[1]));

    set(dot, {{"block", "5"}, {"n", "5"}});
    tree = dot.tree();
    ASSERT_EQ(tree->rows.size(), 4u);
    EXPECT_EQ(tree->rows[1].values, (std::vector<float>{18, 34, 8, 18, 32}));
    EXPECT_EQ(tree->rows[3].values[0], 60);
}

// 64 products of one element each. Without barriers the first pass adds the products of warp 1.
TEST(DotTree, WithoutBarriersHasARowForEachPassAndMarksTheReadsThatRace) {
    for (const auto& [schedule, sum] : {std::pair{compute::Schedule::run_to_barrier, 2.F},
                                        {compute::Schedule::reverse, 2.F + 2 * 33 * 33}}) {
        const auto device = compute::pick_device("emulator");
        device->set({.schedule = schedule});
        Dot dot(*device);
        set(dot, {{"n", "64"}, {"block", "64"}, {"kernel", "no_barriers"}});
        const Tree& tree = *dot.tree();
        ASSERT_EQ(tree.rows.size(), 7U) << "the stores and six passes";
        EXPECT_NE(tree.title.english().find("by pass; red reads race"), std::string::npos)
            << tree.title.english();
        EXPECT_TRUE(tree.rows[0].label.english().starts_with("stores, dot.cu:"))
            << tree.rows[0].label.english();
        EXPECT_TRUE(tree.rows[6].label.english().starts_with("pass 6, dot.cu:"))
            << tree.rows[6].label.english();
        EXPECT_EQ(tree.rows[0].values[33], 2 * 33 * 33);
        EXPECT_EQ(tree.rows[1].values[1], sum) << "warp 0 reads before or after warp 1 writes";
        for (std::size_t r = 0; r < tree.rows.size(); ++r) {
            const Tree::Row& row = tree.rows[r];
            ASSERT_EQ(row.racing.size(), row.edges.size());
            EXPECT_EQ(std::count(row.racing.begin(), row.racing.end(), true), r == 1 ? 32 : 0);
            for (std::size_t i = 0; i < row.edges.size(); ++i) {
                const auto [from, to] = row.edges[i];
                EXPECT_EQ(row.racing[i], r == 1 && from == to + 32) << from << " to " << to;
            }
        }
    }
}

TEST(DotTree, WithoutTheLoopsBarrierMarksReadsOfOtherWarpsInLaterPasses) {
    const auto device = compute::pick_device("emulator");
    Dot dot(*device);
    set(dot, {{"n", "128"}, {"block", "128"}, {"kernel", "no_loop_barrier"}});
    const Tree& tree = *dot.tree();
    ASSERT_EQ(tree.rows.size(), 8U) << "the stores and seven passes";
    const auto races = [&](std::size_t r) {
        return std::count(tree.rows[r].racing.begin(), tree.rows[r].racing.end(), true);
    };
    // A barrier lies before pass 1; pass 2 reads what warp 1 stored in pass 1.
    EXPECT_EQ(races(1), 0);
    EXPECT_EQ(races(2), 32);
    EXPECT_EQ(races(3), 0) << "within warp 0";
}

}  // namespace
}  // namespace warpscope::experiments
