#include "emulator/stepper/stepper.h"

#include <algorithm>
#include <cstring>

#include "emulator/stepper/step_history.h"
#include "emulator/warp/float_mode.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

void Timeline::begin_step(std::uint64_t step) {
    step_ = step;
    is_new_ = step >= known_;
    if (is_new_) known_ = step + 1;
}

void Timeline::forget_from(std::uint64_t position) {
    known_ = std::min(known_, position);
    waits_.forget_from(position);
    copies_.forget_from(position);
    while (!releases_.empty() && releases_.back() >= position) releases_.pop_back();
    while (!marks_.empty() && marks_.back().step >= position) marks_.pop_back();
}

void Timeline::begin_wait(std::uint32_t warp, std::uint32_t mask, std::uint32_t pc,
                          BarrierWait::At at, std::uint32_t barrier) {
    if (is_new_) waits_.begin({warp, mask, pc, step_, step_, at, barrier});
}

void Timeline::look(std::uint32_t warp, std::uint32_t mask, std::uint32_t pc, BarrierWait::At at,
                    std::uint32_t barrier) {
    const bool known = waits_.is_open(
        [&](const BarrierWait& w) { return w.warp == warp && w.at == at && w.barrier == barrier; });
    if (!known) begin_wait(warp, mask, pc, at, barrier);
}

void Timeline::end_looking(std::uint32_t warp, BarrierWait::At at, std::uint32_t barrier) {
    if (!is_new_) return;
    waits_.end(step_, [&](const BarrierWait& w) {
        return w.warp == warp && w.at == at && w.barrier == barrier;
    });
}

void Timeline::release(std::uint32_t barrier) {
    if (!is_new_) return;
    releases_.push_back(step_);
    waits_.end(step_, [&](const BarrierWait& w) {
        return w.at == BarrierWait::At::barrier && w.barrier == barrier;
    });
}

void Timeline::begin_copy(CopyFlight copy) {
    copy.from = step_;
    if (is_new_) copies_.begin(copy);
}

void Timeline::end_copy(int rank, std::uint32_t number) {
    if (!is_new_) return;
    copies_.end(step_, [&](const CopyFlight& c) { return c.rank == rank && c.number == number; });
}

void Timeline::mark(BlockMark mark) {
    mark.step = step_;
    if (is_new_) marks_.push_back(mark);
}

namespace {

std::uint32_t ptx_pc(const Kernel& kernel, const Instruction* i) {
    return kernel.index_of(skip_inserted(kernel, i));
}

/// A split that can run. Joins may stand before its next PTX instruction, which its warp executes
/// in its next turn only. The view shows the split as it is after them.
SplitView view_of_runnable(const Warp& warp, const Split& split) {
    const Kernel& kernel = *warp.block->kernel;
    SplitView v{SplitView::State::running, split.mask, ptx_pc(kernel, split.pc), 0};
    std::int32_t j = split.join;
    for (const Instruction* i = split.pc; kernel.lines[kernel.index_of(i)].pseudo; ++i)
        while (i->role == Role::join && j >= 0 && warp.joins[std::size_t(j)].at == i) {
            const PendingJoin& join = warp.joins[std::size_t(j)];
            if ((join.arrived | v.mask) != join.expected) {
                v.state = SplitView::State::at_join;
                v.pc = ptx_pc(kernel, i);
                return v;
            }
            v.mask |= join.arrived;
            j = join.parent;
        }
    return v;
}

/// The splits of a warp in terms of the PTX text: without inserted joins and prefixes.
WarpView view_of(const Warp& warp, BarrierPolicy barriers) {
    const Kernel& kernel = *warp.block->kernel;
    WarpView view{warp.threads, warp.exited & warp.threads, {}};
    std::uint32_t seen = 0;
    for (const Split& s : warp.splits) {
        SplitView v;
        if (s.state == Split::runnable)
            v = view_of_runnable(warp, s);
        else if (s.state == Split::at_barrier)
            v = {SplitView::State::at_barrier, s.mask, kernel.index_of(s.pc), s.barrier};
        else  // for other lanes of the warp
            v = {SplitView::State::at_warp_sync, s.mask, kernel.index_of(s.pc), 0};
        seen |= v.mask;
        view.splits.push_back(v);
    }
    for (const PendingJoin& join : warp.joins)
        if (join.at && (join.arrived & ~seen))
            view.splits.push_back(
                {SplitView::State::at_join, join.arrived & ~seen, ptx_pc(kernel, join.at), 0});
    // With one program counter, the lanes at a barrier keep the others from running.
    const auto first = barriers == BarrierPolicy::before_volta ? SplitView::State::at_barrier
                                                               : SplitView::State::running;
    std::stable_partition(view.splits.begin(), view.splits.end(),
                          [&](const SplitView& v) { return v.state == first; });
    return view;
}

}  // namespace

Stepper::Stepper(Machine& machine, FrozenLaunch launch, std::uint32_t block)
    : history_(std::make_unique<StepHistory>(machine, std::move(launch), block)) {
    const FloatMode mode(kernel().flush_subnormals);
    history_->start();
}

Stepper::~Stepper() = default;

bool Stepper::step(std::optional<std::uint32_t> warp) {
    const FloatMode mode(kernel().flush_subnormals);
    return history_->step(warp);
}

bool Stepper::land(std::uint32_t copy) {
    return history_->land(copy);
}

void Stepper::step_line(std::optional<std::uint32_t> warp) {
    const FloatMode mode(kernel().flush_subnormals);
    StepHistory& s = *history_;
    if (!s.is_open()) return;
    const std::uint32_t w = warp.value_or(*s.stepper.scheduled_warp());
    const auto line = s.next_line(w);
    s.start_run();
    while (line && s.next_line(w) == line && s.step(warp) && s.may_continue_run()) {
    }
}

void Stepper::step_barrier() {
    const FloatMode mode(kernel().flush_subnormals);
    const std::uint32_t before = epoch();
    history_->start_run();
    while (epoch() == before && history_->step({}) && history_->may_continue_run()) {
    }
}

void Stepper::run(std::uint64_t most) {
    const FloatMode mode(kernel().flush_subnormals);
    history_->start_run();
    while (position() < most && history_->step({}) && history_->may_continue_run()) {
    }
}

bool Stepper::run_until(std::uint64_t most, const std::function<bool()>& done) {
    const FloatMode mode(kernel().flush_subnormals);
    StepHistory& s = *history_;
    s.start_run();
    while (s.position < most) {
        const bool known = s.position < s.steps.size();
        if (!(known ? s.repeat() : s.step({})) || done()) return true;
        if (!s.may_continue_run()) return false;
    }
    return true;
}

void Stepper::set_stop(std::stop_token stop) {
    history_->budget.set_stop(std::move(stop));
}

void Stepper::tell(Observer* observer) {
    history_->recorder.also_told = observer;
}

void Stepper::seek(std::uint64_t position) {
    const FloatMode mode(kernel().flush_subnormals);
    history_->seek(position);
}

std::uint64_t Stepper::saved_before(std::uint64_t position) const {
    const auto& saved = history_->saved;
    const auto at = std::lower_bound(saved.begin(), saved.end(), position,
                                     [](const auto& s, std::uint64_t p) { return s.position < p; });
    return (at - 1)->position;
}

void Stepper::back_line() {
    const StepHistory& s = *history_;
    if (s.position == 0) return;
    std::uint64_t to = s.position - 1;
    const Step newest = s.steps[to];
    for (std::uint64_t k = to; k-- > 0;) {
        if (s.steps[k].warp != newest.warp) continue;
        if (s.line_of(s.steps[k].pc) != s.line_of(newest.pc)) break;
        to = k;
    }
    seek(to);
}

void Stepper::back_barrier() {
    std::uint64_t to = 0;
    for (const std::uint64_t release : history_->recorder.timeline.releases())
        if (release + 1 < position()) to = release + 1;
    seek(to);
}

const FrozenLaunch& Stepper::launch() const {
    return history_->launch;
}
std::uint32_t Stepper::block() const {
    return history_->block;
}
std::uint64_t Stepper::position() const {
    return history_->position;
}
std::span<const Step> Stepper::history() const {
    return history_->steps;
}
std::span<const BarrierWait> Stepper::waits() const {
    return history_->recorder.timeline.waits(history_->steps.size());
}
std::span<const CopyFlight> Stepper::copies() const {
    return history_->recorder.timeline.copies(history_->steps.size());
}
std::span<const BlockMark> Stepper::marks() const {
    return history_->recorder.timeline.marks();
}
std::uint32_t Stepper::cluster_size() const {
    return std::uint32_t(launch().launch.cluster.count());
}
std::uint32_t Stepper::rank() const {
    return ClusterPlace::of(launch().launch, block()).rank;
}
Stepper::End Stepper::end() const {
    return history_->end;
}
const files::Sentence& Stepper::error() const {
    return history_->error;
}
const std::string& Stepper::printed() const {
    return history_->stepper.printed().text();
}
std::uint32_t Stepper::epoch() const {
    return history_->recorder.own_tile().epoch;
}
std::optional<std::uint32_t> Stepper::next_warp() const {
    return history_->is_open() ? history_->stepper.scheduled_warp() : std::nullopt;
}
const AsyncCopies& Stepper::async() const {
    return history_->stepper.async();
}
std::uint32_t Stepper::warps() const {
    return std::uint32_t(history_->stepper.warps().size());
}

std::optional<std::uint32_t> Stepper::next_pc(std::uint32_t warp) const {
    const BlockStepper& stepper = history_->stepper;
    if (!history_->is_open() || !stepper.can_run(warp)) return std::nullopt;
    return stepper.next_pc(warp);
}

WarpView Stepper::warp(std::uint32_t warp) const {
    return view_of(history_->stepper.warps()[warp], launch().settings.barriers);
}

std::uint64_t Stepper::value(const RegisterInfo& reg, std::uint32_t warp, unsigned lane) const {
    const Warp& w = history_->stepper.warps()[warp];
    if (reg.bits == 1) return w.get<std::uint32_t>(reg.slot | 1, 0) >> lane & 1;
    if (reg.bits == 64) return w.get<std::uint64_t>(reg.slot, lane);
    return w.get<std::uint32_t>(reg.slot, lane) & (reg.bits == 16 ? 0xFFFFu : ~0u);
}

std::span<const std::byte> Stepper::local_memory(std::uint32_t warp, unsigned lane) const {
    const std::size_t bytes = kernel().local_bytes;
    const Warp& w = history_->stepper.warps()[warp];
    return {w.block->local + (warp * lanes_per_warp + lane) * bytes, bytes};
}

std::span<const std::byte> Stepper::shared_memory() const {
    return history_->shared;
}

std::span<const WordView> Stepper::words() const {
    std::vector<WordView>& words = history_->recorder.own_tile().words;
    const std::vector<bool>& racing = history_->recorder.observed.races.racing_words();
    for (std::size_t w = 0; w < words.size(); ++w) words[w].hazard = racing[w];
    return words;
}

std::vector<TileView> Stepper::other_tiles() const {
    const auto& together = history_->together;
    if (!together || !together->cluster()) return {};
    const std::uint32_t cluster = ClusterPlace::of(launch().launch, block()).cluster;
    std::vector<TileView> tiles;
    for (std::uint32_t r = 0; r < cluster_size(); ++r) {
        if (r == rank()) continue;
        const Observations::Tile& tile = history_->recorder.observed.tiles[r];
        tiles.push_back({r, ClusterPlace{cluster, r}.block(launch().launch), together->has_ended(r),
                         tile.epoch, together->shared_memory(r), tile.words});
    }
    return tiles;
}

std::optional<std::uint32_t> Stepper::global_word(std::uint64_t address) const {
    std::uint32_t bits = 0;
    if (!find_global(history_->machine.memory(), *kernel().module, address, sizeof bits)) return {};
    std::memcpy(&bits, reinterpret_cast<const void*>(address), sizeof bits);
    return bits;
}

std::vector<Finding> Stepper::findings() const {
    const Observations& observed = history_->recorder.observed;
    return merged({observed.races.findings(), observed.barriers.findings()});
}

std::size_t Stepper::finding_count() const {
    const Observations& observed = history_->recorder.observed;
    return observed.races.size() + observed.barriers.size();
}

std::optional<AccessView> Stepper::shared_access(std::uint32_t warp) const {
    return history_->recorder.observed.shared[warp];
}
std::optional<AccessView> Stepper::global_access(std::uint32_t warp) const {
    return history_->recorder.observed.global[warp];
}

}  // namespace warpscope::emulator
