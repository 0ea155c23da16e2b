#include "compute/ceilings.h"

#include <gtest/gtest.h>

#include <numeric>

#include "compute/pick_device.h"
#include "support/devices.h"

namespace warpscope::compute {
namespace {

class CeilingKernels : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(CeilingKernels);

struct alignas(16) Word16 {
    std::uint32_t part[4];
    bool operator==(const Word16&) const = default;
};

std::vector<Word16> numbered(std::uint32_t count) {
    std::vector<Word16> words(count);
    for (std::uint32_t i = 0; i < count; ++i) words[i] = {{i, i * 7919, ~i, i << 16}};
    return words;
}

// Sizes around the tile of 4 * 64 words, and one that ends within the four words of a thread.
TEST_P(CeilingKernels, CopiesEveryWordAndNoMore) {
    using Words = DevicePointer<Word16>;
    const auto copy = device().kernel<Words, Words, unsigned>("ceilings", "copy16");
    for (const unsigned count : {1u, 255u, 256u, 257u, 1000u}) {
        const auto values = numbered(count);
        const Buffer<Word16> from(device(), values);
        Buffer<Word16> to(device(), count + 3);
        to.fill(0);
        device().launch(copy, {{(count + 255) / 256}, {64}}, {}, to.pointer(), from.pointer(),
                        count);
        auto expected = values;
        expected.resize(count + 3);
        EXPECT_EQ(to.download(), expected) << count;
    }
}

// The ceiling counts these bytes, so they must be read.
TEST_P(CeilingKernels, ReadsEveryWordOnce) {
    const auto read = device().kernel<DevicePointer<unsigned>, DevicePointer<Word16>, unsigned>(
        "ceilings", "read16");
    for (const unsigned count : {1u, 767u, 768u, 5000u}) {
        const auto values = numbered(count);
        const Buffer<Word16> from(device(), values);
        Buffer<unsigned> out(device(), 3 * 64);
        device().launch(read, {{3}, {64}}, {}, out.pointer(), from.pointer(), count);
        unsigned expected = 0, folded = 0;
        for (const Word16& word : values)
            for (const unsigned part : word.part) expected ^= part;
        for (const unsigned part : out.download()) folded ^= part;
        EXPECT_EQ(folded, expected) << count;
    }
}

// x + 1 in each step counts the steps: 256 in a round of 8 chains. The start is 1/2 + ... + 15/16 =
// 23/4.
TEST_P(CeilingKernels, CountOfFusedMultiplyAddsIsExact) {
    const auto chains =
        device().kernel<DevicePointer<float>, float, float, int>("ceilings", "fma_chains");
    Buffer<float> out(device(), 2 * 64);
    const auto sums = [&](float a, float b, int rounds) {
        device().launch(chains, {{2}, {64}}, {}, out.pointer(), a, b, rounds);
        return out.download();
    };
    EXPECT_EQ(sums(1, 1, 0), std::vector<float>(128, 5.75f));
    EXPECT_EQ(sums(1, 1, 3), std::vector<float>(128, 5.75f + 3 * 256));
    // The parameters of the measurement: x -> 1 - x, twice, gives x exactly.
    EXPECT_EQ(sums(-1, 1, 5), std::vector<float>(128, 5.75f));
}

class AnyCeilings : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(AnyCeilings);

TEST_P(AnyCeilings, AreMeasuredOnceAndLeaveTimingsAndSeedsUnchanged) {
    const Ceilings& first = measure_ceilings(device());
    EXPECT_TRUE(device().timings().kernels().empty());
    EXPECT_EQ(&measure_ceilings(device()), &first);
    EXPECT_EQ(known_ceilings(device().info()), &first);
    EXPECT_GT(first.bytes_per_second, 0);
    EXPECT_GT(first.read_bytes_per_second, 0);
    EXPECT_GT(first.flops_per_second, 0);
    EXPECT_GT(first.lone_launch_ms, 0);
}

// The limits of the hardware: each of the 128 lanes of a multiprocessor (64 on compute
// capability 7.5 and 8.0) executes one fused multiply-add in a clock, and no memory is faster than
// 10 TB/s.
TEST(CeilingsOnGpu, cuda_AreWithinTheLimitsOfTheHardware) {
    if (device_choices().size() <= 2) GTEST_SKIP() << "no GPU";
    const auto device = pick_device("cuda");
    const Ceilings& c = measure_ceilings(*device);
    if (!c.gpu) GTEST_SKIP() << "NVML does not know the clocks";
    const DeviceInfo& info = device->info();
    const int lanes = info.compute_capability == 75 || info.compute_capability == 80 ? 64 : 128;
    const double a_megahertz = 1e6 * 2 * lanes * info.multiprocessors;
    EXPECT_LE(c.flops_per_second, 1.01 * a_megahertz * c.gpu->max_sm_clock_mhz);
    EXPECT_GE(c.flops_per_second, 0.9 * a_megahertz * c.gpu->sm_clock_mhz);
    EXPECT_GE(c.read_bytes_per_second, 0.95 * c.bytes_per_second);
    EXPECT_LT(c.read_bytes_per_second, 10e12);
    EXPECT_GT(c.bytes_per_second, 100e9);
    // Either may be longer: both take a few microseconds.
    for (const float launch_ms : {c.lone_launch_ms, c.queued_launch_ms}) {
        EXPECT_GE(launch_ms, c.resolution_ms);
        EXPECT_LT(launch_ms, 0.1f);
    }
}

/// Copies 1 TB/s, reads 1.1 TB/s, computes 20 Tflop/s; launches of 4 and 2 µs; 10 MB of cache.
Ceilings round_ceilings() {
    return {.bytes_per_second = 1e12,
            .read_bytes_per_second = 1.1e12,
            .flops_per_second = 20e12,
            .lone_launch_ms = 0.004f,
            .queued_launch_ms = 0.002f,
            .resolution_ms = 0.0005f,
            .cache_bytes = 10'000'000};
}

KernelTiming timed(const Work& work, float ms) {
    KernelTiming kernel;
    kernel.work = work;
    kernel.launches = 10;
    kernel.recent_ms = std::vector<float>(9, ms);
    return kernel;
}

TEST(CeilingShares, AreComputedForBothCeilingsAndTheLargerIsNamed) {
    // 0.5 TB/s and 2 Tflop/s.
    const CeilingShares memory =
        shares_of(timed({.bytes = 5e8, .flops = 2e9}, 1), round_ceilings());
    EXPECT_DOUBLE_EQ(memory.of_bandwidth, 0.5);
    EXPECT_DOUBLE_EQ(memory.of_fp32, 0.1);
    EXPECT_DOUBLE_EQ(memory.larger(), 0.5);
    EXPECT_EQ(memory.larger_name(), "copy bandwidth");
    const CeilingShares issue =
        shares_of(timed({.bytes = 5e7, .flops = 15e9}, 1), round_ceilings());
    EXPECT_DOUBLE_EQ(issue.larger(), 0.75);
    EXPECT_EQ(issue.larger_name(), "FP32 rate");
}

TEST(CeilingShares, AreZeroForAnUnknownCeiling) {
    const CeilingShares nothing = shares_of(timed({}, 1), round_ceilings());
    EXPECT_EQ(nothing.larger(), 0);
    EXPECT_EQ(nothing.larger_name(), "");
    EXPECT_EQ(shares_of(timed({.bytes = 1, .flops = 1}, 1), {}).larger(), 0);
    EXPECT_EQ(shares_of(KernelTiming{}, round_ceilings()).larger(), 0);
}

TEST(TimingNote, IsEmptyForALongKernelThatExceedsTheCache) {
    const Ceilings c = round_ceilings();
    EXPECT_EQ(timing_note(timed({.bytes = 5e8}, 1), &c), "");
    EXPECT_EQ(timing_note(timed({}, 0.008f), &c), "");
    EXPECT_EQ(timing_note(timed({}, 0.001f), nullptr), "");
}

TEST(TimingNote, WarnsOfTimesBelowTwiceThatOfAnEmptyKernel) {
    const Ceilings c = round_ceilings();
    EXPECT_EQ(timing_note(timed({}, 0.0079f), &c),
              "Too short to be timed alone: an empty kernel takes 4.0 µs (2.0 µs behind other "
              "launches), and events resolve 0.5 µs. Time many launches in a row.");
}

TEST(TimingNote, SaysThatTheOnlyLaunchIsTheFirst) {
    KernelTiming kernel = timed({}, 1);
    kernel.launches = 1;
    EXPECT_EQ(timing_note(kernel, nullptr),
              "One launch so far; its time includes loading the kernel.");
}

TEST(TimingNote, SaysWhenTheRateIsNotTheBandwidthOfMemory) {
    const Ceilings c = round_ceilings();
    EXPECT_EQ(timing_note(timed({.bytes = 10e6}, 1), &c),
              "Its 10 MB fit into the cache of 10 MB: the rate may be that of the cache.");
    EXPECT_EQ(timing_note(timed({.bytes = 1.3e9}, 1), &c),
              "A higher rate than the bandwidth of memory: a part of the data comes from a cache.");
    EXPECT_EQ(timing_note(timed({.bytes = 1.08e9}, 1), &c),
              "Reading alone reaches 110 % of the copy bandwidth.");
}

}  // namespace
}  // namespace warpscope::compute
