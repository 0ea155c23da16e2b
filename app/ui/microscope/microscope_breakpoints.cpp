#include <algorithm>
#include <memory>
#include <utility>

#include "compute/device/kernel_source.h"
#include "ui/language/language.h"
#include "ui/microscope/microscope.h"
#include "ui/source/line_diff.h"

// How breakpoints are set, follow the edits of a source, and stop a run.
namespace warpscope::ui {

using emulator::Stepper;
using emulator::Stop;

namespace {

/// Says why a run to a breakpoint has stopped.
std::string stop_words(const Stop& stop) {
    switch (stop.at) {
        case Stop::At::stop:
            return stop.why;
        case Stop::At::end:
            return tr("No breakpoint or watchpoint was ahead: the block ran to its end.");
        case Stop::At::start:
            return tr("No breakpoint or watchpoint was behind: this is the start of the block.");
        case Stop::At::interrupted:
            return tr("The run was cancelled before it met a breakpoint.");
    }
    return {};
}

/// Returns the text of the kernel file at a compute::kernel_path().
std::string_view text_of(const compute::KernelEdits& edits, const std::string& path) {
    const auto edit = edits.find(std::string(compute::kernel_file(path)));
    return edit == edits.end() ? compute::kernel_source(path) : edit->second->source;
}

}  // namespace

void Microscope::toggle_breakpoint(const std::string& file, int line) {
    const auto removed = std::erase_if(breaks_.points, [&](const emulator::Breakpoint& point) {
        return point.file == file && point.line == line;
    });
    if (removed == 0) breaks_.points.push_back({.file = file, .line = line});
}

void Microscope::toggle_breakpoint() {
    if (!ready()) return;
    const auto pc = stepper().next_pc(acting_warp());
    if (!pc) return;
    const emulator::SourceLine& at = stepper().kernel().lines[*pc].source;
    if (at.file < 0 || at.line <= 0) return toggle_breakpoint({}, at.ptx_line);
    toggle_breakpoint(stepper().kernel().module->files()[std::size_t(at.file)], at.line);
}

void Microscope::toggle_watch(std::uint64_t word) {
    using emulator::Watchpoint;
    const auto removed = std::erase_if(breaks_.watches, [&](const Watchpoint& watch) {
        return watch.space == emulator::Space::shared && watch.address == word * 4;
    });
    if (removed == 0) breaks_.watches.push_back({emulator::Space::shared, word * 4});
}

/// Moves breakpoints with their lines when lines above them are inserted or removed. A breakpoint
/// whose line is removed is removed too.
void Microscope::move_breakpoints(const compute::KernelEdits& next) {
    if (next == source_.edits) return;
    std::erase_if(breaks_.points, [&](emulator::Breakpoint& point) {
        if (point.file.empty()) return false;  // a line of the PTX
        const auto hunks =
            diff_lines(text_of(source_.edits, point.file), text_of(next, point.file));
        const auto row = moved_row(hunks, point.line - 1);
        if (row) point.line = *row + 1;
        return !row;
    });
}

void Microscope::run_to_break() {
    run_breaks(emulator::run_to);
}

void Microscope::run_back_to_break() {
    run_breaks([](Stepper& stepper, const emulator::Breaks& breaks, std::uint64_t) {
        return emulator::run_back_to(stepper, breaks);
    });
}

void Microscope::run_breaks(
    std::function<Stop(Stepper&, const emulator::Breaks&, std::uint64_t)> run) {
    playing_ = false;
    if (!breaks_.any_enabled()) {
        notice_ = tr("No breakpoint is set: click beside a line's number, or right-click a word.");
        return;
    }
    const auto stop = std::make_shared<Stop>();
    act(
        [run = std::move(run), breaks = breaks_, stop](Stepper& stepper) {
            *stop = run(stepper, breaks, UINT64_MAX);
            return stop_words(*stop);
        },
        [this, stop] { pick_stopped(*stop); });
}

void Microscope::pick_stopped(const Stop& stop) {
    if (stop.at == Stop::At::stop) pick(stop.warp, stop.lane);
}

}  // namespace warpscope::ui
