#include "ui/microscope/microscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "ui/microscope/warp_words.h"

namespace warpscope::ui {

using emulator::Stepper;

namespace {

constexpr unsigned lanes = 32;
constexpr double play_seconds = 8, least_steps_a_second = 10;

std::uint32_t linear(const emulator::Dim3& at, const emulator::Dim3& size) {
    return at.x + size.x * (at.y + size.y * at.z);
}

emulator::Dim3 nearest(const emulator::Dim3& at, const emulator::Dim3& size) {
    return {std::min(at.x, size.x - 1), std::min(at.y, size.y - 1), std::min(at.z, size.z - 1)};
}

}  // namespace

Microscope::Source Microscope::source_of(const LiveLaunch& live) {
    return {live.entry, live.parameters, live.settings, live.edits};
}

void Microscope::open(const LiveLaunch& live, Dim3 block, Dim3 thread) {
    close();
    open_ = true;
    by_hand_ = false;
    block_ = block;
    const compute::RunSettings& run = live.settings;
    choice_ = {run.schedule, run.seed, run.barriers};
    take(live);
    when_ready([this, thread] { pick_thread(thread); });
}

void Microscope::close() {
    open_ = playing_ = false;
    stepper_.reset();
    specimen_.reset();
    copying_ = {};
    actions_.clear();
    taken_from_ = 0;
    ++version_;
}

void Microscope::follow(const LiveLaunch& live, bool paused) {
    if (!open_) return;
    receive();
    const Source now = source_of(live);
    if (now.entry != source_.entry) return open(live);
    const compute::RunSettings &run = now.settings, &before = source_.settings;
    if (run.schedule != before.schedule || run.seed != before.seed ||
        run.barriers != before.barriers)
        choice_ = {run.schedule, run.seed, run.barriers};
    const bool other = live.scene != taken_from_ || !(now == source_) || stale_;
    if (other || (paused && live.frame != copying_frame_)) take(live);
}

void Microscope::renew(const LiveLaunch& live) {
    if (open_) take(live);
}

/// Asks for a copy. The one before stays on show until it is there.
void Microscope::take(const LiveLaunch& live) {
    taken_from_ = live.scene;
    stale_ = false;
    source_ = source_of(live);
    copying_frame_ = live.frame;
    compute::RunSettings run = source_.settings;
    run.schedule = choice_.schedule;
    run.seed = choice_.seed;
    run.barriers = choice_.barriers;
    if (!stepper_) complaint_ = "The launch is copied when the current frame has been computed.";
    copying_ = live.copy(run);
    receive();
}

void Microscope::receive() {
    if (!copying_.valid() ||
        copying_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return;
    LaunchCopy copy = copying_.get();
    frame_ = copying_frame_;
    stepper_.reset();
    specimen_ = std::move(copy.specimen);
    complaint_ = std::move(copy.error);
    ++copy_;
    make_stepper();
    for (const auto& action : std::exchange(actions_, {})) action();
}

void Microscope::when_ready(std::function<void()> action) {
    if (waits())
        actions_.push_back(std::move(action));
    else
        action();
}

void Microscope::make_stepper() {
    stepper_.reset();
    playing_ = false;
    owed_ = 0;
    notice_.clear();
    ++version_;
    if (!specimen_) return;
    complaint_.clear();
    try {
        const emulator::FrozenLaunch& launch = specimen_->launch();
        block_ = nearest(block_, launch.launch.grid);
        stepper_ = std::make_unique<Stepper>(specimen_->machine(), launch,
                                             linear(block_, launch.launch.grid));
        look_ahead();
        keep_inside();
    } catch (const std::exception& error) {
        stepper_.reset();
        complaint_ = error.what();
    }
}

/// Runs the block to its end and back, where its steps are not known yet.
void Microscope::look_ahead() {
    const std::uint64_t here = stepper_->position();
    if (here < known_steps()) return;
    stepper_->run(std::max(horizon, here));
    complete_ = stepper_->end() != Stepper::End::open;
    all_findings_ = stepper_->findings();
    stepper_->seek(here);
}

void Microscope::keep_inside() {
    warp_ = std::min(warp_, stepper_->warps() - 1);
    const std::uint32_t there = stepper_->warp(warp_).threads;
    while (lane_ > 0 && !(there >> lane_ & 1)) --lane_;
}

void Microscope::set_block(Dim3 block) {
    if (!ready()) return;
    const Dim3 grid = launch().grid;
    if (block.x >= grid.x || block.y >= grid.y || block.z >= grid.z) {
        notice_ = fmt::format("There is no block ({}, {}): the grid has {} × {} blocks.", block.x,
                              block.y, grid.x, grid.y);
        return;
    }
    block_ = block;
    make_stepper();
}

std::string Microscope::complaint_about(const MicroscopePlace& place) const {
    const Dim3 size = launch().grid, last = nearest(place.block, size);
    if (place.block == last) return {};
    return fmt::format("{}: the launch has {}x{}x{} blocks, up to {}", place.text(), size.x, size.y,
                       size.z, MicroscopePlace{{size.x - 1, size.y - 1, size.z - 1}}.text());
}

std::optional<MicroscopePlace> Microscope::place() const {
    if (!ready()) return {};
    const compute::RunSettings& run = source_.settings;
    if (choice_ != Choice{run.schedule, run.seed, run.barriers}) return {};
    const auto past = stepper_->history().first(stepper_->position());
    if (std::any_of(past.begin(), past.end(), [](const auto& step) { return step.by_hand; }))
        return {};
    return MicroscopePlace{block_, stepper_->position()};
}

void Microscope::set_block(const std::string& typed) {
    if (const auto index = read_index(typed)) return set_block(*index);
    notice_ = fmt::format("'{}' is not the index of a block; write it like \"12, 7\".", typed);
}

const std::vector<emulator::Finding>& Microscope::findings() {
    if (findings_version_ != version_ && ready()) {
        findings_ = stepper_->findings();
        findings_version_ = version_;
    }
    return findings_;
}

void Microscope::pick(unsigned warp, unsigned lane) {
    if (!ready()) return;
    warp_ = warp;
    lane_ = lane;
    keep_inside();
    ++version_;
}

void Microscope::pick_thread(Dim3 thread) {
    if (!ready()) return;
    const Dim3 size = launch().block;
    const std::uint32_t index = linear(nearest(thread, size), size);
    pick(index / lanes, index % lanes);
}

Microscope::Dim3 Microscope::thread(unsigned warp, unsigned lane) const {
    const Dim3 size = launch().block;
    const std::uint32_t index = warp * lanes + lane;
    return {index % size.x, index / size.x % size.y, index / size.x / size.y};
}

unsigned Microscope::acting_warp() const {
    if (by_hand_) return warp_;
    if (const auto next = stepper_->next_warp()) return *next;
    const std::uint64_t here = stepper_->position();
    return here > 0 ? stepper_->history()[here - 1].warp : 0;
}

std::optional<std::uint32_t> Microscope::chosen_warp() const {
    return by_hand_ ? std::optional<std::uint32_t>(warp_) : std::nullopt;
}

void Microscope::set_by_hand(bool by_hand) {
    by_hand_ = by_hand;
    notice_.clear();
    if (by_hand) playing_ = false;
}

void Microscope::act(const std::function<void()>& change) {
    if (!ready()) return;
    notice_.clear();
    ++version_;
    try {
        change();
        look_ahead();
    } catch (const std::exception& error) {
        notice_ = error.what();
        playing_ = false;
    }
}

void Microscope::say_why_not(unsigned warp) {
    if (stepper_->end() != Stepper::End::open) return;
    notice_ = fmt::format("Warp {} {}.", warp,
                          warp_words(stepper_->kernel(), stepper_->warp(warp), true));
}

void Microscope::step() {
    playing_ = false;
    if (by_hand_) return step_warp(warp_);
    act([this] { stepper_->step(); });
}

void Microscope::step_warp(unsigned warp) {
    playing_ = false;
    act([this, warp] {
        if (!stepper_->step(warp)) say_why_not(warp);
    });
}

void Microscope::step_line() {
    playing_ = false;
    act([this] {
        const std::uint64_t before = stepper_->position();
        stepper_->step_line(chosen_warp());
        if (by_hand_ && stepper_->position() == before) say_why_not(warp_);
    });
}

void Microscope::step_barrier() {
    playing_ = false;
    act([this] {
        const std::uint32_t passed = stepper_->epoch();
        const bool open = stepper_->end() == Stepper::End::open;
        stepper_->step_barrier();
        if (open && stepper_->epoch() == passed && stepper_->end() == Stepper::End::finished)
            notice_ = "No barrier was ahead: the block ran to its end.";
    });
}

void Microscope::back() {
    playing_ = false;
    act([this] { stepper_->back(); });
}

void Microscope::back_line() {
    playing_ = false;
    act([this] { stepper_->back_line(); });
}

void Microscope::back_barrier() {
    playing_ = false;
    act([this] { stepper_->back_barrier(); });
}

void Microscope::to_end() {
    playing_ = false;
    act([this] {
        stepper_->seek(known_steps());
        if (!complete_) stepper_->run(known_steps() + horizon);
    });
}

void Microscope::seek(std::uint64_t position) {
    playing_ = false;
    act([this, position] { stepper_->seek(std::min<std::uint64_t>(position, known_steps())); });
}

void Microscope::play(bool on) {
    if (!ready()) return;
    if (on && stepper_->position() == known_steps() && complete_) restart();
    playing_ = on;
    owed_ = 0;
}

void Microscope::advance(double seconds) {
    if (!playing_ || !ready()) return;
    const double pace = std::max(double(known_steps()) / play_seconds, least_steps_a_second);
    // After a long frame, such as while the window was hidden, do not catch up.
    owed_ += pace * std::min(seconds, 0.25);
    const auto steps = std::uint64_t(owed_);
    if (steps == 0) return;
    owed_ -= double(steps);
    act([this, steps] {
        const std::uint64_t to = stepper_->position() + steps;
        if (to <= known_steps() || complete_)
            stepper_->seek(std::min<std::uint64_t>(to, known_steps()));
        else
            stepper_->run(to);
    });
    if (ready() && stepper_->position() == known_steps() && complete_) playing_ = false;
}

void Microscope::choose(const Choice& choice) {
    if (!open_ || choice == choice_) return;
    choice_ = choice;
    stale_ = true;
}

std::string MicroscopePlace::text() const {
    std::string words = fmt::format("{},{}", block.x, block.y);
    if (block.z > 0) words += fmt::format(",{}", block.z);
    return step > 0 ? fmt::format("{}@{}", words, step) : words;
}

std::optional<MicroscopePlace> read_place(std::string_view text) {
    const std::size_t at = std::min(text.find('@'), text.size());
    const auto block = read_index(text.substr(0, at));
    if (!block) return {};
    if (at == text.size()) return MicroscopePlace{*block, 0};
    MicroscopePlace place{*block, 0};
    const char *begin = text.data() + at + 1, *end = text.data() + text.size();
    const auto [next, error] = std::from_chars(begin, end, place.step);
    if (error != std::errc() || next != end) return {};
    return place;
}

std::optional<emulator::Dim3> read_index(std::string_view text) {
    emulator::Dim3 index{0, 0, 0};
    std::uint32_t* const places[] = {&index.x, &index.y, &index.z};
    std::size_t count = 0;
    const char *at = text.data(), *const end = at + text.size();
    const auto between = [](char c) { return c == ' ' || c == ',' || c == '(' || c == ')'; };
    while (at < end) {
        if (between(*at)) {
            ++at;
            continue;
        }
        if (count == 3) return {};
        const auto [next, error] = std::from_chars(at, end, *places[count++]);
        if (error != std::errc()) return {};
        at = next;
    }
    return count > 0 ? std::optional(index) : std::nullopt;
}

}  // namespace warpscope::ui
