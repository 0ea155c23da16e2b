#include "ui/microscope/microscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "emulator/program/launch.h"
#include "experiments/measure/user_paths.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {

using emulator::Stepper;

namespace {

emulator::Dim3 nearest(const emulator::Dim3& at, const emulator::Dim3& size) {
    return {std::min(at.x, size.x - 1), std::min(at.y, size.y - 1), std::min(at.z, size.z - 1)};
}

}  // namespace

std::string Microscope::kernel_name() const {
    return as_named(stepper().kernel().name);
}

std::string Microscope::where(std::uint32_t pc) const {
    return as_named(stepper().kernel().where(pc));
}

files::Sentence Microscope::error() const {
    return as_named(stepper().error());
}

std::string Microscope::as_named(std::string words) const {
    return experiments::as_shown(std::move(words), source_.edits);
}

files::Sentence Microscope::as_named(files::Sentence words) const {
    return experiments::as_shown(std::move(words), source_.edits);
}

Microscope::Source Microscope::source_of(const LiveLaunch& live) {
    return {live.entry, live.parameters, live.settings, live.edits};
}

void Microscope::start(const compute::RunSettings& run, Dim3 block) {
    close();
    open_ = true;
    by_hand_ = false;
    block_ = block;
    start_ = 0;
    choice_ = choice_of(run);
    order_sentence_ = {};
}

void Microscope::open_at(const LiveLaunch& live, const MicroscopePlace& place) {
    start(live.settings, place.block);
    start_ = place.step;
    take(live);
}

void Microscope::open(const LiveLaunch& live, Dim3 block, Dim3 thread) {
    start(live.settings, block);
    take(live);
    when_ready([this, thread] { pick_thread(thread); });
}

void Microscope::close() {
    open_ = playing_ = false;
    run_.close();
    values_.reset();
    specimen_.reset();
    checked_.reset();
    reason_.reset();
    shown_finding_.reset();
    asked_.clear();
    notice_.clear();
    copying_ = {};
    actions_.clear();
    taken_from_ = 0;
    ++version_;
}

void Microscope::follow(const LiveLaunch& live, bool paused) {
    if (!open_) return;
    receive();
    receive_witness(live);
    receive_reason(live);
    const Source now = source_of(live);
    if (!source_.entry || now.entry->id != source_.entry->id) return open(live);
    if (!live.settled) return;
    if (choice_of(now.settings) != choice_of(source_.settings)) choice_ = choice_of(now.settings);
    const bool other = live.generation != taken_from_ || !(now == source_) || stale_;
    if (other || (paused && live.frame != live_frame_ && !copying_.valid())) take(live);
}

void Microscope::renew(const LiveLaunch& live) {
    if (open_) take(live);
}

/// Asks for a copy. The one before stays on show until it is there.
void Microscope::take(const LiveLaunch& live,
                      std::shared_ptr<const experiments::LaunchState> checked) {
    taken_from_ = live.generation;
    stale_ = false;
    move_breakpoints(live.edits);
    source_ = source_of(live);
    where_ = live.on_this_thread ? BlockRun::Where::here : BlockRun::Where::elsewhere;
    compute::RunSettings run = source_.settings;
    run.schedule = choice_.schedule;
    run.seed = choice_.seed;
    run.barriers = choice_.barriers;
    run.turns = choice_.turns;
    if (!ready()) complaint_ = tr("The launch is copied when the current frame has been computed.");
    checked_ = std::move(checked);
    if (!checked_) shown_finding_.reset();
    copying_ = checked_ ? live.copy_checked(checked_) : live.copy(run);
    receive();
}

/// Takes a copy or a block that has arrived. Then calls the actions that have waited for it.
void Microscope::receive() {
    if (is_ready(copying_)) receive_copy();
    if (run_.finish()) block_has_run();
    if (waits() || actions_.empty()) return;
    for (auto& action : std::exchange(actions_, {})) when_ready(std::move(action));
}

void Microscope::receive_copy() {
    LaunchCopy copy = copying_.get();
    frame_ = copy.frame;
    live_frame_ = copy.live_frame;
    run_.close();
    values_.reset();
    specimen_ = std::move(copy.specimen);
    complaint_ = std::move(copy.error);
    // The buffers of a new copy have other addresses.
    for (emulator::Watchpoint& watch : breaks_.watches)
        if (watch.space == emulator::Space::global) watch.enabled = false;
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
    values_.reset();
    reason_.reset();
    bookmarks_.clear();
    playing_ = false;
    owed_ = 0;
    notice_.clear();
    then_ = {};
    ++version_;
    if (!specimen_) return;
    const emulator::FrozenLaunch& launch = specimen_->launch();
    block_ = nearest(block_, launch.launch.grid);
    run_.open(specimen_->machine(), launch, emulator::linear_in(launch.launch.grid, block_), start_,
              where_);
    if (!run_.works()) block_has_run();
}

void Microscope::block_has_run() {
    ++version_;
    if (!ready()) return;
    keep_inside();
    notice_ = tr(as_named(run_.notice()));
    if (!notice_.empty()) playing_ = false;
    if (notice_.empty()) notice_ = tr(emulator::old_read_words(stepper()));
    if (const auto then = std::exchange(then_, {})) then();
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
            notice_ = tr("There is no block ({}, {}): the grid has {} × {} blocks.", block.x,
                         block.y, grid.x, grid.y);
            return;
        }
        block_ = block;
        start_ = 0;
        open_block();
    });
}

std::string Microscope::complaint_about(const MicroscopePlace& place) const {
    const Dim3 size = launch().grid, last = nearest(place.block, size);
    if (place.block == last) return {};
    return tr("{}: the launch has {}x{}x{} blocks, up to {}", place.text(), size.x, size.y, size.z,
              MicroscopePlace{{size.x - 1, size.y - 1, size.z - 1}}.text());
}

std::optional<MicroscopePlace> Microscope::place() const {
    if (!ready()) return {};
    if (choice_ != choice_of(source_.settings)) return {};
    const auto past = stepper().history().first(stepper().position());
    if (std::any_of(past.begin(), past.end(), [](const auto& step) { return step.by_hand; }))
        return {};
    return MicroscopePlace{block_, stepper().position()};
}

void Microscope::set_block(const std::string& typed) {
    if (const auto index = emulator::read_index(typed)) return set_block(*index);
    notice_ = tr("'{}' is not the index of a block; write it like \"12, 7\".", typed);
}

void Microscope::show_rank(std::uint32_t rank) {
    const emulator::LaunchShape& shape = launch();
    const auto here = emulator::ClusterPlace::of(shape, emulator::linear_in(shape.grid, block_));
    set_block(
        emulator::index_in(shape.grid, emulator::ClusterPlace{here.cluster, rank}.block(shape)));
}

std::span<const NeedFinder::Barrier> Microscope::needed() const {
    return needs_.of(source_.edits);
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
        const std::uint32_t index = emulator::linear_in(size, nearest(thread, size));
        pick(index / emulator::lanes_per_warp, index % emulator::lanes_per_warp);
    });
}

Microscope::Dim3 Microscope::thread(unsigned warp, unsigned lane) const {
    return emulator::index_in(launch().block, warp * emulator::lanes_per_warp + lane);
}

unsigned Microscope::acting_warp() const {
    if (by_hand_) return warp_;
    if (const auto next = stepper().next_warp()) return *next;
    const std::uint64_t here = stepper().position();
    return here > 0 ? stepper().history()[here - 1].warp : 0;
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
    const auto block = emulator::read_index(text.substr(0, at));
    if (!block) return {};
    if (at == text.size()) return MicroscopePlace{*block, 0};
    MicroscopePlace place{*block, 0};
    const char *begin = text.data() + at + 1, *end = text.data() + text.size();
    const auto [next, error] = std::from_chars(begin, end, place.step);
    if (error != std::errc() || next != end) return {};
    return place;
}

}  // namespace warpscope::ui
