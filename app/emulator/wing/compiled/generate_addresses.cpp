#include <bit>

#include "emulator/wing/compiled/generator.h"
#include "emulator/wing/compiled/moved.h"
#include "emulator/wing/compiled/warp_layout.h"

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

// The first of these places, from which each offset from `low` to `high` leads to one of them.
LlvmValue Generator::room_for(LlvmValue places, std::int64_t low, std::int64_t high,
                              unsigned bytes) const {
    const std::uint64_t others = std::uint64_t(high - low) / bytes;
    if (others == 0) return places;
    return ir_.intrinsic("usub.sat", ir_.integer(64), {places, ir_.integer_of(64, others)});
}

// Whether the loads of a group find aligned bytes in shared memory, from its uniform address. In
// the scalar part.
LlvmValue Generator::has_places(const LoadGroup& group) {
    const LlvmValue address = uniform_address(*group.instruction);
    return is_place(ir_.op(Ir::add, address, std::uint64_t(group.low)), group.bytes,
                    room_for(places(group.bytes), group.low, group.high, group.bytes));
}

// Finds out whether the loads of a group, from the addresses of the lanes, are consecutive; or else
// whether they find aligned bytes in shared memory. In the scalar part.
void Generator::check_lanes(const LoadGroup& group) {
    const Lanes addresses = variables(group.address());
    const LlvmValue found =
        are_consecutive_in_shared(group.bytes, group.low, group.high, addresses);
    const LlvmBlock others = ir_.block("check_others"), done = ir_.block();
    ir_.store(found, are_consecutive_);
    ir_.likely(found, done, others);
    ir_.go_on_in(others);
    ir_.store(are_in_shared(group.bytes, group.low, group.high, addresses), are_in_shared_);
    ir_.jump(done);
    ir_.go_on_in(done);
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
    const std::size_t offset = BlockContext::range_of(compiled) * sizeof(AddressRange);
    return ir_.at(block_, WarpLayout::ranges + offset);
}

// By group: the number of each lane in its half of the warp, times `factor`.
LlvmValue Generator::numbers_in_half(unsigned g, unsigned factor, unsigned bits) const {
    std::vector<std::uint64_t> numbers;
    for (unsigned l = 0; l < width_; ++l)
        numbers.push_back(std::uint64_t(g * width_ + l) % half_warp * factor);
    return ir_.lanes_of(numbers, bits);
}

// The offsets of consecutive elements.
Generator::Lanes Generator::steps(unsigned bytes, LlvmType type) const {
    Lanes offsets;
    for (unsigned g = 0; g < group_count_; ++g)
        offsets.push_back(
            ir_.in_memory(numbers_in_half(g, bytes, ir_.llvm().GetIntTypeWidth(type))));
    return offsets;
}

// The address of the first lane of a half of the warp.
LlvmValue Generator::first_of_half(const Lanes& addresses, unsigned half) const {
    return ir_.lane(addresses[half * half_warp / width_], 0);
}

// Whether the addresses of each half warp are at these offsets, by group, from that of its first
// lane.
LlvmValue Generator::are_at(const Lanes& offsets, const Lanes& addresses) const {
    LlvmValue differ = nullptr;
    for (unsigned g = 0; g < group_count_; ++g) {
        const LlvmValue first = ir_.splat(first_of_half(addresses, g * width_ / half_warp), width_);
        const LlvmValue other = ir_.op(Ir::xor_, addresses[g], ir_.op(Ir::add, first, offsets[g]));
        differ = differ ? ir_.op(Ir::or_, differ, other) : other;
    }
    const LlvmValue lanes = ir_.compare(Ir::ne, differ, ir_.zero(ir_.llvm().TypeOf(differ)));
    return ir_.compare_with(Ir::eq, ir_.cast(Ir::bitcast, lanes, ir_.integer(width_)), 0);
}

// Whether the lanes of each half warp access consecutive elements; of shared memory, whether these
// are there, too.
LlvmValue Generator::are_consecutive(const Unit& unit, const Lanes& addresses) const {
    const unsigned bytes = Moved(*unit.instruction).total();
    if (AccessForm(unit.instruction->target).space == Space::shared) {
        const std::int64_t offset = unit.instruction->immediate;
        return are_consecutive_in_shared(bytes, offset, offset, addresses);
    }
    // A half warp whose addresses wrap around does not end with the highest one.
    const LlvmValue a = first_of_half(addresses, 0), b = first_of_half(addresses, 1);
    const LlvmType type = ir_.llvm().TypeOf(a);
    const LlvmValue upper = ir_.select(ir_.compare(Ir::ult, a, b), b, a);
    const std::uint64_t length = (half_warp - 1) * bytes;
    const LlvmValue most = ir_.op(Ir::sub, ir_.llvm().ConstAllOnes(type), length);
    return ir_.op(Ir::and_, ir_.compare(Ir::ule, upper, most),
                  are_at(steps(bytes, type), addresses));
}

// With each offset from `low` to `high`.
LlvmValue Generator::are_consecutive_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                                               const Lanes& addresses) const {
    const LlvmValue places = room_for(first_places_[place_index(bytes)], low, high, bytes);
    const LlvmType type = ir_.llvm().TypeOf(first_of_half(addresses, 0));
    LlvmValue all = are_at(steps(bytes, type), addresses);
    for (const unsigned half : {0, 1}) {
        const LlvmValue first = ir_.cast(Ir::zext, first_of_half(addresses, half), ir_.integer(64));
        all = ir_.op(Ir::and_, all,
                     is_place(ir_.op(Ir::add, first, std::uint64_t(low)), bytes, places));
    }
    return all;
}

}  // namespace warpscope::emulator
