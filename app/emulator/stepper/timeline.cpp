#include "emulator/stepper/timeline.h"

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

}  // namespace warpscope::emulator
