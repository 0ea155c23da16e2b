#include "jobs/debugger/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/stepper/finding_step.h"
#include "experiments/measure/user_paths.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/verdict.h"

namespace warpscope::jobs {

using emulator::Dim3;
using emulator::Finding;
using emulator::SplitView;
using emulator::Stepper;
using emulator::Stop;
using launches::LaneFrame;
using launches::LaneValues;
using How = Motion::How;

namespace {

constexpr std::uint64_t steps_ahead = 400'000;  // to a finding

std::string key_of(const Finding& finding) {
    return fmt::format("{} {} {}", int(finding.kind), finding.first.where(),
                       finding.second ? finding.second->where() : "");
}

bool is_backwards(How how) {
    return how >= How::back_line;
}

Dim3 checked_index(const Dim3& index, const Dim3& size, const char* what) {
    if (index.x < size.x && index.y < size.y && index.z < size.z) return index;
    throw UsageError(fmt::format("there is no {} {}: the last one is {}", what, name_of(index),
                                 name_of(Dim3{size.x - 1, size.y - 1, size.z - 1})));
}

}  // namespace

Session::Session(compute::Helpers& helpers, Telling telling)
    : helpers_(helpers),
      telling_(std::move(telling)),
      breakpoints_({.holds = [this](const auto& condition, auto warp,
                                    auto lane) { return values_->holds(condition, warp, lane); },
                    .text =
                        [this](const std::string& text, auto warp, auto lane) {
                            try {
                                return values_->text(
                                    values_->evaluated(text, values_->view(warp, lane)));
                            } catch (const launches::LaunchError& error) {
                                return std::string(error.what());
                            }
                        },
                    .log = [this](const std::string& line) { telling_.log(line + "\n"); },
                    .file = [this](const std::string& source) { return telling_.file(source); },
                    .position = [this] { return stepper_->position(); }}) {}

void Session::open(TargetRequest request, std::optional<Dim3> block,
                   const emulator::CheckChoice& checks,
                   std::function<void(std::string_view)> printed, const std::stop_token& stop) {
    close();
    wanted_block_ = block;
    checks_ = checks;
    target_ = std::make_unique<Target>(helpers_, std::move(request), std::move(printed));
    if (open_next(stop)) return;
    const int status = target_->exit_status();
    throw UsageError(fmt::format("no launch was made{}",
                                 status ? fmt::format("; the exit status is {}", status) : ""));
}

void Session::close() {
    values_.reset();
    stepper_.reset();
    launch_ = {};
    target_.reset();
    told_.clear();
    elsewhere_.clear();
    breakpoints_.use(nullptr, {});
    breakpoints_.restart();
}

bool Session::open_next(const std::stop_token& stop, std::uint64_t first) {
    auto next = target_->next(stop, first);
    if (!next) return false;
    values_.reset();
    stepper_.reset();
    launch_ = std::move(*next);
    told_.clear();
    const Dim3 grid = launch_.specimen->launch().launch.grid;
    const Dim3 block = checked_index(wanted_block_.value_or(Dim3{0, 0, 0}), grid, "block");
    open_block(linear_in(grid, block), stop);
    telling_.changed(breakpoints_.use(&stepper_->kernel(), kernel_name()));
    check(stop);
    return true;
}

void Session::open_block(std::uint32_t block, const std::stop_token& stop) {
    values_.reset();
    stepper_.reset();  // one at a time uses the machine
    emulator::FrozenLaunch launch = launch_.specimen->launch();
    launch.settings.stop = stop;
    stepper_ = std::make_unique<Stepper>(launch_.specimen->machine(), launch, block);
    values_ = std::make_unique<LaneValues>(*stepper_, launch_.specimen->machine().memory(),
                                           launch_.types);
    findings_seen_ = printed_ = 0;
    finding_.reset();
    focus_ = {block, stepper_->next_warp().value_or(0), 0};
    focus_.lane = lane_of(focus_.warp);
}

/// Looks for findings in all blocks.
void Session::check(const std::stop_token& stop) {
    elsewhere_.clear();
    if (!checks_.has_checks()) return;
    const auto found = experiments::inspect(*launch_.state, compute::usual_emulator_memory(), stop);
    const emulator::Verdict verdict = experiments::as_named(found.verdict, launch_.state->edits);
    telling_.log(as_named(verdict_text(verdict, checks_)));
    elsewhere_ = found.verdict.findings;
}

std::string Session::as_named(std::string words) const {
    return experiments::as_shown(std::move(words), launch_.state->edits);
}

std::string Session::kernel_name() const {
    return as_named(stepper_->kernel().name);
}

std::string Session::where(std::uint32_t pc) const {
    return as_named(stepper_->kernel().where(pc));
}

Dim3 Session::thread(std::uint32_t warp, unsigned lane) const {
    return index_in(stepper_->launch().launch.block, warp * 32 + lane);
}

unsigned Session::lane_of(std::uint32_t warp) const {
    const emulator::WarpView view = stepper_->warp(warp);
    if (warp == focus_.warp && (view.threads >> focus_.lane & 1)) return focus_.lane;
    const std::uint32_t lanes = view.splits.empty() ? view.threads : view.splits.front().mask;
    return unsigned(std::countr_zero(lanes ? lanes : 1U));
}

std::string Session::state_of(const SplitView& split) const {
    constexpr std::string_view words[] = {"at", "waits at the barrier,",
                                          "waits for its other lanes,", "waits to join,"};
    return fmt::format("{} {}", words[std::size_t(split.state)], where(split.pc));
}

std::string Session::state_of(std::uint32_t warp) const {
    const emulator::WarpView view = stepper_->warp(warp);
    if (view.splits.empty()) return "has ended";
    std::string text;
    for (const SplitView& split : view.splits)
        text += fmt::format(
            "{}{}{}", text.empty() ? "" : "; ",
            view.splits.size() > 1 ? fmt::format("{} lanes ", std::popcount(split.mask)) : "",
            state_of(split));
    return text;
}

/// The outermost place first; empty: the lane has ended.
std::vector<std::string> Session::place_of(std::uint32_t warp, unsigned lane) const {
    std::vector<std::string> place;
    for (const LaneFrame& frame : values_->frames_of(warp, lane))
        place.insert(place.begin(), fmt::format("{}:{}", frame.place.file, frame.place.line));
    return place;
}

std::string Session::focus_words() const {
    return fmt::format(
        "kernel {}, launch {}, block {}, thread {}, warp {}, lane {}: {}", kernel_name(),
        launch_.number, name_of(index_in(stepper_->launch().launch.grid, focus_.block)),
        name_of(thread(focus_.warp, focus_.lane)), focus_.warp, focus_.lane, state_of(focus_.warp));
}

void Session::look_at_launch(std::uint64_t number, const std::stop_token& stop) {
    if (number != launch_.number && (number == 0 || !open_next(stop, number)))
        throw UsageError(fmt::format("there is no launch {}", number));
}

void Session::look_at(std::uint32_t warp, unsigned lane) {
    if (warp >= stepper_->warps())
        throw UsageError(
            fmt::format("there is no warp {}: the block has {}", warp, stepper_->warps()));
    if (lane >= 32 || !(stepper_->warp(warp).threads >> lane & 1))
        throw UsageError(fmt::format("warp {} has no lane {}", warp, lane));
    focus_.warp = warp;
    focus_.lane = lane;
}

void Session::look_at_thread(const Dim3& index) {
    const Dim3 size = stepper_->launch().launch.block;
    const std::uint32_t number = linear_in(size, checked_index(index, size, "thread"));
    look_at(number / 32, number % 32);
}

void Session::look_at_block(const Dim3& index, const std::stop_token& stop) {
    const Dim3 grid = stepper_->launch().launch.grid;
    const std::uint32_t block = linear_in(grid, checked_index(index, grid, "block"));
    if (block != focus_.block) open_block(block, stop);
}

/// A finding that has not stopped a run yet, and of a kind that does.
std::optional<Stop> Session::new_finding() {
    if (stepper_->finding_count() == findings_seen_) return {};
    const bool is_more = stepper_->finding_count() > findings_seen_;
    findings_seen_ = stepper_->finding_count();
    if (!is_more || kinds_.empty()) return {};
    for (const Finding& finding : stepper_->findings()) {
        if (finding.severity == emulator::Severity::note ||
            !kinds_.contains(std::string(to_string(finding.kind))) ||
            !told_.insert(key_of(finding)).second)
            continue;
        finding_ = finding;
        return Stop{Stop::At::stop, 0, 0, as_named(finding.sentence)};
    }
    return {};
}

/// Stands before the access at which a finding was made, with the focus on its thread.
Halt Session::stand_before_finding() {
    stepper_->seek(stepper_->position() - 1);
    findings_seen_ = stepper_->finding_count();
    const emulator::Step step = stepper_->history()[stepper_->position()];
    focus_.warp = step.warp;
    focus_.lane = unsigned(std::countr_zero(step.mask ? step.mask : 1U));
    const Dim3 size = stepper_->launch().launch.block;
    for (const auto& at : {std::optional(finding_->first), finding_->second}) {
        if (!at) continue;
        const std::uint32_t number = linear_in(size, at->thread);
        if (number / 32 == step.warp && (step.mask >> number % 32 & 1)) focus_.lane = number % 32;
    }
    return {Halt::Why::finding, as_named(finding_->sentence)};
}

Halt Session::stand_at(const Stop& stop) {
    if (finding_) return stand_before_finding();
    focus_.warp = stop.warp;
    focus_.lane = stop.lane;
    const int number = breakpoints_.stopped_at(stepper_->position());
    return {number ? Halt::Why::breakpoint : Halt::Why::word, as_named(stop.why), number};
}

Halt Session::end_of_block() {
    if (stepper_->end() == Stepper::End::failed) {
        const bool is_told = !told_.insert(stepper_->error()).second;
        if (!is_told && stepper_->position() > 0) {
            const emulator::Step step = stepper_->history()[stepper_->position() - 1];
            focus_.warp = step.warp;
            focus_.lane = unsigned(std::countr_zero(step.mask ? step.mask : 1U));
            return {Halt::Why::finding, as_named(stepper_->error())};
        }
    }
    return {Halt::Why::end, "The block has ended."};
}

void Session::tell_printed() {
    const std::string& all = stepper_->printed();
    if (all.size() > printed_) telling_.log(all.substr(printed_));
    printed_ = std::max(printed_, all.size());
}

bool Session::has_arrived(const Motion& motion) const {
    const auto place = place_of(motion.warp, lane_of(motion.warp));
    if (place.empty()) return true;
    switch (motion.how) {
        case How::instruction:
            return true;
        case How::into:
            return place != motion.place;
        case How::out:
            return place.size() < motion.place.size();
        default:  // what the line calls is a part of it
            return place.size() < motion.place.size() ||
                   !std::equal(motion.place.begin(), motion.place.end(), place.begin());
    }
}

/// Runs the warp alone. Where it waits for others, all run until it goes on.
std::optional<Halt> Session::step_warp(Motion& motion, const std::stop_token& stop) {
    while (true) {
        if (stepper_->end() != Stepper::End::open) return end_of_block();
        if (!stepper_->next_pc(motion.warp)) {
            if (stepper_->warp(motion.warp).splits.empty())
                return Halt{Halt::Why::step, fmt::format("Warp {} has ended.", motion.warp)};
            auto halt = run([&] {
                return stepper_->next_pc(motion.warp) || stepper_->warp(motion.warp).splits.empty();
            });
            if (!halt || halt->why != Halt::Why::step) return halt;
        } else {
            stepper_->step(motion.warp);
            if (new_finding()) return stand_before_finding();
        }
        if (has_arrived(motion)) return Halt{};
        if (stepper_->position() % 256 == 0 && stop.stop_requested()) return {};
    }
}

/// Ends with a step where `until` holds.
std::optional<Halt> Session::run(const std::function<bool()>& until) {
    emulator::Breaks breaks = breakpoints_.breaks(false);
    bool is_done = false;
    breaks.asks = [&]() -> std::optional<Stop> {
        if (auto found = new_finding()) return found;
        is_done = until && until();
        return is_done ? std::optional(Stop{Stop::At::stop}) : std::nullopt;
    };
    const Stop stop = run_to(*stepper_, breaks);
    if (stop.at == Stop::At::interrupted) return {};
    if (stop.at == Stop::At::end) return end_of_block();
    return is_done ? Halt{} : stand_at(stop);
}

std::optional<Halt> Session::back(const Motion& motion) {
    const std::uint64_t from = stepper_->position();
    if (from == 0) return Halt{Halt::Why::step, "The block stands before its first instruction."};
    Halt halt;
    if (motion.how == How::back_instruction) stepper_->back();
    if (motion.how == How::back_line) stepper_->back_line();
    if (motion.how == How::back_barrier) stepper_->back_barrier();
    if (motion.how == How::back_run) {
        const Stop stop = run_back_to(*stepper_, breakpoints_.breaks(true));
        if (stop.at == Stop::At::interrupted) return {};
        if (stop.at == Stop::At::stop) {
            halt = stand_at(stop);
            findings_seen_ = stepper_->finding_count();
            return halt;
        }
        halt = {Halt::Why::entry, "The block stands before its first instruction."};
    }
    findings_seen_ = stepper_->finding_count();
    focus_.warp = stepper_->history()[stepper_->position()].warp;
    focus_.lane = lane_of(focus_.warp);
    return halt;
}

std::optional<Halt> Session::move(Motion& motion, const std::stop_token& stop) {
    stepper_->set_stop(stop);
    finding_.reset();
    if (is_backwards(motion.how)) return back(motion);
    if (!motion.begun) {
        if (motion.warp != focus_.warp) look_at(motion.warp, lane_of(motion.warp));
        motion.begun = true;
        motion.epoch = stepper_->epoch();
        motion.place = place_of(motion.warp, focus_.lane);
    }
    std::optional<Halt> halt;
    if (motion.how == How::run || stepper_->end() != Stepper::End::open)
        halt = stepper_->end() == Stepper::End::open ? run() : end_of_block();
    else if (motion.how == How::barrier)
        halt = run([&] { return stepper_->epoch() != motion.epoch; });
    else
        halt = step_warp(motion, stop);
    if (halt) focus_.lane = lane_of(focus_.warp);
    tell_printed();
    return halt;
}

std::optional<Halt> Session::go_on(const std::stop_token& stop) {
    while (!elsewhere_.empty()) {
        const Finding finding = elsewhere_.front();
        elsewhere_.erase(elsewhere_.begin());
        if (finding.severity == emulator::Severity::note ||
            !kinds_.contains(std::string(to_string(finding.kind))) ||
            !told_.insert(key_of(finding)).second)
            continue;
        look_at_block(finding.place().block, stop);
        stepper_->run(steps_ahead);
        stepper_->seek(step_of(*stepper_, finding).value_or(0));
        findings_seen_ = stepper_->finding_count();
        look_at_thread(finding.place().thread);
        finding_ = finding;
        told_.insert(finding.sentence);  // it may be the error that ends the block
        return Halt{Halt::Why::finding, as_named(finding.sentence)};
    }
    if (!open_next(stop)) return {};
    return Halt{Halt::Why::entry, "The next launch."};
}

}  // namespace warpscope::jobs
