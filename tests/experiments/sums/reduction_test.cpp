#include "experiments/sums/reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "compute/pick_device.h"
#include "experiments/settings.h"
#include "experiments/sums/sums.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using compute::DevicePointer;
using tests::reading;
using tests::set;
using Floats = DevicePointer<float>;
using PartialSum = compute::Kernel<Floats, Floats, unsigned>;
using Ticket = DevicePointer<unsigned>;
using WholeSum = compute::Kernel<Floats, Floats, unsigned, Floats, Ticket>;

const std::vector<const char*> kernels{"sum_within_block", "reduce0", "reduce_sequential",
                                       "reduce_first_add", "reduce_shuffle"};
const std::vector<const char*> variants{"sum_within_block", "reduce0",    "sequential", "first_add",
                                        "shuffle",          "vectorized", "single_pass"};
std::string_view file_of(std::string_view kernel) {
    return kernel == "sum_within_block" || kernel == "reduce0" ? "reduce" : "reduce_ladder";
}

const std::vector<unsigned> blocks{1, 2, 31, 32, 33, 100, 256, 400, 1023, 1024};

class ReductionExperiment : public tests::OnDevices {
  protected:
    Reduction& reduction() {
        if (!reduction_) reduction_.emplace(device());
        return *reduction_;
    }

    PartialSum kernel(const char* name) {
        return device().kernel<Floats, Floats, unsigned>(file_of(name), name);
    }

    /// Partial sums of blocks whose threads take `share` elements each. One more value stays NaN.
    std::vector<float> run(PartialSum kernel, std::span<const float> input, unsigned block,
                           unsigned share) {
        const unsigned grid = unsigned((input.size() + block * share - 1) / (block * share));
        compute::Buffer<float> values(device(), input), partials(device(), grid + 1);
        partials.fill(0xff);
        device().launch(kernel,
                        {.grid = {grid}, .block = {block}, .dynamic_shared_bytes = block * 4}, {},
                        values.pointer(), partials.pointer(), unsigned(input.size()));
        std::vector<float> sums = partials.download();
        EXPECT_TRUE(std::isnan(sums.back())) << "stores beyond its blocks";
        sums.pop_back();
        return sums;
    }

    /// Results of `launches` single passes in a row. The ticket is zeroed before the first only.
    std::vector<float> single_passes(std::span<const float> input, unsigned grid, unsigned block,
                                     int launches) {
        const WholeSum kernel = device().kernel<Floats, Floats, unsigned, Floats, Ticket>(
            "reduce_ladder", "reduce_single_pass");
        compute::Buffer<float> values(device(), input), sums(device(), grid + 1),
            totals(device(), std::size_t(launches));
        compute::Buffer<unsigned> ticket(device(), 1);
        sums.fill(0xff);
        totals.fill(0xff);
        ticket.fill(0);
        for (int i = 0; i < launches; ++i)
            device().launch(kernel, {.grid = {grid}, .block = {block}}, {}, values.pointer(),
                            sums.pointer(), unsigned(input.size()),
                            totals.pointer() + std::size_t(i), ticket.pointer());
        EXPECT_TRUE(std::isnan(sums.download().back())) << "stores beyond its blocks";
        EXPECT_EQ(ticket.download()[0], 0U);
        return totals.download();
    }

  private:
    std::optional<Reduction> reduction_;
};
WARPSCOPE_ON_DEVICES(ReductionExperiment);

// Sizes with every n % 4, with a partial last tile, and with blocks that have no elements.
TEST_P(ReductionExperiment, VectorKernelsAreExactForAnySize) {
    for (const unsigned block : {32U, 64U, 96U, 256U, 416U, 1024U})
        for (const unsigned grid : {1U, 3U, 8U})
            for (const unsigned n :
                 {1U, 2U, 3U, 4U, 5U, 15U, 16U, 17U, 515U, 2049U, 4096U, 4099U}) {
                std::vector<float> input(n);
                std::iota(input.begin(), input.end(), 1.0F);
                const float expected = float(n) * float(n + 1) / 2;
                compute::Buffer<float> values(device(), input), sums(device(), grid + 1);
                sums.fill(0xff);
                device().launch(kernel("reduce_vectorized"), {.grid = {grid}, .block = {block}}, {},
                                values.pointer(), sums.pointer(), n);
                std::vector<float> partials = sums.download();
                EXPECT_TRUE(std::isnan(partials.back())) << "stores beyond its blocks";
                partials.pop_back();
                EXPECT_EQ(std::accumulate(partials.begin(), partials.end(), 0.0F), expected)
                    << n << " in " << grid << " blocks of " << block;
                for (const float total : single_passes(input, grid, block, 2))
                    EXPECT_EQ(total, expected) << n << " in " << grid << " blocks of " << block;
            }
}

TEST_P(ReductionExperiment, ASinglePassGivesEqualSumsInEveryLaunch) {
    std::vector<float> input(100'003);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = reduction_input(i);
    for (const unsigned block : {96U, 256U})
        for (const unsigned grid : {40U, 700U}) {
            const std::vector<float> totals = single_passes(input, grid, block, 12);
            for (const float total : totals) EXPECT_EQ(total, totals[0]);
        }
}

// More blocks than threads, so that each thread of the last one adds up several sums.
TEST_P(ReductionExperiment, EveryBlocksSumIsInASinglePass) {
    constexpr unsigned grid = 700, block = 32;
    std::vector<float> input(std::size_t(16) * block * grid, 0.0F);
    for (const unsigned at : {0U, 1U, 33U, 350U, 698U, 699U}) {
        input[std::size_t(16) * block * at + 5] = 1.0F;
        EXPECT_EQ(single_passes(input, grid, block, 1)[0], 1.0F) << "block " << at;
        input[std::size_t(16) * block * at + 5] = 0.0F;
    }
}

// 1 + 2 + … + n = n (n + 1) / 2, exact in floats below 2^24; each block's sum is checked.
TEST_P(ReductionExperiment, EveryBlockOfEveryKernelIsExact) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const unsigned share = k >= 3 ? 2 : 1;
        for (const unsigned block : blocks)
            for (const unsigned n : {1u, 2u, 31u, 32u, 33u, 255u, 256u, 257u, 2049u}) {
                std::vector<float> input(n);
                std::iota(input.begin(), input.end(), 1.0f);
                const std::vector<float> sums = run(kernel(kernels[k]), input, block, share);
                for (unsigned i = 0; i < sums.size(); ++i) {
                    const double first = double(i) * block * share;
                    const double last = std::min<double>(first + block * share, n);
                    EXPECT_EQ(sums[i], (last * (last + 1) - first * (first + 1)) / 2)
                        << kernels[k] << " block " << i << " of " << block << " threads, n " << n;
                }
            }
    }
}

TEST_P(ReductionExperiment, EveryVariantAgreesWithADoubleSum) {
    for (const char* variant : variants)
        for (const int block : {1, 33, 256, 400, 1024})
            for (const int n : {1, 257, 33 * 1024}) {
                set(reduction(), {{"kernel", variant},
                                  {"n", std::to_string(n)},
                                  {"block", std::to_string(block)}});
                double sum = 0, magnitudes = 0;
                for (int i = n; i-- > 0;) {
                    sum += double(reduction_input(std::uint64_t(i)));
                    magnitudes += std::abs(double(reduction_input(std::uint64_t(i))));
                }
                const Report report = reduction().report();
                EXPECT_NEAR(reading(report, "value").value, sum, 1e-6 * magnitudes) << variant;
                EXPECT_NEAR(reading(report, "value").expected.value(), sum, 1e-12 * magnitudes);
                EXPECT_EQ(reading(report, "relative_error").verdict, Verdict::pass)
                    << variant << ' ' << n << ' ' << block;
                EXPECT_LT(reading(report, "relative_error").value, 1e-6);
            }
}

TEST(ReductionInput, IsCloseToNormal) {
    const int n = 100000;
    double sum = 0, squares = 0;
    int beyond = 0;
    for (int i = 0; i < n; ++i) {
        const double value = double(reduction_input(std::uint64_t(i)));
        sum += value;
        squares += value * value;
        beyond += std::abs(value) > 1;
    }
    EXPECT_NEAR(sum / n, 0, 0.015);
    EXPECT_NEAR(squares / n, 1, 0.02);
    EXPECT_NEAR(double(beyond) / n, 0.3333, 0.03) << "a normal distribution has 0.317";
    EXPECT_NE(reduction_input(0), reduction_input(1));
}

TEST_P(ReductionExperiment, OneWrongElementExceedsTheErrorBound) {
    std::vector<float> input(33 * 1024);
    double sum = 0, magnitudes = 0;
    for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = reduction_input(i);
        sum += double(input[i]);
        magnitudes += std::abs(double(input[i]));
    }
    const auto error = [&](const char* name, unsigned share) {
        double total = 0;
        for (const float partial : run(kernel(name), input, 256, share)) total += double(partial);
        return std::abs(total - sum) / magnitudes;
    };
    const double bound = float_error_bound(10);
    std::vector<double> right, wrong;
    for (std::size_t k = 0; k < kernels.size(); ++k)
        right.push_back(error(kernels[k], k < 3 ? 1 : 2));
    input[20000] += 0.1f;
    for (std::size_t k = 0; k < kernels.size(); ++k)
        wrong.push_back(error(kernels[k], k < 3 ? 1 : 2));
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        EXPECT_LE(right[k], bound) << kernels[k];
        EXPECT_GT(wrong[k], bound) << kernels[k];
    }
}

TEST_P(ReductionExperiment, RemovedBarriersGiveWrongSums) {
    std::vector<float> input(64 * 1024);
    std::iota(input.begin(), input.end(), 0.0f);
    for (float& value : input) value = std::fmod(value, 7.0f);
    for (const char* name : {"sum_within_block", "reduce_sequential"}) {
        const std::string mutated = tests::ptx_without(file_of(name), "bar.sync");
        const std::vector<float> right = run(kernel(name), input, 1024, 1);
        bool noticed = false;
        for (int launch = 0; launch < 20 && !noticed; ++launch)
            noticed = run(device().kernel_from_ptx<Floats, Floats, unsigned>(mutated, name), input,
                          1024, 1) != right;
        EXPECT_TRUE(noticed) << name;
    }
}

TEST_P(ReductionExperiment, ReportsBandwidth) {
    device().synchronize();
    reduction().step();
    device().synchronize();
    const Report report = reduction().report();
    EXPECT_GT(reading(report, "bandwidth").value, 1e6);
    EXPECT_EQ(reading(report, "bandwidth").unit, "B/s");
}

TEST_P(ReductionExperiment, ComparesTheKernels) {
    set(reduction(), {{"n", "100000"}, {"block", "400"}});
    const Comparison comparison = reduction().compare().value();
    // On a GPU also CUB's row, where the library lies beside the program.
    std::vector<std::string> ids(variants.begin(), variants.end());
    const bool gpu = device().info().kind == compute::DeviceKind::cuda;
    if (gpu && comparison.rows.size() != ids.size()) ids.push_back("cub");
    ASSERT_EQ(comparison.rows.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(comparison.rows[i].id, ids[i]);
        EXPECT_EQ(comparison.rows[i].verdict, Verdict::pass) << ids[i];
        EXPECT_GT(comparison.rows[i].rate, 0) << ids[i];
        EXPECT_LT(comparison.rows[i].error, 1e-6) << ids[i];
    }
    EXPECT_EQ(reading(reduction().report(), "relative_error").verdict, Verdict::pass);
}

TEST_P(ReductionExperiment, IllegalValuesChangeNothing) {
    EXPECT_THROW(set(reduction(), {{"n", "5"}, {"block", "0"}}), ParameterError);
    EXPECT_THROW(set(reduction(), {{"n", "268435457"}}), ParameterError);
    EXPECT_EQ(reduction().parameters().find("n").text(), "1048576");
    EXPECT_EQ(reading(reduction().report(), "relative_error").verdict, Verdict::pass);
}

TEST(ReductionTree, InterleavedAndSequential) {
    const auto device = compute::pick_device("emulator");
    Reduction reduction(*device);
    std::vector<float> x(8);
    for (std::size_t i = 0; i < 8; ++i) x[i] = reduction_input(i);

    set(reduction, {{"kernel", "reduce0"}, {"block", "8"}});
    Tree tree = *reduction.tree();
    ASSERT_EQ(tree.rows.size(), 4u);
    EXPECT_EQ(tree.rows[0].values, x);
    EXPECT_EQ(tree.rows[1].values, (std::vector<float>{x[0] + x[1], x[1], x[2] + x[3], x[3],
                                                       x[4] + x[5], x[5], x[6] + x[7], x[7]}));
    EXPECT_EQ(tree.rows[2].active,
              (std::vector<bool>{true, false, false, false, true, false, false, false}));
    EXPECT_EQ(tree.rows[3].edges, (std::vector<std::pair<unsigned, unsigned>>{{0, 0}, {4, 0}}));
    EXPECT_EQ(tree.rows[3].values[0],
              ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7])));

    set(reduction, {{"kernel", "sequential"}});
    tree = *reduction.tree();
    EXPECT_EQ(tree.rows[1].values, (std::vector<float>{x[0] + x[4], x[1] + x[5], x[2] + x[6],
                                                       x[3] + x[7], x[4], x[5], x[6], x[7]}));
    set(reduction, {{"kernel", "first_add"}, {"block", "4"}});
    EXPECT_EQ(reduction.tree()->rows[0].values,
              (std::vector<float>{x[0] + x[4], x[1] + x[5], x[2] + x[6], x[3] + x[7]}));

    set(reduction, {{"kernel", "shuffle"}, {"block", "100"}});
    tree = *reduction.tree();
    ASSERT_EQ(tree.rows.size(), 1u) << "one barrier in all";
    EXPECT_EQ(tree.rows[0].values.size(), 4u) << "a sum for each warp";
    EXPECT_EQ(tree.rows[0].active, std::vector<bool>(4, true));

    for (const char* kernel : {"vectorized", "single_pass"}) {
        set(reduction, {{"kernel", kernel}});
        tree = *reduction.tree();
        ASSERT_GE(tree.rows.size(), 1u);
        ASSERT_EQ(tree.rows[0].values.size(), 4u);
        EXPECT_EQ(tree.rows[0].active, std::vector<bool>(4, true));
        double sum = 0, expected = 0;
        for (const float value : tree.rows[0].values) sum += double(value);
        for (std::uint64_t i = 0; i < 1600; ++i) expected += double(reduction_input(i));
        EXPECT_NEAR(sum, expected, 1e-3) << "16 elements a thread";
    }
}

}  // namespace
}  // namespace warpscope::experiments
