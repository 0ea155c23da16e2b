#include "emulator/fast_paths/compiled/generate/moves.h"

#include <algorithm>

#include "emulator/fast_paths/compiled/moved.h"

namespace warpscope::emulator {

namespace {

// A block of 16x16 threads whose tile is indexed [threadIdx.x][threadIdx.y] accesses shared memory
// in pairs. Moving 16 times 8 bytes takes a third of the time of a gather or scatter. Code for
// pairs takes the compiler as long as the rest of an access, so only kernels of blocks with rows
// have it, which have few accesses to shared memory.
bool may_have_pairs(const CompilationPlan& plan) {
    const auto is_row = [](const SpecialSlot& slot) { return slot.special == Special::tid_y; };
    const auto is_in_shared = [](const Unit& unit) {
        return (unit.kind == Unit::Kind::loads || unit.kind == Unit::Kind::stores) &&
               accesses_shared(*unit.instruction);
    };
    constexpr int few = 8;
    return std::ranges::any_of(plan.kernel().specials, is_row) &&
           std::ranges::count_if(plan.units(), is_in_shared) <= few;
}

}  // namespace

Moves::Moves(FunctionContext& context, Slots& slots, Addresses& addresses)
    : context_(context),
      ir_(context.ir),
      slots_(slots),
      addresses_(addresses),
      may_have_pairs_(may_have_pairs(context.plan)) {}

void Moves::load_uniform(const Unit& unit, LlvmValue address) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const LlvmValue from =
        ir_.cast(Ir::inttoptr, ir_.op(Ir::add, address, addresses_.host_base(i)), ir_.pointer());
    for (unsigned e = 0; e < moved.elements; ++e) {
        const LlvmValue value =
            ir_.load(ir_.integer(moved.bits()), ir_.at(from, e * moved.bytes), moved.bytes);
        if (is_uniform(i.operands[e])) {
            slots_.set_scalar(i.operands[e], value);
            continue;
        }
        const LlvmValue all = ir_.splat(value, context_.width);
        for (unsigned g = 0; g < context_.group_count; ++g) slots_.set_lanes(i.operands[e], all, g);
    }
}

Lanes Moves::stored(const Unit& unit, unsigned g) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    Lanes values;
    for (unsigned e = 0; e < AccessForm(i.target).elements; ++e)
        values.push_back(slots_.integers(i.operands[1 + e], moved.bits(), g));
    if (!moved.is_pixel) return values;
    LlvmValue pixel = ir_.op(Ir::and_, values[0], 0xFF);
    for (unsigned e = 1; e < 4; ++e)
        pixel = ir_.op(Ir::or_, pixel, ir_.op(Ir::shl, ir_.op(Ir::and_, values[e], 0xFF), 8 * e));
    return {pixel};
}

void Moves::move_consecutive(const Unit& unit, const std::array<LlvmValue, 2>& halves) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue base = addresses_.host_base(i);
    const unsigned width = context_.width, all = width * moved.elements;
    for (unsigned g = 0; g < context_.group_count; ++g) {
        const unsigned lane = g * width;
        const LlvmValue start = ir_.cast(Ir::zext, halves[lane / half_warp], i64);
        const LlvmValue place =
            ir_.at(ir_.cast(Ir::inttoptr, ir_.op(Ir::add, start, base), ir_.pointer()),
                   lane % half_warp * moved.total());
        std::vector<int> order(all);
        if (unit.kind == Unit::Kind::stores) {
            const Lanes values = stored(unit, g);
            for (unsigned l = 0; l < all; ++l)
                order[l] = int(l % moved.elements * width + l / moved.elements);
            const LlvmValue joined = ir_.joined(values);
            ir_.store(moved.elements == 1 ? joined : ir_.shuffle(joined, joined, order), place,
                      moved.bytes);
            continue;
        }
        const LlvmValue values = ir_.load(ir_.integer(moved.bits(), all), place, moved.bytes);
        for (unsigned e = 0; e < moved.elements; ++e) {
            order.resize(width);
            for (unsigned l = 0; l < width; ++l) order[l] = int(l * moved.elements + e);
            slots_.set_lanes(i.operands[e],
                             moved.elements == 1 ? values : ir_.shuffle(values, values, order), g);
        }
    }
}

// Shared memory ends far below 2^31, and CPUs extend the sign.
LlvmValue Moves::host_places(LlvmValue base, LlvmValue addresses) const {
    return ir_.at(ir_.cast(Ir::inttoptr, base, ir_.pointer()),
                  ir_.cast(Ir::sext, addresses, ir_.integer(64, context_.width)));
}

// Lanes that store to one address do so in their order (LLVM's masked.scatter, too).
void Moves::move_scattered(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    const unsigned width = context_.width;
    const LlvmType type = ir_.integer(moved.bits(), width), pointers = ir_.pointer(width);
    std::vector<Lanes> loaded(context_.group_count);
    for (unsigned g = 0; g < context_.group_count; ++g) {
        const LlvmValue first =
            host_places(addresses_.host_base(i), slots_.part(i.operands[i.detail], g));
        const Lanes values = unit.kind == Unit::Kind::stores ? stored(unit, g) : Lanes();
        const LlvmValue active = context_.running ? context_.lanes_of_mask(context_.running, g)
                                                  : ir_.number(ir_.integer(1, width), 1);
        const LlvmValue align = ir_.integer_of(32, moved.bytes);
        for (unsigned e = 0; e < moved.elements; ++e) {
            const LlvmValue places = ir_.at(first, e * moved.bytes);
            if (unit.kind == Unit::Kind::stores)
                ir_.intrinsic("masked.scatter", ir_.nothing(), {values[e], places, align, active},
                              {type, pointers});
            else
                loaded[g].push_back(ir_.intrinsic("masked.gather", type,
                                                  {places, align, active, ir_.zero(type)},
                                                  {type, pointers}));
        }
    }
    if (unit.kind == Unit::Kind::stores) return;
    // Behind all loads, since a destination may hold the addresses.
    for (unsigned g = 0; g < context_.group_count; ++g)
        for (unsigned e = 0; e < moved.elements; ++e)
            slots_.set_lanes(i.operands[e], loaded[g][e], g);
}

bool Moves::may_be_pairs(const Unit& unit) const {
    const Moved moved(*unit.instruction);
    return may_have_pairs_ && !context_.running && accesses_shared(*unit.instruction) &&
           !AccessForm(unit.instruction->target).wide_address && moved.elements == 1 &&
           moved.bytes == 4;
}

void Moves::move_pairs(const Unit& unit, const Addresses::Pairs& pairs) {
    const Instruction& i = *unit.instruction;
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue base = addresses_.host_base(i);
    LlvmValue place = ir_.op(Ir::add, base, ir_.cast(Ir::zext, pairs.begin, i64));
    const LlvmValue distance = ir_.cast(Ir::sext, pairs.distance, i64);
    constexpr unsigned moved_align = 4;  // the immediate operand may be odd words
    const unsigned width = context_.width, half = context_.group_count / 2;
    std::vector<int> interleaved(2 * width), even(width), odd(width);
    for (int l = 0; l < int(width); ++l) {
        interleaved[2 * l] = l;
        interleaved[2 * l + 1] = int(width) + l;
        even[l] = 2 * l;
        odd[l] = 2 * l + 1;
    }
    const auto in_order = [&](LlvmValue a, LlvmValue b) {
        return std::pair(ir_.select(pairs.in_order, a, b), ir_.select(pairs.in_order, b, a));
    };
    const LlvmType words = ir_.integer(32, 2 * width), doubles = ir_.integer(64, width);
    for (unsigned g = 0; g < half; ++g) {
        const auto next = [&] {
            const LlvmValue here = ir_.cast(Ir::inttoptr, place, ir_.pointer());
            place = ir_.op(Ir::add, place, distance);
            return here;
        };
        if (unit.kind == Unit::Kind::stores) {
            const auto [low, high] = in_order(stored(unit, g)[0], stored(unit, g + half)[0]);
            const LlvmValue moved =
                ir_.cast(Ir::bitcast, ir_.shuffle(low, high, interleaved), doubles);
            for (unsigned l = 0; l < width; ++l) ir_.store(ir_.lane(moved, l), next(), moved_align);
            continue;
        }
        LlvmValue moved = ir_.zero(doubles);
        for (unsigned l = 0; l < width; ++l)
            moved = ir_.with_lane(moved, l, ir_.load(i64, next(), moved_align));
        const LlvmValue both = ir_.cast(Ir::bitcast, moved, words);
        const auto [low, high] =
            in_order(ir_.shuffle(both, both, even), ir_.shuffle(both, both, odd));
        slots_.set_lanes(i.operands[0], low, g);
        slots_.set_lanes(i.operands[0], high, g + half);
    }
}

}  // namespace warpscope::emulator
