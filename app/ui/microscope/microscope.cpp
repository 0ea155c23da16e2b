#include "ui/microscope/microscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "emulator/stepper/finding_step.h"
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

/// Why a warp could not be stepped; empty at the end of the block.
std::string why_not(const Stepper& stepper, unsigned warp) {
    if (stepper.end() != Stepper::End::open) return {};
    return fmt::format("Warp {} {}.", warp, warp_words(stepper.kernel(), stepper.warp(warp), true));
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
    run_.close();
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
    if (!live.settled) return;
    const compute::RunSettings &run = now.settings, &before = source_.settings;
    if (run.schedule != before.schedule || run.seed != before.seed ||
        run.barriers != before.barriers)
        choice_ = {run.schedule, run.seed, run.barriers};
    const bool other = live.scene != taken_from_ || !(now == source_) || stale_;
    if (other || (paused && live.frame != frame_ && !copying_.valid())) take(live);
}

void Microscope::renew(const LiveLaunch& live) {
    if (open_) take(live);
}

/// Asks for a copy. The one before stays on show until it is there.
void Microscope::take(const LiveLaunch& live) {
    taken_from_ = live.scene;
    stale_ = false;
    source_ = source_of(live);
    where_ = live.on_this_thread ? BlockRun::Where::here : BlockRun::Where::elsewhere;
    compute::RunSettings run = source_.settings;
    run.schedule = choice_.schedule;
    run.seed = choice_.seed;
    run.barriers = choice_.barriers;
    if (!ready()) complaint_ = "The launch is copied when the current frame has been computed.";
    copying_ = live.copy(run);
    receive();
}

/// Takes what has arrived: a copy, or the block after a run. Then does what has waited for it.
void Microscope::receive() {
    if (copying_.valid() && copying_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        receive_copy();
    if (run_.finish()) block_has_run();
    if (waits() || actions_.empty()) return;
    for (auto& action : std::exchange(actions_, {})) when_ready(std::move(action));
}

void Microscope::receive_copy() {
    LaunchCopy copy = copying_.get();
    frame_ = copy.frame;
    run_.close();
    specimen_ = std::move(copy.specimen);
    complaint_ = std::move(copy.error);
    ++copy_;
    open_block();
}

void Microscope::when_ready(std::function<void()> action) {
    if (waits())
        actions_.push_back(std::move(action));
    else
        action();
}

void Microscope::open_block() {
    run_.close();
    playing_ = false;
    owed_ = 0;
    notice_.clear();
    ++version_;
    if (!specimen_) return;
    const emulator::FrozenLaunch& launch = specimen_->launch();
    block_ = nearest(block_, launch.launch.grid);
    run_.open(specimen_->machine(), launch, linear(block_, launch.launch.grid), where_);
    if (!run_.works()) block_has_run();
}

void Microscope::block_has_run() {
    ++version_;
    if (!ready()) return;
    keep_inside();
    notice_ = run_.notice();
    if (!notice_.empty()) playing_ = false;
}

void Microscope::keep_inside() {
    warp_ = std::min(warp_, stepper().warps() - 1);
    const std::uint32_t there = stepper().warp(warp_).threads;
    while (lane_ > 0 && !(there >> lane_ & 1)) --lane_;
}

void Microscope::set_block(Dim3 block) {
    when_ready([this, block] {
        if (!specimen_) return;
        const Dim3 grid = specimen_->launch().launch.grid;
        if (block.x >= grid.x || block.y >= grid.y || block.z >= grid.z) {
            notice_ = fmt::format("There is no block ({}, {}): the grid has {} × {} blocks.",
                                  block.x, block.y, grid.x, grid.y);
            return;
        }
        block_ = block;
        open_block();
    });
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
    const auto past = stepper().history().first(stepper().position());
    if (std::any_of(past.begin(), past.end(), [](const auto& step) { return step.by_hand; }))
        return {};
    return MicroscopePlace{block_, stepper().position()};
}

void Microscope::set_block(const std::string& typed) {
    if (const auto index = read_index(typed)) return set_block(*index);
    notice_ = fmt::format("'{}' is not the index of a block; write it like \"12, 7\".", typed);
}

const std::vector<emulator::Finding>& Microscope::findings() {
    if (findings_version_ != version_ && ready()) {
        findings_ = stepper().findings();
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
    when_ready([this, thread] {
        if (!ready()) return;
        const Dim3 size = launch().block;
        const std::uint32_t index = linear(nearest(thread, size), size);
        pick(index / lanes, index % lanes);
    });
}

Microscope::Dim3 Microscope::thread(unsigned warp, unsigned lane) const {
    const Dim3 size = launch().block;
    const std::uint32_t index = warp * lanes + lane;
    return {index % size.x, index / size.x % size.y, index / size.x / size.y};
}

unsigned Microscope::acting_warp() const {
    if (by_hand_) return warp_;
    if (const auto next = stepper().next_warp()) return *next;
    const std::uint64_t here = stepper().position();
    return here > 0 ? stepper().history()[here - 1].warp : 0;
}

std::optional<std::uint32_t> Microscope::chosen_warp() const {
    return by_hand_ ? std::optional<std::uint32_t>(warp_) : std::nullopt;
}

void Microscope::set_by_hand(bool by_hand) {
    by_hand_ = by_hand;
    notice_.clear();
    if (by_hand) playing_ = false;
}

void Microscope::act(BlockRun::Change change) {
    when_ready([this, change = std::move(change)] {
        if (!ready()) return;
        notice_.clear();
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
        return "No barrier was ahead: the block ran to its end.";
    });
}

void Microscope::back() {
    move([](Stepper& stepper) { stepper.back(); });
}

void Microscope::back_line() {
    move([](Stepper& stepper) { stepper.back_line(); });
}

void Microscope::back_barrier() {
    move([](Stepper& stepper) { stepper.back_barrier(); });
}

void Microscope::to_end() {
    move([](Stepper& stepper) {
        const std::uint64_t known = stepper.history().size();
        stepper.seek(known);
        stepper.run(known + horizon);  // nothing where the block has ended
    });
}

void Microscope::seek(std::uint64_t position) {
    move([position](Stepper& stepper) {
        stepper.seek(std::min<std::uint64_t>(position, stepper.history().size()));
    });
}

void Microscope::show(const emulator::Finding& finding) {
    when_ready([this, finding] {
        if (!ready()) return;
        // In another frame than the checked one, the schedule lets other threads race.
        const emulator::Finding here = emulator::same_in(all_findings(), finding).value_or(finding);
        pick_thread(here.place().thread);
        move([here](Stepper& stepper) {
            const std::uint64_t before = stepper.position();
            stepper.seek(emulator::step_of(stepper, here).value_or(before));
        });
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
    // After a long frame, such as while the window was hidden, do not catch up.
    owed_ += pace * std::min(seconds, 0.25);
    const auto steps = std::uint64_t(owed_);
    if (steps == 0) return;
    owed_ -= double(steps);
    act([steps, complete = complete()](Stepper& stepper) {
        const std::uint64_t to = stepper.position() + steps, known = stepper.history().size();
        if (to <= known || complete)
            stepper.seek(std::min<std::uint64_t>(to, known));
        else
            stepper.run(to);
        return std::string();
    });
    if (ready() && stepper().position() == known_steps() && complete()) playing_ = false;
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
