#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "compute/emulated/emulated_device.h"
#include "emulator/check_set.h"

namespace warpscope::jobs {

/// What --check can look for.
enum class Check { race, barrier, memory, leaks, needed };

/// What --check asks for.
struct Checks {
    bool race = false;     ///< races; reads of unwritten shared memory
    bool barrier = false;  ///< barriers that not every thread reaches
    bool memory = false;   ///< invalid accesses; reads of unwritten global memory
    bool leaks = false;    ///< with `memory`, of programs: what was never freed or destroyed
    bool needed = false;   ///< what depends on each barrier, fence and wait
    bool any() const { return race || barrier || memory || needed; }
    std::vector<std::string> words() const;  ///< "race", …
};

/// Reads a list such as "race,memory"; "leaks" includes "memory". Throws UsageError that names an
/// unknown word and lists the known ones.
Checks parse_checks(std::string_view text);

/// Observes a device until it is destroyed. Create it before the buffers that the memory check
/// checks.
class Checking {
  public:
    /// The heat map `heat` also counts races, for the checks that look for them.
    Checking(compute::EmulatedDevice& device, const Checks& checks, bool counters = false,
             bool heat = false);
    Checking(const Checking&) = delete;
    Checking& operator=(const Checking&) = delete;
    ~Checking() { device_.observe(nullptr); }

    emulator::CheckSet& set() { return set_; }

  private:
    compute::EmulatedDevice& device_;
    emulator::CheckSet set_;
};

}  // namespace warpscope::jobs

template <>
inline constexpr std::array warpscope::compute::words_of<warpscope::emulator::Severity>{
    Word<emulator::Severity>{emulator::Severity::warning, "warning", "Warnings"},
    Word<emulator::Severity>{emulator::Severity::error, "error", "Errors"},
};

template <>
inline constexpr std::array warpscope::compute::words_of<warpscope::jobs::Check>{
    Word<jobs::Check>{jobs::Check::race, "race", "Races"},
    Word<jobs::Check>{jobs::Check::barrier, "barrier", "Barriers"},
    Word<jobs::Check>{jobs::Check::memory, "memory", "Memory"},
    Word<jobs::Check>{jobs::Check::leaks, "leaks", "Leaks"},
    Word<jobs::Check>{jobs::Check::needed, "needed", "Needed barriers"},
};
