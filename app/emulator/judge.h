#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/check_set.h"
#include "emulator/launcher.h"

namespace warpscope::emulator {

/// What the checks say of launches.
struct Verdict {
    std::vector<Finding> findings;  ///< the most harmful first
    std::string error;              ///< that has ended a launch; empty: all have run to their ends
    bool timed_out = false;         ///< `error` is a time limit: the rest is not known
    /// What was not tried, and why: a sentence for each.
    std::vector<std::string> not_tried;
};

/// Runs launches under checks, and says what they have found. All launches that are checked go
/// through it: those of experiments, of launch files and captures, and of programs.
///
/// Beside the order of the launch itself, a kernel whose words of memory order its threads is tried
/// with its warps and blocks in reverse order, and in that of the seed where a person has chosen
/// one, since such a race is found in one of the orders only. The memory check also tries the code
/// without optimization, where it is known, in which undefined values are still to be seen. Each is
/// tried once for each kernel and shape, on a copy of the memory.
class Judge {
  public:
    /// Launches that can change more memory are not tried in another order.
    static constexpr std::size_t most_copied_bytes = std::size_t(1) << 30;

    /// `seed`: the one that the person has chosen. The launcher must outlive it.
    Judge(const CheckChoice& choice, Launcher& launcher, std::uint64_t seed = 1);
    Judge(const Judge&) = delete;
    Judge& operator=(const Judge&) = delete;

    /// Is to be told what the host allocates, frees and writes.
    Observer& observer() { return set_.observer(); }
    /// How run() has run a launch.
    struct Ran {
        std::chrono::nanoseconds time;  ///< of the launch itself
        bool compiled = false;          ///< as machine code
    };
    /// Runs a launch, which `beside` observes too (null: nobody does). Throws its errors.
    Ran run(const FrozenLaunch& launch, Observer* beside = nullptr);
    /// Runs block 0 and then as many blocks as fit into `instructions` warp instructions if each
    /// takes as many as block 0. Returns the number of blocks. Throws the errors of the launch.
    std::uint64_t run_first_blocks(const FrozenLaunch& launch, std::uint64_t instructions);

    Verdict verdict() const;
    MemoryCheck& memory_check() { return set_.memory_check(); }
    const std::vector<KernelCounters>& counters() const { return set_.counters(); }
    std::vector<KernelHeat> take_heat() { return set_.take_heat(); }

  private:
    /// Another run of a launch.
    struct Trial {
        FrozenLaunch launch;
        CheckChoice choice;
        std::string name;  ///< "kernel sum in reverse order"
        std::string note;  ///< behind the sentence of what only this run shows
    };
    using Key = std::tuple<const Kernel*, std::uint64_t, std::uint64_t, std::uint32_t, bool>;

    std::vector<Trial> trials_of(const FrozenLaunch& launch);
    /// Calls `run`, which returns whether it has run the whole launch, and then tries it.
    template <typename Run>
    void run_and_try(const FrozenLaunch& launch, const Run& run);
    void try_launch(const Trial& trial, std::chrono::nanoseconds time);

    const CheckChoice choice_;
    Launcher& launcher_;
    const std::uint64_t seed_;
    CheckSet set_;
    std::set<Key> tried_;
    std::vector<Finding> of_other_orders_, of_unoptimized_;
    std::string error_;
    bool timed_out_ = false;
    std::vector<std::string> not_tried_;
};

}  // namespace warpscope::emulator
