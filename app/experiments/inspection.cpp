#include <algorithm>

#include "emulator/barrier_check.h"
#include "emulator/error.h"
#include "emulator/observer_list.h"
#include "emulator/race_detector.h"
#include "experiments/specimen.h"

namespace warpscope::experiments {

Inspection inspect(Specimen& specimen, std::uint64_t instructions) {
    emulator::RaceDetector races;
    emulator::BarrierCheck barriers;
    emulator::AccessCounters counters;
    emulator::ObserverList all;
    all.add(races);
    all.add(barriers);
    all.add(counters);

    emulator::FrozenLaunch part = specimen.launch();
    Inspection inspection;
    inspection.kernel = part.kernel->name;
    inspection.of_blocks = part.launch.grid.count();
    const auto run = [&](std::uint64_t first, std::uint64_t blocks) {
        part.options.first_block = first;
        part.options.blocks = blocks;
        return specimen.machine().run(part, &all).warp_instructions;
    };
    try {
        const std::uint64_t each = std::max<std::uint64_t>(run(0, 1), 1);
        const std::uint64_t fit = std::min(inspection.of_blocks, instructions / each);
        if (fit > 1) run(1, fit - 1);
    } catch (const emulator::Error& error) {
        inspection.error = error.what();
    }
    inspection.counters = counters.kernels();
    for (emulator::KernelCounters& kernel : inspection.counters) {
        inspection.blocks += kernel.blocks;
        kernel.launches = 1;  // in two parts
    }
    inspection.findings = emulator::merged({races.findings(), barriers.findings()});
    return inspection;
}

std::vector<PolicyOutcome> try_policies(const Entry& entry, Experiment& live) {
    using compute::BarrierPolicy;
    std::vector<PolicyOutcome> outcomes;
    for (const auto policy :
         {BarrierPolicy::before_volta, BarrierPolicy::volta, BarrierPolicy::strict}) {
        compute::RunSettings settings = live.device().settings();
        settings.barriers = policy;
        Copy copy(entry, live, settings);
        const emulator::FrozenLaunch launch =
            copy.device->freeze_last([&] { copy.experiment->launch_kernel(); });
        emulator::BarrierCheck barriers;
        PolicyOutcome outcome;
        outcome.policy = policy;
        try {
            copy.device->machine().run(launch, &barriers);
            outcome.report = copy.experiment->report();
            outcome.ends = true;
        } catch (const emulator::Error& error) {
            outcome.error = error.what();
        } catch (const compute::DeviceError& error) {
            outcome.error = error.what();
        }
        outcome.findings = barriers.findings();
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

}  // namespace warpscope::experiments
