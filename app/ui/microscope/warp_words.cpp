#include "ui/microscope/warp_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "compute/device/sentences.h"
#include "ui/language/language.h"

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
    if (pc >= kernel.lines.size()) return tr("the end");
    return kernel.lines[pc].source.file >= 0 ? tr("line {}", number_of(kernel, pc))
                                             : tr("PTX line {}", number_of(kernel, pc));
}

/// The wait of a warp that can run and looks again and again whether it may go on.
std::optional<emulator::BarrierWait> look_of(const emulator::Stepper& stepper, std::uint32_t warp) {
    if (!stepper.kernel().is_asynchronous) return {};
    const std::uint64_t here = stepper.position();
    for (const emulator::BarrierWait& wait : stepper.waits())
        if (wait.warp == warp && wait.looks() && wait.from < here && here <= wait.to) return wait;
    return {};
}

std::string doing(const Kernel& kernel, const SplitView& split, bool whole) {
    const std::string line = line_of(kernel, split.pc);
    switch (split.state) {
        case State::running:
            return tr("at {}", line);
        case State::at_barrier:
            return whole ? tr("waits at the barrier, {}", line) : tr("waits, {}", line);
        case State::at_warp_sync:
            return whole ? tr("waits for its other lanes, {}", line) : tr("waits, {}", line);
        case State::at_join:
            return whole ? tr("waits to join, {}", line) : tr("waits, {}", line);
    }
    return line;
}

}  // namespace

std::string words_for(const emulator::BarrierWait& wait) {
    using At = emulator::BarrierWait::At;
    if (wait.at == At::cluster) return tr("for the barrier of the cluster");
    return wait.at == At::mbarrier ? tr("for the mbarrier at byte {}", wait.barrier)
                                   : tr("at the barrier");
}

std::string warp_words(const emulator::Stepper& stepper, std::uint32_t warp, bool whole) {
    const Kernel& kernel = stepper.kernel();
    const WarpView view = stepper.warp(warp);
    if (view.splits.empty()) return tr("has ended");
    if (const auto wait = look_of(stepper, warp))
        return tr("waits{}, {}", whole ? " " + words_for(*wait) : "", line_of(kernel, wait->pc));
    if (view.splits.size() == 1) return doing(kernel, view.splits.front(), whole);
    std::string words = tr("split: ");
    for (const SplitView& split : view.splits) {
        if (&split != &view.splits.front()) words += ", ";
        const auto lanes = unsigned(std::popcount(split.mask));
        words += whole ? fmt::format("{} {}", counted(lanes, "lane"), doing(kernel, split, whole))
                       : fmt::format("{}", number_of(kernel, split.pc));
    }
    return words;
}

std::string lane_words(const Microscope& microscope, unsigned warp, unsigned lane) {
    const emulator::Stepper& stepper = microscope.stepper();
    const WarpView view = stepper.warp(warp);
    if (!(view.threads >> lane & 1)) return tr("lane {}: the block has no such thread", lane);
    const emulator::Dim3 thread = microscope.thread(warp, lane);
    std::string words = tr("lane {}, thread ({}, {})", lane, thread.x, thread.y);
    if (microscope.launch().block.y == 1) words = tr("lane {}, thread {}", lane, thread.x);
    for (const SplitView& split : view.splits)
        if (split.mask >> lane & 1) return words + ": " + doing(stepper.kernel(), split, true);
    return words + tr(": has ended");
}

bool can_run(const WarpView& view) {
    return std::any_of(view.splits.begin(), view.splits.end(),
                       [](const SplitView& split) { return split.state == State::running; });
}

}  // namespace warpscope::ui
