#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "compute/device/kernel_files.h"
#include "emulator/counters/kernel_counters.h"
#include "emulator/counters/kernel_heat.h"

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

/// Neighbouring words of an array with equal counts.
struct HeatRun {
    std::uint64_t first = 0, words = 0;
    /// The counts of each word, indexed by HeatFigure.
    std::array<std::uint64_t, emulator::heat_figures> counts{};

    std::uint64_t count(emulator::HeatFigure figure) const { return counts[std::size_t(figure)]; }
};

/// All words of the array that have been counted, in their order.
std::vector<HeatRun> heat_runs(const emulator::HeatArray& array);

/// The runs that have the figure, the highest first, then in the order of their words.
std::vector<HeatRun> hottest(const std::vector<HeatRun>& runs, emulator::HeatFigure figure);

/// Returns the sum of the figure over all words.
std::uint64_t heat_total(const std::vector<HeatRun>& runs, emulator::HeatFigure figure);

/// The figures that the kernel was counted by: races only where the race check ran.
std::vector<compute::Word<emulator::HeatFigure>> heat_words(const emulator::KernelHeat& kernel);

/// Returns the name of a variable; for an allocation, the name of the kernel's parameter by which
/// its first launch got it, or a description.
std::string heat_name(const emulator::KernelHeat& kernel, const emulator::HeatArray& array,
                      const compute::KernelEdits& edits);

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

template <>
inline constexpr std::array warpscope::compute::words_of<warpscope::emulator::HeatFigure>{
    Word<emulator::HeatFigure>{emulator::HeatFigure::reads, "reads", "Reads"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::writes, "writes", "Writes"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::atomics, "atomics", "Atomics"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::races, "races", "Races"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::conflicts, "conflicts", "Conflicts"},
};
