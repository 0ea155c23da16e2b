#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compute/emulated/emulated_device.h"
#include "emulator/counters/access_counters.h"
#include "experiments/framework/experiment.h"

/// What a frame costs in the emulator, in PTX instructions: a number that no other machine, load or
/// toolkit changes. A kernel that becomes dearer without anybody's intention shows here.
namespace warpscope::tests {
namespace {

using compute::Math;

struct Cost {
    const char* experiment;
    Math math;
    const char* kernel;          ///< of the default parameters
    const char* unit;            ///< the cost is stated for each one
    double units;                ///< in a frame
    std::uint64_t instructions;  ///< in a frame, summed over the threads
};

constexpr double pixels = 1024.0 * 1024, interactions = 4096.0 * 4096;
constexpr double dot_elements = 33 * 1024, reduction_elements = 1 << 20;

/// A change of a kernel that changes its cost on purpose changes the last column.
constexpr Cost costs[] = {
    {"ripple", Math::precise, "ripple_txty", "pixel", pixels, 124'878'848},
    {"ripple", Math::fast, "ripple_txty", "pixel", pixels, 60'817'408},
    {"nbody", Math::precise, "nbody_tiled", "interaction", interactions, 295'604'224},
    {"nbody", Math::fast, "nbody_tiled", "interaction", interactions, 278'827'008},
    {"dot", Math::precise, "dot_book", "element", dot_elements, 1'156'064},
    {"dot", Math::fast, "dot_book", "element", dot_elements, 1'156'064},
    {"reduction", Math::precise, "sum_within_block", "element", reduction_elements, 106'950'656},
    {"reduction", Math::fast, "sum_within_block", "element", reduction_elements, 106'950'656},
};

/// One frame of the experiment with its default parameters.
emulator::KernelCounters count_frame(const Cost& cost) {
    const auto device = compute::make_emulated_device("");
    device->set({.math = cost.math});
    const auto experiment = experiments::find_experiment(cost.experiment).make(*device);
    emulator::AccessCounters counters;
    device->observe(&counters);
    experiment->launch_kernel();
    device->observe(nullptr);
    EXPECT_EQ(counters.kernels().size(), 1u);
    return counters.kernels().at(0);
}

/// In the names of failed tests.
void PrintTo(const Cost& cost, std::ostream* out) {
    *out << cost.experiment << ", " << (cost.math == Math::fast ? "fast" : "precise") << " math";
}

class FrameCost : public testing::TestWithParam<Cost> {};
INSTANTIATE_TEST_SUITE_P(Experiments, FrameCost, testing::ValuesIn(costs), [](const auto& info) {
    return fmt::format("{}_{}", info.param.experiment,
                       info.param.math == Math::fast ? "fast" : "precise");
});

TEST_P(FrameCost, IsThatOfTheTable) {
    const Cost& cost = GetParam();
    const emulator::KernelCounters counted = count_frame(cost);
    EXPECT_EQ(counted.kernel, cost.kernel);
    EXPECT_EQ(counted.thread_instructions, cost.instructions) << fmt::format(
        "One frame of {} with {} math executes {} PTX instructions, {:.3f} for each {}. The table "
        "has {}, {:.3f} for each {}. If the new cost is intended, write the new number into the "
        "table `costs` of tests/kernels/cost_test.cpp.",
        cost.experiment, cost.math == Math::fast ? "fast" : "precise", counted.thread_instructions,
        double(counted.thread_instructions) / cost.units, cost.unit, cost.instructions,
        double(cost.instructions) / cost.units, cost.unit);
}

TEST(FrameCostBound, RippleWithFastMathTakesAtMost100InstructionsAPixel) {
    const Cost& ripple = costs[1];
    EXPECT_LE(double(count_frame(ripple).thread_instructions) / ripple.units, 100);
}

// The kernels without a barrier lack nothing else: each is nbody_tiled, which has 4096 bodies in
// blocks of 256 threads and so 16 tiles, without one or two barriers a tile.
TEST(FrameCostWithoutBarriers, LacksOnlyTheBarriers) {
    const auto count = [](std::vector<experiments::Assignment> values) {
        const auto device = compute::make_emulated_device("");
        const auto experiment = experiments::find_experiment("nbody").make(*device);
        experiment->set(values);
        emulator::AccessCounters counters;
        device->observe(&counters);
        experiment->launch_kernel();
        device->observe(nullptr);
        return counters.kernels().at(0);
    };
    const auto tiled = count({});
    for (const char* load : {"on", "off"})
        for (const char* reuse : {"on", "off"}) {
            const auto counted = count({{"load_barrier", load}, {"reuse_barrier", reuse}});
            const unsigned left = (load[1] == 'n') + (reuse[1] == 'n');
            EXPECT_EQ(counted.barriers, left * 16u * 16) << counted.kernel;
            EXPECT_EQ(counted.thread_instructions,
                      tiled.thread_instructions - std::uint64_t(2 - left) * 16 * 4096)
                << counted.kernel;
        }
}

/// What ParameterSet::work() estimates for a frame, over what the frame executes.
double estimated_to_counted(const std::string& id, std::vector<experiments::Assignment> values) {
    const auto device = compute::make_emulated_device("");
    emulator::AccessCounters counters;
    const auto experiment = experiments::find_experiment(id).make(*device);
    experiment->set(values);
    const experiments::Size size = experiment->picture_size({1280, 720});
    const compute::Buffer<experiments::Rgba> pixels(
        *device, std::size_t(size.width) * std::size_t(size.height));
    const auto frame = [&] {
        experiment->step();
        if (size.width > 0) experiment->render_into({pixels.pointer(), size});
    };
    frame();  // the first frame may draw twice
    device->observe(&counters);
    frame();
    device->observe(nullptr);
    double counted = 0;  // lanes that are switched off take time, too
    for (const auto& kernel : counters.kernels())
        counted += 32.0 * double(kernel.warp_instructions);
    return experiment->parameters().work() / counted;
}

TEST(FrameWork, IsEstimatedWithin30Percent) {
    const auto expect_near = [](const std::string& id, const std::string& parameter,
                                std::vector<experiments::Assignment> values) {
        const auto parameters = experiments::find_experiment(id).make_parameters();
        const auto& choice = dynamic_cast<const experiments::Choice&>(parameters->find(parameter));
        for (const auto& word : choice.words()) {
            values.push_back({parameter, word.id});
            const double ratio = estimated_to_counted(id, values);
            EXPECT_GT(ratio, 0.77) << id << " " << word.id;
            EXPECT_LT(ratio, 1.3) << id << " " << word.id;
            values.pop_back();
        }
    };
    expect_near("ripple", "layout", {{"size", "256"}});
    expect_near("ripple", "view", {{"size", "256"}});
    expect_near("nbody", "kernel", {{"bodies", "4096"}});
    expect_near("dot", "kernel", {{"n", "1048576"}});
    expect_near("reduction", "kernel", {{"n", "1048576"}});
    EXPECT_NEAR(
        estimated_to_counted("ripple", {{"size", "256"}, {"layout", "stamped"}, {"delay", "5000"}}),
        1, 0.3);
}

}  // namespace
}  // namespace warpscope::tests
