#include <algorithm>

#include "emulator/checks/barrier_check.h"
#include "emulator/checks/memory_check.h"
#include "emulator/counters/heat_map.h"
#include "emulator/observe/observer_list.h"
#include "emulator/program/error.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"
#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

namespace {

/// Runs block 0 and then as many blocks as fit into `instructions` warp instructions if each takes
/// as many as block 0. Returns the number of blocks. Throws the errors of the launch.
std::uint64_t run_first_blocks(emulator::Machine& machine, emulator::FrozenLaunch launch,
                               std::uint64_t instructions, emulator::Observer& observer,
                               emulator::GridRaces* grid_races = nullptr) {
    launch.settings.blocks = 1;
    const std::uint64_t each = machine.run(launch, &observer).warp_instructions;
    const std::uint64_t fit =
        std::min(launch.launch.grid.count(), instructions / std::max<std::uint64_t>(each, 1));
    if (fit <= 1) return 1;
    launch.settings.first_block = 1;
    launch.settings.blocks = fit - 1;
    if (grid_races) grid_races->continue_launch();
    machine.run(launch, &observer);
    return fit;
}

}  // namespace

Inspection inspect(Specimen& specimen, std::uint64_t instructions) {
    emulator::RaceDetector races;
    emulator::GridRaces grid_races;
    emulator::BarrierCheck barriers;
    emulator::AccessCounters counters;
    emulator::HeatMap heat(specimen.machine().memory());
    races.count_hazards_in(heat);
    grid_races.count_hazards_in(heat);
    emulator::ObserverList all;
    all.add(races);
    all.add(grid_races);
    all.add(barriers);
    all.add(counters);
    all.add(heat);

    Inspection inspection;
    inspection.kernel = specimen.launch().kernel->name;
    inspection.of_blocks = specimen.launch().launch.grid.count();
    std::vector<emulator::Finding> invalid;
    try {
        run_first_blocks(specimen.machine(), specimen.launch(), instructions, all, &grid_races);
    } catch (const emulator::Error& error) {
        inspection.error = error.what();
        const auto* const access = dynamic_cast<const emulator::AccessError*>(&error);
        if (access && error.block) {
            emulator::ObservedLaunch launch;
            launch.begin(*specimen.launch().kernel, specimen.launch().launch);
            invalid.push_back(emulator::invalid_access(launch, *access, *error.block));
            invalid.back().count = 1;
        }
    }
    inspection.counters = counters.kernels();
    for (emulator::KernelCounters& kernel : inspection.counters) {
        inspection.blocks += kernel.blocks;
        kernel.launches = 1;  // although it ran in two parts
    }
    for (emulator::KernelHeat& kernel : heat.take())
        inspection.heat = std::make_shared<const emulator::KernelHeat>(std::move(kernel));
    inspection.findings =
        emulator::merged({races.findings(), grid_races.findings(), barriers.findings(), invalid});
    return inspection;
}

std::vector<PolicyOutcome> try_policies(const Entry& entry, Experiment& live,
                                        std::uint64_t instructions, std::stop_token stop) {
    using compute::BarrierPolicy;
    std::vector<PolicyOutcome> outcomes;
    for (const auto policy :
         {BarrierPolicy::before_volta, BarrierPolicy::volta, BarrierPolicy::strict}) {
        if (stop.stop_requested()) break;
        compute::RunSettings settings = live.device().settings();
        settings.barriers = policy;
        const Replica replica =
            make_replica(entry, live, settings, compute::usual_emulator_memory(), stop);
        const emulator::FrozenLaunch launch =
            replica.device->freeze_last([&] { replica.experiment->launch_kernel(); });
        emulator::BarrierCheck barriers;
        PolicyOutcome outcome;
        outcome.policy = policy;
        outcome.of_blocks = launch.launch.grid.count();
        try {
            outcome.blocks =
                run_first_blocks(replica.device->machine(), launch, instructions, barriers);
            if (outcome.blocks == outcome.of_blocks) outcome.report = replica.experiment->report();
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
