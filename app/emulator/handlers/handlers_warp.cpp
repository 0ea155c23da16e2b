// Exchanges between the lanes of a warp (PTX ISA 9.7.9: shfl, vote, match, redux, activemask).
#include <bit>

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

namespace {

template <typename F>
void for_each_lane(std::uint32_t mask, F f) {
    for (; mask; mask &= mask - 1) f(unsigned(std::countr_zero(mask)));
}

std::uint32_t members_of(const Instruction* i, const Warp& w, unsigned operand) {
    return w.get<std::uint32_t>(i->operands[operand], unsigned(std::countr_zero(w.mask)));
}

}  // namespace

const Instruction* shuffle(const Instruction* i, Warp& w) {
    const std::uint32_t members = members_of(i, w, 5);
    if (!w.has_all(members)) return w.wait_for_members(i, members);
    std::uint32_t values[lanes_per_warp], result[lanes_per_warp];
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        values[lane] = w.get<std::uint32_t>(i->operands[2], lane);
    std::uint32_t in_range = 0;
    for_each_lane(w.mask, [&](unsigned lane) {
        const std::uint32_t b = w.get<std::uint32_t>(i->operands[3], lane) & 31;
        const std::uint32_t c = w.get<std::uint32_t>(i->operands[4], lane);
        const std::uint32_t segment = c >> 8 & 31, clamp = c & 31;
        const int max_lane = int((lane & segment) | (clamp & ~segment));
        const int min_lane = int(lane & segment);
        int from = 0;
        bool valid = false;
        switch (ShuffleMode(i->detail)) {
            case ShuffleMode::up:
                from = int(lane) - int(b);
                valid = from >= max_lane;
                break;
            case ShuffleMode::down:
                from = int(lane) + int(b);
                valid = from <= max_lane;
                break;
            case ShuffleMode::bfly:
                from = int(lane ^ b);
                valid = from <= max_lane;
                break;
            case ShuffleMode::idx:
                from = min_lane | int(b & ~segment);
                valid = from <= max_lane;
                break;
        }
        result[lane] = values[valid ? unsigned(from) : lane];
        in_range |= std::uint32_t(valid) << lane;
    });
    if (i->operands[0])
        for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, result[lane]); });
    if (i->operands[1]) {
        std::uint32_t& p = w.predicate(i->operands[1]);
        p = (p & ~w.mask) | in_range;
    }
    return w.checkpoint(i, i + 1);
}

const Instruction* vote(const Instruction* i, Warp& w) {
    const std::uint32_t members = members_of(i, w, 2);
    if (!w.has_all(members)) return w.wait_for_members(i, members);
    const std::uint32_t voters = w.mask & members;
    const std::uint32_t p = w.predicate(i->operands[1]) ^ (i->target ? all_lanes : 0);
    const std::uint32_t ayes = p & voters;
    std::uint32_t outcome = 0;
    switch (VoteMode(i->detail)) {
        case VoteMode::all:
            outcome = ayes == voters ? all_lanes : 0;
            break;
        case VoteMode::any:
            outcome = ayes ? all_lanes : 0;
            break;
        case VoteMode::uni:
            outcome = ayes == voters || !ayes ? all_lanes : 0;
            break;
        case VoteMode::ballot:
            for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, ayes); });
            return w.checkpoint(i, i + 1);
    }
    std::uint32_t& d = w.predicate(i->operands[0]);
    d = (d & ~w.mask) | (outcome & w.mask);
    return w.checkpoint(i, i + 1);
}

namespace {
std::uint64_t match_value(const Instruction* i, const Warp& w, unsigned lane) {
    return i->target == 64 ? w.get<std::uint64_t>(i->operands[1], lane)
                           : w.get<std::uint32_t>(i->operands[1], lane);
}
}  // namespace

const Instruction* match_any(const Instruction* i, Warp& w) {
    const std::uint32_t members = members_of(i, w, 2);
    if (!w.has_all(members)) return w.wait_for_members(i, members);
    const auto value = [&](unsigned lane) { return match_value(i, w, lane); };
    std::uint32_t result[lanes_per_warp] = {};
    for_each_lane(w.mask, [&](unsigned a) {
        for_each_lane(w.mask & members,
                      [&](unsigned b) { result[a] |= std::uint32_t(value(a) == value(b)) << b; });
    });
    for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, result[lane]); });
    return w.checkpoint(i, i + 1);
}

const Instruction* match_all(const Instruction* i, Warp& w) {
    const std::uint32_t members = members_of(i, w, 2);
    if (!w.has_all(members)) return w.wait_for_members(i, members);
    const std::uint64_t first = match_value(i, w, unsigned(std::countr_zero(w.mask)));
    bool same = true;
    for_each_lane(w.mask & members,
                  [&](unsigned lane) { same &= match_value(i, w, lane) == first; });
    const std::uint32_t result = same ? w.mask & members : 0;
    if (i->operands[0])
        for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, result); });
    if (i->operands[3]) {
        std::uint32_t& p = w.predicate(i->operands[3]);
        p = (p & ~w.mask) | (same ? w.mask : 0);
    }
    return w.checkpoint(i, i + 1);
}

const Instruction* active_mask(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, w.mask); });
    return w.checkpoint(i, i + 1);
}

const Instruction* reduce_lanes(const Instruction* i, Warp& w) {
    const std::uint32_t members = members_of(i, w, 2);
    if (!w.has_all(members)) return w.wait_for_members(i, members);
    std::uint32_t total = w.get<std::uint32_t>(i->operands[1], unsigned(std::countr_zero(w.mask)));
    const std::uint32_t rest = w.mask & members & ((w.mask & members) - 1);
    for_each_lane(rest, [&](unsigned lane) {
        const std::uint32_t v = w.get<std::uint32_t>(i->operands[1], lane);
        switch (ReduceOp(i->detail)) {
            case ReduceOp::add:
                total += v;
                break;
            case ReduceOp::min_u:
                total = v < total ? v : total;
                break;
            case ReduceOp::max_u:
                total = v > total ? v : total;
                break;
            case ReduceOp::min_s:
                total = std::int32_t(v) < std::int32_t(total) ? v : total;
                break;
            case ReduceOp::max_s:
                total = std::int32_t(v) > std::int32_t(total) ? v : total;
                break;
            case ReduceOp::and_:
                total &= v;
                break;
            case ReduceOp::or_:
                total |= v;
                break;
            case ReduceOp::xor_:
                total ^= v;
                break;
        }
    });
    for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, total); });
    return w.checkpoint(i, i + 1);
}

}  // namespace warpscope::emulator
