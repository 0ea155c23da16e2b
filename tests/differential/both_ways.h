#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "emulator/fast_paths/compiled/both_forms.h"
#include "emulator/machine/machine.h"

namespace warpscope::tests {

/// A launch with arguments that a seed chooses: small numbers for integers, and for each pointer a
/// buffer of its own. Sizes are ragged. Not every choice suits every kernel: an access out of
/// bounds is an error, which must be the same one in both forms.
class RandomLaunch {
  public:
    RandomLaunch(const emulator::Kernel& kernel, std::string_view ptx, std::uint64_t seed);
    ~RandomLaunch();
    RandomLaunch(const RandomLaunch&) = delete;
    RandomLaunch& operator=(const RandomLaunch&) = delete;

    /// Runs the kernel with the buffers and the module's variables as they were at first.
    emulator::Outcome run(const emulator::Kernel& kernel, const emulator::LaunchSettings& settings,
                          const emulator::LaunchMethod& method = {});
    emulator::FrozenLaunch frozen(const emulator::Kernel& kernel) const;
    std::string text() const;

    emulator::LaunchShape shape;

  private:
    static constexpr std::size_t words_of_buffer = std::size_t(1) << 16;

    void add_argument(const emulator::Parameter& parameter, std::string_view ptx);
    std::uint64_t add_buffer();
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[random_() % values.size()];
    }

    std::mt19937_64 random_;
    const std::vector<emulator::Module::GlobalVariable>& variables_;
    std::vector<std::vector<std::byte>> first_values_;  ///< of the variables
    std::vector<std::vector<std::byte>> arguments_;
    std::vector<std::uint32_t> first_, memory_;  ///< all buffers, one behind the other
    std::size_t buffers_ = 0;
};

/// One of the nine pairs of a schedule and a barrier policy, with a seed.
emulator::LaunchSettings settings_of_pair(unsigned pair, std::uint64_t seed);

/// Runs `rounds` random launches of a kernel in each pair of settings, interpreted and compiled:
/// memory, counts and error texts are equal. Returns how many launches ended without an error.
unsigned expect_equal_launches(const std::shared_ptr<const emulator::Module>& module,
                               const emulator::Kernel& kernel, unsigned rounds);

/// expect_equal_launches() of every kernel of a text; at least one launch in nine has no error.
void expect_equal_kernels(const std::string& ptx, const std::string& name, unsigned rounds);

/// Every file below a folder with this extension, in order; none where there is no folder, as where
/// this binary runs on another machine.
std::vector<std::string> files_below(const std::string& folder, const std::string& extension);
std::string contents_of(const std::string& path);

}  // namespace warpscope::tests
