#include "emulator/fast_paths/alike/warp_independence.h"

#include <optional>
#include <set>

#include "differential/both_ways.h"
#include "support/long_tests.h"

// Where the order of the warps is said not to be seen, all orders give one result.
namespace warpscope::tests {
namespace {

using namespace emulator;

/// Runs the launch in several orders: memory and counts are equal. False where it ends with an
/// error, after which memory depends on the order.
bool is_equal_in_all_orders(RandomLaunch& launch, const Kernel& kernel, std::uint64_t seed) {
    const unsigned first_of_policy = unsigned(seed % 3 * 3);
    const Outcome straight = launch.run(kernel, settings_of_pair(first_of_policy + 1, seed));
    if (!straight.error.empty()) return false;
    EXPECT_EQ(launch.run(kernel, settings_of_pair(first_of_policy + 2, seed)), straight)
        << kernel.name << ", reverse, " << launch.text();
    for (std::uint64_t k = 0; k < 3; ++k)
        EXPECT_EQ(launch.run(kernel, settings_of_pair(first_of_policy, seed + k)), straight)
            << kernel.name << ", random, " << launch.text();
    return true;
}

/// Host threads that take blocks as they come change nothing.
void expect_equal_on_any_thread(RandomLaunch& launch, const Kernel& kernel, std::uint64_t seed) {
    LaunchSettings settings = settings_of_pair(1, seed);
    settings.threads = 1;
    const Outcome in_order = launch.run(kernel, settings);
    settings.threads = 3;
    EXPECT_EQ(launch.run(kernel, settings, {.dealing = BlockDealing::as_they_come}), in_order)
        << kernel.name << ", " << launch.text();
}

/// The kernels of a file with a launch that is independent and ends without an error.
std::set<std::string> independent_kernels(const std::string& path, std::optional<Dim3> block = {}) {
    std::set<std::string> found;
    const auto module = Module::parse(contents_of(path), path);
    for (const auto& kernel : module->kernels()) {
        if (!kernel->has_barrier && !kernel->uses_shared) continue;
        for (std::uint64_t seed = 1; seed <= (long_tests() ? 100u : 12u); ++seed) {
            RandomLaunch launch(*kernel, module->text(), seed);
            if (block) launch.shape.block = *block;
            const Obstacles obstacles = obstacles_to_independence(launch.frozen(*kernel), Memory());
            if (!obstacles.warps.empty() || !is_equal_in_all_orders(launch, *kernel, seed))
                continue;
            found.insert(kernel->name);
            if (obstacles.blocks.empty()) expect_equal_on_any_thread(launch, *kernel, seed);
        }
    }
    return found;
}

class IndependentKernels : public testing::TestWithParam<const char*> {
  protected:
    std::set<std::string> found(const std::string& file, std::optional<Dim3> block = {}) const {
        return independent_kernels(
            WARPSCOPE_SOURCE_DIR "/kernels/ptx/" + (std::string(GetParam()) + "/" + file + ".ptx"),
            block);
    }
};
INSTANTIATE_TEST_SUITE_P(In, IndependentKernels, testing::Values("precise", "fast"));

using Names = std::set<std::string>;

TEST_P(IndependentKernels, AreTheRipplesWithABarrier) {
    const Dim3 tile{16, 16, 1};
    EXPECT_EQ(found("ripple", tile), (Names{"ripple_txty"}));
    EXPECT_EQ(found("ripple_layouts", tile),
              (Names{"ripple_padded", "ripple_padded17", "ripple_tytx"}));
    EXPECT_EQ(found("ripple_stamped", tile), Names{}) << "they read a clock";
}

TEST_P(IndependentKernels, AreTheSumsWithAllTheirBarriers) {
    EXPECT_EQ(found("reduce"), (Names{"reduce0", "sum_within_block"}));
    EXPECT_EQ(found("reduce_ladder"), (Names{"reduce_first_add", "reduce_sequential",
                                             "reduce_shuffle", "reduce_vectorized"}));
    EXPECT_EQ(found("dot"), (Names{"dot_book"}));
    EXPECT_EQ(found("dot_ladder"), (Names{"dot_shuffle", "dot_vectorized"}));
}

TEST_P(IndependentKernels, HaveOneResultInTheGalleryAndTheNBody) {
    for (const char* file : {"nbody", "nbody_ladder", "gallery/blur", "gallery/double_buffer",
                             "gallery/life", "gallery/single_buffer", "gallery/transpose"})
        found(file);
    EXPECT_EQ(found("gallery/histogram"), Names{}) << "it has atomics";
}

// The specimens of the race detector: racy kernels, and right ones beside them.
TEST(RaceSpecimens, HaveOneResultWhereTheyAreIndependent) {
    Names all;
    for (const auto& file : files_below(WARPSCOPE_SOURCE_DIR "/tests/races/ptx", ".ptx"))
        all.merge(independent_kernels(file));
    EXPECT_EQ(all, (Names{"block_reduce", "block_scan", "some_have_left"}));
}

}  // namespace
}  // namespace warpscope::tests
