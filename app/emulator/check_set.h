#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/checks/barrier_check.h"
#include "emulator/checks/memory_check.h"
#include "emulator/counters/access_counters.h"
#include "emulator/counters/heat_map.h"
#include "emulator/observe/findings.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"

namespace warpscope::emulator {

/// What is looked for in launches.
struct CheckChoice {
    bool race = false;      ///< races; reads of unwritten shared memory
    bool barrier = false;   ///< barriers that not every thread reaches
    bool memory = false;    ///< invalid accesses; reads of unwritten global memory
    bool leaks = false;     ///< with `memory`: what a program has never freed or destroyed
    bool needed = false;    ///< what depends on each barrier, fence and wait; a Judge ignores it
    bool counters = false;  ///< sectors, bank conflicts and more
    bool heat = false;      ///< accesses to each word; with `race`, also its races
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

}  // namespace warpscope::emulator
