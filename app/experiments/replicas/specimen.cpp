#include "experiments/replicas/specimen.h"

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

LaunchState::LaunchState(const Entry& from, Experiment& live, const compute::RunSettings& run)
    : entry(from), snapshot(live.snapshot()), settings(run), edits(live.device().edits()) {}

Replica make_replica(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
                     std::size_t memory_bytes, std::stop_token stop,
                     std::shared_ptr<compute::LaunchProgress> progress) {
    return make_replica(LaunchState(entry, live, settings), memory_bytes, std::move(stop),
                        std::move(progress));
}

Replica make_replica(const LaunchState& state, std::size_t memory_bytes, std::stop_token stop,
                     std::shared_ptr<compute::LaunchProgress> progress,
                     const std::function<void(compute::EmulatedDevice&)>& prepare) {
    Replica replica;
    replica.device = compute::make_emulated_device(
        {"for the microscope", memory_bytes, state.settings, state.edits,
         limits_of(!state.edits.empty(), std::move(stop)), std::move(progress)});
    if (prepare) prepare(*replica.device);
    replica.experiment = state.entry.make(*replica.device);
    replica.experiment->resume(state.snapshot);
    return replica;
}

Specimen::Specimen(const Entry& entry, Experiment& live)
    : Specimen(entry, live, live.device().settings()) {}

Specimen::Specimen(const Entry& entry, Experiment& live, const compute::RunSettings& settings,
                   std::size_t memory_bytes, std::stop_token stop,
                   std::shared_ptr<compute::LaunchProgress> progress)
    : Specimen(LaunchState(entry, live, settings), memory_bytes, std::move(stop),
               std::move(progress)) {}

Specimen::Specimen(const LaunchState& state, std::size_t memory_bytes, std::stop_token stop,
                   std::shared_ptr<compute::LaunchProgress> progress, std::string_view kernel)
    : replica_(make_replica(state, memory_bytes, std::move(stop), std::move(progress))),
      launch_(replica_.device->freeze_last([&] { replica_.experiment->launch_kernel(); }, kernel)) {
}

}  // namespace warpscope::experiments
