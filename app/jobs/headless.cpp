#include "jobs/headless.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>
#include <utility>

#include "experiments/metadata.h"
#include "gl/offscreen_context.h"
#include "gl/png.h"
#include "jobs/output.h"

namespace warpscope::jobs {

namespace {

using experiments::Entry;
using experiments::Experiment;
using experiments::Rgba;
using experiments::Size;

bool has_pixels(Size size) {
    return size.width > 0 && size.height > 0;
}

/// Kernels from files that the experiment can't call are wrong with the files.
std::unique_ptr<Experiment> make(const Entry& entry, compute::Device& device) {
    try {
        return entry.make(device);
    } catch (const compute::DeviceLost&) {
        throw;
    } catch (const compute::DeviceError& e) {
        if (device.edits().empty()) throw;
        throw UsageError(fmt::format("{}: {}", device.edits().begin()->second->from, e.what()));
    }
}

/// Whatever keeps the settings from being made is wrong with the settings: a word, a file, a size
/// that the memory doesn't hold.
std::unique_ptr<Experiment> make_experiment(const Entry& entry, compute::Device& device,
                                            std::span<const experiments::Assignment> assignments) {
    auto experiment = make(entry, device);
    try {
        experiment->set(assignments);
    } catch (const compute::DeviceLost&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw UsageError(fmt::format(
            "{}: these settings need more memory than there is; choose smaller ones", entry.id));
    } catch (const std::exception& e) {
        throw UsageError(fmt::format("{}: {}", entry.id, e.what()));
    }
    experiment->reset();
    return experiment;
}

/// Where frames go without OpenGL.
class PlainTarget {
  public:
    PlainTarget(compute::Device& device, Size size)
        : pixels_(device, std::size_t(size.width) * size.height), size_(size) {}

    void draw(Experiment& experiment) { experiment.render_into({pixels_.pointer(), size_}); }
    void save(const std::filesystem::path& file, const gl::Metadata& metadata) const {
        const std::vector<Rgba> pixels = pixels_.download();
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(pixels.data());
        gl::write_png(file, size_.width, size_.height, {bytes, pixels.size() * sizeof(Rgba)},
                      metadata);
    }

  private:
    compute::Buffer<Rgba> pixels_;
    Size size_;
};

Presentation run_plain(const Entry& entry, Experiment& experiment, const HeadlessRequest& request) {
    const Size size = experiment.picture_size(request.size);
    std::optional<PlainTarget> target;
    if (has_pixels(size)) target.emplace(experiment.device(), size);
    for (std::uint64_t i = 0; i < request.frames; ++i) {
        experiment.step();
        if (target) target->draw(experiment);
    }
    if (!request.screenshot.empty()) {
        if (request.frames == 0) target->draw(experiment);
        target->save(request.screenshot,
                     experiments::describe(experiment, entry, request.size, true));
        return {"none", "the picture needs no OpenGL: it is saved as the kernels wrote it"};
    }
    return {"none", "no screenshot was asked for, so nothing was presented"};
}

Presentation run_with_gl(const Entry& entry, Experiment& experiment, const HeadlessRequest& request,
                         const Painter& painter) {
    compute::Device& device = experiment.device();
    const int ordinal = device.info().ordinal;
    gl::OffscreenContext context(ordinal >= 0 ? std::optional(ordinal) : std::nullopt);
    const Size view = request.view_only ? request.size : painter.view_of(request.size);
    const Size size = experiment.picture_size(view);
    std::unique_ptr<gl::PixelBuffer> pixels;
    if (has_pixels(size)) {
        pixels = std::make_unique<gl::PixelBuffer>(device, size.width, size.height);
    }
    const auto draw = [&] {
        if (!pixels) return;
        pixels->write([&](std::uint64_t address) { experiment.render_into({{address}, size}); });
    };
    if (request.frames == 0) draw();
    for (std::uint64_t i = 0; i < request.frames; ++i) {
        experiment.step();
        draw();
    }
    painter.save(
        {entry, experiment, pixels.get(), request.size, request.screenshot, request.view_only});
    if (!pixels) return {"none", "the picture is drawn from values, not from a kernel's pixels"};
    return {gl::to_string(pixels->path()), pixels->reason()};
}

/// Of a GPU that has room for measuring them.
const compute::Ceilings* ceilings_of(compute::Device& device) {
    if (device.info().kind != compute::DeviceKind::cuda) return nullptr;
    try {
        return &compute::measure_ceilings(device);
    } catch (const compute::DeviceError&) {
        return nullptr;
    }
}

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

/// What the shares are of, and the clocks.
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

/// Rates in billions, the rest as it is: "1.75 GB/s", "41.8 %".
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

void run_frames(RunResult& result, const Entry& entry, compute::Device& device,
                const HeadlessRequest& request, const Painter& painter) {
    const auto experiment = make_experiment(entry, device, request.assignments);
    const bool picture_alone =
        request.view_only && has_pixels(experiment->picture_size(request.size));
    const bool plain = request.screenshot.empty() || picture_alone;

    result.parameters = to_json(entry.id, experiment->parameters());
    result.presentation = plain ? run_plain(entry, *experiment, request)
                                : run_with_gl(entry, *experiment, request, painter);
    result.gpu = compute::gpu_state(device.info().pci_bus_id);
    result.report = experiment->report();
    device.synchronize();
    result.kernels = device.timings().kernels();
    result.ceilings = ceilings_of(device);
    if (request.compare) result.comparison = experiment->compare();
    result.parameters = to_json(entry.id, experiment->parameters());
}

/// An error that a check has recorded ends the run and is a finding like the others.
void run_watched(RunResult& result, const Entry& entry, compute::Device& device,
                 const HeadlessRequest& request, const Painter& painter) {
    Checking checking(dynamic_cast<compute::EmulatedDevice&>(device), request.checks,
                      request.counters);
    try {
        run_frames(result, entry, device, request, painter);
        result.findings = checking.findings();
    } catch (const compute::DeviceError& e) {
        result.findings = checking.findings();
        if (!emulator::has_errors(result.findings)) throw;
        result.kernels = device.timings().kernels();
        result.stopped = e.what();
    }
    result.counters = checking.counters();
}

/// Exchanges the device for one that runs the kernels of the files; false: they don't compile.
bool take_kernels(compute::Sandbox& sandbox, std::unique_ptr<compute::Device>& device,
                  const HeadlessRequest& request, std::vector<KernelFile>& files) {
    sandbox.warm(device->info());
    compute::KernelEdits edits;
    const bool compiled = compile(sandbox, device->settings().math, files, edits);
    std::fputs(diagnostic_lines(files).c_str(), stderr);
    if (compiled && !edits.empty())
        device =
            sandbox.device(device->info(), device->settings(), std::move(edits), request.limits);
    return compiled;
}

/// What the emulator says of kernels that failed on a GPU, which knows no line and no thread; empty
/// where they work there.
std::string words_of_the_emulator(const compute::Device& failed, HeadlessRequest request) {
    const auto device = compute::make_emulated_device("to find what failed on the GPU");
    device->set(failed.settings());
    device->use(failed.edits());
    device->limit({.time = std::chrono::seconds(2)});
    request.frames = std::min<std::uint64_t>(request.frames, 3);
    request.screenshot.clear();
    request.compare = false;
    try {
        run_experiment(*device, request, {});
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

RunResult run_apart(compute::Device& device, const HeadlessRequest& request,
                    const Painter& painter) {
    try {
        return run_experiment(device, request, painter);
    } catch (const compute::OutOfMemory&) {
        throw;
    } catch (const compute::DeviceError& e) {
        if (!device.info().apart) throw;
        const std::string words = words_of_the_emulator(device, request);
        if (words.empty()) throw;
        throw compute::DeviceError(fmt::format("{} In the emulator: {}", e.what(), words));
    }
}

}  // namespace

RunResult run_experiment(compute::Device& device, const HeadlessRequest& request,
                         const Painter& painter) {
    const Entry& entry = experiments::find_experiment(request.experiment);
    RunResult result;
    result.experiment = entry.id;
    result.device = device.info();
    result.settings = device.settings();
    result.frames = request.frames;
    result.compared = request.compare;
    result.checks = request.checks;
    result.counted = request.counters;
    if (request.checks.any() || request.counters)
        run_watched(result, entry, device, request, painter);
    else
        run_frames(result, entry, device, request, painter);
    return result;
}

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
        {"seed", r.settings.seed},
        {"schedule", experiments::word(r.settings.schedule)},
        {"barriers", experiments::word(r.settings.barriers)},
        {"math", experiments::word(r.settings.math)}};
    if (r.compared) json["comparison"] = r.comparison ? to_json(*r.comparison) : Json(nullptr);
    if (r.checks.any()) {
        json["checks"] = r.checks.words();
        json["findings"] = to_json(r.findings);
        json["stopped"] = r.stopped.empty() ? Json(nullptr) : Json(r.stopped);
    }
    if (r.counted) json["counters"] = to_json(r.counters);
    if (!r.kernel_files.empty()) json["kernel_source"] = to_json(r.kernel_files);
    return json;
}

std::string summary(const RunResult& r) {
    std::string text = fmt::format("{}, {} frame{} on {}: {}\n", r.experiment, r.frames,
                                   r.frames == 1 ? "" : "s", r.device.name, r.device.reason);
    for (const KernelFile& file : r.kernel_files)
        text += fmt::format("kernels/{}.cu: {}\n", file.file, file.from.string());
    text += "\nresults\n";
    for (const experiments::Reading& reading : r.report) text += reading_lines(reading);
    text += fmt::format("\nkernels{}\n", r.device.kind == compute::DeviceKind::emulator
                                             ? " (emulated: the times are this processor's)"
                                             : "");
    for (const compute::KernelTiming& kernel : r.kernels) text += timing_lines(kernel, r.ceilings);
    text += ceiling_lines(r);
    if (r.comparison) text += comparison_lines(*r.comparison);
    if (r.counted) text += "\n" + counters_text(r.counters);
    if (r.checks.any()) text += "\n" + findings_text(r.findings, r.checks);
    if (!r.stopped.empty()) text += "========= The run ended at an error: " + r.stopped + "\n";
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

int run_headless(compute::Sandbox& sandbox, std::unique_ptr<compute::Device> device,
                 const HeadlessRequest& request, const Painter& painter) {
    if (!request.screenshot.empty()) check_writable(request.screenshot, "--screenshot");
    const bool to_file = !request.json.empty() && request.json != "-";
    if (to_file) check_writable(request.json, "--json");

    std::vector<KernelFile> files;
    if (!request.kernel_source.empty() || !request.kernels.empty()) {
        files = read_kernel_files(request.kernel_source, request.kernels,
                                  experiments::find_experiment(request.experiment),
                                  request.assignments);
        if (!take_kernels(sandbox, device, request, files)) return 2;
    }
    RunResult result = run_apart(*device, request, painter);
    result.kernel_files = std::move(files);
    if (to_file) write_file(request.json, dump(to_json(result)));
    if (request.json == "-") {
        print(dump(to_json(result)));
    } else {
        std::string text = summary(result);
        if (!request.screenshot.empty()) text += "\nsaved " + request.screenshot.string() + "\n";
        print(text);
    }
    return exit_code(result);
}

}  // namespace warpscope::jobs
