#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_shuffle.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/simd-inl.h"

// Shuffles of a whole warp by one distance, which are most shuffles (PTX ISA 9.7.9.6, shfl.sync).
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
HWY_EXPORT(find_shuffle_handler);
Handler shuffle_handler(ShuffleMode mode) {
    return HWY_DYNAMIC_DISPATCH(find_shuffle_handler)(mode);
}
}  // namespace warpscope::emulator
#endif
