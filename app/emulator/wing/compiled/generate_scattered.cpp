#include <algorithm>

#include "emulator/wing/compiled/generator.h"
#include "emulator/wing/compiled/moved.h"

// Accesses of lanes whose addresses do not follow each other.
namespace warpscope::emulator {

void Generator::access_scattered(std::uint32_t u, const Lanes& addresses) {
    const Unit& unit = plan_.units()[u];
    require_lanes(u, addresses);
    report(u, addresses);
    if (!may_access_pairs(unit)) return move_scattered(unit);
    const Pairs pairs = find_pairs(addresses);
    const LlvmBlock in_pairs = ir_.block("pairs"), others = ir_.block(), done = ir_.block();
    ir_.branch(pairs.found, in_pairs, others);
    ir_.go_on_in(in_pairs);
    move_pairs(unit, base_of(unit), pairs);
    ir_.jump(done);
    ir_.go_on_in(others);
    move_scattered(unit);
    ir_.jump(done);
    ir_.go_on_in(done);
}

// The address of each lane must be aligned, and lie in shared memory or in the allocation of
// global memory that the instruction accessed last; or else in another one.
void Generator::require_lanes(std::uint32_t u, const Lanes& addresses) {
    const Instruction& i = *plan_.units()[u].instruction;
    const unsigned bytes = Moved(i).total();
    if (AccessForm(i.target).space == Space::shared) {
        const bool is_checked = plan_.load_group_of(u) != nullptr;
        return require(is_checked ? ir_.load(ir_.integer(1), are_in_shared_)
                                  : are_in_shared(bytes, i.immediate, i.immediate, addresses),
                       u);
    }
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue range = range_of(i), begin = ir_.load(i64, range);
    const LlvmValue size = ir_.op(Ir::sub, ir_.load(i64, ir_.at(range, 8)), begin);
    const LlvmValue from = ir_.op(Ir::sub, ir_.integer_of(64, std::uint64_t(i.immediate)), begin);
    const LlvmBlock next = ir_.block(), searching = ir_.block();
    ir_.likely(are_among(size, bytes, from, addresses), next, searching);
    ir_.go_on_in(searching);
    ir_.store(ir_.joined(addresses), addresses_);
    const LlvmValue found =
        ir_.call(reinterpret_cast<const void*>(&lanes_are_in_global), ir_.integer(8),
                 {ir_.address(code_ + kernel_.index_of(&i)), warp_, addresses_});
    ir_.likely(ir_.compare_with(Ir::ne, ir_.op(Ir::and_, found, 1), 0), next, interpret(u));
    ir_.go_on_in(next);
}

// With each offset from `low` to `high`.
LlvmValue Generator::are_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                                   const Lanes& addresses) const {
    const LlvmValue size = ir_.op(Ir::sub, shared_bytes_, std::uint64_t(high - low));
    return are_among(size, bytes, ir_.integer_of(64, std::uint64_t(low)), addresses);
}

// Whether each lane's address is aligned, and its sum with `from` is that of one of the first
// `size` bytes, as are the bytes that follow.
LlvmValue Generator::are_among(LlvmValue size, unsigned bytes, LlvmValue from,
                               const Lanes& addresses) const {
    const LlvmType type = ir_.llvm().GetElementType(ir_.llvm().TypeOf(addresses[0]));
    const LlvmValue fits = ir_.compare_with(Ir::sge, size, bytes);  // -1: no allocation yet
    const LlvmValue first = ir_.splat(ir_.cast(Ir::trunc, from, type), width_);
    const LlvmValue last =
        ir_.splat(ir_.cast(Ir::trunc, ir_.op(Ir::sub, size, bytes), type), width_);
    // The sum with an immediate operand must not wrap around: see is_compiled_access().
    const bool is_wide = ir_.llvm().GetIntTypeWidth(type) == 64;
    const std::uint64_t odd_bits = (bytes - 1) | (is_wide ? 0 : 0x80000000);
    LlvmValue valid = nullptr;
    for (unsigned g = 0; g < group_count_; ++g) {
        const LlvmValue odd = ir_.op(Ir::and_, addresses[g], odd_bits);
        LlvmValue lanes =
            ir_.op(Ir::and_, ir_.compare(Ir::ule, ir_.op(Ir::add, addresses[g], first), last),
                   ir_.compare_with(Ir::eq, odd, 0));
        if (running_) lanes = ir_.op(Ir::or_, lanes, ir_.not_(lanes_of_mask(running_, g)));
        valid = valid ? ir_.op(Ir::and_, valid, lanes) : lanes;
    }
    return ir_.op(Ir::and_, fits, ir_.all(valid));
}

// Shared memory ends far below 2^31, and CPUs extend the sign.
LlvmValue Generator::host_places(LlvmValue base, LlvmValue addresses) const {
    return ir_.at(ir_.cast(Ir::inttoptr, base, ir_.pointer()),
                  ir_.cast(Ir::sext, addresses, ir_.integer(64, width_)));
}

LlvmValue Generator::gathered(const Moved& moved, LlvmValue places, LlvmValue active) const {
    const LlvmType type = ir_.integer(moved.bits(), width_);
    return ir_.intrinsic("masked.gather", type,
                         {places, ir_.integer_of(32, moved.bytes), active, ir_.zero(type)},
                         {type, ir_.pointer(width_)});
}

// Lanes that store to one address do so in their order (LLVM's masked.scatter, too).
void Generator::scatter(const Moved& moved, LlvmValue values, LlvmValue places,
                        LlvmValue active) const {
    ir_.intrinsic("masked.scatter", ir_.nothing(),
                  {values, places, ir_.integer_of(32, moved.bytes), active},
                  {ir_.integer(moved.bits(), width_), ir_.pointer(width_)});
}

void Generator::move_scattered(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    const Moved moved(i);
    std::vector<Lanes> loaded(group_count_);
    for (unsigned g = 0; g < group_count_; ++g) {
        const LlvmValue first = host_places(base_of(unit), variable(i.operands[i.detail], g));
        const Lanes values = unit.kind == Unit::Kind::stores ? stored(unit, g) : Lanes();
        const LlvmValue active =
            running_ ? lanes_of_mask(running_, g) : ir_.number(ir_.integer(1, width_), 1);
        for (unsigned e = 0; e < moved.elements; ++e) {
            const LlvmValue place = ir_.at(first, e * moved.bytes);
            if (unit.kind == Unit::Kind::stores)
                scatter(moved, values[e], place, active);
            else
                loaded[g].push_back(gathered(moved, place, active));
        }
    }
    if (unit.kind == Unit::Kind::stores) return;
    // Behind all loads, since a destination may hold the addresses.
    for (unsigned g = 0; g < group_count_; ++g)
        for (unsigned e = 0; e < moved.elements; ++e) set_lanes(i.operands[e], loaded[g][e], g);
}

// A block of 16x16 threads whose tile is indexed [threadIdx.x][threadIdx.y] accesses shared memory
// in pairs: lanes k and 16 + k access the two words of 8 aligned bytes, and these bytes are one
// distance apart for successive k. Moving 16 times 8 bytes takes a third of the time of a gather or
// scatter.
//
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
    const LlvmValue first = first_of_half(addresses, 0);
    const LlvmValue step = ir_.op(Ir::sub, ir_.lane(addresses[0], 1), first);
    const LlvmValue second = first_of_half(addresses, 1);
    Pairs pairs;
    pairs.in_order = ir_.compare(Ir::ult, first, second);
    pairs.begin = ir_.select(pairs.in_order, first, second);
    pairs.step = step;
    const LlvmValue end = ir_.select(pairs.in_order, second, first);
    const LlvmValue are_apart = ir_.compare_with(Ir::eq, ir_.op(Ir::sub, end, pairs.begin), 4);
    // Pairs that are not aligned may share a word.
    const LlvmValue are_aligned =
        ir_.compare_with(Ir::eq, ir_.op(Ir::and_, ir_.op(Ir::or_, pairs.begin, step), 7), 0);
    Lanes offsets;
    for (unsigned g = 0; g < group_count_; ++g)
        offsets.push_back(ir_.op(Ir::mul, ir_.splat(step, width_), numbers_in_half(g, 1, 32)));
    pairs.found =
        ir_.op(Ir::and_, ir_.op(Ir::and_, are_apart, are_aligned), are_at(offsets, addresses));
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
