#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_memory.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/simd-inl.h"

// Loads and stores of all 32 lanes, and of the active ones. Every access is checked: in shared
// memory against the size of the block's memory, in global memory against one allocation. If the
// check fails, any_load() or any_store() repeats the access lane by lane and reports the error.
HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

// The relation between the addresses of the lanes.
enum class Pattern { failed, consecutive, scattered };

template <typename Address>
struct Lanes {
    std::uint64_t base = 0;  // host address that is added to each one
    const Address* addresses = nullptr;
    std::byte* at(std::size_t lane) const {
        return reinterpret_cast<std::byte*>(base + addresses[lane]);
    }
};

// Finds the lowest and highest address, whether all are multiples of `bytes`, and whether the lanes
// of each half warp access consecutive elements of `bytes` bytes. Half warps matter, because a row
// of a block that is 16 threads wide is half a warp.
template <typename Address>
HWY_INLINE bool survey(const Address* addresses, Address bytes, Address& low, Address& high,
                       bool& consecutive) {
    const hn::CappedTag<Address, half_warp> d;
    auto smallest = hn::Set(d, addresses[0]), largest = smallest;
    auto odd = hn::Zero(d), differs = hn::Zero(d);
    const auto next = hn::Set(d, Address(hn::Lanes(d) * bytes));
    for (std::size_t half = 0; half < lanes_per_warp; half += half_warp) {
        auto expected =
            hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, bytes)), hn::Set(d, addresses[half]));
        for (std::size_t l = half; l < half + half_warp; l += hn::Lanes(d)) {
            const auto a = hn::Load(d, addresses + l);
            smallest = hn::Min(smallest, a);
            largest = hn::Max(largest, a);
            odd = hn::Or(odd, a);
            differs = hn::Or(differs, hn::Xor(a, expected));
            expected = hn::Add(expected, next);
        }
    }
    // If the addresses of a half warp wrap around, its ends are not the lowest and highest.
    const Address a = addresses[0], b = addresses[half_warp];
    const auto length = Address((half_warp - 1) * bytes);
    consecutive = hn::AllTrue(d, hn::Eq(differs, hn::Zero(d))) &&
                  (a < b ? b : a) <= Address(Address(~Address(0)) - length);
    if (consecutive) {
        low = a < b ? a : b;
        high = Address((a < b ? b : a) + length);
    } else {
        low = hn::GetLane(hn::MinOfLanes(d, smallest));
        high = hn::GetLane(hn::MaxOfLanes(d, largest));
    }
    const auto misaligned = hn::And(odd, hn::Set(d, Address(bytes - 1)));
    return hn::AllTrue(d, hn::Eq(misaligned, hn::Zero(d)));
}

template <Space space, typename Address>
HWY_INLINE Pattern check(const Instruction* i, Warp& w, Address bytes, Lanes<Address>& lanes) {
    Address low, high;
    bool consecutive;
    const bool aligned = survey<Address>(lanes.addresses, bytes, low, high, consecutive);
    if (!aligned || (std::uint64_t(i->immediate) & (bytes - 1))) return Pattern::failed;
    const std::uint64_t begin = std::uint64_t(low) + std::uint64_t(i->immediate);
    const std::uint64_t end = std::uint64_t(high) + std::uint64_t(i->immediate) + bytes;
    if constexpr (space == Space::shared) {
        // A negative offset may reach below 0 and wrap: both ends are compared.
        if (end > w.block->shared_bytes || begin > end) return Pattern::failed;
        lanes.base = std::uint64_t(w.block->shared) + std::uint64_t(i->immediate);
    } else {
        if (begin > end || !w.in_global(i, begin, end)) return Pattern::failed;
        lanes.base = std::uint64_t(i->immediate);
    }
    return consecutive ? Pattern::consecutive : Pattern::scattered;
}

template <typename Address>
HWY_INLINE Lanes<Address> all_addresses(const Instruction* i, const Warp& w) {
    return {0, slot<Address>(w, i->operands[i->detail])};
}

// Copies the addresses to `copy`. An inactive lane gets the address of the first active one.
template <typename Address>
HWY_INLINE Lanes<Address> active_addresses(const Instruction* i, const Warp& w, Address* copy) {
    const Address* addresses = slot<Address>(w, i->operands[i->detail]);
    const Full<Address> d;
    const auto first = hn::Set(d, addresses[std::countr_zero(w.mask)]);
    for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d))
        hn::Store(hn::IfThenElse(mask_of(d, w.mask, l), hn::Load(d, addresses + l), first), d,
                  copy + l);
    return {0, copy};
}

// Loads consecutive elements into the registers of sixteen lanes, from lane `first` on.
template <typename R, unsigned elements>
HWY_INLINE void load_half(const R* m, R* const* r, std::size_t first) {
    if constexpr (elements == 1) {
        const hn::CappedTag<R, half_warp> d;
        for (std::size_t l = 0; l < half_warp; l += hn::Lanes(d))
            hn::Store(hn::LoadU(d, m + l), d, r[0] + first + l);
    } else if constexpr (elements == 4) {
        const hn::CappedTag<R, 4> d;
        for (std::size_t l = 0; l < half_warp; l += hn::Lanes(d)) {
            hn::Vec<decltype(d)> x, y, z, t;
            hn::LoadInterleaved4(d, m + 4 * l, x, y, z, t);
            hn::Store(x, d, r[0] + first + l);
            hn::Store(y, d, r[1] + first + l);
            hn::Store(z, d, r[2] + first + l);
            hn::Store(t, d, r[3] + first + l);
        }
    }
}

// Loads words from scattered addresses. Vectors are stored into the register, because the next
// instruction reads vectors: it would have to wait until single words that were stored are in the
// cache.
HWY_INLINE void gather(const Lanes<std::uint32_t>& lanes, std::uint32_t* r) {
    const Full<std::uint32_t> d;
    const hn::RebindToSigned<decltype(d)> offsets;  // shared memory ends far below 2^31
    const auto* memory = reinterpret_cast<const std::uint32_t*>(lanes.base);
    for (size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
        const auto here = hn::BitCast(offsets, hn::Load(d, lanes.addresses + l));
        hn::Store(hn::GatherOffset(d, memory, here), d, r + l);
    }
}

// Memory type M goes into registers of type R (as wide, or widened: ld.u8).
template <Space space, typename Address, typename M, typename R, unsigned elements>
const Instruction* load(const Instruction* i, Warp& w) {
    Lanes<Address> lanes = all_addresses<Address>(i, w);
    const Pattern pattern = check<space, Address>(i, w, sizeof(M) * elements, lanes);
    if (HWY_UNLIKELY(pattern == Pattern::failed)) return any_load(i, w);
    R* r[elements];
    for (unsigned e = 0; e < elements; ++e) r[e] = slot<R>(w, i->operands[e]);
    constexpr bool copies =
        sizeof(M) == sizeof(R) && (elements == 1 || (elements == 4 && sizeof(M) == 4));
    if (copies && pattern == Pattern::consecutive) {
        const std::byte* halves[] = {lanes.at(0), lanes.at(half_warp)};
        for (std::size_t half = 0; half < 2; ++half)
            load_half<R, elements>(reinterpret_cast<const R*>(halves[half]), r, half * half_warp);
    } else if constexpr (elements == 1 && sizeof(M) == 4 && sizeof(Address) == 4) {
        gather(lanes, r[0]);
    } else {
        for (std::size_t l = 0; l < lanes_per_warp; ++l) {
            const auto* m = reinterpret_cast<const M*>(lanes.at(l));
            for (unsigned e = 0; e < elements; ++e) r[e][l] = R(m[e]);
        }
    }
    return w.cost_point(i, i + 1);
}

template <Space space, typename Address, typename M, typename R, unsigned elements>
const Instruction* load_active(const Instruction* i, Warp& w) {
    HWY_ALIGN Address copy[lanes_per_warp];
    Lanes<Address> lanes = active_addresses(i, w, copy);
    const Pattern pattern = check<space, Address>(i, w, sizeof(M) * elements, lanes);
    if (HWY_UNLIKELY(pattern == Pattern::failed)) return any_load(i, w);
    for (std::uint32_t left = w.mask; left; left &= left - 1) {
        const auto l = unsigned(std::countr_zero(left));
        const auto* m = reinterpret_cast<const M*>(lanes.at(l));
        for (unsigned e = 0; e < elements; ++e) slot<R>(w, i->operands[e])[l] = R(m[e]);
    }
    return w.cost_point(i, i + 1);
}

// One address for the whole warp: loads into uniform registers, or one value into all lanes.
template <Space space, typename Address, typename M, typename R, unsigned elements, bool scalar>
const Instruction* load_uniform(const Instruction* i, Warp& w) {
    const std::uint64_t address = std::uint64_t(*uniform_slot<Address>(w, i->operands[i->detail])) +
                                  std::uint64_t(i->immediate);
    constexpr unsigned bytes = sizeof(M) * elements;
    const std::byte* p = reinterpret_cast<const std::byte*>(address);
    if constexpr (space == Space::shared) {
        const std::uint64_t size = w.block->shared_bytes;  // the end of the access may wrap around
        if (HWY_UNLIKELY(address % bytes || address > size || size - address < bytes))
            return any_load(i, w);
        p = w.block->shared + address;
    } else {
        if (HWY_UNLIKELY(address % bytes || !w.in_global(i, address, address + bytes)))
            return any_load(i, w);
    }
    const auto* m = reinterpret_cast<const M*>(p);
    const Full<R> d;
    for (unsigned e = 0; e < elements; ++e) {
        if constexpr (scalar) {
            *uniform_slot<R>(w, i->operands[e]) = R(m[e]);
        } else {
            R* r = slot<R>(w, i->operands[e]);
            const auto value = hn::Set(d, R(m[e]));
            for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d))
                hn::Store(value, d, r + l);
        }
    }
    return w.cost_point(i, i + 1);
}

template <Space space, typename Address, typename M, typename R, unsigned elements>
const Instruction* store(const Instruction* i, Warp& w) {
    Lanes<Address> lanes = all_addresses<Address>(i, w);
    const Pattern pattern = check<space, Address>(i, w, sizeof(M) * elements, lanes);
    if (HWY_UNLIKELY(pattern == Pattern::failed)) return any_store(i, w);
    constexpr bool pixels = sizeof(M) == 1 && elements == 4;
    if (pattern == Pattern::consecutive && pixels) {
        const hn::CappedTag<std::uint32_t, half_warp> d;
        const auto low = hn::Set(d, 0xFFu);
        for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
            const std::size_t half = l / half_warp * half_warp;
            auto* m = reinterpret_cast<std::uint32_t*>(lanes.at(half)) - half;
            const auto byte = [&](unsigned e) {
                return hn::And(any_source(d, w, i->operands[1 + e], l), low);
            };
            const auto lower = hn::Or(byte(0), hn::ShiftLeft<8>(byte(1)));
            const auto upper = hn::Or(hn::ShiftLeft<16>(byte(2)), hn::ShiftLeft<24>(byte(3)));
            hn::StoreU(hn::Or(lower, upper), d, m + l);
        }
        return w.cost_point(i, i + 1);
    }
    if (pattern == Pattern::consecutive && elements == 1 && sizeof(M) == sizeof(R)) {
        const hn::CappedTag<R, half_warp> d;
        for (std::size_t l = 0; l < lanes_per_warp; l += hn::Lanes(d)) {
            const std::size_t half = l / half_warp * half_warp;
            auto* m = reinterpret_cast<R*>(lanes.at(half)) - half;
            hn::StoreU(any_source(d, w, i->operands[1], l), d, m + l);
        }
        return w.cost_point(i, i + 1);
    }
    const R* r[elements];
    std::size_t stride[elements];
    for (unsigned e = 0; e < elements; ++e) {
        const std::uint32_t operand = i->operands[1 + e];
        r[e] = slot<R>(w, slot_offset(operand));
        stride[e] = is_uniform(operand) ? 0 : 1;
    }
    for (std::size_t l = 0; l < lanes_per_warp; ++l) {
        auto* m = reinterpret_cast<M*>(lanes.at(l));
        for (unsigned e = 0; e < elements; ++e) m[e] = M(r[e][l * stride[e]]);
    }
    return w.cost_point(i, i + 1);
}

template <Space space, typename Address, typename M, typename R, unsigned elements>
const Instruction* store_active(const Instruction* i, Warp& w) {
    HWY_ALIGN Address copy[lanes_per_warp];
    Lanes<Address> lanes = active_addresses(i, w, copy);
    const Pattern pattern = check<space, Address>(i, w, sizeof(M) * elements, lanes);
    if (HWY_UNLIKELY(pattern == Pattern::failed)) return any_store(i, w);
    for (std::uint32_t left = w.mask; left; left &= left - 1) {
        const auto l = unsigned(std::countr_zero(left));
        auto* m = reinterpret_cast<M*>(lanes.at(l));
        for (unsigned e = 0; e < elements; ++e) {
            const std::uint32_t operand = i->operands[1 + e];
            m[e] = M(slot<R>(w, slot_offset(operand))[is_uniform(operand) ? 0 : l]);
        }
    }
    return w.cost_point(i, i + 1);
}

template <Space space, typename Address, typename M, typename R, unsigned elements>
Handler pick(const MemoryForm& form, Instruction::Mode mode) {
    if (mode == Instruction::masked) {
        if (form.uniform_address || form.uniform_result) return nullptr;
        return form.store ? store_active<space, Address, M, R, elements>
                          : load_active<space, Address, M, R, elements>;
    }
    if (form.store) {
        if (form.uniform_address) return nullptr;
        return store<space, Address, M, R, elements>;
    }
    if (!form.uniform_address)
        return form.uniform_result ? nullptr : load<space, Address, M, R, elements>;
    if (form.uniform_result) return load_uniform<space, Address, M, R, elements, true>;
    return load_uniform<space, Address, M, R, elements, false>;
}

template <Space space, typename Address>
Handler pick_type(const MemoryForm& s, Instruction::Mode mode) {
    const unsigned bits = bits_of(s.type);
    if (bits == 8 && s.elements == 4 && s.store && !s.wide_register)
        return pick<space, Address, std::uint8_t, std::uint32_t, 4>(s, mode);
    if (bits == 8 && s.elements == 1 && !s.wide_register && !is_signed(s.type))
        return pick<space, Address, std::uint8_t, std::uint32_t, 1>(s, mode);
    if (bits == 16 && s.elements == 1 && !s.wide_register && !is_signed(s.type))
        return pick<space, Address, std::uint16_t, std::uint32_t, 1>(s, mode);
    if (bits == 32 && !s.wide_register) {
        if (s.elements == 1) return pick<space, Address, std::uint32_t, std::uint32_t, 1>(s, mode);
        if (s.elements == 2) return pick<space, Address, std::uint32_t, std::uint32_t, 2>(s, mode);
        return pick<space, Address, std::uint32_t, std::uint32_t, 4>(s, mode);
    }
    if (bits == 64 && s.elements == 1)
        return pick<space, Address, std::uint64_t, std::uint64_t, 1>(s, mode);
    if (bits == 64 && s.elements == 2)
        return pick<space, Address, std::uint64_t, std::uint64_t, 2>(s, mode);
    return nullptr;
}

}  // namespace

Handler find_memory_handler(const MemoryForm& form, Instruction::Mode mode) {
    if (form.space == Space::shared)
        return form.wide_address ? pick_type<Space::shared, std::uint64_t>(form, mode)
                                 : pick_type<Space::shared, std::uint32_t>(form, mode);
    if (form.space == Space::global || form.space == Space::constant)
        return form.wide_address ? pick_type<Space::global, std::uint64_t>(form, mode) : nullptr;
    return nullptr;
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_memory_handler);
Handler memory_handler(const MemoryForm& form, Instruction::Mode mode) {
    return HWY_DYNAMIC_DISPATCH(find_memory_handler)(form, mode);
}
}  // namespace warpscope::emulator
#endif
