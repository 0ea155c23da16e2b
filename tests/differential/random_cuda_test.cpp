#include "differential/random_cuda.h"

#include "compute/pick_device.h"
#include "differential/both_ways.h"
#include "differential/nvrtc_here.h"
#include "support/long_tests.h"

// Random CUDA kernels leave equal memory interpreted and compiled, and on the emulator and a GPU.
// Each of 20 tests makes one kernel; the long tests make 100 for the two forms, 25 for the GPU.
namespace warpscope::tests {
namespace {

using emulator::BarrierPolicy;
using emulator::LaunchSettings;
using emulator::Outcome;
using Words = std::vector<std::uint32_t>;

std::string ptx_of(std::uint64_t seed, bool depends_on_order) {
    const std::string source = random_cuda(seed, depends_on_order);
    try {
        return nvrtc_here()->compile({fmt::format("kernels/random_{}.cu", seed), source}).ptx;
    } catch (const compiler::CompileError& error) {
        ADD_FAILURE() << error.what() << "\n" << source;
        return "";
    }
}

class RandomKernels : public testing::TestWithParam<unsigned> {
  protected:
    void SetUp() override {
        if (!nvrtc_here()) GTEST_SKIP() << "NVRTC is not installed";
    }
    /// Calls test(seed) for the kernels of this test, until one fails.
    template <class Test>
    void for_seeds(unsigned long_count, const Test& test) {
        const unsigned count = long_tests() ? long_count : 1;
        for (unsigned k = 0; k < count && !HasFailure(); ++k) test(GetParam() * long_count + k);
    }
};

class BothFormsOf : public RandomKernels {};
INSTANTIATE_TEST_SUITE_P(Random, BothFormsOf, testing::Range(0u, 20u));

// Blocks have full warps, or one with a part of its threads.
void expect_equal_forms(std::uint64_t seed) {
    const std::string ptx = ptx_of(seed, seed % 3 == 0);
    if (ptx.empty()) return;
    const auto module = emulator::Module::parse(ptx, fmt::format("seed {}", seed));
    const auto& kernel = *module->kernels().front();
    const auto owner =
        std::make_shared<emulator::CompiledKernel>(emulator::installed_llvm(), module, kernel);
    const std::shared_ptr<const emulator::Kernel> compiled(owner, &owner->kernel());
    RandomLaunch launch(kernel, ptx, seed);
    for (unsigned pair = 0; pair < 3; ++pair) {
        const LaunchSettings settings = settings_of_pair(pair + 3 * unsigned(seed / 3 % 3), seed);
        launch.shape = {{4, 1, 1}, {(seed + pair) % 4 ? 128u : 100u, 1, 1}, 0};
        const Outcome interpreted = launch.run(kernel, settings);
        const Outcome outcome = launch.run(kernel, settings, {.code = compiled});
        ASSERT_TRUE(interpreted == outcome)
            << "seed " << seed << ", schedule " << pair << ", " << launch.text()
            << "\ninterpreted: " << interpreted << "\ncompiled: " << outcome;
        // Other policies refuse threads of one warp that wait in different places.
        if (seed % 3 && settings.barriers == BarrierPolicy::volta && launch.shape.block.x == 128) {
            ASSERT_EQ(outcome.error, "") << "seed " << seed;
        }
    }
}

TEST_P(BothFormsOf, RandomCudaAreEqual) {
    if (!emulator::installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    for_seeds(100, expect_equal_forms);
}

class OnTheGpu : public RandomKernels {};
INSTANTIATE_TEST_SUITE_P(cuda, OnTheGpu, testing::Range(0u, 20u));

/// The pixels of 8192 threads, and the totals.
Words picture_of(compute::Device& device, const std::string& ptx) {
    using compute::Buffer;
    using Pointer = compute::DevicePointer<std::uint32_t>;
    constexpr std::uint32_t blocks = 64, threads = 128;
    const Buffer<std::uint32_t> pixels(device, Words(blocks * threads)), totals(device, Words(64));
    const auto kernel = device.kernel_from_ptx<Pointer, Pointer>(ptx, "random_kernel");
    device.launch(kernel, {{blocks, 1, 1}, {threads, 1, 1}, 0}, {}, pixels.pointer(),
                  totals.pointer());
    Words words = pixels.download();
    for (const std::uint32_t total : totals.download()) words.push_back(total);
    return words;
}

TEST_P(OnTheGpu, RandomCudaAreEqualToTheEmulator) {
    if (compute::device_choices().size() <= 2) GTEST_SKIP() << "no GPU";
    for_seeds(25, [](std::uint64_t seed) {
        const auto gpu = compute::pick_device("cuda"), emulator = compute::pick_device("emulator");
        const std::string ptx = ptx_of(seed, false);
        if (ptx.empty()) return;
        EXPECT_TRUE(picture_of(*emulator, ptx) == picture_of(*gpu, ptx)) << "seed " << seed;
    });
}

}  // namespace
}  // namespace warpscope::tests
