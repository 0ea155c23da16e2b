#include "experiments/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "experiments/replicas/specimen.h"
#include "experiments/settings.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using tests::reading;
using tests::set;

constexpr int pixels_in_row = 256;

std::vector<Rgba> drawn(Experiment& experiment, const char* view) {
    set(experiment, {{"view", view}});
    compute::Buffer<Rgba> pixels(experiment.device(), std::size_t(pixels_in_row) * pixels_in_row);
    experiment.render_into({pixels.pointer(), {pixels_in_row, pixels_in_row}});
    return pixels.download();
}

std::vector<unsigned> bytes_of(const std::vector<Rgba>& pixels) {
    std::vector<unsigned> bytes;
    for (const Rgba& p : pixels) bytes.insert(bytes.end(), {p.r, p.g, p.b, p.a});
    return bytes;
}

/// The mean of the nine pixels around each one, where all nine are in the picture; others 0.
std::vector<unsigned> means_of(const std::vector<unsigned>& bytes) {
    std::vector<unsigned> means(bytes.size());
    for (std::size_t i = 16; i + 16 < bytes.size(); ++i) {
        unsigned sum = 0;
        for (std::size_t k = i - 16; k <= i + 16; k += 4) sum += bytes[k];
        means[i] = sum / 9;
    }
    return means;
}

class PipelineExperiment : public tests::OnDevices {
  protected:
    Pipeline& pipeline() {
        if (!pipeline_) {
            pipeline_.emplace(device());
            set(*pipeline_, {{"size", "256"}});
        }
        return *pipeline_;
    }
    bool has_sm(int capability) {
        const int here = device().info().compute_capability;
        return here == 0 || here >= capability;
    }

  private:
    std::optional<Pipeline> pipeline_;
};
WARPSCOPE_ON_DEVICES(PipelineExperiment);

TEST_P(PipelineExperiment, EveryPixelIsTheMeanOfNineWithEachKindOfCopyAndAnyNumberOfStages) {
    if (!has_sm(90)) GTEST_SKIP() << "the GPU has no bulk copies";
    pipeline().step();
    const auto expected = means_of(bytes_of(drawn(pipeline(), "source")));
    for (const char* copies : {"synchronous", "async", "bulk"})
        for (const char* stages : {"1", "2", "5", "8"}) {
            set(pipeline(), {{"copies", copies}, {"stages", stages}});
            auto found = bytes_of(drawn(pipeline(), "picture"));
            std::fill_n(found.begin(), 16, 0);
            std::fill_n(found.end() - 16, 16, 0);
            ASSERT_EQ(found, expected) << copies << ", " << stages << " stages";
            const Report report = pipeline().report();
            EXPECT_EQ(reading(report, "wrong_pixels").value, 0);
            EXPECT_EQ(reading(report, "wrong_pixels").verdict, Verdict::pass);
            // 64 tiles of 256 threads and two more, of 16 bytes.
            EXPECT_EQ(reading(report, "copied").value, 64 * 258 * 16);
        }
}

/// The race check and the counters of the kernel's launch, with the landing of copies.
Inspection inspection_of(std::initializer_list<Assignment> assignments, compute::Landing landing) {
    const auto device = compute::pick_device("emulator");
    Pipeline pipeline(*device);
    set(pipeline, {{"size", "256"}});
    set(pipeline, assignments);
    compute::RunSettings settings = device->settings();
    settings.landing = landing;
    return inspect({find_experiment("pipeline"), pipeline, settings});
}

std::vector<emulator::Finding> races_of(std::initializer_list<Assignment> assignments,
                                        compute::Landing landing) {
    return inspection_of(assignments, landing).verdict.findings;
}

constexpr compute::Landing landings[] = {compute::Landing::random, compute::Landing::at_once,
                                         compute::Landing::late};

TEST(PipelineRaces, AreNoneWithAllWaits) {
    for (const compute::Landing landing : landings)
        for (const char* copies : {"synchronous", "async", "bulk"})
            for (const char* stages : {"1", "3"})
                EXPECT_EQ(races_of({{"copies", copies}, {"stages", stages}}, landing).size(), 0u)
                    << copies << ", " << stages << " stages";
}

// 64 tiles of 258 * 16 bytes are 129 sectors each; 256 * 256 pixels of 4 bytes are 8192. A warp
// reads three quads for each of 8 * 64 rows of 32 threads, in four wavefronts each.
TEST(PipelineCounters, CountWhatAsynchronousCopiesMove) {
    for (const char* copies : {"synchronous", "async", "bulk"}) {
        const auto counters =
            inspection_of({{"copies", copies}}, compute::Landing::random).counters;
        ASSERT_EQ(counters.size(), 1u);
        const emulator::KernelCounters& kernel = counters[0];
        EXPECT_EQ(kernel.global_loads.sectors, 64u * 129) << copies;
        EXPECT_EQ(kernel.global_stores.sectors, 8192u) << copies;
        EXPECT_EQ(kernel.global_atomics.requests, 0u) << copies;
        EXPECT_EQ(kernel.shared_loads.wavefronts, 3u * 4 * 8 * 64) << copies;
        EXPECT_EQ(kernel.shared().conflicts(), 0u) << copies;
    }
}

}  // namespace
}  // namespace warpscope::experiments
