// atom and red, lane by lane in ascending order, and reductions by asynchronous copies. Blocks run
// on several host threads, so each update is an atomic operation of the host.
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
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
    if constexpr ((op == AtomicOp::min || op == AtomicOp::max) && std::is_class_v<T>)
        if (std::isnan(double(old))) return b;
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

/// Returns the old bits at `at`.
template <AtomicOp op, typename T>
auto update(std::byte* at, T b, T c = {}) {
    using Bits =
        std::conditional_t<sizeof(T) == 8, std::uint64_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
    std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(at));
    Bits old = cell.load();
    while (!cell.compare_exchange_weak(
        old, std::bit_cast<Bits>(updated<op, T>(std::bit_cast<T>(old), b, c)))) {
    }
    return old;
}

template <AtomicOp op, typename T>
const Instruction* atomic(const Instruction* i, Warp& w) {
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const T c = op == AtomicOp::cas ? w.get<T>(i->operands[3], lane) : T{};
        const auto old =
            update<op, T>(atomic_target(i, w, lane, sizeof(T)), w.get<T>(i->operands[2], lane), c);
        if (!i->operands[0]) continue;
        w.set<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(i->operands[0],
                                                                                lane, old);
    }
    return w.cost_point(i, i + 1);
}

template <AtomicOp op, typename T>
void join(std::byte* to, const std::byte* from, std::uint32_t bytes) {
    for (std::uint32_t done = 0; done < bytes; done += sizeof(T)) {
        T value;
        std::memcpy(&value, from + done, sizeof(T));
        update<op, T>(to + done, value);
    }
}

/// The functions of an operation, for atomics and for copies; null where PTX does not have it.
struct AtomicForm {
    Handler handler = nullptr;
    AsyncCopy::Join join = nullptr;
};

template <AtomicOp op, typename T>
AtomicForm form_of(bool exists = true) {
    if (!exists) return {};
    return {atomic<op, T>, join<op, T>};
}

template <AtomicOp op>
AtomicForm by_type(Type type) {
    constexpr bool bitwise = op == AtomicOp::and_ || op == AtomicOp::or_ || op == AtomicOp::xor_;
    constexpr bool counter = op == AtomicOp::inc || op == AtomicOp::dec;
    constexpr bool moves = op == AtomicOp::exch || op == AtomicOp::cas;
    constexpr bool sums = op == AtomicOp::add;
    constexpr bool selects = op == AtomicOp::min || op == AtomicOp::max;
    switch (type) {
        case Type::u32:
            return form_of<op, std::uint32_t>(!bitwise && !moves);
        case Type::b32:
            return form_of<op, std::uint32_t>(bitwise || moves);
        case Type::s32:
            return form_of<op, std::int32_t>(!bitwise && !moves && !counter);
        case Type::u64:
            return form_of<op, std::uint64_t>(!bitwise && !moves && !counter);
        case Type::b64:
            return form_of<op, std::uint64_t>(bitwise || moves);
        case Type::s64:
            return form_of<op, std::int64_t>(!bitwise && !moves && !counter);
        case Type::b16:
            if constexpr (op == AtomicOp::cas) return {atomic<op, std::uint16_t>};
            return {};
        case Type::f16:
            if constexpr (sums) return form_of<op, Half>();
            if constexpr (selects) return {nullptr, join<op, Half>};
            return {};
        case Type::f16x2:
            if constexpr (sums) return {atomic<op, Pair<Half>>};
            return {};
        case Type::bf16:
            if constexpr (sums) return form_of<op, Bfloat>();
            if constexpr (selects) return {nullptr, join<op, Bfloat>};
            return {};
        case Type::bf16x2:
            if constexpr (sums) return {atomic<op, Pair<Bfloat>>};
            return {};
        case Type::f32:
            if constexpr (sums) return form_of<op, float>();
            return {};
        case Type::f64:
            if constexpr (sums) return form_of<op, double>();
            return {};
        default:
            return {};
    }
}

AtomicForm form_of(AtomicOp op, Type type) {
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
    return {};
}

}  // namespace

Handler atomic_handler(AtomicOp op, Type type) {
    return form_of(op, type).handler;
}

AsyncCopy::Join reduction(AtomicOp op, Type type) {
    return op == AtomicOp::exch || op == AtomicOp::cas ? nullptr : form_of(op, type).join;
}

}  // namespace warpscope::emulator
