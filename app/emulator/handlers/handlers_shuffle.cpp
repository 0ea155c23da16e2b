#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_shuffle.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/simd-inl.h"
#include "emulator/warp/members.h"

// Exchanges of values between lanes (PTX ISA 9.7.9.6, shfl.sync). Most shuffles are of a whole warp
// by one distance: these are SIMD. shuffle(), at the end, executes all others.
HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

bool names_all_lanes(const Warp& w, std::uint32_t operand) {
    if (is_uniform(operand)) return *uniform_slot<std::uint32_t>(w, operand) == all_lanes;
    std::uint32_t members = all_lanes;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        members &= slot<std::uint32_t>(w, operand)[lane];
    return members == all_lanes;
}

template <ShuffleMode mode>
const Instruction* shuffle_all(const Instruction* i, Warp& w) {
    // All lanes run, so member masks change no value; shuffle() finds their faults.
    if (w.block->member_faults && !names_all_lanes(w, i->operands[5])) return shuffle(i, w);
    const Full<std::int32_t> d;
    HWY_ALIGN std::int32_t values[lanes_per_warp];
    const auto* a = slot<std::int32_t>(w, i->operands[2]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d))
        hn::Store(hn::Load(d, a + l), d, values + l);
    const std::int32_t c = *uniform_slot<std::int32_t>(w, i->operands[4]);
    const auto b = hn::Set(d, *uniform_slot<std::int32_t>(w, i->operands[3]) & 31);
    const auto segment = hn::Set(d, c >> 8 & 31), clamp = hn::Set(d, c & 31);
    auto* r = slot<std::int32_t>(w, i->operands[0]);
    std::uint32_t in_range = 0;
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
        const auto lane = hn::Iota(d, std::int32_t(l));
        const auto first = hn::And(lane, segment);
        const auto last = hn::Or(first, hn::AndNot(segment, clamp));
        const auto from = mode == ShuffleMode::up     ? hn::Sub(lane, b)
                          : mode == ShuffleMode::down ? hn::Add(lane, b)
                          : mode == ShuffleMode::bfly ? hn::Xor(lane, b)
                                                      : hn::Or(first, hn::AndNot(segment, b));
        const auto invalid = mode == ShuffleMode::up ? hn::Lt(from, last) : hn::Gt(from, last);
        hn::Store(hn::GatherIndex(d, values, hn::IfThenElse(invalid, lane, from)), d, r + l);
        std::uint64_t bits = 0;
        hn::StoreMaskBits(d, hn::Not(invalid), reinterpret_cast<std::uint8_t*>(&bits));
        in_range |= std::uint32_t(bits << l);
    }
    if (i->operands[1]) w.predicate(i->operands[1]) = in_range;
    return w.cost_point(i, i + 1);
}

}  // namespace

Handler find_shuffle_handler(ShuffleMode mode) {
    switch (mode) {
        case ShuffleMode::up:
            return shuffle_all<ShuffleMode::up>;
        case ShuffleMode::down:
            return shuffle_all<ShuffleMode::down>;
        case ShuffleMode::bfly:
            return shuffle_all<ShuffleMode::bfly>;
        case ShuffleMode::idx:
            return shuffle_all<ShuffleMode::idx>;
    }
    return nullptr;
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
std::optional<unsigned> shuffle_source(ShuffleMode mode, unsigned lane, std::uint32_t b,
                                       std::uint32_t c) {
    b &= 31;
    const std::uint32_t segment = c >> 8 & 31;
    const unsigned first = lane & segment, last = first | (c & 31 & ~segment);
    // An operation `up` may go below lane 0, which is below the last lane as an int.
    const int from = mode == ShuffleMode::up     ? int(lane) - int(b)
                     : mode == ShuffleMode::down ? int(lane + b)
                     : mode == ShuffleMode::bfly ? int(lane ^ b)
                                                 : int(first | (b & ~segment));
    const bool is_inside = mode == ShuffleMode::up ? from >= int(last) : from <= int(last);
    return is_inside ? std::optional(unsigned(from)) : std::nullopt;
}

// Shuffles of every form, lane by lane.
const Instruction* shuffle(const Instruction* i, Warp& w) {
    const Members members(i, w, 5);
    if (!members.have_come()) return members.wait();
    const auto mode = ShuffleMode(i->detail);
    std::uint32_t values[lanes_per_warp], result[lanes_per_warp];
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        values[lane] = w.get<std::uint32_t>(i->operands[2], lane);
    std::uint32_t in_range = 0;
    members.for_groups([&](std::uint32_t lanes, std::uint32_t) {
        for_each_lane(lanes, [&](unsigned lane) {
            const auto c = w.get<std::uint32_t>(i->operands[4], lane);
            const std::optional<unsigned> from =
                shuffle_source(mode, lane, w.get<std::uint32_t>(i->operands[3], lane), c);
            result[lane] = values[from.value_or(lane)];
            in_range |= std::uint32_t(from.has_value()) << lane;
        });
    });
    if (i->operands[0])
        for_each_lane(w.mask, [&](unsigned lane) { w.set(i->operands[0], lane, result[lane]); });
    if (i->operands[1]) {
        std::uint32_t& p = w.predicate(i->operands[1]);
        p = (p & ~w.mask) | in_range;
    }
    return w.cost_point(i, i + 1);
}

HWY_EXPORT(find_shuffle_handler);
Handler shuffle_handler(ShuffleMode mode) {
    return HWY_DYNAMIC_DISPATCH(find_shuffle_handler)(mode);
}
}  // namespace warpscope::emulator
#endif
