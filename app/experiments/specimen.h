#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/emulated_device.h"
#include "emulator/access_counters.h"
#include "emulator/findings.h"
#include "experiments/experiment.h"

namespace warpscope::experiments {

/// A private copy of an experiment on an emulator of its own: what the microscope looks at while
/// the live one goes on, on whatever device. It holds the launch of the experiment's kernel
/// (Experiment::launch_kernel) before its first instruction. May be used from another thread than
/// the live one once made.
class Specimen {
  public:
    /// Copies parameters, frame and state; waits for the live device. Throws DeviceError where the
    /// copy is too large for the emulator.
    Specimen(const Entry& entry, Experiment& live);

    const emulator::FrozenLaunch& launch() const { return launch_; }
    emulator::Machine& machine() { return device_->machine(); }

  private:
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<Experiment> experiment_;
    emulator::FrozenLaunch launch_;
};

/// What the checks and counters say of one launch.
struct Inspection {
    std::string kernel;
    std::vector<emulator::Finding> findings;  ///< races and barriers
    std::vector<emulator::KernelCounters> counters;
    std::uint64_t blocks = 0, of_blocks = 0;  ///< looked at; a long launch's first ones
    std::string error;                        ///< what ended it early; empty else
};

/// Runs the specimen's launch under the race detector, the barrier check and the counters. Of a
/// launch beyond `instructions` warp instructions only as many blocks as fit, one at least.
Inspection inspect(Specimen& specimen, std::uint64_t instructions = 300'000'000);

/// How the specimen's launch ends under one barrier policy.
struct PolicyOutcome {
    compute::BarrierPolicy policy;
    bool ends = false;
    std::string error;  ///< where it doesn't: which lanes of which warps wait at which line
    Report report;      ///< where it does
    std::vector<emulator::Finding> findings;  ///< of the barrier check
};

/// Each policy in turn, on a fresh copy of the experiment each.
std::vector<PolicyOutcome> try_policies(const Entry& entry, Experiment& live);

}  // namespace warpscope::experiments
