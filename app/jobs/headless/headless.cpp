#include "jobs/headless/headless.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>
#include <utility>

#include "compute/device/kernel_source.h"
#include "experiments/copies/try_edits.h"
#include "experiments/framework/metadata.h"
#include "gl/png.h"
#include "jobs/output/output.h"

namespace warpscope::jobs {

namespace {

using experiments::Entry;
using experiments::Experiment;
using experiments::Rgba;
using experiments::Size;

bool has_pixels(Size size) {
    return size.width > 0 && size.height > 0;
}

/// Replaces names of kernel files by the paths given on the command line: "kernels/ripple.cu:8"
/// becomes "my.cu:8".
std::string as_named(std::string words, const compute::KernelEdits& edits) {
    for (const auto& [file, edit] : edits) {
        const std::string name = compute::kernel_path(file);
        for (std::size_t at = 0; (at = words.find(name, at)) != std::string::npos;
             at += edit->from.size())
            words.replace(at, name.size(), edit->from);
    }
    return words;
}

/// Throws UsageError with the file's name if a kernel from a file can't be loaded.
std::unique_ptr<Experiment> make(const Entry& entry, compute::Device& device) {
    try {
        return entry.make(device);
    } catch (const compute::DeviceLost&) {
        throw;
    } catch (const compute::OutOfMemory&) {
        throw;
    } catch (const compute::DeviceError& e) {
        const compute::KernelEdits& edits = device.edits();
        if (edits.empty()) throw;
        // With several files, the error itself names the file at fault.
        if (edits.size() > 1) throw UsageError(as_named(e.what(), edits));
        throw UsageError(fmt::format("{}: {}", edits.begin()->second->from, e.what()));
    }
}

/// Throws UsageError if the experiment can't be set up with these values: an unknown word, a file
/// that can't be read, a size that does not fit into memory.
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

/// Receives the frames when OpenGL is not used.
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
    return {"none", "no screenshot was requested, so nothing was presented"};
}

/// nullptr for the emulator, and for a GPU without enough free memory for the measurement.
const compute::Ceilings* ceilings_of(compute::Device& device) {
    if (device.info().kind != compute::DeviceKind::cuda) return nullptr;
    try {
        return &compute::measure_ceilings(device);
    } catch (const compute::DeviceError&) {
        return nullptr;
    }
}

void run_frames(RunResult& result, const Entry& entry,
                const std::shared_ptr<compute::Device>& shared, const HeadlessRequest& request,
                const Painter& painter) {
    compute::Device& device = *shared;
    const std::shared_ptr<Experiment> experiment =
        make_experiment(entry, device, request.assignments);
    const bool picture_alone =
        request.view_only && has_pixels(experiment->picture_size(request.size));
    const bool plain = request.screenshot.empty() || picture_alone;

    result.parameters = to_json(entry.id, experiment->parameters());
    if (plain)
        result.presentation = run_plain(entry, *experiment, request);
    else
        result.presentation = painter({entry,
                                       {shared, experiment},
                                       request.frames,
                                       request.size,
                                       request.screenshot,
                                       request.view_only});
    result.gpu = compute::gpu_state(device.info().pci_bus_id);
    result.report = experiment->report();
    device.synchronize();
    result.output = device.take_output();
    result.kernels = device.timings().kernels();
    result.ceilings = ceilings_of(device);
    if (request.compare) result.comparison = experiment->compare();
    result.parameters = to_json(entry.id, experiment->parameters());
}

/// Runs with checks or counters. An error that a check has recorded ends the run, but is reported
/// as a finding and is not thrown.
void run_watched(RunResult& result, const Entry& entry,
                 const std::shared_ptr<compute::Device>& device, const HeadlessRequest& request,
                 const Painter& painter) {
    Checking checking(dynamic_cast<compute::EmulatedDevice&>(*device), request.checks,
                      request.counters);
    try {
        run_frames(result, entry, device, request, painter);
        result.findings = checking.findings();
    } catch (const compute::DeviceError& e) {
        result.findings = checking.findings();
        if (!emulator::has_errors(result.findings)) throw;
        result.kernels = device->timings().kernels();
        result.output = device->take_output();
        result.stopped = e.what();
    }
    result.counters = checking.counters();
}

/// Replaces the device with one that runs the kernels of the files. False if they do not compile.
bool take_kernels(compute::Helpers& helpers, std::shared_ptr<compute::Device>& device,
                  const HeadlessRequest& request, std::vector<KernelFile>& files) {
    helpers.warm(device->info());
    compute::KernelEdits edits;
    const bool compiled = compile(helpers, device->settings().math, files, edits);
    std::fputs(diagnostic_lines(files).c_str(), stderr);
    if (compiled && !edits.empty())
        device =
            helpers.device(device->info(), device->settings(), std::move(edits), request.limits);
    return compiled;
}

/// The request with few frames and without output files: enough to repeat a kernel's failure.
HeadlessRequest shortened(HeadlessRequest request) {
    request.frames = std::min<std::uint64_t>(request.frames, 3);
    request.screenshot.clear();
    request.compare = false;
    return request;
}

RunResult run_edited(const std::shared_ptr<compute::Device>& device, const HeadlessRequest& request,
                     const Painter& painter) {
    try {
        return run_experiment(device, request, painter);
    } catch (const compute::DeviceError& e) {
        std::fputs(device->take_output().c_str(), stderr);
        std::string error = e.what();
        if (device->info().in_helper && !dynamic_cast<const compute::OutOfMemory*>(&e))
            error = experiments::with_emulator_error(
                std::move(error), device->settings(), device->edits(),
                [&](const auto& emulator) { run_experiment(emulator, shortened(request), {}); });
        throw compute::DeviceError(as_named(std::move(error), device->edits()));
    }
}

}  // namespace

RunResult run_experiment(const std::shared_ptr<compute::Device>& device,
                         const HeadlessRequest& request, const Painter& painter) {
    const Entry& entry = experiments::find_experiment(request.experiment);
    RunResult result;
    result.experiment = entry.id;
    result.device = device->info();
    result.settings = device->settings();
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

int run_headless(compute::Helpers& helpers, std::shared_ptr<compute::Device> device,
                 const HeadlessRequest& request, const Painter& painter) {
    if (!request.screenshot.empty()) check_writable(request.screenshot, "--screenshot");
    const bool to_file = !request.json.empty() && request.json != "-";
    if (to_file) check_writable(request.json, "--json");

    std::vector<KernelFile> files;
    if (!request.kernel_source.empty() || !request.kernels.empty()) {
        files = read_kernel_files(request.kernel_source, request.kernels,
                                  experiments::find_experiment(request.experiment),
                                  request.assignments);
        if (!take_kernels(helpers, device, request, files)) return 2;
    }
    RunResult result = device->edits().empty() ? run_experiment(device, request, painter)
                                               : run_edited(device, request, painter);
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
