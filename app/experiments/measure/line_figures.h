#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "compute/device/kernel_edit.h"
#include "emulator/counters/kernel_counters.h"

namespace warpscope::experiments {

/// A figure by which the source lines of a kernel are compared.
enum class LineFigure : std::uint8_t {
    instructions,  ///< executed warp instructions of the PTX
    divergence,    ///< idle lanes of these instructions
    sectors,       ///< sectors of global memory
    wavefronts,    ///< passes over shared memory
    conflicts      ///< passes that bank conflicts add
};

std::uint64_t figure_of(const emulator::ExecutedWork& work, LineFigure figure);

/// The lines, the highest figure first; lines with equal figures stand in the order of the source.
std::vector<const emulator::LineCounters*> sorted_lines(const emulator::KernelCounters& kernel,
                                                        LineFigure figure);

/// Returns the kernel source that the PTX names `path`, a compute::kernel_path() or
/// KernelEdit::from; empty where it is neither built in nor an edit.
std::string_view source_of(const compute::KernelEdits& edits, std::string_view path);

/// Returns the text of a line without the blanks around it; empty where the file is neither a
/// built-in kernel source nor an edit of one. `file` is a compute::kernel_path() or
/// KernelEdit::from, lines count from 1.
std::string_view text_of_line(const compute::KernelEdits& edits, std::string_view file, int line);

}  // namespace warpscope::experiments

template <>
inline constexpr std::array warpscope::compute::words_of<warpscope::experiments::LineFigure>{
    Word<experiments::LineFigure>{experiments::LineFigure::instructions, "instructions",
                                  "Instructions"},
    Word<experiments::LineFigure>{experiments::LineFigure::divergence, "divergence", "Divergence"},
    Word<experiments::LineFigure>{experiments::LineFigure::sectors, "sectors", "Sectors"},
    Word<experiments::LineFigure>{experiments::LineFigure::wavefronts, "wavefronts", "Wavefronts"},
    Word<experiments::LineFigure>{experiments::LineFigure::conflicts, "conflicts",
                                  "Bank conflicts"},
};
