#include <regex>

#include "differential/both_ways.h"
#include "emulator/fast_paths/compiled/compiled_kernel.h"
#include "support/long_tests.h"

// A launch that a budget or an invalid access ends leaves equal memory, counts and errors in both
// forms, wherever it ends.
namespace warpscope::tests {
namespace {

using namespace emulator;

struct Stopped {
    const char* file;
    const char* kernel;
    Dim3 block;
    std::uint64_t seed;  ///< of arguments with which the launch ends without an error
};

void PrintTo(const Stopped& stopped, std::ostream* out) {
    *out << stopped.kernel;
}

class StoppedLaunches : public testing::TestWithParam<Stopped> {
  protected:
    void SetUp() override {
        if (!installed_llvm()) GTEST_SKIP() << "libLLVM is not installed";
    }
    static std::string text() {
        return contents_of(
            fmt::format("{}/kernels/ptx/precise/{}.ptx", WARPSCOPE_SOURCE_DIR, GetParam().file));
    }
};

INSTANTIATE_TEST_SUITE_P(Of, StoppedLaunches,
                         testing::Values(Stopped{"ripple", "ripple_txty", {16, 16, 1}, 3},
                                         Stopped{"nbody", "nbody_tiled", {128, 1, 1}, 3},
                                         Stopped{
                                             "reduce_ladder", "reduce_sequential", {128, 1, 1}, 3}),
                         [](const auto& info) { return std::string(info.param.kernel); });

/// One kernel of a text in both forms, and a launch of one block of it.
class OneBlock {
  public:
    OneBlock(const std::string& ptx, const Stopped& stopped)
        : module_(Module::parse(ptx, "test")),
          kernel_(*module_->find(stopped.kernel)),
          owner_(std::make_shared<CompiledKernel>(installed_llvm(), module_, kernel_)),
          launch_(kernel_, ptx, stopped.seed) {
        launch_.shape = {{1, 1, 1}, stopped.block, 16384};
    }
    Outcome interpreted(const LaunchSettings& settings) { return launch_.run(kernel_, settings); }
    Outcome compiled(const LaunchSettings& settings) {
        return launch_.run(kernel_, settings, {.code = {owner_, &owner_->kernel()}});
    }
    std::string text() const { return launch_.text(); }

  private:
    std::shared_ptr<const Module> module_;
    const Kernel& kernel_;
    std::shared_ptr<const CompiledKernel> owner_;
    RandomLaunch launch_;
};

TEST_P(StoppedLaunches, ABudgetEndsBothFormsAtOneInstruction) {
    OneBlock block(text(), GetParam());
    LaunchSettings settings = settings_of_pair(0, 1);
    const Outcome whole = block.interpreted(settings);
    ASSERT_EQ(whole.error, "") << block.text();
    const std::uint64_t all = whole.statistics.warp_instructions;
    ASSERT_GT(all, 300u) << block.text();
    const std::uint64_t step = long_tests() ? 1 + all / 5000 : 1 + all / 150;
    for (std::uint64_t budget = 1; budget < all; budget += step) {
        settings = settings_of_pair(unsigned(budget % 3), budget);
        settings.instruction_budget = budget;
        const Outcome interpreted = block.interpreted(settings);
        ASSERT_NE(interpreted.error, "") << "budget " << budget << " of " << all;
        ASSERT_TRUE(interpreted == block.compiled(settings)) << "budget " << budget;
    }
}

/// The text with the address of the first access behind `at` moved by `distance`; empty where no
/// access is left. `at` is then behind the access.
std::string with_wild_access(const std::string& ptx, std::size_t& at, std::int64_t distance) {
    static const std::regex access(
        R"((?:ld|st|atom|red)\.(?:volatile\.)?(?:global|shared)[^;\[]*\[([^\]+]+)(?:\+(-?\d+))?\])");
    std::smatch found;
    const auto begin = ptx.begin() + std::ptrdiff_t(at);
    if (!std::regex_search(begin, ptx.end(), found, access)) return "";
    at = std::size_t(found[0].second - ptx.begin());
    const std::int64_t offset = found[2].matched ? std::stoll(found[2]) : 0;
    std::string edited(ptx.begin(), found[1].second);
    edited += fmt::format("+{}]", offset + distance);
    return edited.append(found[0].second, ptx.end());
}

TEST_P(StoppedLaunches, AWildAddressIsOneErrorAtEachAccess) {
    const std::string name = GetParam().kernel, whole = text();
    const std::size_t end = whole.find(".entry", whole.find(".entry " + name) + 1);
    std::size_t at = whole.find(".entry " + name);
    unsigned errors = 0, accesses = 0;
    for (; at < end; ++accesses) {
        // Far away; not aligned; behind what most lanes may access.
        const std::int64_t distance = std::array{0x10000000, 1, 262000}[accesses % 3];
        const std::string ptx = with_wild_access(whole, at, distance);
        if (ptx.empty() || at >= end) break;
        OneBlock block(ptx, GetParam());
        for (unsigned pair = 0; pair < 3; ++pair) {
            const Outcome interpreted = block.interpreted(settings_of_pair(pair, 1));
            errors += interpreted.error.empty() ? 0 : 1;
            ASSERT_TRUE(interpreted == block.compiled(settings_of_pair(pair, 1)))
                << "access " << accesses << ", distance " << distance << interpreted;
        }
    }
    EXPECT_GE(accesses, 2u);
    EXPECT_GE(errors, accesses);
}

}  // namespace
}  // namespace warpscope::tests
