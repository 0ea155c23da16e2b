#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/emulated/emulated_device.h"
#include "emulator/counters/access_counters.h"
#include "emulator/counters/kernel_heat.h"
#include "emulator/judge.h"
#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// An experiment and the device that it alone uses. A run without a window shares both with the
/// stage that draws its screenshot.
template <class DeviceType>
struct RunningOn {
    std::shared_ptr<DeviceType> device;
    std::shared_ptr<Experiment> experiment;  ///< destroyed before its device
};
using Running = RunningOn<compute::Device>;

/// An experiment in an emulator whose kernels failed in the frame that it stands before.
struct FailedRun {
    SharedEntry entry;
    Running running;
    emulator::Dim3 block;  ///< the one that failed
};

using Replica = RunningOn<compute::EmulatedDevice>;

/// What copies of an experiment are made from: kernels, parameters, frame and state. It stays as it
/// is while the experiment goes on, so each copy has this launch, with this schedule.
struct LaunchState {
    /// Waits for the live experiment's device.
    LaunchState(const Entry& entry, Experiment& live, const compute::RunSettings& settings);

    Entry entry;
    Snapshot snapshot;
    compute::RunSettings settings;
    compute::KernelEdits edits;
};

/// Copies an experiment onto an emulator of its own: kernels, parameters, frame and state. The two
/// share nothing, so each may then be used on a thread of its own. Variables at module scope
/// are not copied: in the copy they have the initial values of the PTX.
///
/// Waits for the live experiment's device. Throws OutOfMemory where the copy needs more than
/// `memory_bytes`, and Cancelled after a stop request, which ends launches of the copy. Launches of
/// edits have a time limit too, which is longer where a stop can be requested. Launches report to
/// `progress`. `prepare` is called with the device before the experiment is made.
Replica make_replica(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
                     std::size_t memory_bytes = compute::usual_emulator_memory(),
                     std::stop_token stop = {},
                     std::shared_ptr<compute::LaunchProgress> progress = {});
Replica make_replica(const LaunchState& state,
                     std::size_t memory_bytes = compute::usual_emulator_memory(),
                     std::stop_token stop = {},
                     std::shared_ptr<compute::LaunchProgress> progress = {},
                     const std::function<void(compute::EmulatedDevice&)>& prepare = {});

/// A copy of an experiment that stops before one launch of its kernel (Experiment::launch_kernel).
/// The microscope steps this launch while the live experiment continues. A Stepper restores memory,
/// so a specimen is for any number of them, one after another.
class Specimen {
  public:
    /// Makes a specimen with the settings of the live device. Throws the errors of make_replica(),
    /// and DeviceError if a launch before the kernel's fails.
    Specimen(const Entry& entry, Experiment& live);
    Specimen(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
             std::size_t memory_bytes = compute::usual_emulator_memory(), std::stop_token stop = {},
             std::shared_ptr<compute::LaunchProgress> progress = {});
    /// With the name of a kernel, stops before the first launch of this kernel in the frame, or
    /// before the last launch if there is none.
    explicit Specimen(const LaunchState& state,
                      std::size_t memory_bytes = compute::usual_emulator_memory(),
                      std::stop_token stop = {},
                      std::shared_ptr<compute::LaunchProgress> progress = {},
                      std::string_view kernel = {});

    const emulator::FrozenLaunch& launch() const { return launch_; }
    emulator::Machine& machine() { return replica_.device->machine(); }
    Experiment& experiment() { return *replica_.experiment; }
    /// Device::source() of the copy's device.
    std::string_view source(std::string_view file) const { return replica_.device->source(file); }

  private:
    Replica replica_;
    emulator::FrozenLaunch launch_;
};

/// The verdict on one launch, and its counters.
struct Inspection {
    std::shared_ptr<const LaunchState> launch;  ///< null where nobody asks for it again
    std::string kernel;
    emulator::Verdict verdict;
    std::vector<emulator::KernelCounters> counters;
    /// The heat of the kernel; shared, because it can be large. Null: it was not counted.
    std::shared_ptr<const emulator::KernelHeat> heat;
    std::uint64_t blocks = 0;     ///< number of blocks that ran to their end
    std::uint64_t of_blocks = 0;  ///< in the grid
};

/// Copies the experiment, and runs the last launch of its kernel's frame under the checks of races,
/// barriers and memory, the counters and the heat map. Of a launch that takes more than
/// `instructions` warp instructions, judged by its first block, only the blocks that fit are run,
/// at least one. Throws the errors of make_replica(), and DeviceError if an earlier launch fails.
Inspection inspect(const LaunchState& state,
                   std::size_t memory_bytes = compute::usual_emulator_memory(),
                   std::stop_token stop = {}, std::uint64_t instructions = 300'000'000);

/// How a launch of the experiment's kernel ends under one barrier policy.
struct PolicyOutcome {
    compute::BarrierPolicy policy = compute::BarrierPolicy::volta;
    bool ends = false;
    files::Sentence error;  ///< if it does not end: which lanes of which warps wait at which line
    Report report;          ///< if it ends and all of its blocks were run
    std::vector<emulator::Finding> findings;  ///< of the barrier check
    std::uint64_t blocks = 0;                 ///< number of blocks that were run, if it ends
    std::uint64_t of_blocks = 0;              ///< in the grid
};

/// Tries each policy, that of the oldest GPUs first, on a copy of its own. Of a long launch only
/// the first blocks are run, as by inspect(). After a stop request it soon returns the outcomes so
/// far.
std::vector<PolicyOutcome> try_policies(const Entry& entry, Experiment& live,
                                        std::uint64_t instructions = 100'000'000,
                                        std::stop_token stop = {});

}  // namespace warpscope::experiments
