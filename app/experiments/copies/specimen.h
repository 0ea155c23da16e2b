#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/emulated/emulated_device.h"
#include "emulator/checks/access_counters.h"
#include "emulator/checks/findings.h"
#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// An experiment on an emulator of its own, with kernels, parameters, frame and state of another
/// one. It shares nothing with that one: once made, each may be used from a thread of its own.
/// Variables of module scope are not state: a copy has them as its own PTX begins.
struct Copy {
    /// Waits for the live device. Throws OutOfMemory where the copy takes more than `memory_bytes`.
    /// Launches end with `stop`; those of edited kernels have a time limit too, a longer one where
    /// there is such a token.
    Copy(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
         std::size_t memory_bytes = compute::usual_emulator_memory(), std::stop_token stop = {});

    const std::unique_ptr<compute::EmulatedDevice> device;
    const std::unique_ptr<Experiment> experiment;  ///< goes first
};

/// What the microscope looks at while the live experiment goes on, on whatever device: a copy of it
/// that holds the launch of its kernel (Experiment::launch_kernel) before the first instruction.
///
/// inspect() runs that launch, and its memory then is as the launch leaves it; a Stepper takes back
/// what it did. So one specimen is for one inspection, or for any number of Steppers in turn.
class Specimen {
  public:
    /// With the live device's settings. Throws as Copy does, and DeviceError where what runs before
    /// the kernel fails.
    Specimen(const Entry& entry, Experiment& live);
    Specimen(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
             std::size_t memory_bytes = compute::usual_emulator_memory(),
             std::stop_token stop = {});

    const emulator::FrozenLaunch& launch() const { return launch_; }
    emulator::Machine& machine() { return copy_.device->machine(); }
    /// As Device::source() has it.
    std::string_view source(std::string_view file) const { return copy_.device->source(file); }

  private:
    Copy copy_;
    emulator::FrozenLaunch launch_;
};

/// What the checks and counters say of one launch.
struct Inspection {
    std::string kernel;
    std::vector<emulator::Finding> findings;  ///< races and barriers
    std::vector<emulator::KernelCounters> counters;
    std::uint64_t blocks = 0, of_blocks = 0;  ///< run to their end; a long launch's first ones
    std::string error;                        ///< what ended it early; empty else
};

/// Runs the specimen's launch under the race detector, the barrier check and the counters. Of a
/// launch beyond `instructions` warp instructions only as many blocks as fit, going by what the
/// first one takes; one at least. What was found until an error stands beside it.
Inspection inspect(Specimen& specimen, std::uint64_t instructions = 300'000'000);

/// How a launch of the experiment's kernel ends under one barrier policy.
struct PolicyOutcome {
    compute::BarrierPolicy policy = compute::BarrierPolicy::volta;
    bool ends = false;
    std::string error;  ///< where it doesn't: which lanes of which warps wait at which line
    Report report;      ///< where it does, and all of its blocks were run
    std::vector<emulator::Finding> findings;  ///< of the barrier check
    std::uint64_t blocks = 0, of_blocks = 0;  ///< run, where it ends; a long launch's first ones
};

/// Each policy, in the order of the GPUs that have it, on a fresh copy of the experiment each. Of a
/// long launch as many blocks as inspect() would take. Asked to stop, it soon returns what it has.
std::vector<PolicyOutcome> try_policies(const Entry& entry, Experiment& live,
                                        std::uint64_t instructions = 100'000'000,
                                        std::stop_token stop = {});

}  // namespace warpscope::experiments
