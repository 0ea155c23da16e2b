#include "experiments/trial.h"

#include <stdexcept>
#include <utility>

namespace warpscope::experiments {
namespace {

compute::KernelEdits compile(compute::Sandbox& sandbox, const TrialRequest& request,
                             const std::stop_token& stop, TrialResult& result) {
    compute::KernelEdits edits;
    for (const auto& [file, source] : request.sources) {
        try {
            auto edit = sandbox.compile(file, source, request.settings.math, stop);
            result.diagnostics[file] = edit->warnings;
            edits[file] = std::move(edit);
        } catch (const compiler::CompileError& error) {
            result.diagnostics[file] = error.diagnostics;
            throw;
        }
    }
    return edits;
}

void draw_frame(Experiment& experiment, Size view) {
    const Size size = experiment.picture_size(view);
    if (size.width <= 0 || size.height <= 0) {
        experiment.report();
        return;
    }
    const compute::Buffer<Rgba> pixels(experiment.device(),
                                       std::size_t(size.width) * std::size_t(size.height));
    experiment.render_into({pixels.pointer(), size});
    experiment.device().synchronize();
}

}  // namespace

TrialResult try_kernels(compute::Sandbox& sandbox, const TrialRequest& request,
                        const std::stop_token& stop) {
    TrialResult result;
    Running running;
    try {
        auto edits = compile(sandbox, request, stop, result);
        compute::LaunchLimits limits = compute::usual_limits();
        limits.stop = stop;
        running.device = sandbox.device(request.like, request.settings, std::move(edits), limits);
        running.experiment = request.entry->make(*running.device);
        running.experiment->resume(request.snapshot);
        draw_frame(*running.experiment, request.view);
        running.device->limit(compute::usual_limits());
        result.running = std::move(running);
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

}  // namespace warpscope::experiments
