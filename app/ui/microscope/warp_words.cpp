#include "ui/microscope/warp_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compute/device/sentences.h"

namespace warpscope::ui {
namespace {

using emulator::Kernel;
using emulator::SplitView;
using emulator::WarpView;
using State = SplitView::State;

int number_of(const Kernel& kernel, std::uint32_t pc) {
    if (pc >= kernel.lines.size()) return 0;
    const emulator::SourceLine& source = kernel.lines[pc].source;
    return source.file >= 0 ? source.line : source.ptx_line;
}

std::string line_of(const Kernel& kernel, std::uint32_t pc) {
    if (pc >= kernel.lines.size()) return "the end";
    return fmt::format("{} {}", kernel.lines[pc].source.file >= 0 ? "line" : "PTX line",
                       number_of(kernel, pc));
}

std::string doing(const Kernel& kernel, const SplitView& split, bool whole) {
    const std::string line = line_of(kernel, split.pc);
    switch (split.state) {
        case State::running:
            return "at " + line;
        case State::at_barrier:
            return (whole ? "waits at the barrier, " : "waits, ") + line;
        case State::at_warp_sync:
            return (whole ? "waits for its other lanes, " : "waits, ") + line;
        case State::at_join:
            return (whole ? "waits to join, " : "waits, ") + line;
    }
    return line;
}

}  // namespace

std::string warp_words(const Kernel& kernel, const WarpView& view, bool whole) {
    if (view.splits.empty()) return "has ended";
    if (view.splits.size() == 1) return doing(kernel, view.splits.front(), whole);
    std::string words = "split: ";
    for (const SplitView& split : view.splits) {
        if (&split != &view.splits.front()) words += ", ";
        const auto lanes = unsigned(std::popcount(split.mask));
        words += whole ? fmt::format("{} {}", compute::plural(lanes, "lane"),
                                     doing(kernel, split, whole))
                       : fmt::format("{}", number_of(kernel, split.pc));
    }
    return words;
}

std::string lane_words(const Microscope& microscope, unsigned warp, unsigned lane) {
    const emulator::Stepper& stepper = microscope.stepper();
    const WarpView view = stepper.warp(warp);
    if (!(view.threads >> lane & 1))
        return fmt::format("lane {}: the block has no such thread", lane);
    const emulator::Dim3 thread = microscope.thread(warp, lane);
    std::string words = fmt::format("lane {}, thread ({}, {})", lane, thread.x, thread.y);
    if (microscope.launch().block.y == 1) words = fmt::format("lane {}, thread {}", lane, thread.x);
    for (const SplitView& split : view.splits)
        if (split.mask >> lane & 1) return words + ": " + doing(stepper.kernel(), split, true);
    return words + ": has ended";
}

bool can_run(const WarpView& view) {
    return std::any_of(view.splits.begin(), view.splits.end(),
                       [](const SplitView& split) { return split.state == State::running; });
}

}  // namespace warpscope::ui
