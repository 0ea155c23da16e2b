#include "emulator/stepper/stepper_record.h"

#include <algorithm>
#include <bit>

#include "emulator/machine/warp.h"

namespace warpscope::emulator {

StepRecorder::StepRecorder(const Memory& memory, const FrozenLaunch& launch)
    : undo(memory, *launch.kernel), launch_(launch) {}

void StepRecorder::on_block_begin(const Kernel& kernel, uint32_t block) {
    if (!begun_) return;
    const uint32_t bytes = kernel.shared_bytes + launch_.launch.dynamic_shared_bytes;
    const auto warps = size_t((launch_.launch.block.count() + lanes_per_warp - 1) / lanes_per_warp);
    sight.words.assign((bytes + 3) / 4, {});
    sight.shared.assign(warps, {});
    sight.global.assign(warps, {});
    sight.races.on_launch(kernel, launch_.launch);
    sight.races.on_block_begin(kernel, block);
    sight.barriers.on_launch(kernel, launch_.launch);
    sight.barriers.on_block_begin(kernel, block);
}

void StepRecorder::begin_step(uint64_t step) {
    step_ = step;
    is_new_ = step >= known_;
    if (is_new_) known_ = step + 1;
}

void StepRecorder::forget(uint64_t position) {
    known_ = std::min(known_, position);
    undo.forget();
    while (!releases_.empty() && releases_.back() >= position) releases_.pop_back();
    std::erase_if(open_, [&](size_t wait) { return waits_[wait].from >= position; });
    while (!waits_.empty() && waits_.back().from >= position) {
        waits_.pop_back();
        barriers_.pop_back();
    }
    for (size_t wait = 0; wait < waits_.size(); ++wait)
        if (waits_[wait].to >= position &&
            std::find(open_.begin(), open_.end(), wait) == open_.end())
            open_.push_back(wait);
}

std::span<const BarrierWait> StepRecorder::waits(uint64_t steps) {
    for (const size_t wait : open_) waits_[wait].to = steps;
    return waits_;
}

AccessView StepRecorder::view(const Access& access) const {
    AccessView v{.step = step_,
                 .warp = access.warp,
                 .mask = access.mask,
                 .pc = access.pc,
                 .bytes = access.bytes,
                 .kind = access.kind};
    for (uint32_t m = access.mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        v.addresses[lane] = access.address(lane);
    }
    return v;
}

void StepRecorder::note(const Access& access, unsigned lane) {
    const uint64_t address = access.address(lane);
    const auto thread = int32_t(access.warp * lanes_per_warp + lane);
    for (uint64_t w = address / 4; w <= (address + access.bytes - 1) / 4; ++w) {
        if (w >= sight.words.size()) return;  // wild: an error when it executes
        WordView& word = sight.words[w];
        if (access.kind != MemoryAccess::load) {
            word.writer = thread;
            word.write_epoch = sight.epoch;
            word.write_pc = access.pc;
        }
        if (access.kind != MemoryAccess::store) {
            word.reader = thread;
            word.read_epoch = sight.epoch;
            word.read_pc = access.pc;
        }
    }
}

void StepRecorder::on_shared_access(const Access& access) {
    if (!begun_) return;
    sight.shared[access.warp] = view(access);
    // Of lanes at one address the highest is the newest.
    uint32_t lanes = access.mask;
    if (access.same_address) lanes = std::bit_floor(lanes);
    for (; lanes; lanes &= lanes - 1) note(access, unsigned(std::countr_zero(lanes)));
    sight.races.on_shared_access(access);
}

void StepRecorder::on_global_access(const Access& access) {
    undo.save(access);
    if (begun_) sight.global[access.warp] = view(access);
}

void StepRecorder::on_barrier_arrival(const BarrierArrival& a) {
    if (!begun_) return;
    sight.races.on_barrier_arrival(a);
    sight.barriers.on_barrier_arrival(a);
    if (!a.waits || !is_new_) return;
    open_.push_back(waits_.size());
    waits_.push_back({a.warp, a.mask, a.pc, step_, step_});
    barriers_.push_back(uint8_t(a.barrier));
}

void StepRecorder::on_barrier_release(const BarrierRelease& r) {
    if (!begun_) return;
    sight.races.on_barrier_release(r);
    sight.barriers.on_barrier_release(r);
    sight.epoch = r.epoch + 1;
    if (!is_new_) return;
    releases_.push_back(step_);
    std::erase_if(open_, [&](size_t wait) {
        if (barriers_[wait] != r.barrier) return false;
        waits_[wait].to = step_;
        return true;
    });
}

void StepRecorder::on_warp_sync(uint32_t block, uint32_t warp, uint32_t members) {
    if (begun_) sight.races.on_warp_sync(block, warp, members);
}

void StepRecorder::on_error(uint32_t block, const Error& error) {
    if (begun_) sight.barriers.on_error(block, error);
}

}  // namespace warpscope::emulator
