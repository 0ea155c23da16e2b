#include <algorithm>

#include "emulator/compiled/generator.h"
#include "emulator/compiled/moved.h"

// A block of 16x16 threads whose tile is indexed [threadIdx.x][threadIdx.y] accesses shared memory
// in pairs: lanes k and 16 + k access the two words of 8 aligned bytes, and these bytes are one
// distance apart for successive k. Moving 16 times 8 bytes takes a third of the time of a gather or
// scatter.
namespace warpscope::emulator {

// Code for pairs takes the compiler as long as the rest of an access, so only kernels of blocks
// with rows have it, which have few accesses to shared memory.
bool Generator::may_have_pairs() const {
    const auto is_row = [](const SpecialSlot& slot) { return slot.special == Special::tid_y; };
    const auto is_in_shared = [](const Unit& unit) {
        return (unit.kind == Unit::Kind::loads || unit.kind == Unit::Kind::stores) &&
               AccessForm(unit.instruction->target).space == Space::shared;
    };
    constexpr int few = 8;
    return std::any_of(kernel_.specials.begin(), kernel_.specials.end(), is_row) &&
           std::count_if(plan_.units().begin(), plan_.units().end(), is_in_shared) <= few;
}

bool Generator::may_access_pairs(const Unit& unit) const {
    const AccessForm form(unit.instruction->target);
    const Moved moved(*unit.instruction);
    return may_have_pairs_ && !running_ && form.space == Space::shared && !form.wide_address &&
           moved.elements == 1 && moved.bytes == 4;
}

// The addresses have been checked.
Generator::Pairs Generator::find_pairs(const Lanes& addresses) const {
    const LlvmValue first = ir_.lane(addresses[0], 0);
    const LlvmValue step = ir_.op(Ir::sub, ir_.lane(addresses[0], 1), first);
    const LlvmValue second = ir_.lane(addresses[half_warp / width_], 0);
    Pairs pairs;
    pairs.in_order = ir_.compare(Ir::ult, first, second);
    pairs.begin = ir_.select(pairs.in_order, first, second);
    pairs.step = step;
    const LlvmValue end = ir_.select(pairs.in_order, second, first);
    const LlvmValue are_apart = ir_.compare_with(Ir::eq, ir_.op(Ir::sub, end, pairs.begin), 4);
    // Pairs that are not aligned may share a word.
    const LlvmValue are_aligned =
        ir_.compare_with(Ir::eq, ir_.op(Ir::and_, ir_.op(Ir::or_, pairs.begin, step), 7), 0);
    pairs.found = ir_.op(Ir::and_, ir_.op(Ir::and_, are_apart, are_aligned),
                         are_in_line(addresses, first, second, step));
    return pairs;
}

void Generator::move_pairs(const Unit& unit, LlvmValue base, const Pairs& pairs) {
    const Instruction& i = *unit.instruction;
    const LlvmType i64 = ir_.integer(64);
    LlvmValue place = ir_.op(Ir::add, base, ir_.cast(Ir::zext, pairs.begin, i64));
    const LlvmValue step = ir_.cast(Ir::sext, pairs.step, i64);
    constexpr unsigned moved_align = 4;  // the immediate operand may be odd words
    const unsigned half = group_count_ / 2;
    std::vector<int> interleaved(2 * width_), even(width_), odd(width_);
    for (int l = 0; l < int(width_); ++l) {
        interleaved[2 * l] = l;
        interleaved[2 * l + 1] = int(width_) + l;
        even[l] = 2 * l;
        odd[l] = 2 * l + 1;
    }
    const auto in_order = [&](LlvmValue a, LlvmValue b) {
        return std::pair(ir_.select(pairs.in_order, a, b), ir_.select(pairs.in_order, b, a));
    };
    const LlvmType words = ir_.integer(32, 2 * width_), doubles = ir_.integer(64, width_);
    for (unsigned g = 0; g < half; ++g) {
        const auto next = [&] {
            const LlvmValue here = ir_.cast(Ir::inttoptr, place, ir_.pointer());
            place = ir_.op(Ir::add, place, step);
            return here;
        };
        if (unit.kind == Unit::Kind::stores) {
            const auto [low, high] = in_order(stored(unit, g)[0], stored(unit, g + half)[0]);
            const LlvmValue moved =
                ir_.cast(Ir::bitcast, ir_.shuffle(low, high, interleaved), doubles);
            for (unsigned l = 0; l < width_; ++l)
                ir_.store(ir_.lane(moved, l), next(), moved_align);
            continue;
        }
        LlvmValue moved = ir_.zero(doubles);
        for (unsigned l = 0; l < width_; ++l)
            moved = ir_.with_lane(moved, l, ir_.load(i64, next(), moved_align));
        const LlvmValue both = ir_.cast(Ir::bitcast, moved, words);
        const auto [low, high] =
            in_order(ir_.shuffle(both, both, even), ir_.shuffle(both, both, odd));
        set_lanes(i.operands[0], low, g);
        set_lanes(i.operands[0], high, g + half);
    }
}

}  // namespace warpscope::emulator
