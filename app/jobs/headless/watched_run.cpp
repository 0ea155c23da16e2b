#include "jobs/headless/watched_run.h"

#include <fmt/format.h>

#include "experiments/measure/source_names.h"
#include "experiments/replicas/find_witnesses.h"
#include "jobs/output/output.h"

namespace warpscope::jobs {

namespace {

bool is_of_kernel(const compute::DeviceError& e) {
    return !dynamic_cast<const compute::Cancelled*>(&e) &&
           !dynamic_cast<const compute::DeviceLost*>(&e) &&
           !dynamic_cast<const compute::OutOfMemory*>(&e);
}

}  // namespace

void run_watched(RunResult& result, compute::Device& device, const HeadlessRequest& request,
                 const std::function<void()>& run) {
    Checking checking(dynamic_cast<compute::EmulatedDevice&>(device), request.checks,
                      request.counters, request.heat.has_value());
    const auto take_findings = [&] {
        result.findings = checking.set().findings();
        if (result.start && request.witness)
            experiments::find_witnesses(result.findings, *result.start, std::chrono::seconds(2),
                                        request.stops.work);
        if (result.start && request.provoked > 0)
            experiments::provoke(result.findings, *result.start, request.provoked, request.gpu,
                                 request.stops.work);
        if (result.start && request.checks.needed)
            result.findings = emulator::merged(
                {result.findings, experiments::find_needed(*result.start, std::chrono::seconds(5),
                                                           request.stops.work)});
        result.findings = experiments::as_named(std::move(result.findings), device.edits());
    };
    try {
        run();
        take_findings();
    } catch (const compute::DeviceError& e) {
        if (!request.checks.any() || !is_of_kernel(e)) throw;
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
