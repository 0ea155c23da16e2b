#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compute/helper/helpers.h"
#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// How long a text has to stay as it is before it is tried: for keys that repeat. A newer text
/// stops what is being tried of an older one.
inline constexpr std::chrono::milliseconds edit_pause{50};

/// While kernels are tried, the live experiment rests after each frame for this many times as long
/// as the frame took: the compiler and the first frame of what is new need the processor more.
inline constexpr int trial_rest = 2;

/// An experiment and the device that it runs on, which nothing else uses.
struct Running {
    std::unique_ptr<compute::Device> device;
    std::unique_ptr<Experiment> experiment;  ///< goes first
};

/// Kernels to be tried in an experiment, from where it stands.
struct TrialRequest {
    const Entry* entry = nullptr;
    compute::DeviceInfo like;  ///< the device to run on
    compute::RunSettings settings;
    compute::Sources sources;  ///< of files that differ from the build's; none: the build's
                               ///< kernels, which need no helpers
    Snapshot snapshot;
    Size view;       ///< in pixels, that the picture is for
    int frames = 1;  ///< that are drawn, the snapshot's the first
};

struct TrialResult {
    /// What the compiler says, by file; a file without an error has been compiled.
    std::map<std::string, std::vector<compiler::Diagnostic>, std::less<>> diagnostics;
    Running running;    ///< has drawn a frame with the kernels; empty where it could not
    std::string error;  ///< then: what went wrong where, a sentence or two; empty: all is well
};

/// What a GPU said of a failed kernel, and after it what the emulator says of the same; empty: it
/// found nothing wrong.
std::string with_emulators_words(std::string of_the_gpu, std::string_view of_the_emulator);

/// Compiles what there is to compile, makes a device and an experiment with the kernels, resumes
/// the snapshot and draws the frames, so that kernels which fail at once are found before they are
/// on show. What a GPU's helper process can only say in general ("does not end") is looked for in
/// the emulator too, which names line, block and thread. Takes what time it takes: for a thread of
/// its own. Throws nothing; asked to stop, it returns soon, with an error.
TrialResult try_kernels(compute::Helpers& helpers, const TrialRequest& request,
                        const std::stop_token& stop = {});

}  // namespace warpscope::experiments
