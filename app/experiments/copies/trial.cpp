#include "experiments/copies/trial.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "compute/emulated/emulated_device.h"

namespace warpscope::experiments {
namespace {

/// Of a search in the emulator for what a GPU has only said in general.
constexpr std::chrono::milliseconds search_time{2000};

compute::KernelEdits compile(compute::Helpers& helpers, const TrialRequest& request,
                             const std::stop_token& stop, TrialResult& result) {
    compute::KernelEdits edits;
    for (const auto& [file, source] : request.sources) {
        try {
            auto edit = helpers.compile(file, source, request.settings.math, stop);
            result.diagnostics[file] = edit->warnings;
            edits[file] = std::move(edit);
        } catch (const compiler::CompileError& error) {
            result.diagnostics[file] = error.diagnostics;
            throw;
        }
    }
    return edits;
}

/// Of the build's kernels, in this process.
std::unique_ptr<compute::Device> shipped_device(const TrialRequest& request,
                                                const std::stop_token& stop) {
    const compute::DeviceInfo& like = request.like;
    auto device = like.kind == compute::DeviceKind::emulator
                      ? compute::make_emulated_device(like.reason, like.memory_bytes)
                      : compute::pick_device(fmt::format("cuda:{}", like.ordinal));
    device->set(request.settings);
    device->set_launch_limits({.stop = stop});
    return device;
}

void draw_frames(Experiment& experiment, const TrialRequest& request, const std::stop_token& stop) {
    const Size size = experiment.picture_size(request.view);
    const bool picture = size.width > 0 && size.height > 0;
    compute::Buffer<Rgba> pixels;
    if (picture) pixels = {experiment.device(), std::size_t(size.width) * std::size_t(size.height)};
    for (int frame = 0; frame < request.frames && !stop.stop_requested(); ++frame) {
        if (frame > 0) experiment.step();
        if (picture)
            experiment.render_into({pixels.pointer(), size});
        else
            experiment.report();
        experiment.device().synchronize();
    }
    if (stop.stop_requested()) throw compute::DeviceError("Stopped.");
}

Running run(std::unique_ptr<compute::Device> device, const TrialRequest& request,
            const std::stop_token& stop) {
    Running running{std::move(device), {}};
    running.experiment = request.entry->make(*running.device);
    running.experiment->resume(request.snapshot);
    draw_frames(*running.experiment, request, stop);
    return running;
}

/// What the emulator says of kernels that failed on a GPU; empty where they work there.
std::string words_of_the_emulator(const TrialRequest& request, compute::KernelEdits edits,
                                  const std::stop_token& stop) {
    try {
        auto device = compute::make_emulated_device("to find what failed on the GPU");
        device->set(request.settings);
        device->set_edits(std::move(edits));
        device->set_launch_limits({.time = search_time, .stop = stop});
        run(std::move(device), request, stop);
        return {};
    } catch (const std::exception& error) {
        return stop.stop_requested() ? "" : error.what();
    }
}

}  // namespace

std::string with_emulators_words(std::string of_the_gpu, std::string_view of_the_emulator) {
    if (of_the_emulator.empty()) return of_the_gpu;
    return fmt::format("{}{} In the emulator: {}", of_the_gpu, of_the_gpu.ends_with('.') ? "" : ".",
                       of_the_emulator);
}

TrialResult try_kernels(compute::Helpers& helpers, const TrialRequest& request,
                        const std::stop_token& stop) {
    TrialResult result;
    compute::KernelEdits edits;
    try {
        edits = compile(helpers, request, stop, result);
        const compute::LaunchLimits limits{.time = compute::usual_limits().time, .stop = stop};
        auto device = edits.empty() ? shipped_device(request, stop)
                                    : helpers.device(request.like, request.settings, edits, limits);
        result.running = run(std::move(device), request, stop);
        result.running.device->set_launch_limits(edits.empty() ? compute::LaunchLimits{}
                                                               : compute::usual_limits());
    } catch (const compute::OutOfMemory& error) {
        result.error = error.what();
    } catch (const compute::DeviceError& error) {
        result.error = error.what();
        if (request.like.kind == compute::DeviceKind::emulator || edits.empty()) return result;
        result.error = with_emulators_words(std::move(result.error),
                                            words_of_the_emulator(request, edits, stop));
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

}  // namespace warpscope::experiments
