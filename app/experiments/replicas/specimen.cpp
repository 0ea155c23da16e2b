#include "experiments/replicas/specimen.h"

#include <optional>
#include <utility>

#include "compute/emulated/emulated_device.h"
#include "compute/helper/helpers.h"
#include "emulator/judge.h"
#include "emulator/program/error.h"

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

namespace {

/// Launches before the one that is inspected: the memory check follows what they write. Memory that
/// a large one may write counts as written, because to follow it would take longer than the rest.
class EarlierLaunches : public emulator::Observer {
  public:
    EarlierLaunches(emulator::MemoryCheck& check, const emulator::Memory& memory)
        : check_(check), memory_(memory) {}
    void on_launch(const emulator::Kernel& kernel, const emulator::LaunchShape& shape) override {
        constexpr std::uint64_t most_threads = 1 << 20;
        is_large_ = shape.grid.count() * shape.block.count() > most_threads;
        check_.on_launch(kernel, shape);
    }
    bool wants(std::uint32_t) override { return !is_large_; }
    void on_launch_end() override {
        for (const emulator::Memory::Allocation& a : memory_.allocations())
            if (is_large_) check_.on_host_write(a.begin, a.end - a.begin);
    }
    bool wants_instructions(const emulator::Kernel&) const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    bool wants_barriers() const override { return false; }
    void on_block_begin(const emulator::Kernel& kernel, std::uint32_t block) override {
        check_.on_block_begin(kernel, block);
    }
    void on_block_turn(std::uint32_t block) override { check_.on_block_turn(block); }
    void on_global_access(const emulator::Access& a) override { check_.on_global_access(a); }
    void on_allocate(std::uint64_t address, std::size_t bytes) override {
        check_.on_allocate(address, bytes);
    }
    void on_free(std::uint64_t address) override { check_.on_free(address); }
    void on_host_write(std::uint64_t address, std::size_t bytes) override {
        check_.on_host_write(address, bytes);
    }

  private:
    emulator::MemoryCheck& check_;
    const emulator::Memory& memory_;
    bool is_large_ = false;
};

/// The launch of the frame that is inspected, behind the others. What they do is not reported.
emulator::FrozenLaunch freeze_inspected(const Replica& replica, emulator::Judge& judge) {
    compute::EmulatedDevice& device = *replica.device;
    EarlierLaunches earlier(judge.memory_check(), device.machine().memory());
    device.judge(nullptr);
    const compute::Observing observing(device, earlier);
    emulator::FrozenLaunch launch =
        device.freeze_last([&] { replica.experiment->launch_kernel(); });
    judge.memory_check().forget_findings();
    return launch;
}

}  // namespace

Inspection inspect(const LaunchState& state, std::size_t memory_bytes, std::stop_token stop,
                   std::uint64_t instructions) {
    std::optional<emulator::Judge> judge;
    const Replica replica = make_replica(
        state, memory_bytes, std::move(stop), {}, [&](compute::EmulatedDevice& device) {
            judge.emplace(
                emulator::CheckChoice{
                    .race = true, .barrier = true, .memory = true, .counters = true, .heat = true},
                device.launcher(), state.settings.seed);
            device.judge(&*judge);
        });
    const emulator::FrozenLaunch launch = freeze_inspected(replica, *judge);
    Inspection inspection;
    inspection.kernel = launch.kernel->name;
    inspection.of_blocks = launch.launch.grid.count();
    try {
        judge->run_first_blocks(launch, instructions);
    } catch (const emulator::Stopped&) {
        throw;
    } catch (const emulator::Error&) {
        // The verdict says it.
    }
    inspection.verdict = judge->verdict();
    inspection.counters = judge->counters();
    for (emulator::KernelCounters& kernel : inspection.counters) {
        inspection.blocks += kernel.blocks;
        kernel.launches = 1;  // although it ran in two parts
    }
    for (emulator::KernelHeat& kernel : judge->take_heat())
        inspection.heat = std::make_shared<const emulator::KernelHeat>(std::move(kernel));
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
        emulator::Judge judge({.barrier = true}, replica.device->launcher());
        PolicyOutcome outcome;
        outcome.policy = policy;
        outcome.of_blocks = launch.launch.grid.count();
        try {
            outcome.blocks = judge.run_first_blocks(launch, instructions);
            if (outcome.blocks == outcome.of_blocks) outcome.report = replica.experiment->report();
            outcome.ends = true;
        } catch (const emulator::Error& error) {
            outcome.error = error.words;
        } catch (const compute::DeviceError& error) {
            outcome.error = error.words;
        }
        outcome.findings = judge.verdict().findings;
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

}  // namespace warpscope::experiments
