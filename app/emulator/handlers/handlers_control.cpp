#include <fmt/format.h>

#include <bit>

#include "emulator/handlers/handlers.h"
#include "emulator/program/special_register.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

namespace {

const Instruction* guarded(const Instruction* i, Warp& w, std::uint32_t predicate) {
    const std::uint32_t lanes = w.mask & predicate;
    if (!lanes) return i + 2;
    const std::uint32_t mask = w.mask, mode = w.mode;
    w.mask = lanes;
    w.mode = lanes == all_lanes ? Instruction::full : Instruction::masked;
    const Instruction* next = i[1].handlers[w.mode](i + 1, w);
    w.mask = mask;
    w.mode = mode;
    return next;
}

const Instruction* branch(const Instruction* i, Warp& w, std::uint32_t predicate) {
    const std::uint32_t taken = w.mask & predicate;
    w.left -= i->cost;
    const Instruction* next = taken == 0        ? i + 1
                              : taken == w.mask ? i + std::int32_t(i->target)
                                                : w.diverge(i, taken);
    return w.left > 0 ? next : w.pause(next);
}

}  // namespace

const Instruction* branch_always(const Instruction* i, Warp& w) {
    return w.cost_point(i, i + std::int32_t(i->target));
}
const Instruction* branch_if(const Instruction* i, Warp& w) {
    return branch(i, w, w.predicate(i->operands[0]));
}
const Instruction* branch_unless(const Instruction* i, Warp& w) {
    return branch(i, w, ~w.predicate(i->operands[0]));
}

const Instruction* join_point(const Instruction* i, Warp& w) {
    w.left -= i->cost;
    const std::int32_t join = w.splits[w.current].join;
    if (join < 0 || w.joins[std::size_t(join)].at != i) return i + 1;
    return w.arrive(i);
}

const Instruction* exit_threads(const Instruction* i, Warp& w) {
    w.left -= i->cost;
    return w.exit_lanes();
}

const Instruction* trap(const Instruction* i, Warp& w) {
    const auto lane = unsigned(std::countr_zero(w.mask));
    switch (i->operation) {
        case Operation::trap_stack:
            w.fail(i, lane,
                   fmt::format("functions that call themselves need more than the {} bytes of "
                               "stack that a thread has",
                               recursion_stack_bytes));
        case Operation::trap_callee:
            w.fail(i, lane, "an indirect call through a pointer that is not a function's address");
        case Operation::trap_target:
            w.fail(i, lane, "the branch's index is beyond its list of targets");
        default:
            w.fail(i, lane, "the kernel trapped");
    }
}

const Instruction* barrier(const Instruction* i, Warp& w) {
    const auto lane = unsigned(std::countr_zero(w.mask));
    const auto id = w.get<std::uint32_t>(i->operands[0], lane);
    if (id >= barriers_per_block) w.fail(i, lane, fmt::format("there is no barrier {}", id));
    w.left -= i->cost;
    return w.wait_at_barrier(i, id);
}

const Instruction* warp_barrier(const Instruction* i, Warp& w) {
    const Members members(i, w, 0);
    if (!members.have_come()) return members.wait();
    if (w.block->member_faults) members.for_groups([](std::uint32_t, std::uint32_t) {});
    return w.cost_point(i, i + 1);
}

const Instruction* nothing(const Instruction* i, Warp& w) {
    return w.cost_point(i, i + 1);
}

// %clock counts the instructions that the block has executed. %globaltimer is the host's time in
// nanoseconds; while the block is stepped, an instruction takes one nanosecond.
const Instruction* read_clock(const Instruction* i, Warp& w) {
    std::uint64_t value = w.block->clock + w.executed() + i->cost - 1;
    if (i->detail) value = w.block->timer_base ? w.block->timer_base + value : host_timer();
    const bool uniform = is_uniform(i->operands[0]);
    for (unsigned lane = 0; lane < (uniform ? 1 : lanes_per_warp); ++lane)
        if (i->target == 64)
            w.set<std::uint64_t>(i->operands[0], lane, value);
        else
            w.set<std::uint32_t>(i->operands[0], lane, std::uint32_t(value));
    return w.cost_point(i, i + 1);
}

const Instruction* guard(const Instruction* i, Warp& w) {
    return guarded(i, w, w.predicate(i->operands[0]));
}
const Instruction* guard_not(const Instruction* i, Warp& w) {
    return guarded(i, w, ~w.predicate(i->operands[0]));
}

const Instruction* turnstile(const Instruction* i, Warp& w) {
    if (w.is_stopped_by(i)) return w.pause(i);
    --w.block->passes;
    return i[1].handlers[w.mode](i + 1, w);
}

const Instruction* masked_predicate(const Instruction* i, Warp& w) {
    const std::uint32_t before = w.predicate(i->operands[0]);
    const Instruction* next = i->handlers[Instruction::full](i, w);
    std::uint32_t& p = w.predicate(i->operands[0]);
    p = (p & w.mask) | (before & ~w.mask);
    return next;
}

}  // namespace warpscope::emulator
