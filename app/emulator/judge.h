#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "emulator/checks/barrier_check.h"
#include "emulator/checks/memory_check.h"
#include "emulator/counters/access_counters.h"
#include "emulator/counters/heat_map.h"
#include "emulator/launcher.h"
#include "emulator/observe/findings.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

namespace warpscope::emulator {

class Error;

/// The checks that a launch gets, and the counters that are kept of it.
struct CheckChoice {
    bool race = false;      ///< races; reads of unwritten shared memory
    bool barrier = false;   ///< barriers that not every thread reaches
    bool memory = false;    ///< invalid accesses; reads of unwritten global memory
    bool leaks = false;     ///< with `memory`: what a program has never freed or destroyed
    bool needed = false;    ///< what depends on each barrier, fence and wait; a Judge ignores it
    bool counters = false;  ///< sectors, bank conflicts and more
    bool heat = false;      ///< accesses to each word; with `race`, also its races
    /// Of a launch that takes long the checks may watch a sample of the blocks.
    bool samples = false;
    /// Something that is reported as a finding.
    bool has_checks() const { return race || barrier || memory || needed; }
    bool any() const { return has_checks() || counters || heat; }
    std::vector<std::string> words() const;  ///< of the checks: "race", …
};

/// The words of the checks.
inline constexpr std::array<std::pair<std::string_view, bool CheckChoice::*>, 5> check_words{
    {{"race", &CheckChoice::race},
     {"barrier", &CheckChoice::barrier},
     {"memory", &CheckChoice::memory},
     {"leaks", &CheckChoice::leaks},
     {"needed", &CheckChoice::needed}}};

/// The observers of a choice, as one observer.
class CheckSet {
  public:
    /// `memory` is that of the machine whose launches are observed.
    CheckSet(const CheckChoice& choice, Memory& memory);
    CheckSet(const CheckSet&) = delete;
    CheckSet& operator=(const CheckSet&) = delete;

    Observer& observer() { return all_; }
    /// What the checks have found, grouped by the missing barrier.
    std::vector<Finding> findings() const;
    /// The next launch has further blocks of the last one.
    void continue_launch() { grid_races_.continue_launch(); }
    MemoryCheck& memory_check() { return memory_; }
    const std::vector<KernelCounters>& counters() const { return counters_.kernels(); }
    std::vector<KernelHeat> take_heat() { return heat_.take(); }

  private:
    RaceDetector race_;
    GridRaces grid_races_;
    BarrierCheck barrier_;
    MemoryCheck memory_;
    AccessCounters counters_;
    HeatMap heat_;
    ObserverList all_;
};

/// Makes the findings that one change of the source would repair one finding.
///
/// One barrier repairs races of a block whose Finding::barrier have a place in common, and reads of
/// unwritten shared memory at the line of a read that came too early. One atomic operation repairs
/// all races of the accesses with which threads change a word (Finding::needs_atomic).
///
/// A second launch repairs races between blocks as a barrier repairs those of a block, and words
/// that are released and acquired repair those of one pair of lines.
///
/// A barrier of the grid or of a cluster repairs what one of the block repairs, so its race stands
/// for them. Otherwise the plainest pair stands for all: an error before a warning, a read behind a
/// write in the order of the program, the nearest lines. The others become its
/// Finding::repaired_too, and its count is that of all races among them. It takes the place of the
/// most harmful one in the list.
std::vector<Finding> by_repair(const std::vector<Finding>& findings);

/// What the checks say of launches.
struct Verdict {
    std::vector<Finding> findings;  ///< the most harmful first
    files::Sentence error;          ///< that has ended a launch; empty: all have run to their ends
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
        std::uint64_t watched = 0;      ///< blocks
    };
    /// Launches of so few blocks are watched whole.
    static constexpr std::uint64_t few_blocks = 16;
    /// With CheckChoice::samples: a launch that is expected to take more warp instructions is
    /// sampled. The more was watched before it, the fewer they are, so that a program of many
    /// launches comes to its end too.
    void watch_at_most(std::uint64_t instructions) {
        most_watched_ = instructions;
        left_to_watch_ = 4 * instructions;
    }

    /// Runs a launch, which `beside` observes too (null: nobody does). Throws its errors.
    ///
    /// With CheckChoice::samples, of a launch that takes long only a sample of its blocks is
    /// watched (sample_of()), before the others run. Work is counted, not time, so that the same
    /// blocks are watched on any machine. Launches whose blocks may wait for each other, or learn
    /// of each other by words of memory, are watched whole.
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
        std::string name;      ///< "kernel sum in reverse order"
        files::Sentence note;  ///< behind the sentence of what only this run shows
    };
    using Key = std::tuple<const Kernel*, std::uint64_t, std::uint64_t, std::uint32_t, bool>;
    static Key key_of(const FrozenLaunch& launch);

    bool may_be_sampled(const FrozenLaunch& launch) const;
    bool is_sampled(std::uint32_t block) const {
        return std::ranges::binary_search(sample_, block);
    }
    /// Runs such a launch. Returns how many blocks were watched.
    std::uint64_t run_in_parts(const FrozenLaunch& launch, Observer& watching);
    /// Runs the blocks that are not watched.
    void run_others(const FrozenLaunch& launch);
    std::vector<Trial> trials_of(const FrozenLaunch& launch);
    /// Calls `run`, which returns whether it has run the whole launch, and then tries it.
    template <typename Run>
    void run_and_try(const FrozenLaunch& launch, const Run& run);
    void try_launch(const Trial& trial, std::chrono::nanoseconds time);
    /// An error has ended a launch: a finding, unless a check has told it.
    void add_failure(const FrozenLaunch& launch, const Error& error);

    const CheckChoice choice_;
    Launcher& launcher_;
    const std::uint64_t seed_;
    CheckSet set_;
    std::set<Key> tried_;
    std::vector<std::uint32_t> sample_;  ///< of the newest launch; empty: it was watched whole
    std::map<Key, double> work_;  ///< warp instructions of a block, of launches that may be sampled
    std::uint64_t most_watched_ = 1 << 22, left_to_watch_ = 4 * most_watched_;
    std::vector<Finding> of_other_orders_, of_unoptimized_, failures_;
    files::Sentence error_;
    bool timed_out_ = false;
    std::vector<std::string> not_tried_;
};

}  // namespace warpscope::emulator
