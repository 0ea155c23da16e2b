#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/device/enum_words.h"
#include "compute/device/kernel_edit.h"
#include "emulator/counters/kernel_heat.h"

namespace warpscope::experiments {

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
inline constexpr std::array warpscope::compute::words_of<warpscope::emulator::HeatFigure>{
    Word<emulator::HeatFigure>{emulator::HeatFigure::reads, "reads", "Reads"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::writes, "writes", "Writes"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::atomics, "atomics", "Atomics"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::races, "races", "Races"},
    Word<emulator::HeatFigure>{emulator::HeatFigure::conflicts, "conflicts", "Conflicts"},
};
