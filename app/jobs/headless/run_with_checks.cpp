#include "jobs/headless/run_with_checks.h"

#include <fmt/format.h>

#include <chrono>

#include "compute/emulated/emulated_device.h"
#include "experiments/measure/user_paths.h"
#include "experiments/replicas/find_needed.h"
#include "experiments/replicas/find_witnesses.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

namespace {

bool is_of_kernel(const compute::DeviceError& e) {
    return !dynamic_cast<const compute::Cancelled*>(&e) &&
           !dynamic_cast<const compute::DeviceLost*>(&e) &&
           !dynamic_cast<const compute::OutOfMemory*>(&e);
}

/// A device whose launches a judge runs.
class Judging {
  public:
    Judging(compute::EmulatedDevice& device, emulator::Judge& judge) : device_(device) {
        device_.judge(&judge);
    }
    Judging(const Judging&) = delete;
    Judging& operator=(const Judging&) = delete;
    ~Judging() { device_.judge(nullptr); }

  private:
    compute::EmulatedDevice& device_;
};

/// Calls `run`. Returns the error of a kernel that has ended it; empty: none has.
emulator::Verdict ended_by(const std::function<void()>& run, bool may_fail) {
    try {
        run();
        return {};
    } catch (const compute::DeviceError& e) {
        if (!may_fail || !is_of_kernel(e)) throw;
        const auto* const failed = dynamic_cast<const compute::BlockError*>(&e);
        return {.error = e.what(), .timed_out = failed && failed->timed_out};
    }
}

/// Adds what the request asks about the findings: witnesses, what a GPU does, and what depends on
/// each barrier.
void examine(std::vector<emulator::Finding>& findings, const RunResult& result,
             const HeadlessRequest& request) {
    if (!result.start) return;
    if (request.witness)
        experiments::find_witnesses(findings, *result.start, std::chrono::seconds(2),
                                    request.stops.work);
    if (request.provoked > 0)
        experiments::provoke(findings, *result.start, request.provoked, request.gpu,
                             request.stops.work);
    if (request.checks.needed)
        findings = emulator::merged(
            {findings,
             experiments::find_needed(result.start, std::chrono::seconds(5), request.stops.work)
                 .findings()});
}

}  // namespace

void run_observed(RunResult& result, compute::Device& device, const HeadlessRequest& request,
                  const std::function<void()>& run) {
    auto& emulated = dynamic_cast<compute::EmulatedDevice&>(device);
    emulator::CheckChoice choice = request.checks;
    choice.counters = request.counters;
    choice.heat = request.heat.has_value();
    emulator::Judge judge(choice, emulated.launcher(), device.settings().seed);
    const Judging judging(emulated, judge);
    const emulator::Verdict end = ended_by(run, request.checks.has_checks());
    if (!end.error.empty()) {
        result.kernels = device.timings().kernels();
        result.output = device.take_output();
    }
    result.verdict = judge.verdict();
    result.verdict.error = end.error;
    result.verdict.timed_out = end.timed_out;
    examine(result.verdict.findings, result, request);
    result.verdict = experiments::as_named(std::move(result.verdict), device.edits());
    result.counters = judge.counters();
    result.heat = judge.take_heat();
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
