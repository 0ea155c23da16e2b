#include <fmt/format.h>

#include <algorithm>

#include "compute/device/kernel_source.h"
#include "compute/device/sentences.h"
#include "compute/device/words.h"
#include "compute/shares.h"
#include "experiments/framework/metadata.h"
#include "jobs/headless/headless.h"
#include "jobs/output/output.h"

namespace warpscope::jobs {

namespace {

std::string timing_lines(const compute::KernelTiming& k, const compute::Ceilings* ceilings) {
    std::string line = fmt::format("  {:28} {:>6} launches  median {:9.4f} ms  p99 {:9.4f} ms",
                                   k.name, k.launches, k.median_ms(), k.p99_ms());
    if (k.interactions_per_second() > 0) {
        line += fmt::format("  {:.4g} G interactions/s", k.interactions_per_second() / 1e9);
    } else if (k.bytes_per_second() > 0) {
        line += fmt::format("  {:.4g} GB/s", k.bytes_per_second() / 1e9);
    }
    const auto shares = ceilings ? compute::shares_of(k, *ceilings) : compute::Shares{};
    if (shares.larger() > 0)
        line += fmt::format("  {:.0f} % of the {}", 100 * shares.larger(), shares.larger_name());
    line += k.cold() ? "  (first launch)\n" : "\n";
    const std::string note = k.cold() ? "" : compute::timing_note(k, ceilings);
    if (note.empty()) return line;
    for (const std::string& part : wrap(note, 94)) line += "      " + part + "\n";
    return line;
}

/// The measured ceilings, which the shares refer to, and the clocks.
std::string ceiling_lines(const RunResult& r) {
    std::string text;
    if (r.ceilings)
        text += fmt::format(
            "  ceilings: {:.4g} GB/s copied, {:.4g} GB/s read, {:.4g} Tflop/s FP32; an empty "
            "kernel: {:.1f} µs\n",
            r.ceilings->bytes_per_second / 1e9, r.ceilings->read_bytes_per_second / 1e9,
            r.ceilings->flops_per_second / 1e12, r.ceilings->lone_launch_ms * 1e3);
    if (r.gpu) text += "  clocks: " + compute::words(*r.gpu) + "\n";
    return text;
}

/// Rates in billions, other values unchanged: "1.75 GB/s", "41.8 %".
std::string quantity(double value, const std::string& unit) {
    if (unit.ends_with("/s") && value >= 1e6) {
        const bool bytes = unit == "B/s";
        return fmt::format("{:.4g} G{}{}", value / 1e9, bytes ? "" : " ",
                           unit == "1/s" ? "/s" : unit);
    }
    return fmt::format("{:.10g}{}{}", value, unit.empty() ? "" : " ", unit);
}

std::string reading_lines(const experiments::Reading& r) {
    std::string line = fmt::format("  {:28} {}", r.label, quantity(r.value, r.unit));
    if (r.expected) line += fmt::format("  (expected {:.10g})", *r.expected);
    if (r.verdict != experiments::Verdict::none) {
        line += fmt::format("  {}", experiments::to_string(r.verdict));
    }
    line += "\n";
    if (r.sentence.empty()) return line;
    for (const std::string& part : wrap(r.sentence, 94)) line += "      " + part + "\n";
    return line;
}

std::string comparison_lines(const experiments::Comparison& c) {
    std::size_t width = 0;
    for (const auto& row : c.rows) width = std::max(width, row.label.size());
    std::string text = "\n" + c.title + "\n";
    for (const auto& row : c.rows) {
        text += fmt::format("  {:{}}  {:9.4f} ms  {:>24}  error {:7.2g}", row.label, width,
                            row.median_ms, quantity(row.rate, c.rate_unit), row.error);
        if (row.verdict != experiments::Verdict::none) {
            text += fmt::format("  {}", experiments::to_string(row.verdict));
        }
        text += "\n";
    }
    if (c.published_title.empty()) return text;
    text += "  " + c.published_title + ":\n";
    for (const auto& row : c.rows) {
        if (!row.published.empty())
            text += fmt::format("  {:{}}  {}\n", row.label, width, row.published);
    }
    return text;
}

Json to_json(const std::optional<Partial>& partial) {
    if (!partial) return nullptr;
    return {{"frames_requested", partial->frames_requested}, {"missing", partial->missing}};
}

std::string partial_line(const RunResult& r) {
    std::string line = fmt::format("partial results: the run was stopped after frame {} of {}",
                                   r.frames, r.partial->frames_requested);
    if (!r.partial->missing.empty())
        line += fmt::format("; not computed: {}", fmt::join(r.partial->missing, ", "));
    return line + "\n";
}

}  // namespace

Json to_json(const RunResult& r) {
    Json json = {
        {"device", to_json(r.device)},
        {"experiment", r.experiment},
        {"parameters", r.parameters},
        {"report", to_json(r.report)},
        {"kernels", to_json(r.kernels, r.ceilings)},
        {"ceilings", to_json(r.ceilings)},
        {"gpu", to_json(r.gpu)},
        {"presentation", {{"path", r.presentation.path}, {"reason", r.presentation.reason}}},
        {"frames", r.frames},
        {"partial", to_json(r.partial)},
        {"seed", r.settings.seed},
        {"schedule", compute::name(r.settings.schedule)},
        {"barriers", compute::name(r.settings.barriers)},
        {"math", compute::name(r.settings.math)}};
    if (r.compared) json["comparison"] = r.comparison ? to_json(*r.comparison) : Json(nullptr);
    if (r.checks.any()) {
        json["checks"] = r.checks.words();
        json["findings"] = to_json(r.findings);
        json["stopped"] = r.stopped.empty() ? Json(nullptr) : Json(r.stopped);
    }
    if (r.counted) json["counters"] = to_json(r.counters);
    if (!r.kernel_files.empty()) json["kernel_source"] = to_json(r.kernel_files);
    if (!r.output.empty()) json["output"] = r.output;
    return json;
}

std::string summary(const RunResult& r) {
    std::string text =
        fmt::format("{}, {} on {}: {}\n", r.experiment, compute::plural(r.frames, "frame"),
                    r.device.name, r.device.reason);
    if (r.partial) text += partial_line(r);
    for (const KernelFile& file : r.kernel_files)
        text += fmt::format("{}: {}\n", compute::kernel_path(file.file), file.from.string());
    text += "\nresults\n";
    for (const experiments::Reading& reading : r.report) text += reading_lines(reading);
    text += fmt::format("\nkernels{}\n", r.device.kind == compute::DeviceKind::emulator
                                             ? " (emulated: the times are those of this CPU)"
                                             : "");
    for (const compute::KernelTiming& kernel : r.kernels) text += timing_lines(kernel, r.ceilings);
    text += ceiling_lines(r);
    if (!r.output.empty()) text += "\noutput of printf() in kernels\n" + r.output;
    if (r.comparison) text += comparison_lines(*r.comparison);
    if (r.counted) text += "\n" + counters_text(r.counters);
    if (r.checks.any()) text += "\n" + findings_text(r.findings, r.checks);
    if (!r.stopped.empty()) text += "========= The run ended with an error: " + r.stopped + "\n";
    if (r.compared && !r.comparison) text += "\nnothing to compare: there is one variant\n";
    return text;
}

int exit_code(const RunResult& r) {
    if (experiments::has_failure(r.report) || !r.findings.empty()) return 1;
    if (!r.comparison) return 0;
    for (const auto& row : r.comparison->rows) {
        if (row.verdict == experiments::Verdict::fail) return 1;
    }
    return 0;
}

}  // namespace warpscope::jobs
