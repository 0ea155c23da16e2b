#include "experiments/copies/specimen.h"

#include <utility>

#include "compute/helper/helpers.h"

namespace warpscope::experiments {

namespace {

/// Of an edited kernel's launch that is checked in the background.
constexpr std::chrono::seconds checked_time{20};

compute::LaunchLimits limits_of(bool edited, std::stop_token stop) {
    compute::LaunchLimits limits;
    if (edited) limits = compute::usual_limits();
    if (edited && stop.stop_possible()) limits.time = checked_time;
    limits.stop = std::move(stop);
    return limits;
}

}  // namespace

Copy::Copy(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
           std::size_t memory_bytes, std::stop_token stop)
    : device([&] {
          auto made = compute::make_emulated_device("for the microscope", memory_bytes);
          made->set(settings);
          made->set_edits(live.device().edits());
          made->set_launch_limits(limits_of(!made->edits().empty(), std::move(stop)));
          return made;
      }()),
      experiment(entry.make(*device)) {
    experiment->resume(live.snapshot());
}

Specimen::Specimen(const Entry& entry, Experiment& live)
    : Specimen(entry, live, live.device().settings()) {}

Specimen::Specimen(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
                   std::size_t memory_bytes, std::stop_token stop)
    : copy_(entry, live, settings, memory_bytes, std::move(stop)),
      launch_(copy_.device->freeze_last([&] { copy_.experiment->launch_kernel(); })) {}

}  // namespace warpscope::experiments
