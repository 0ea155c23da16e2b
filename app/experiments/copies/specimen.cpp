#include "experiments/copies/specimen.h"

#include <utility>

#include "compute/helper/helpers.h"

namespace warpscope::experiments {

namespace {

/// The limit of an edit's launch that is checked in the background.
constexpr std::chrono::seconds background_limit{20};

compute::LaunchLimits limits_of(bool edited, std::stop_token stop) {
    compute::LaunchLimits limits;
    if (edited) limits = compute::usual_limits();
    if (edited && stop.stop_possible()) limits.time = background_limit;
    limits.stop = std::move(stop);
    return limits;
}

}  // namespace

EmulatedCopy copy_to_emulator(const Entry& entry, Experiment& live,
                              const compute::RunSettings& settings, std::size_t memory_bytes,
                              std::stop_token stop,
                              std::shared_ptr<compute::LaunchProgress> progress) {
    const compute::KernelEdits& edits = live.device().edits();
    EmulatedCopy copy;
    copy.device = compute::make_emulated_device({"for the microscope", memory_bytes, settings,
                                                 edits, limits_of(!edits.empty(), std::move(stop)),
                                                 std::move(progress)});
    copy.experiment = entry.make(*copy.device);
    copy.experiment->resume(live.snapshot());
    return copy;
}

Specimen::Specimen(const Entry& entry, Experiment& live)
    : Specimen(entry, live, live.device().settings()) {}

Specimen::Specimen(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
                   std::size_t memory_bytes, std::stop_token stop,
                   std::shared_ptr<compute::LaunchProgress> progress)
    : copy_(copy_to_emulator(entry, live, settings, memory_bytes, std::move(stop),
                             std::move(progress))),
      launch_(copy_.device->freeze_last([&] { copy_.experiment->launch_kernel(); })) {}

}  // namespace warpscope::experiments
