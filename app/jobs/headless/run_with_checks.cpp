#include "jobs/headless/run_with_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "experiments/measure/user_paths.h"
#include "experiments/replicas/find_needed.h"
#include "experiments/replicas/find_witnesses.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

namespace {

/// For a frame that runs beside the one of the request, in addition to twice its time.
constexpr std::chrono::milliseconds time_for_another(300);

bool is_of_kernel(const compute::DeviceError& e) {
    return !dynamic_cast<const compute::Cancelled*>(&e) &&
           !dynamic_cast<const compute::DeviceLost*>(&e) &&
           !dynamic_cast<const compute::OutOfMemory*>(&e);
}

bool is_undefined(const emulator::Finding& finding) {
    return finding.kind == emulator::FindingKind::undefined;
}

/// The kernel and the two places of a race, in one order.
using Pair = std::tuple<std::string, std::string, std::string>;

Pair pair_of(const emulator::Finding& f) {
    const std::string first = f.first.where(), second = f.second ? f.second->where() : "";
    return {f.kernel, std::min(first, second), std::max(first, second)};
}

/// What a check finds in a frame that runs beside the one of the request. Nothing where its
/// launches do not end so, or fail: blocks in another order may wait for each other.
std::vector<emulator::Finding> found_in(const experiments::LaunchState& state, const Checks& checks,
                                        std::chrono::milliseconds time,
                                        const std::stop_token& stop) {
    try {
        const experiments::Replica replica =
            experiments::make_replica(state, compute::usual_emulator_memory(), stop);
        replica.device->set_launch_limits({.time = time, .stop = stop});
        Checking checking(*replica.device, checks);
        replica.experiment->launch_kernel();
        return checking.set().findings();
    } catch (const compute::DeviceError&) {
        return {};
    }
}

/// The races of a frame with warps and blocks in reverse order.
std::vector<emulator::Finding> races_in_reverse_order(experiments::LaunchState state,
                                                      std::chrono::milliseconds time,
                                                      const std::stop_token& stop) {
    state.settings.schedule = compute::Schedule::reverse;
    return found_in(state, {.race = true}, time, stop);
}

/// The races of a frame with blocks in the order of the seed.
std::vector<emulator::Finding> races_in_order_of_seed(experiments::LaunchState state,
                                                      std::chrono::milliseconds time,
                                                      const std::stop_token& stop) {
    state.settings.blocks_by_seed = true;
    return found_in(state, {.race = true}, time, stop);
}

/// Adds the races that only another order shows, or shows to be more severe, as between two blocks
/// and not in one warp. `why`: which order it is.
void add_races(std::vector<emulator::Finding>& findings, std::vector<emulator::Finding> others,
               const std::string& why) {
    std::map<Pair, emulator::Severity> known;
    std::vector<emulator::Finding> added;
    const auto know = [&](const emulator::Finding& f) {
        emulator::Severity& severity = known[pair_of(f)];
        severity = std::max(severity, f.severity);
    };
    for (const emulator::Finding& f : findings) {
        know(f);
        std::ranges::for_each(f.repaired_too, know);
    }
    const auto is_known = [&](const emulator::Finding& f) {
        const auto found = known.find(pair_of(f));
        return found != known.end() && found->second >= f.severity;
    };
    for (emulator::Finding& f : others) {
        std::erase_if(f.repaired_too, is_known);
        if (is_known(f)) continue;
        f.sentence += why;
        added.push_back(std::move(f));
    }
    if (!added.empty()) findings = emulator::merged({findings, added});
}

/// What undefined values decide in the code of a frame as it is without optimization, as notes. The
/// compiler may give such a value any bits and leave no trace of it.
std::vector<emulator::Finding> undefined_in_source(experiments::LaunchState state,
                                                   std::chrono::milliseconds time,
                                                   const std::stop_token& stop) {
    for (auto& [file, edit] : state.edits)
        if (!edit->unoptimized.empty()) edit = with_ptx(*edit, edit->unoptimized);
    std::vector<emulator::Finding> found = found_in(state, {.memory = true}, time, stop);
    std::erase_if(found, [](const emulator::Finding& f) { return !is_undefined(f); });
    for (emulator::Finding& f : found) {
        f.severity = emulator::Severity::note;
        f.sentence +=
            " Only the code without optimization shows it: the compiler has chosen a value.";
    }
    return found;
}

}  // namespace

bool has_unoptimized(const compute::KernelEdits& edits) {
    return std::ranges::any_of(edits,
                               [](const auto& edit) { return !edit.second->unoptimized.empty(); });
}

void run_observed(RunResult& result, compute::Device& device, const HeadlessRequest& request,
                  const std::function<void()>& run) {
    Checking checking(dynamic_cast<compute::EmulatedDevice&>(device), request.checks,
                      request.counters, request.heat.has_value());
    const auto begin = std::chrono::steady_clock::now();
    const auto take_findings = [&] {
        result.findings = checking.set().findings();
        const auto taken = std::chrono::steady_clock::now() - begin;
        const auto time =
            std::chrono::duration_cast<std::chrono::milliseconds>(2 * taken) + time_for_another;
        if (result.start && request.witness)
            experiments::find_witnesses(result.findings, *result.start, std::chrono::seconds(2),
                                        request.stops.work);
        if (result.start && request.provoked > 0)
            experiments::provoke(result.findings, *result.start, request.provoked, request.gpu,
                                 request.stops.work);
        if (result.start && request.checks.needed)
            result.findings = emulator::merged(
                {result.findings,
                 experiments::find_needed(result.start, std::chrono::seconds(5), request.stops.work)
                     .findings()});
        const std::uint64_t seed = device.settings().seed;
        if (result.start && result.stopped.empty() && checking.set().depends_on_order()) {
            add_races(result.findings,
                      races_in_reverse_order(*result.start, time, request.stops.work),
                      " Only the reverse order of warps and blocks shows it (--schedule reverse).");
            if (seed != compute::RunSettings().seed)
                add_races(result.findings,
                          races_in_order_of_seed(*result.start, time, request.stops.work),
                          fmt::format(" Only blocks in the order of the seed show it (--seed {}).",
                                      seed));
        }
        if (result.start && result.stopped.empty() && request.checks.memory &&
            has_unoptimized(device.edits()) && std::ranges::none_of(result.findings, is_undefined))
            result.findings = emulator::merged(
                {result.findings, undefined_in_source(*result.start, time, request.stops.work)});
        result.findings = experiments::as_named(std::move(result.findings), device.edits());
    };
    try {
        run();
        take_findings();
    } catch (const compute::DeviceError& e) {
        if (!request.checks.any() || !is_of_kernel(e)) throw;
        result.stopped = e.what();
        const auto* const failed = dynamic_cast<const compute::BlockError*>(&e);
        result.timed_out = failed && failed->timed_out;
        take_findings();
        result.kernels = device.timings().kernels();
        result.output = device.take_output();
        result.stopped = experiments::as_named(e.what(), device.edits());
    }
    result.counters = checking.set().counters();
    result.heat = checking.set().take_heat();
    for (emulator::KernelCounters& kernel : result.counters)
        for (emulator::LineCounters& line : kernel.lines)
            line.file = experiments::as_named(std::move(line.file), device.edits());
}

void write_witnesses(const std::vector<emulator::Finding>& findings,
                     const std::filesystem::path& folder) {
    for (std::size_t k = 0; !folder.empty() && k < findings.size(); ++k)
        if (const auto& witness = findings[k].witness; witness && witness->preemptions)
            write_file(folder / fmt::format("{}.schedule", k + 1), witness->schedule);
}

}  // namespace warpscope::jobs
