#include <bit>

#include "emulator/compiled/generator.h"
#include "emulator/compiled/moved.h"
#include "emulator/compiled/warp_layout.h"

// The checks of the addresses of loads and stores.
namespace warpscope::emulator {

namespace {

/// Of places of 4, 8 or 16 bytes, among those that count_places() counts.
unsigned place_index(unsigned bytes) {
    return unsigned(std::countr_zero(bytes)) - 2;
}

}  // namespace

// Goes on where the condition holds.
void Generator::require(LlvmValue condition, std::uint32_t u) {
    const LlvmBlock next = ir_.block();
    ir_.likely(condition, next, interpret(u));
    ir_.go_on_in(next);
}

// The numbers of aligned places of 4, 8 and 16 bytes in shared memory, and of those that are the
// first of half a warp's.
void Generator::count_places() {
    for (unsigned k = 0; k < places_.size(); ++k) {
        places_[k] = ir_.op(Ir::lshr, shared_bytes_, 2 + k);
        first_places_[k] = ir_.intrinsic("usub.sat", ir_.integer(64),
                                         {places_[k], ir_.integer_of(64, half_warp - 1)});
    }
}

// Whether an address is that of one of the first places of this number of bytes. Rotating it brings
// the bits that must be 0 above all others, so that one comparison tells both.
LlvmValue Generator::is_place(LlvmValue address, unsigned bytes, LlvmValue places) const {
    const unsigned shift = unsigned(std::countr_zero(bytes));
    const LlvmValue place =
        ir_.intrinsic("fshr", ir_.integer(64), {address, address, ir_.integer_of(64, shift)});
    return ir_.compare(Ir::ult, place, places);
}

// The number of places of shared memory that have this number of bytes.
LlvmValue Generator::places(unsigned bytes) const {
    return places_[place_index(bytes)];
}

// `bytes` bytes, aligned as that number, at one address.
void Generator::require_place(std::uint32_t u, LlvmValue address, unsigned bytes) {
    if (AccessForm(plan_.units()[u].instruction->target).space == Space::shared)
        return require(is_place(address, bytes, places(bytes)), u);
    require_range(u, address, ir_.op(Ir::add, address, bytes));
}

// Whether the loads of a group find aligned bytes in shared memory, from their address without an
// offset.
LlvmValue Generator::has_places(const LoadGroup& group, LlvmValue address) const {
    LlvmValue all = places(group.bytes);
    if (const std::uint64_t others = std::uint64_t(group.high - group.low) / group.bytes)
        all = ir_.intrinsic("usub.sat", ir_.integer(64), {all, ir_.integer_of(64, others)});
    return is_place(ir_.op(Ir::add, address, std::uint64_t(group.low)), group.bytes, all);
}

// Addresses [low, high) must lie in one allocation of global memory, and both be aligned as what
// each lane moves.
void Generator::require_range(std::uint32_t u, LlvmValue low, LlvmValue high) {
    const Instruction& i = *plan_.units()[u].instruction;
    const LlvmValue odd = ir_.op(Ir::and_, ir_.op(Ir::or_, low, high), Moved(i).total() - 1);
    require(ir_.compare_with(Ir::eq, odd, 0), u);
    const LlvmValue ordered = ir_.compare(Ir::ule, low, high);
    const Instruction* const compiled = code_ + kernel_.index_of(&i);
    const LlvmValue range = range_of(i);
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue begin = ir_.load(i64, range), end = ir_.load(i64, ir_.at(range, 8));
    const LlvmValue known =
        ir_.op(Ir::and_, ordered,
               ir_.op(Ir::and_, ir_.compare(Ir::uge, low, begin), ir_.compare(Ir::ule, high, end)));
    const LlvmBlock next = ir_.block(), searching = ir_.block();
    ir_.likely(known, next, searching);
    ir_.go_on_in(searching);
    const LlvmValue found = ir_.call(reinterpret_cast<const void*>(&range_is_in_global),
                                     ir_.integer(8), {ir_.address(compiled), warp_, low, high});
    ir_.likely(ir_.compare_with(Ir::ne, ir_.op(Ir::and_, found, 1), 0), next, interpret(u));
    ir_.go_on_in(next);
}

// Where the block keeps the allocation that an instruction accessed last.
LlvmValue Generator::range_of(const Instruction& i) const {
    const Instruction* const compiled = code_ + kernel_.index_of(&i);
    const std::size_t entry = reinterpret_cast<std::uintptr_t>(compiled) / sizeof(Instruction) % 16;
    return ir_.at(block_, WarpLayout::ranges + entry * sizeof(AddressRange));
}

// Whether the addresses of each half warp are one step apart, from lane to lane. `a`, `b`: those of
// the first and of the 17th lane.
LlvmValue Generator::are_in_line(const Lanes& addresses, LlvmValue a, LlvmValue b,
                                 LlvmValue step) const {
    const unsigned bits = ir_.llvm().GetIntTypeWidth(ir_.llvm().TypeOf(step));
    LlvmValue differ = nullptr;
    for (unsigned g = 0; g < group_count_; ++g) {
        std::vector<std::uint64_t> lanes;
        for (unsigned l = 0; l < width_; ++l) lanes.push_back((g * width_ + l) % half_warp);
        const LlvmValue expected =
            ir_.op(Ir::add, ir_.splat(g * width_ < half_warp ? a : b, width_),
                   ir_.op(Ir::mul, ir_.splat(step, width_), ir_.lanes_of(lanes, bits)));
        const LlvmValue other = ir_.op(Ir::xor_, addresses[g], expected);
        differ = differ ? ir_.op(Ir::or_, differ, other) : other;
    }
    const LlvmValue lanes = ir_.compare(Ir::ne, differ, ir_.zero(ir_.llvm().TypeOf(differ)));
    return ir_.compare_with(Ir::eq, ir_.cast(Ir::bitcast, lanes, ir_.integer(width_)), 0);
}

// Whether the lanes of each half warp access consecutive elements; of shared memory, whether these
// are there, too. `a`, `b`: the addresses of the first and of the 17th lane.
LlvmValue Generator::are_consecutive(const Unit& unit, const Lanes& addresses, LlvmValue a,
                                     LlvmValue b) const {
    const unsigned bytes = Moved(*unit.instruction).total();
    const LlvmType type = ir_.llvm().TypeOf(a);
    const LlvmValue in_line = are_in_line(addresses, a, b, ir_.number(type, bytes));
    if (AccessForm(unit.instruction->target).space == Space::shared) {
        const LlvmValue first_places = first_places_[place_index(bytes)];
        const auto half_is_in_shared = [&](LlvmValue first) {
            const LlvmValue wide = ir_.cast(Ir::zext, first, ir_.integer(64));
            const auto offset = std::uint64_t(unit.instruction->immediate);
            return is_place(ir_.op(Ir::add, wide, offset), bytes, first_places);
        };
        return ir_.op(Ir::and_, in_line,
                      ir_.op(Ir::and_, half_is_in_shared(a), half_is_in_shared(b)));
    }
    // A half warp whose addresses wrap around does not end with the highest one.
    const LlvmValue upper = ir_.select(ir_.compare(Ir::ult, a, b), b, a);
    const std::uint64_t length = (half_warp - 1) * bytes;
    const LlvmValue most = ir_.op(Ir::sub, ir_.llvm().ConstAllOnes(type), length);
    return ir_.op(Ir::and_, ir_.compare(Ir::ule, upper, most), in_line);
}

// The address of each lane must be aligned, and lie in shared memory or in the allocation of
// global memory that the instruction accessed last; or else in another one.
void Generator::require_lanes(std::uint32_t u, const Lanes& addresses) {
    const Instruction& i = *plan_.units()[u].instruction;
    const AccessForm form(i.target);
    const bool shared = form.space == Space::shared;
    const unsigned bytes = Moved(i).total(), bits = form.wide_address ? 64 : 32;
    const LlvmType i64 = ir_.integer(64), type = ir_.integer(bits);
    LlvmValue begin = ir_.integer_of(64, 0), size = shared_bytes_;
    if (!shared) {
        const LlvmValue range = range_of(i);
        begin = ir_.load(i64, range);
        size = ir_.op(Ir::sub, ir_.load(i64, ir_.at(range, 8)), begin);
    }
    const LlvmValue fits = ir_.compare_with(Ir::sge, size, bytes);  // -1: no allocation yet
    const LlvmValue from = ir_.cast(
        Ir::trunc, ir_.op(Ir::sub, ir_.integer_of(64, std::uint64_t(i.immediate)), begin), type);
    const LlvmValue last = ir_.cast(Ir::trunc, ir_.op(Ir::sub, size, bytes), type);
    // The sum with an immediate operand must not wrap around: see is_compiled_access().
    const std::uint64_t odd_bits = (bytes - 1) | (form.wide_address ? 0 : 0x80000000);
    LlvmValue valid = nullptr;
    for (unsigned g = 0; g < group_count_; ++g) {
        const LlvmValue offsets = ir_.op(Ir::add, addresses[g], ir_.splat(from, width_));
        const LlvmValue odd = ir_.op(Ir::and_, addresses[g], odd_bits);
        LlvmValue lanes = ir_.op(Ir::and_, ir_.compare(Ir::ule, offsets, ir_.splat(last, width_)),
                                 ir_.compare_with(Ir::eq, odd, 0));
        if (running_) lanes = ir_.op(Ir::or_, lanes, ir_.not_(lanes_of_mask(running_, g)));
        valid = valid ? ir_.op(Ir::and_, valid, lanes) : lanes;
    }
    const LlvmValue all_valid = ir_.op(Ir::and_, fits, ir_.all(valid));
    if (shared) return require(all_valid, u);
    const LlvmBlock next = ir_.block(), searching = ir_.block();
    ir_.likely(all_valid, next, searching);
    ir_.go_on_in(searching);
    ir_.store(ir_.joined(addresses), addresses_);
    const LlvmValue found =
        ir_.call(reinterpret_cast<const void*>(&lanes_are_in_global), ir_.integer(8),
                 {ir_.address(code_ + kernel_.index_of(&i)), warp_, addresses_});
    ir_.likely(ir_.compare_with(Ir::ne, ir_.op(Ir::and_, found, 1), 0), next, interpret(u));
    ir_.go_on_in(next);
}

}  // namespace warpscope::emulator
