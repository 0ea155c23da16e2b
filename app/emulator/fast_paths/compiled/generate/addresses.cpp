#include "emulator/fast_paths/compiled/generate/addresses.h"

#include <bit>

#include "emulator/fast_paths/compiled/plan/units.h"
#include "emulator/fast_paths/compiled/warp_layout.h"

namespace warpscope::emulator {

namespace {

/// The index of places with this number of bytes, among those that are counted.
unsigned place_index(unsigned bytes) {
    return unsigned(std::countr_zero(bytes)) - 2;
}

}  // namespace

void Addresses::begin() {
    group_is_consecutive_ = ir_.variable(ir_.integer(1));
    group_is_in_shared_ = ir_.variable(ir_.integer(1));
    addresses_ = ir_.variable(ir_.integer(64, lanes_per_warp));
    const LlvmType i64 = ir_.integer(64);
    shared_ = context_.block_member(ir_.pointer(), WarpLayout::shared);
    shared_bytes_ =
        ir_.cast(Ir::zext, context_.block_member(ir_.integer(32), WarpLayout::shared_bytes), i64);
    for (unsigned k = 0; k < places_.size(); ++k) {
        places_[k] = ir_.op(Ir::lshr, shared_bytes_, 2 + k);
        first_places_[k] =
            ir_.intrinsic("usub.sat", i64, {places_[k], ir_.integer_of(64, half_warp - 1)});
    }
}

LlvmValue Addresses::uniform(const Instruction& i) {
    const Type type = AccessForm(i.target).wide_address ? Type::b64 : Type::b32;
    return ir_.cast(Ir::zext, slots_.scalar(i.operands[i.detail], type), ir_.integer(64));
}

LlvmValue Addresses::first_of_half(const Lanes& addresses, unsigned half) const {
    return ir_.lane(addresses[half * half_warp / context_.width], 0);
}

LlvmValue Addresses::host_base(const Instruction& i) const {
    const LlvmValue offset = ir_.integer_of(64, std::uint64_t(i.immediate));
    if (!accesses_shared(i)) return offset;
    return ir_.op(Ir::add, ir_.cast(Ir::ptrtoint, shared_, ir_.integer(64)), offset);
}

LlvmValue Addresses::stored(LlvmValue addresses) const {
    ir_.store(addresses, addresses_);
    return addresses_;
}

void Addresses::require(LlvmValue condition, std::uint32_t u) {
    const LlvmBlock next = ir_.block();
    ir_.likely(condition, next, exits_.interpret(u));
    ir_.go_on_in(next);
}

// Something is known, or else a call of the emulator finds it.
void Addresses::require_found(LlvmValue known, std::uint32_t u,
                              const std::function<LlvmValue()>& search) {
    const LlvmBlock next = ir_.block(), searching = ir_.block();
    ir_.likely(known, next, searching);
    ir_.go_on_in(searching);
    const LlvmValue found = search();
    ir_.likely(ir_.compare_with(Ir::ne, ir_.op(Ir::and_, found, 1), 0), next, exits_.interpret(u));
    ir_.go_on_in(next);
}

// One check of a group covers all of its loads.
void Addresses::require_uniform(std::uint32_t u, LlvmValue address) {
    const Instruction& i = *context_.unit(u).instruction;
    const unsigned bytes = Moved(i).total();
    if (const LoadGroup* const group = context_.plan.load_groups().of(u)) {
        if (u == group->first) require(group_is_valid(*group), u);
        return;
    }
    const LlvmValue begin = ir_.op(Ir::add, address, std::uint64_t(i.immediate));
    if (accesses_shared(i)) return require(is_place(begin, bytes, places_[place_index(bytes)]), u);
    require_allocation(u, begin, ir_.op(Ir::add, begin, bytes));
}

void Addresses::require_halves(std::uint32_t u, LlvmValue first, LlvmValue second) {
    const Instruction& i = *context_.unit(u).instruction;
    if (accesses_shared(i)) return;  // are_consecutive() has checked it
    const auto from = std::uint64_t(i.immediate);
    const std::uint64_t length = half_warp * Moved(i).total();
    const LlvmValue in_order = ir_.compare(Ir::ult, first, second);
    require_allocation(u, ir_.op(Ir::add, ir_.select(in_order, first, second), from),
                       ir_.op(Ir::add, ir_.select(in_order, second, first), from + length));
}

// The lanes' accesses must lie in shared memory or in the allocation of global memory that the
// instruction accessed last; or else in another one.
void Addresses::require_lanes(std::uint32_t u, const Lanes& addresses) {
    const Instruction& i = *context_.unit(u).instruction;
    const unsigned bytes = Moved(i).total();
    if (accesses_shared(i)) {
        const bool is_checked = context_.plan.load_groups().of(u) != nullptr;
        return require(is_checked ? ir_.load(ir_.integer(1), group_is_in_shared_)
                                  : are_in_shared(bytes, i.immediate, i.immediate, addresses),
                       u);
    }
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue range = last_allocation(u), begin = ir_.load(i64, range);
    const LlvmValue size = ir_.op(Ir::sub, ir_.load(i64, ir_.at(range, 8)), begin);
    const LlvmValue from = ir_.op(Ir::sub, ir_.integer_of(64, std::uint64_t(i.immediate)), begin);
    require_found(are_among(size, bytes, from, addresses), u, [&] {
        const LlvmValue all = stored(ir_.joined(addresses));
        return ir_.call(reinterpret_cast<const void*>(&lanes_are_in_global), ir_.integer(8),
                        {context_.address_of(context_.pc_of(u)), context_.warp, all});
    });
}

// Bytes [low, high) must lie in one allocation of global memory, and both ends must be aligned as
// what each lane moves.
void Addresses::require_allocation(std::uint32_t u, LlvmValue low, LlvmValue high) {
    const Instruction& i = *context_.unit(u).instruction;
    const LlvmValue odd = ir_.op(Ir::and_, ir_.op(Ir::or_, low, high), Moved(i).total() - 1);
    require(ir_.compare_with(Ir::eq, odd, 0), u);
    const LlvmValue ordered = ir_.compare(Ir::ule, low, high);
    const LlvmValue range = last_allocation(u);
    const LlvmType i64 = ir_.integer(64);
    const LlvmValue begin = ir_.load(i64, range), end = ir_.load(i64, ir_.at(range, 8));
    const LlvmValue known =
        ir_.op(Ir::and_, ordered,
               ir_.op(Ir::and_, ir_.compare(Ir::uge, low, begin), ir_.compare(Ir::ule, high, end)));
    require_found(known, u, [&] {
        return ir_.call(reinterpret_cast<const void*>(&range_is_in_global), ir_.integer(8),
                        {context_.address_of(context_.pc_of(u)), context_.warp, low, high});
    });
}

// A pointer to where the block keeps the allocation that an instruction accessed last.
LlvmValue Addresses::last_allocation(std::uint32_t u) const {
    const Instruction* const compiled = context_.code + context_.pc_of(u);
    const std::size_t offset = BlockContext::range_of(compiled) * sizeof(AddressRange);
    return ir_.at(context_.block, WarpLayout::ranges + offset);
}

// Whether an address is that of one of the first places of this number of bytes. Rotating it brings
// the bits that must be 0 above all others, so that one comparison tells both.
LlvmValue Addresses::is_place(LlvmValue address, unsigned bytes, LlvmValue places) const {
    const unsigned shift = unsigned(std::countr_zero(bytes));
    const LlvmValue place =
        ir_.intrinsic("fshr", ir_.integer(64), {address, address, ir_.integer_of(64, shift)});
    return ir_.compare(Ir::ult, place, places);
}

// The number of places from which each offset from `low` to `high` leads to another place.
LlvmValue Addresses::room_for(LlvmValue places, std::int64_t low, std::int64_t high,
                              unsigned bytes) const {
    const std::uint64_t others = std::uint64_t(high - low) / bytes;
    if (others == 0) return places;
    return ir_.intrinsic("usub.sat", ir_.integer(64), {places, ir_.integer_of(64, others)});
}

LlvmValue Addresses::group_is_valid(const LoadGroup& group) {
    const LlvmValue address = uniform(*group.instruction);
    const LlvmValue places = places_[place_index(group.bytes)];
    return is_place(ir_.op(Ir::add, address, std::uint64_t(group.low)), group.bytes,
                    room_for(places, group.low, group.high, group.bytes));
}

void Addresses::check_group(const LoadGroup& group) {
    const Lanes addresses = slots_.parts(group.address());
    const LlvmValue found =
        are_consecutive_in_shared(group.bytes, group.low, group.high, addresses);
    const LlvmBlock others = ir_.block("check_others"), done = ir_.block();
    ir_.store(found, group_is_consecutive_);
    ir_.likely(found, done, others);
    ir_.go_on_in(others);
    ir_.store(are_in_shared(group.bytes, group.low, group.high, addresses), group_is_in_shared_);
    ir_.jump(done);
    ir_.go_on_in(done);
}

// Whether the lanes' accesses with each offset from `low` to `high` are aligned and in shared
// memory.
LlvmValue Addresses::are_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                                   const Lanes& addresses) const {
    const LlvmValue size = ir_.op(Ir::sub, shared_bytes_, std::uint64_t(high - low));
    return are_among(size, bytes, ir_.integer_of(64, std::uint64_t(low)), addresses);
}

// Whether each lane's address is aligned, and its sum with `from` is that of one of the first
// `size` bytes, as are the bytes that follow.
LlvmValue Addresses::are_among(LlvmValue size, unsigned bytes, LlvmValue from,
                               const Lanes& addresses) const {
    const unsigned width = context_.width;
    const LlvmType type = ir_.llvm().GetElementType(ir_.llvm().TypeOf(addresses[0]));
    const LlvmValue fits = ir_.compare_with(Ir::sge, size, bytes);  // -1: no allocation yet
    const LlvmValue first = ir_.splat(ir_.cast(Ir::trunc, from, type), width);
    const LlvmValue last =
        ir_.splat(ir_.cast(Ir::trunc, ir_.op(Ir::sub, size, bytes), type), width);
    // The sum with an immediate operand must not wrap around: see is_compiled_access().
    const bool is_wide = ir_.llvm().GetIntTypeWidth(type) == 64;
    const std::uint64_t odd_bits = (bytes - 1) | (is_wide ? 0 : 0x80000000);
    LlvmValue valid = nullptr;
    for (unsigned g = 0; g < context_.group_count; ++g) {
        const LlvmValue odd = ir_.op(Ir::and_, addresses[g], odd_bits);
        LlvmValue lanes =
            ir_.op(Ir::and_, ir_.compare(Ir::ule, ir_.op(Ir::add, addresses[g], first), last),
                   ir_.compare_with(Ir::eq, odd, 0));
        if (context_.running)
            lanes = ir_.op(Ir::or_, lanes, ir_.not_(context_.lanes_of_mask(context_.running, g)));
        valid = valid ? ir_.op(Ir::and_, valid, lanes) : lanes;
    }
    return ir_.op(Ir::and_, fits, ir_.all(valid));
}

// The number of each lane of group `g` in its half of the warp, times `factor`.
LlvmValue Addresses::numbers_in_half(unsigned g, unsigned factor, unsigned bits) const {
    std::vector<std::uint64_t> numbers;
    for (unsigned l = 0; l < context_.width; ++l)
        numbers.push_back(std::uint64_t(g * context_.width + l) % half_warp * factor);
    return ir_.lanes_of(numbers, bits);
}

Lanes Addresses::consecutive_offsets(unsigned bytes, LlvmType type) const {
    Lanes offsets;
    for (unsigned g = 0; g < context_.group_count; ++g)
        offsets.push_back(
            ir_.in_memory(numbers_in_half(g, bytes, ir_.llvm().GetIntTypeWidth(type))));
    return offsets;
}

// Whether the addresses of each half warp are at these offsets from that of its first lane.
LlvmValue Addresses::are_at(const Lanes& offsets, const Lanes& addresses) const {
    const unsigned width = context_.width;
    LlvmValue differ = nullptr;
    for (unsigned g = 0; g < context_.group_count; ++g) {
        const LlvmValue first = ir_.splat(first_of_half(addresses, g * width / half_warp), width);
        const LlvmValue other = ir_.op(Ir::xor_, addresses[g], ir_.op(Ir::add, first, offsets[g]));
        differ = differ ? ir_.op(Ir::or_, differ, other) : other;
    }
    const LlvmValue lanes = ir_.compare(Ir::ne, differ, ir_.zero(ir_.llvm().TypeOf(differ)));
    return ir_.compare_with(Ir::eq, ir_.cast(Ir::bitcast, lanes, ir_.integer(width)), 0);
}

LlvmValue Addresses::are_consecutive(std::uint32_t u, const Lanes& addresses) {
    const Instruction& i = *context_.unit(u).instruction;
    if (const LoadGroup* const group = context_.plan.load_groups().of(u)) {
        if (u == group->first) check_group(*group);
        return ir_.load(ir_.integer(1), group_is_consecutive_);
    }
    const unsigned bytes = Moved(i).total();
    if (accesses_shared(i))
        return are_consecutive_in_shared(bytes, i.immediate, i.immediate, addresses);
    // A half warp whose addresses wrap around does not end with the highest one.
    const LlvmValue a = first_of_half(addresses, 0), b = first_of_half(addresses, 1);
    const LlvmType type = ir_.llvm().TypeOf(a);
    const LlvmValue upper = ir_.select(ir_.compare(Ir::ult, a, b), b, a);
    const std::uint64_t length = (half_warp - 1) * bytes;
    const LlvmValue most = ir_.op(Ir::sub, ir_.llvm().ConstAllOnes(type), length);
    return ir_.op(Ir::and_, ir_.compare(Ir::ule, upper, most),
                  are_at(consecutive_offsets(bytes, type), addresses));
}

// Whether the accesses of each half warp are consecutive, and with each offset from `low` to `high`
// aligned and in shared memory.
LlvmValue Addresses::are_consecutive_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                                               const Lanes& addresses) const {
    const LlvmValue places = room_for(first_places_[place_index(bytes)], low, high, bytes);
    const LlvmType type = ir_.llvm().TypeOf(first_of_half(addresses, 0));
    LlvmValue all = are_at(consecutive_offsets(bytes, type), addresses);
    for (const unsigned half : {0, 1}) {
        const LlvmValue first = ir_.cast(Ir::zext, first_of_half(addresses, half), ir_.integer(64));
        all = ir_.op(Ir::and_, all,
                     is_place(ir_.op(Ir::add, first, std::uint64_t(low)), bytes, places));
    }
    return all;
}

Addresses::Pairs Addresses::find_pairs(const Lanes& addresses) const {
    const unsigned width = context_.width;
    Pairs pairs;
    const LlvmValue first = first_of_half(addresses, 0);
    pairs.distance = ir_.op(Ir::sub, ir_.lane(addresses[0], 1), first);
    const LlvmValue second = first_of_half(addresses, 1);
    pairs.in_order = ir_.compare(Ir::ult, first, second);
    pairs.begin = ir_.select(pairs.in_order, first, second);
    const LlvmValue end = ir_.select(pairs.in_order, second, first);
    const LlvmValue are_apart = ir_.compare_with(Ir::eq, ir_.op(Ir::sub, end, pairs.begin), 4);
    // Pairs that are not aligned may share a word.
    const LlvmValue are_aligned = ir_.compare_with(
        Ir::eq, ir_.op(Ir::and_, ir_.op(Ir::or_, pairs.begin, pairs.distance), 7), 0);
    Lanes offsets;
    for (unsigned g = 0; g < context_.group_count; ++g)
        offsets.push_back(
            ir_.op(Ir::mul, ir_.splat(pairs.distance, width), numbers_in_half(g, 1, 32)));
    pairs.found =
        ir_.op(Ir::and_, ir_.op(Ir::and_, are_apart, are_aligned), are_at(offsets, addresses));
    return pairs;
}

}  // namespace warpscope::emulator
