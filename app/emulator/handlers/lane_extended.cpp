// Extended-precision arithmetic, dot products, vabsdiff and isspacep.
#include <bit>
#include <cstdlib>
#include <type_traits>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/lane_operations.h"
#include "emulator/warp/cluster.h"

namespace warpscope::emulator {

namespace {

enum class CarryForm { sum, difference, low_product, high_product };

CarryForm carry_form(Operation operation) {
    switch (operation) {
        case Operation::sub_cc:
        case Operation::subc:
            return CarryForm::difference;
        case Operation::mad_lo_cc:
        case Operation::madc_lo:
            return CarryForm::low_product;
        case Operation::mad_hi_cc:
        case Operation::madc_hi:
            return CarryForm::high_product;
        default:
            return CarryForm::sum;
    }
}

// a + c, a - c, or half of a * b plus c, with carry or borrow in and out. c is the last source.
template <typename T, CarryForm form>
const Instruction* carry(const Instruction* i, Warp& w) {
    using U = std::make_unsigned_t<T>;
    __extension__ using Wide =
        std::conditional_t<sizeof(T) == 8,
                           std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
    constexpr bool is_mad = form == CarryForm::low_product || form == CarryForm::high_product;
    const bool takes = i->detail & 1, leaves = i->detail & 2;
    const std::uint32_t flag = i->operands[is_mad ? 4 : 3];
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        U a = U(w.get<T>(i->operands[1], lane));
        if constexpr (is_mad) {
            const Wide product = Wide(T(a)) * Wide(w.get<T>(i->operands[2], lane));
            a = U(form == CarryForm::high_product ? product >> 8 * sizeof(T) : product);
        }
        const U c = w.get<U>(i->operands[is_mad ? 3 : 2], lane);
        const U in = takes && (w.predicate(flag) >> lane & 1);
        U result;
        bool out;
        if constexpr (form == CarryForm::difference) {
            result = a - c - in;
            out = a < c || (in && a == c);
        } else {
            result = a + c + in;
            out = result < a || (in && result == a);
        }
        if (i->operands[0]) w.set<U>(i->operands[0], lane, result);
        if (leaves)
            w.predicate(flag) = (w.predicate(flag) & ~(1u << lane)) | std::uint32_t(out) << lane;
    }
    return i + 1;
}

template <typename T>
Handler carry_of(CarryForm form) {
    switch (form) {
        case CarryForm::sum:
            return carry<T, CarryForm::sum>;
        case CarryForm::difference:
            return carry<T, CarryForm::difference>;
        case CarryForm::low_product:
            return carry<T, CarryForm::low_product>;
        case CarryForm::high_product:
            return carry<T, CarryForm::high_product>;
    }
    return nullptr;
}

// Element `k` of a register that holds elements of `bits` bits.
std::int32_t element(std::uint32_t word, unsigned k, unsigned bits, bool sign) {
    const std::uint32_t top = word << (32 - bits - k * bits);
    return sign ? std::int32_t(top) >> (32 - bits) : std::int32_t(top >> (32 - bits));
}

template <bool four, bool high, bool a_signed, bool b_signed>
const Instruction* dot_product(const Instruction* i, Warp& w) {
    return each_lane<decltype([](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
                         constexpr unsigned count = four ? 4 : 2;
                         for (unsigned k = 0; k < count; ++k)
                             c += std::uint32_t(element(a, k, 32 / count, a_signed)) *
                                  std::uint32_t(element(b, high ? k + 2 : k, 8, b_signed));
                         return c;
                     }),
                     std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(i, w);
}

template <unsigned elements, bool sign, bool adds>
const Instruction* absolute_difference(const Instruction* i, Warp& w) {
    return each_lane<decltype([](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
                         constexpr unsigned bits = 32 / elements;
                         std::uint32_t result = adds ? c : 0;
                         for (unsigned k = 0; k < elements; ++k) {
                             const auto difference = std::uint32_t(
                                 std::abs(element(a, k, bits, sign) - element(b, k, bits, sign)));
                             result += adds ? difference : difference << k * bits;
                         }
                         return result;
                     }),
                     std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(i, w);
}

template <Space space>
const Instruction* test_space(const Instruction* i, Warp& w) {
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        const auto address = w.get<std::uint64_t>(i->operands[1], lane);
        const bool shared = address - shared_window < window_size;
        const bool local = address - local_window < window_size;
        const bool own = shared && shared_place(*w.block, address).block == w.block;
        const bool holds = space == Space::shared    ? own
                           : space == Space::cluster ? shared
                           : space == Space::local   ? local
                                                     : !shared && !local;
        result |= std::uint32_t(holds) << lane;
    }
    w.predicate(i->operands[0]) = result;
    return i + 1;
}

}  // namespace

Handler carry_lanes(Operation operation, Type type) {
    const CarryForm form = carry_form(operation);
    switch (type) {
        case Type::u32:
            return carry_of<std::uint32_t>(form);
        case Type::s32:
            return carry_of<std::int32_t>(form);
        case Type::u64:
            return carry_of<std::uint64_t>(form);
        case Type::s64:
            return carry_of<std::int64_t>(form);
        default:
            return nullptr;
    }
}

Handler dot_product_lanes(Operation operation, bool a_signed, bool b_signed) {
    static constexpr Handler of_four[] = {
        dot_product<true, false, false, false>, dot_product<true, false, true, false>,
        dot_product<true, false, false, true>, dot_product<true, false, true, true>};
    static constexpr Handler of_two[] = {
        dot_product<false, false, false, false>, dot_product<false, false, true, false>,
        dot_product<false, false, false, true>,  dot_product<false, false, true, true>,
        dot_product<false, true, false, false>,  dot_product<false, true, true, false>,
        dot_product<false, true, false, true>,   dot_product<false, true, true, true>};
    const unsigned types = unsigned(a_signed) | unsigned(b_signed) << 1;
    if (operation == Operation::dp4a) return of_four[types];
    return of_two[types | unsigned(operation == Operation::dp2a_hi) << 2];
}

Handler absolute_difference_lanes(Operation operation, bool is_signed, bool adds) {
    if (operation == Operation::vabsdiff2)
        return is_signed ? (adds ? absolute_difference<2, true, true>
                                 : absolute_difference<2, true, false>)
                         : (adds ? absolute_difference<2, false, true>
                                 : absolute_difference<2, false, false>);
    return is_signed
               ? (adds ? absolute_difference<4, true, true> : absolute_difference<4, true, false>)
               : (adds ? absolute_difference<4, false, true>
                       : absolute_difference<4, false, false>);
}

Handler space_test(Space space) {
    switch (space) {
        case Space::shared:
            return test_space<Space::shared>;
        case Space::cluster:
            return test_space<Space::cluster>;
        case Space::local:
            return test_space<Space::local>;
        case Space::global:
            return test_space<Space::global>;
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator
