#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/emulated/emulated_device.h"
#include "compute/helper/helpers.h"
#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

/// The time after a key press before an edit is tried: longer than the interval at which a held key
/// repeats. A newer edit stops the try of an older one.
inline constexpr std::chrono::milliseconds edit_pause{50};

/// While an edit is compiled and tried, the experiment on show rests after each frame for this many
/// times as long as the frame took, to leave the processor to the compiler.
inline constexpr int rest_while_trying = 2;

/// Edits to try in an experiment that is on show.
struct EditRequest {
    SharedEntry entry;
    compute::DeviceInfo like;  ///< the kind of device to try them on
    compute::RunSettings settings;
    compute::Sources sources;  ///< kernel sources that differ from those built in, by file; none:
                               ///< the kernels that are built in, which need no compiler
    Snapshot snapshot;         ///< where the experiment stands
    /// Values of parameters that come after those of the snapshot. Values that the experiment can't
    /// take are left out.
    std::vector<Assignment> values{};
    Size view;       ///< that the picture is for, in pixels
    int frames = 1;  ///< to draw; the first is the snapshot's
};

struct EditResult {
    /// What the compiler reports, by file. A file without an error has been compiled.
    std::map<std::string, std::vector<compiler::Diagnostic>, std::less<>> diagnostics;
    SharedEntry entry;  ///< of `running`; null: that of the request
    /// Has drawn the frames with the edits. Where that failed it is empty, or, of an experiment
    /// that begins anew, without the edits: it stands still, and shows its parameters.
    Running running;
    bool begins_anew = false;  ///< `running` has not resumed the snapshot: it is another experiment
    /// The kernels as they failed in the emulator; nullopt where they did not get so far.
    std::optional<FailedRun> failed;
    std::string error;  ///< one or two sentences that say what failed and where, or empty
};

/// Compiles the sources, makes a device and an experiment with the kernels, resumes the snapshot
/// and draws the frames, so that a kernel that fails in its first frame never gets on show. Where a
/// kernel fails on a GPU, the error says what the emulator reports too.
///
/// Takes seconds at worst, so it is for a background thread. Throws nothing. When asked to stop, it
/// returns soon, with an error.
EditResult try_edits(compute::Helpers& helpers, const EditRequest& request,
                     const std::stop_token& stop = {});

/// The snapshot without the parameters that the entry does not have, and without values that are
/// not legal there.
Snapshot fitted(Snapshot snapshot, const Entry& entry);

/// The error of a kernel that failed on a GPU, with what the emulator reports of it appended where
/// it fails there as well. A GPU reports neither source line nor thread; the emulator does.
/// `run` runs the kernel on the emulator that it is given, for two seconds at most.
std::string with_emulator_error(
    std::string gpu_error, const compute::RunSettings& settings, compute::KernelEdits edits,
    const std::function<void(std::shared_ptr<compute::EmulatedDevice>)>& run,
    const std::stop_token& stop = {});
/// Joins the two errors into one text; `emulator_error` may be empty.
std::string with_emulator_error(std::string gpu_error, const std::string& emulator_error);

}  // namespace warpscope::experiments
