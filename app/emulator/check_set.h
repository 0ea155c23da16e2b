#pragma once

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
    bool counters = false;  ///< sectors, bank conflicts and more
    bool heat = false;      ///< accesses to each word; with `race`, also its races
    bool any() const { return race || barrier || memory || counters || heat; }
};

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
    /// True where fences and words of memory have ordered accesses: the race check may find other
    /// races with another order of the warps and blocks.
    bool depends_on_order() const { return race_.depends_on_order(); }
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
