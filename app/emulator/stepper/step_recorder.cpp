#include "emulator/stepper/step_recorder.h"

#include <algorithm>
#include <bit>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

StepRecorder::StepRecorder(const Memory& memory, const FrozenLaunch& launch)
    : undo(memory, *launch.kernel), launch_(launch) {}

void StepRecorder::on_block_begin(const Kernel& kernel, std::uint32_t block) {
    if (!begun_) return;
    const std::uint32_t bytes = kernel.shared_bytes + launch_.launch.dynamic_shared_bytes;
    const auto warps =
        std::size_t((launch_.launch.block.count() + lanes_per_warp - 1) / lanes_per_warp);
    observed.words.assign((bytes + 3) / 4, {});
    observed.shared.assign(warps, {});
    observed.global.assign(warps, {});
    observed.races.on_launch(kernel, launch_.launch);
    observed.races.on_block_begin(kernel, block);
    observed.barriers.on_launch(kernel, launch_.launch);
    observed.barriers.on_block_begin(kernel, block);
}

void StepRecorder::begin_step(std::uint64_t step) {
    step_ = step;
    is_new_ = step >= known_;
    if (is_new_) known_ = step + 1;
}

void StepRecorder::forget_from(std::uint64_t position) {
    known_ = std::min(known_, position);
    undo.forget_undone();
    while (!releases_.empty() && releases_.back() >= position) releases_.pop_back();
    std::erase_if(open_waits_, [&](std::size_t wait) { return waits_[wait].from >= position; });
    while (!waits_.empty() && waits_.back().from >= position) {
        waits_.pop_back();
        wait_barriers_.pop_back();
    }
    for (std::size_t wait = 0; wait < waits_.size(); ++wait)
        if (waits_[wait].to >= position &&
            std::find(open_waits_.begin(), open_waits_.end(), wait) == open_waits_.end())
            open_waits_.push_back(wait);
}

std::span<const BarrierWait> StepRecorder::waits(std::uint64_t steps) {
    for (const std::size_t wait : open_waits_) waits_[wait].to = steps;
    return waits_;
}

AccessView StepRecorder::view(const Access& access) const {
    AccessView v{.step = step_,
                 .warp = access.warp,
                 .mask = access.mask,
                 .pc = access.pc,
                 .bytes = access.bytes,
                 .kind = access.kind};
    for (std::uint32_t m = access.mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        v.addresses[lane] = access.address(lane);
    }
    return v;
}

void StepRecorder::update_words(const Access& access, unsigned lane) {
    const std::uint64_t address = access.address(lane);
    const auto thread = std::int32_t(access.warp * lanes_per_warp + lane);
    for (std::uint64_t w = address / 4; w <= (address + access.bytes - 1) / 4; ++w) {
        if (w >= observed.words.size()) return;  // an invalid access: the instruction will fail
        WordView& word = observed.words[w];
        if (access.kind != MemoryAccess::load) {
            word.writer = thread;
            word.write_epoch = observed.epoch;
            word.write_pc = access.pc;
        }
        if (access.kind != MemoryAccess::store) {
            word.reader = thread;
            word.read_epoch = observed.epoch;
            word.read_pc = access.pc;
        }
    }
}

void StepRecorder::on_shared_access(const Access& access) {
    if (!begun_) return;
    if (also_told) also_told->on_shared_access(access);
    observed.shared[access.warp] = view(access);
    // If all lanes have one address, the highest lane counts as the newest. An asynchronous copy
    // writes when it lands.
    const bool lands = access.asynchronous && access.kind == MemoryAccess::store;
    std::uint32_t lanes = lands ? 0 : access.mask;
    if (access.same_address) lanes = std::bit_floor(lanes);
    for (; lanes; lanes &= lanes - 1) update_words(access, unsigned(std::countr_zero(lanes)));
    observed.races.on_shared_access(access);
}

void StepRecorder::on_global_access(const Access& access) {
    if (!access.asynchronous) undo.save(access);
    if (!begun_) return;
    if (also_told) also_told->on_global_access(access);
    observed.global[access.warp] = view(access);
    observed.races.on_global_access(access);
}

void StepRecorder::on_barrier_arrival(const BarrierArrival& a) {
    if (!begun_) return;
    observed.races.on_barrier_arrival(a);
    observed.barriers.on_barrier_arrival(a);
    if (!a.waits || !is_new_) return;
    open_waits_.push_back(waits_.size());
    waits_.push_back({a.warp, a.mask, a.pc, step_, step_});
    wait_barriers_.push_back(std::uint8_t(a.barrier));
}

void StepRecorder::on_barrier_release(const BarrierRelease& r) {
    if (!begun_) return;
    observed.races.on_barrier_release(r);
    observed.barriers.on_barrier_release(r);
    observed.epoch = r.epoch + 1;
    if (!is_new_) return;
    releases_.push_back(step_);
    std::erase_if(open_waits_, [&](std::size_t wait) {
        if (wait_barriers_[wait] != r.barrier) return false;
        waits_[wait].to = step_;
        return true;
    });
}

void StepRecorder::on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) {
    if (begun_) observed.races.on_warp_sync(block, warp, members);
}

void StepRecorder::on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask) {
    if (begun_) observed.races.on_fence(block, warp, mask);
}

void StepRecorder::on_async(std::uint32_t block, const AsyncEvent& event) {
    if (event.kind == AsyncEvent::copy_lands) note_landing(*event.copy, event.parts);
    if (begun_) observed.races.on_async(block, event);
    if (also_told) also_told->on_async(block, event);
}

void StepRecorder::note_landing(const AsyncCopy& copy, std::uint32_t parts) {
    for (; parts; parts &= parts - 1) {
        const auto part = unsigned(std::countr_zero(parts));
        const std::uint64_t to = copy.to[part];
        if (!copy.to_shared) undo.save(to, copy.bytes[part]);
        if (!copy.to_shared || !begun_) continue;
        for (std::uint64_t w = to / 4; w < (to + copy.bytes[part]) / 4; ++w) {
            WordView& word = observed.words[w];
            word.writer = std::int32_t(copy.warp * lanes_per_warp + copy.lane_of(part));
            word.write_epoch = observed.epoch;
            word.write_pc = copy.pc;
        }
    }
}

void StepRecorder::on_error(std::uint32_t block, const Error& error) {
    if (begun_) observed.barriers.on_error(block, error);
}

}  // namespace warpscope::emulator
