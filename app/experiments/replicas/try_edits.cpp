#include "experiments/replicas/try_edits.h"

#include <fmt/format.h>

#include <utility>

#include "compute/device/number_text.h"
#include "compute/pick_device.h"
#include "experiments/measure/user_paths.h"

namespace warpscope::experiments {
namespace {

constexpr std::chrono::milliseconds emulator_time{2000};

compute::KernelEdits compile(compute::Helpers& helpers, const EditRequest& request,
                             const std::stop_token& stop, EditResult& result) {
    compute::KernelEdits edits;
    const auto& compile_own = request.entry->compile;
    const std::string own = compile_own ? request.entry->make_parameters()->kernel_file() : "";
    if (request.entry->unedited && !request.sources.contains(own)) {
        result.entry = request.entry->unedited;
        result.begins_anew = true;
    }
    for (const auto& [file, source] : request.sources) {
        try {
            std::shared_ptr<const compute::KernelEdit> edit;
            if (file == own) {
                CompiledEntry compiled = compile_own(helpers, source, request.settings.math, stop);
                result.entry = std::move(compiled.entry);
                result.begins_anew = compiled.begins_anew;
                edit = std::move(compiled.kernels);
            } else {
                edit = helpers.compile(file, source, request.settings.math, stop);
            }
            result.diagnostics[file] = edit->warnings;
            edits[file] = std::move(edit);
        } catch (const compiler::CompileError& error) {
            result.diagnostics[file] = error.diagnostics;
            throw;
        }
    }
    return edits;
}

/// A device of this process, for the built-in kernels.
std::shared_ptr<compute::Device> device_without_edits(const EditRequest& request,
                                                      const std::stop_token& stop) {
    const compute::DeviceInfo& like = request.like;
    if (like.kind == compute::DeviceKind::emulator)
        return compute::make_emulated_device({.reason = like.reason,
                                              .memory_bytes = like.memory_bytes,
                                              .settings = request.settings,
                                              .limits = {.stop = stop}});
    auto device = compute::pick_device(fmt::format("cuda:{}", like.ordinal));
    device->set(request.settings);
    device->set_launch_limits({.stop = stop});
    return device;
}

std::shared_ptr<compute::Device> device_with(const compute::KernelEdits& edits,
                                             compute::Helpers& helpers, const EditRequest& request,
                                             const std::stop_token& stop) {
    if (edits.empty()) return device_without_edits(request, stop);
    return helpers.device(request.like, request.settings, edits,
                          {.time = compute::usual_limits().time, .stop = stop});
}

void draw_frames(Experiment& experiment, const EditRequest& request, const std::stop_token& stop) {
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

/// An experiment that has drawn the frames. Where a block fails, it becomes EditResult::failed.
Running run(std::shared_ptr<compute::Device> device, const EditRequest& request, EditResult& result,
            const std::stop_token& stop) {
    Running running{std::move(device), {}};
    running.experiment = result.entry->make(*running.device);
    Snapshot from = result.begins_anew ? Snapshot() : request.snapshot;
    from.parameters.insert(from.parameters.end(), request.values.begin(), request.values.end());
    running.experiment->resume(fitted(std::move(from), *result.entry));
    try {
        draw_frames(*running.experiment, request, stop);
    } catch (const compute::BlockError& error) {
        running.device->set_launch_limits({});
        result.failed = {result.entry, std::move(running), error.block};
        throw;
    }
    return running;
}

}  // namespace

std::string with_emulator_error(std::string gpu_error, const std::string& emulator_error) {
    if (emulator_error.empty()) return gpu_error;
    return fmt::format("{} In the emulator: {}", compute::sentence(std::move(gpu_error)),
                       emulator_error);
}

std::string with_emulator_error(
    std::string gpu_error, const compute::RunSettings& settings, compute::KernelEdits edits,
    const std::function<void(std::shared_ptr<compute::EmulatedDevice>)>& run,
    const std::stop_token& stop) {
    try {
        run(compute::make_emulated_device({.reason = "to find what failed on the GPU",
                                           .settings = settings,
                                           .edits = std::move(edits),
                                           .limits = {.time = emulator_time, .stop = stop}}));
        return gpu_error;
    } catch (const std::exception& error) {
        if (stop.stop_requested()) return gpu_error;
        return with_emulator_error(std::move(gpu_error), error.what());
    }
}

Snapshot fitted(Snapshot snapshot, const Entry& entry) {
    const auto legal = entry.make_parameters();
    std::erase_if(snapshot.parameters, [&](const Assignment& one) {
        try {
            legal->find(one.id).parse(one.text);
            return false;
        } catch (const ParameterError&) {
            return true;
        }
    });
    return snapshot;
}

namespace {

/// Does what try_edits() does, but where an error ends the try, nothing runs.
EditResult try_once(compute::Helpers& helpers, const EditRequest& request,
                    const std::stop_token& stop) {
    EditResult result;
    result.entry = request.entry;
    compute::KernelEdits edits;
    try {
        edits = compile(helpers, request, stop, result);
        try {
            result.running = run(device_with(edits, helpers, request, stop), request, result, stop);
        } catch (const compute::DeviceError&) {
            compute::KernelEdits anew = helpers.compiled_anew(edits, stop);
            if (anew == edits) throw;
            edits = std::move(anew);
            result.failed.reset();
            result.running = run(device_with(edits, helpers, request, stop), request, result, stop);
        }
        result.running.device->set_launch_limits(edits.empty() ? compute::LaunchLimits{}
                                                               : compute::usual_limits());
    } catch (const compute::OutOfMemory& error) {
        result.error = error.what();
    } catch (const compute::DeviceError& error) {
        result.error = as_named(std::string(error.what()), edits);
        if (request.like.kind == compute::DeviceKind::emulator || edits.empty()) return result;
        result.error = with_emulator_error(
            std::move(result.error), request.settings, edits,
            [&](auto emulator) { run(std::move(emulator), request, result, stop); }, stop);
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

}  // namespace

EditResult try_edits(compute::Helpers& helpers, const EditRequest& request,
                     const std::stop_token& stop) {
    EditResult result = try_once(helpers, request, stop);
    if (result.error.empty() || !result.begins_anew || request.sources.empty()) return result;
    try {
        result.running.device = device_without_edits(request, stop);
        result.running.device->set_launch_limits({});
        result.running.experiment = result.entry->make(*result.running.device);
    } catch (const std::exception&) {
        result.running = {};  // the error of the try is the one to tell
    }
    return result;
}

}  // namespace warpscope::experiments
