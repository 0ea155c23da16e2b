#include "emulator/slice/block_trace.h"

#include <algorithm>
#include <bit>

#include "emulator/handlers/handlers.h"
#include "emulator/program/error.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

namespace {

bool is_exchange(const Kernel& kernel, std::uint32_t pc) {
    return opcode_of(kernel.code[pc].operation).kind == OpcodeKind::exchanges;
}

std::uint64_t operand(const Stepper& stepper, std::uint32_t slot, std::uint8_t bits,
                      std::uint32_t warp, unsigned lane) {
    return stepper.value({.name = {}, .slot = slot, .bits = bits}, warp, lane);
}

template <class Event>
std::span<const Event> of_step(const std::vector<Event>& all, std::uint64_t step) {
    const auto begin = std::ranges::lower_bound(all, step, {}, &Event::step);
    auto end = begin;
    while (end != all.end() && end->step == step) ++end;
    return {begin, end};
}

}  // namespace

BlockTrace::BlockTrace(Stepper& stepper, const std::stop_token& stop)
    : kernel_(&stepper.kernel()), warps_(stepper.warps()) {
    waiting_.resize(warps_);
    steps_.assign(stepper.history().begin(), stepper.history().end());
    stepper.seek(0);
    stepper.tell(this);
    for (now_ = 0; now_ < steps_.size() && !stop.stop_requested(); ++now_) {
        before(stepper, now_);
        // seek() would go to a saved position and execute nothing.
        stepper.run_until(now_ + 1, [] { return true; });
        after(stepper, now_);
        const Step& step = steps_[now_];
        if (!step.landed) of_pc_[{step.warp, step.pc}].push_back(now_);
    }
    stepper.tell(nullptr);
    if (stop.stop_requested()) throw Stopped("the trace was stopped");
}

void BlockTrace::before(const Stepper& stepper, std::uint64_t number) {
    const Step& step = steps_[number];
    if (step.landed) return;
    const Instruction& i = kernel_->code[step.pc];
    const InstructionInfo& info = kernel_->lines[step.pc];
    if (info.access != MemoryAccess::none &&
        (info.space == Space::local || info.space == Space::generic))
        note_local(stepper, step);
    if (i.operation != Operation::shfl) return;
    for (unsigned lane = 0; lane < 32; ++lane)
        next_.from[lane] = std::uint8_t(
            shuffle_source(ShuffleMode(i.detail), lane,
                           std::uint32_t(operand(stepper, i.operands[3], 32, step.warp, lane)),
                           std::uint32_t(operand(stepper, i.operands[4], 32, step.warp, lane)))
                .value_or(lane));
}

/// Lanes wait until the others have come; then all get their results in one step.
void BlockTrace::after(const Stepper& stepper, std::uint64_t number) {
    const Step& step = steps_[number];
    std::uint32_t& waiting = waiting_[step.warp];
    if (step.landed || (!waiting && !is_exchange(*kernel_, step.pc))) return;
    std::uint32_t still = 0;
    for (const SplitView& split : stepper.warp(step.warp).splits)
        if (split.state == SplitView::State::at_warp_sync) still |= split.mask;
    const std::uint32_t come = waiting | (is_exchange(*kernel_, step.pc) ? step.mask : 0);
    if (come & ~still) {
        next_.step = number;
        next_.mask = come & ~still;
        exchanges_.push_back(next_);
    }
    waiting = come & still;
}

void BlockTrace::note_local(const Stepper& stepper, const Step& step) {
    const Instruction& i = kernel_->code[step.pc];
    const InstructionInfo& info = kernel_->lines[step.pc];
    const AccessForm form(i.target);
    TracedAccess access{
        .step = now_, .space = Space::local, .kind = info.access, .bytes = info.bytes};
    for (std::uint32_t lanes = step.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::uint64_t address = operand(stepper, i.operands[info.address_operand],
                                        form.wide_address ? 64 : 32, step.warp, lane) +
                                std::uint64_t(i.immediate);
        if (!form.wide_address) address = std::uint32_t(address);
        if (info.space == Space::generic) {
            if (address - local_window >= window_size) continue;
            address -= local_window;
        }
        access.mask |= 1u << lane;
        access.addresses[lane] = address;
    }
    if (access.mask) accesses_.push_back(access);
}

void BlockTrace::note(const Access& access, Space space) {
    if (access.asynchronous) return;  // it accesses memory when it lands
    TracedAccess& traced = accesses_.emplace_back(TracedAccess{.step = now_,
                                                               .space = space,
                                                               .kind = access.kind,
                                                               .mask = access.mask,
                                                               .bytes = access.bytes});
    for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        traced.addresses[lane] = access.address(lane);
    }
}

void BlockTrace::on_async(std::uint32_t, const AsyncEvent& event) {
    if (event.kind == AsyncEvent::copy_started) started_[event.copy->number] = now_;
    if (event.kind != AsyncEvent::copy_lands) return;
    landings_.push_back({now_, started_[event.copy->number], *event.copy});
    landings_.back().copy.parts = event.parts;
}

std::span<const TracedAccess> BlockTrace::accesses(std::uint64_t step) const {
    return of_step(accesses_, step);
}

std::span<const TracedLanding> BlockTrace::landings(std::uint64_t step) const {
    return of_step(landings_, step);
}

const TracedExchange* BlockTrace::exchange(std::uint64_t step) const {
    const auto found = of_step(exchanges_, step);
    return found.empty() ? nullptr : found.data();
}

std::uint32_t BlockTrace::executions_before(std::uint64_t step, unsigned lane) const {
    std::uint32_t count = 0;
    for (const std::uint64_t earlier : of_pc_.at({steps_[step].warp, steps_[step].pc})) {
        if (earlier >= step) break;
        count += steps_[earlier].mask >> lane & 1;
    }
    return count;
}

std::optional<std::uint64_t> BlockTrace::step_of(std::uint32_t warp, unsigned lane,
                                                 std::uint32_t pc, std::uint32_t executions) const {
    const auto found = of_pc_.find({warp, pc});
    if (found == of_pc_.end()) return {};
    for (const std::uint64_t step : found->second)
        if ((steps_[step].mask >> lane & 1) && executions-- == 0) return step;
    return {};
}

}  // namespace warpscope::emulator
