// atom and red, lane by lane in ascending order. Blocks run on several host threads, so each update
// is an atomic operation of the host.
#include <atomic>
#include <bit>
#include <type_traits>

#include "emulator/handlers/half.h"
#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

namespace {

template <class H>
struct Pair {
    H low, high;
};

template <unsigned digits, int exponents>
auto sum(ShortFloat<digits, exponents> a, ShortFloat<digits, exponents> b) {
    return decltype(a)::of(double(a) + double(b));
}
template <class H>
Pair<H> sum(Pair<H> a, Pair<H> b) {
    return {sum(a.low, b.low), sum(a.high, b.high)};
}

template <AtomicOp op, typename T>
T updated(T old, T b, T c) {
    using U = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                          std::type_identity<T>>::type;
    if constexpr (op == AtomicOp::add && std::is_class_v<T>) return sum(old, b);
    if constexpr (op == AtomicOp::add && !std::is_class_v<T>) return T(U(old) + U(b));
    if constexpr (op == AtomicOp::min) return b < old ? b : old;
    if constexpr (op == AtomicOp::max) return b > old ? b : old;
    if constexpr (op == AtomicOp::exch) return b;
    if constexpr (op == AtomicOp::cas) return old == b ? c : old;
    if constexpr (std::is_integral_v<T>) {
        if constexpr (op == AtomicOp::and_) return old & b;
        if constexpr (op == AtomicOp::or_) return old | b;
        if constexpr (op == AtomicOp::xor_) return old ^ b;
        if constexpr (op == AtomicOp::inc) return old >= b ? T(0) : T(old + 1);
        if constexpr (op == AtomicOp::dec) return old == 0 || old > b ? b : T(old - 1);
    }
}

template <AtomicOp op, typename T>
const Instruction* atomic(const Instruction* i, Warp& w) {
    using Bits =
        std::conditional_t<sizeof(T) == 8, std::uint64_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(atomic_target(i, w, lane, sizeof(T))));
        const T b = w.get<T>(i->operands[2], lane);
        const T c = op == AtomicOp::cas ? w.get<T>(i->operands[3], lane) : T{};
        Bits old = cell.load();
        while (!cell.compare_exchange_weak(
            old, std::bit_cast<Bits>(updated<op, T>(std::bit_cast<T>(old), b, c)))) {
        }
        if (!i->operands[0]) continue;
        w.set<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(i->operands[0],
                                                                                lane, old);
    }
    return w.cost_point(i, i + 1);
}

template <AtomicOp op>
Handler by_type(Type type) {
    constexpr bool bitwise = op == AtomicOp::and_ || op == AtomicOp::or_ || op == AtomicOp::xor_;
    constexpr bool counter = op == AtomicOp::inc || op == AtomicOp::dec;
    constexpr bool moves = op == AtomicOp::exch || op == AtomicOp::cas;
    switch (type) {
        case Type::u32:
            return bitwise || moves ? nullptr : atomic<op, std::uint32_t>;
        case Type::b32:
            return bitwise || moves ? atomic<op, std::uint32_t> : nullptr;
        case Type::s32:
            return bitwise || moves || counter ? nullptr : atomic<op, std::int32_t>;
        case Type::u64:
            return bitwise || moves || counter ? nullptr : atomic<op, std::uint64_t>;
        case Type::b64:
            return bitwise || moves ? atomic<op, std::uint64_t> : nullptr;
        case Type::s64:
            return bitwise || moves || counter ? nullptr : atomic<op, std::int64_t>;
        case Type::b16:
            if constexpr (op == AtomicOp::cas) return atomic<op, std::uint16_t>;
            return nullptr;
        case Type::f16:
            if constexpr (op == AtomicOp::add) return atomic<op, Half>;
            return nullptr;
        case Type::f16x2:
            if constexpr (op == AtomicOp::add) return atomic<op, Pair<Half>>;
            return nullptr;
        case Type::bf16:
            if constexpr (op == AtomicOp::add) return atomic<op, Bfloat>;
            return nullptr;
        case Type::bf16x2:
            if constexpr (op == AtomicOp::add) return atomic<op, Pair<Bfloat>>;
            return nullptr;
        case Type::f32:
            if constexpr (op == AtomicOp::add) return atomic<op, float>;
            return nullptr;
        case Type::f64:
            if constexpr (op == AtomicOp::add) return atomic<op, double>;
            return nullptr;
        default:
            return nullptr;
    }
}

}  // namespace

Handler atomic_handler(AtomicOp op, Type type) {
    switch (op) {
        case AtomicOp::add:
            return by_type<AtomicOp::add>(type);
        case AtomicOp::min:
            return by_type<AtomicOp::min>(type);
        case AtomicOp::max:
            return by_type<AtomicOp::max>(type);
        case AtomicOp::exch:
            return by_type<AtomicOp::exch>(type);
        case AtomicOp::cas:
            return by_type<AtomicOp::cas>(type);
        case AtomicOp::and_:
            return by_type<AtomicOp::and_>(type);
        case AtomicOp::or_:
            return by_type<AtomicOp::or_>(type);
        case AtomicOp::xor_:
            return by_type<AtomicOp::xor_>(type);
        case AtomicOp::inc:
            return by_type<AtomicOp::inc>(type);
        case AtomicOp::dec:
            return by_type<AtomicOp::dec>(type);
    }
    return nullptr;
}

}  // namespace warpscope::emulator
