// What the lanes of a warp decide together (PTX ISA 9.7.9: elect, vote, match, redux, activemask).
#include <bit>

#include "emulator/handlers/handlers.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

// The lowest lane is elected; a GPU may elect another one.
const Instruction* elect(const Instruction* i, Warp& w) {
    const Members members(i, w, 2);
    if (!members.have_come()) return members.wait();
    members.for_groups([&](std::uint32_t lanes, std::uint32_t named) {
        const std::uint32_t candidates = w.mask & named ? w.mask & named : lanes;
        const auto leader = std::uint32_t(std::countr_zero(candidates));
        if (i->operands[0])
            for_each_lane(lanes, [&](unsigned lane) { w.set(i->operands[0], lane, leader); });
        if (!i->operands[1]) return;
        std::uint32_t& p = w.predicate(i->operands[1]);
        p = (p & ~lanes) | (lanes & 1u << leader);
    });
    return w.cost_point(i, i + 1);
}

const Instruction* vote(const Instruction* i, Warp& w) {
    const Members members(i, w, 2);
    if (!members.have_come()) return members.wait();
    const std::uint32_t p = w.predicate(i->operands[1]) ^ (i->target ? all_lanes : 0);
    const auto mode = VoteMode(i->detail);
    members.for_groups([&](std::uint32_t lanes, std::uint32_t named) {
        const std::uint32_t voters = w.mask & named, ayes = p & voters;
        if (mode == VoteMode::ballot)
            return for_each_lane(lanes, [&](unsigned lane) { w.set(i->operands[0], lane, ayes); });
        const bool outcome = mode == VoteMode::all   ? ayes == voters
                             : mode == VoteMode::any ? ayes != 0
                                                     : ayes == voters || !ayes;
        std::uint32_t& d = w.predicate(i->operands[0]);
        d = (d & ~lanes) | (outcome ? lanes : 0);
    });
    return w.cost_point(i, i + 1);
}

namespace {
std::uint64_t match_value(const Instruction* i, const Warp& w, unsigned lane) {
    return i->target == 64 ? w.get<std::uint64_t>(i->operands[1], lane)
                           : w.get<std::uint32_t>(i->operands[1], lane);
}
}  // namespace

const Instruction* match_any(const Instruction* i, Warp& w) {
    const Members members(i, w, 2);
    if (!members.have_come()) return members.wait();
    const auto value = [&](unsigned lane) { return match_value(i, w, lane); };
    std::uint32_t result[lanes_per_warp] = {};
    members.for_groups([&](std::uint32_t lanes, std::uint32_t named) {
        for_each_lane(lanes, [&](unsigned a) {
            for_each_lane(w.mask & named, [&](unsigned b) {
                result[a] |= std::uint32_t(value(a) == value(b)) << b;
            });
        });
    });
    for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, result[lane]); });
    return w.cost_point(i, i + 1);
}

const Instruction* match_all(const Instruction* i, Warp& w) {
    const Members members(i, w, 2);
    if (!members.have_come()) return members.wait();
    std::uint32_t result[lanes_per_warp] = {}, equal = 0;
    members.for_groups([&](std::uint32_t lanes, std::uint32_t named) {
        const std::uint64_t first = match_value(i, w, unsigned(std::countr_zero(lanes)));
        bool same = true;
        for_each_lane(w.mask & named,
                      [&](unsigned lane) { same &= match_value(i, w, lane) == first; });
        for_each_lane(lanes, [&](unsigned lane) { result[lane] = same ? w.mask & named : 0; });
        if (same) equal |= lanes;
    });
    if (i->operands[0])
        for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, result[lane]); });
    if (i->operands[3]) {
        std::uint32_t& p = w.predicate(i->operands[3]);
        p = (p & ~w.mask) | equal;
    }
    return w.cost_point(i, i + 1);
}

const Instruction* active_mask(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, w.mask); });
    return w.cost_point(i, i + 1);
}

namespace {

std::uint32_t reduced(ReduceOp op, std::uint32_t total, std::uint32_t v) {
    switch (op) {
        case ReduceOp::add:
            return total + v;
        case ReduceOp::min_u:
            return v < total ? v : total;
        case ReduceOp::max_u:
            return v > total ? v : total;
        case ReduceOp::min_s:
            return std::int32_t(v) < std::int32_t(total) ? v : total;
        case ReduceOp::max_s:
            return std::int32_t(v) > std::int32_t(total) ? v : total;
        case ReduceOp::and_:
            return total & v;
        case ReduceOp::or_:
            return total | v;
        case ReduceOp::xor_:
            return total ^ v;
    }
    return total;
}

}  // namespace

const Instruction* reduce_lanes(const Instruction* i, Warp& w) {
    const Members members(i, w, 2);
    if (!members.have_come()) return members.wait();
    const auto value = [&](unsigned lane) { return w.get<std::uint32_t>(i->operands[1], lane); };
    std::uint32_t totals[lanes_per_warp] = {};
    members.for_groups([&](std::uint32_t lanes, std::uint32_t named) {
        const std::uint32_t taking_part = w.mask & named ? w.mask & named : lanes;
        std::uint32_t total = value(unsigned(std::countr_zero(taking_part)));
        for_each_lane(taking_part & (taking_part - 1), [&](unsigned lane) {
            total = reduced(ReduceOp(i->detail), total, value(lane));
        });
        for_each_lane(lanes, [&](unsigned lane) { totals[lane] = total; });
    });
    for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, totals[lane]); });
    return w.cost_point(i, i + 1);
}

}  // namespace warpscope::emulator
