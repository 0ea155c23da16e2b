#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "compute/device/kernel_files.h"
#include "emulator/stepper/finding_step.h"
#include "ui/language/language.h"
#include "ui/microscope/microscope.h"
#include "ui/microscope/warps_panel.h"
#include "ui/source/line_diff.h"
#include "ui/widgets/key_table.h"

// How breakpoints are set, follow the edits of a source, and stop a run.

namespace warpscope::ui {

using emulator::Stepper;
using emulator::Stop;

namespace {

constexpr double play_seconds = 8, least_steps_a_second = 10;

/// Why a warp could not be stepped; empty at the end of the block.
std::string why_not(const Stepper& stepper, unsigned warp) {
    if (stepper.end() != Stepper::End::open) return {};
    return tr("Warp {} {}.", warp, warp_words(stepper, warp, true));
}

}  // namespace

std::optional<std::uint32_t> Microscope::chosen_warp() const {
    return by_hand_ ? std::optional<std::uint32_t>(warp_) : std::nullopt;
}

void Microscope::set_by_hand(bool by_hand) {
    by_hand_ = by_hand;
    notice_.clear();
    if (by_hand) playing_ = false;
}

void Microscope::act(BlockRun::Change change, std::function<void()> then) {
    when_ready([this, change = std::move(change), then = std::move(then)] {
        if (!ready()) return;
        start_ = 0;
        notice_.clear();
        then_ = then;
        run_.change(change);
        if (!run_.works()) block_has_run();
    });
}

void Microscope::move(std::function<void(Stepper&)> change) {
    playing_ = false;
    act([change = std::move(change)](Stepper& stepper) {
        change(stepper);
        return std::string();
    });
}

void Microscope::step() {
    if (by_hand_) return step_warp(warp_);
    move([](Stepper& stepper) { stepper.step(); });
}

void Microscope::land(std::uint32_t copy) {
    move([copy](Stepper& stepper) { stepper.land(copy); });
}

void Microscope::step_warp(unsigned warp) {
    playing_ = false;
    act([warp](Stepper& stepper) {
        return stepper.step(warp) ? std::string() : why_not(stepper, warp);
    });
}

void Microscope::step_line() {
    playing_ = false;
    act([warp = chosen_warp()](Stepper& stepper) {
        const std::uint64_t before = stepper.position();
        stepper.step_line(warp);
        return warp && stepper.position() == before ? why_not(stepper, *warp) : std::string();
    });
}

void Microscope::step_barrier() {
    playing_ = false;
    act([](Stepper& stepper) -> std::string {
        const std::uint32_t passed = stepper.epoch();
        const bool open = stepper.end() == Stepper::End::open;
        stepper.step_barrier();
        const bool ended = stepper.end() == Stepper::End::finished;
        if (!open || !ended || stepper.epoch() != passed) return {};
        return tr("No barrier was ahead: the block ran to its end.");
    });
}

void Microscope::back_by(void (Stepper::*back)()) {
    playing_ = false;
    act([back](Stepper& stepper) -> std::string {
        if (stepper.position() == 0) return tr("This is the start of the block.");
        (stepper.*back)();
        return {};
    });
}

void Microscope::to_end() {
    move([](Stepper& stepper) {
        const std::uint64_t known = stepper.history().size();
        stepper.seek(known);
        stepper.run(known + horizon);  // does nothing if the block has ended
    });
}

void Microscope::seek(std::uint64_t position) {
    move([position](Stepper& stepper) {
        stepper.seek(std::min<std::uint64_t>(position, stepper.history().size()));
    });
}

void Microscope::show(const LiveLaunch& live,
                      std::shared_ptr<const experiments::LaunchState> checked,
                      const emulator::Finding& finding) {
    start(checked->settings, finding.place().block);
    take(live, std::move(checked));
    shown_finding_ = finding;
    when_ready([this, finding] {
        if (!ready()) return;
        pick_thread(finding.place().thread);
        move([finding](Stepper& stepper) {
            const std::uint64_t before = stepper.position();
            stepper.seek(emulator::step_of(stepper, finding).value_or(before));
        });
    });
}

void Microscope::show_witness(const LiveLaunch& live,
                              std::shared_ptr<const experiments::LaunchState> checked,
                              const emulator::Finding& finding) {
    show(live, checked, finding);
    finder_.look(std::move(checked), finding);
    when_ready([this] { notice_ = tr("The orders of the warps are searched."); });
}

void Microscope::receive_witness(const LiveLaunch& live) {
    const auto found = finder_.take();
    if (!found) return;
    const files::Sentence& words = found->finding.witness->sentence;
    if (found->launch) {
        show(live, found->launch, found->finding);
        order_sentence_ = words;
    }
    when_ready([this, words = tr(words)] { notice_ = words; });
}

void Microscope::show_reason(const LiveLaunch& live, std::string element) {
    if (!open_) open(live);
    asked_ = std::move(element);
}

std::string Microscope::asked_words() const {
    const std::size_t comma = asked_.find(',');
    if (comma == asked_.npos || asked_.find('[') != asked_.npos) return asked_;
    return tr(fmt::format("pixel ({}, {})", asked_.substr(0, comma), asked_.substr(comma + 1)));
}

void Microscope::receive_reason(const LiveLaunch& live) {
    if (asked_.empty() || !live.settled) return;
    const auto reason = reasons_.ask(live, asked_);
    if (!reasons_.knows(asked_)) return;
    const std::string element = asked_words();
    asked_.clear();
    if (!reason) {
        notice_ = tr("{} is right in this frame.", element);
        return;
    }
    const auto place = reason->words.word ? reason->word_of_memory().place() : std::nullopt;
    if (!place) {
        notice_ = tr(reason->words.whole);
        return;
    }
    start(reason->words.launch->settings, *reason->words.block);
    take(live, reason->words.launch);
    when_ready([this, reason, place] {
        if (!ready()) return;
        pick(place->warp, place->lane);
        reason_ = reason;
        seek(place->step);
        when_ready([this, words = tr(reason->words.brief)] { notice_ = words; });
    });
}

void Microscope::go_to_race(bool forward) {
    struct Place {
        std::uint64_t step = 0;
        Dim3 thread{0, 0, 0};
    };
    const auto there = std::make_shared<std::optional<Place>>();
    playing_ = false;
    act(
        [forward, there, findings = all_findings()](Stepper& stepper) -> std::string {
            const std::uint64_t here = stepper.position();
            for (const emulator::Finding& finding : findings) {
                if (finding.kind != emulator::FindingKind::race) continue;
                const auto step = emulator::step_of(stepper, finding);
                if (!step || (forward ? *step <= here : *step >= here)) continue;
                const bool is_nearer =
                    !*there || (forward ? *step < (*there)->step : *step > (*there)->step);
                if (is_nearer) *there = Place{*step, finding.place().thread};
            }
            stepper.seek(*there ? (*there)->step : here);
            if (*there) return {};
            return forward ? tr("No race is ahead in this block.")
                           : tr("No race is behind in this block.");
        },
        [this, there] {
            if (*there) pick_thread((*there)->thread);
        });
}

void Microscope::play(bool on) {
    if (!ready()) return;
    if (on && stepper().position() == known_steps() && complete()) restart();
    playing_ = on;
    owed_ = 0;
}

void Microscope::advance(double seconds) {
    if (!playing_ || !ready()) return;
    const double pace = std::max(double(known_steps()) / play_seconds, least_steps_a_second);
    // The steps of a long pause, for example while the window was hidden, are left out.
    owed_ += pace * std::min(seconds, 0.25);
    const auto steps = std::uint64_t(owed_);
    if (steps == 0) return;
    owed_ -= double(steps);
    const auto stop = std::make_shared<Stop>();
    act(
        [steps, breaks = asking_breaks(), stop](Stepper& stepper) {
            *stop = emulator::run_to(stepper, breaks, stepper.position() + steps);
            return stop->why;
        },
        [this, stop] { pick_stopped(*stop); });
    if (ready() && stepper().position() == known_steps() && complete()) playing_ = false;
}

namespace {

/// Says why a run to a breakpoint has stopped.
files::Sentence stop_words(const Stop& stop) {
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

const launches::LaneValues& Microscope::values() {
    if (values_) return *values_;
    const auto plan = specimen_->experiment().plan();
    const auto edit = source_.edits.find(specimen_->experiment().kernel_file());
    values_ = std::make_unique<launches::LaneValues>(
        stepper(), specimen_->machine().memory(),
        launches::read_types(stepper().kernel(),
                             edit == source_.edits.end() ? "" : edit->second->unoptimized,
                             plan ? plan->signatures : std::vector<compiler::Signature>()));
    return *values_;
}

emulator::Breaks Microscope::asking_breaks() {
    emulator::Breaks breaks = breaks_;
    for (emulator::Breakpoint& point : breaks.points) {
        if (point.condition.empty() ||
            line_starts(stepper().kernel(), point.file, point.line).empty())
            continue;
        point.asks = [&values = values(), text = point.condition,
                      condition = std::shared_ptr<launches::LaneExpression>()](
                         std::uint32_t warp, unsigned lane) mutable {
            if (!condition) condition = std::make_shared<launches::LaneExpression>(text);
            return values.holds(*condition, warp, lane);
        };
    }
    return breaks;
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
        [run = std::move(run), breaks = asking_breaks(), stop](Stepper& stepper) {
            *stop = run(stepper, breaks, UINT64_MAX);
            return stop_words(*stop);
        },
        [this, stop] { pick_stopped(*stop); });
}

void Microscope::pick_stopped(const Stop& stop) {
    if (stop.at == Stop::At::stop) pick(stop.warp, stop.lane);
}

void Microscope::toggle_bookmark() {
    if (!ready()) return;
    const std::uint64_t here = stepper().position();
    if (bookmarks_.erase(here) == 0) bookmarks_.insert(here);
}

void Microscope::next_bookmark() {
    if (!ready()) return;
    if (bookmarks_.empty()) {
        notice_ =
            with_key(tr("The block has no bookmark. Set one at a step"), Command::toggle_bookmark);
        return;
    }
    const auto next = bookmarks_.upper_bound(stepper().position());
    seek(next == bookmarks_.end() ? *bookmarks_.begin() : *next);
}

}  // namespace warpscope::ui
