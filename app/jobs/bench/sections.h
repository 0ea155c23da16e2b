#pragma once

#include <set>

#include "compute/device/enum_words.h"

namespace warpscope::jobs {

/// The parts of the bench. Each takes less than a minute on two cores, but for the last two, which
/// are measured only where they are named: `fast` takes two minutes, and `window` two for
/// each experiment.
enum class BenchSection { emulator, start, edit, gpu, ladders, devices, frames, fast, window };

using BenchSections = std::set<BenchSection>;

}  // namespace warpscope::jobs

namespace warpscope::compute {

/// The label says what the section measures.
template <>
inline constexpr std::array words_of<jobs::BenchSection>{
    Word<jobs::BenchSection>{jobs::BenchSection::emulator, "emulator",
                             "the emulator, compared with plain C++ loops and PoCL"},
    Word<jobs::BenchSection>{jobs::BenchSection::start, "start", "the start of the app"},
    Word<jobs::BenchSection>{jobs::BenchSection::edit, "edit",
                             "the time from an edit of a kernel to its picture"},
    Word<jobs::BenchSection>{jobs::BenchSection::gpu, "gpu", "the kernels on the GPU"},
    Word<jobs::BenchSection>{jobs::BenchSection::ladders, "ladders",
                             "every kernel of the sums and of the n-body, compared with libraries"},
    Word<jobs::BenchSection>{jobs::BenchSection::devices, "devices",
                             "the n-body on all GPUs, compared with one"},
    Word<jobs::BenchSection>{jobs::BenchSection::frames, "frames",
                             "the frames of each experiment, and their transfer to OpenGL"},
    Word<jobs::BenchSection>{jobs::BenchSection::fast, "fast",
                             "what each fast path of the emulator brings"},
    Word<jobs::BenchSection>{jobs::BenchSection::window, "window",
                             "the answers of the window while expensive frames are computed"},
};

}  // namespace warpscope::compute
