#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulator/handlers/handlers_integer.cpp"
#include <hwy/foreach_target.h>

#include "emulator/handlers/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpscope::emulator::HWY_NAMESPACE {
namespace {

template <typename Result, typename Argument = Result>
struct Integer {
    using R = Result;
    using A = Argument;
};

#define WARPSCOPE_BINARY(Name, Function)             \
    template <typename T>                            \
    struct Name : Integer<T> {                       \
        template <class D, class V>                  \
        HWY_INLINE V operator()(D, V a, V b) const { \
            return Function(a, b);                   \
        }                                            \
    };
WARPSCOPE_BINARY(Add, hn::Add)
WARPSCOPE_BINARY(Sub, hn::Sub)
WARPSCOPE_BINARY(MulLo, hn::Mul)
WARPSCOPE_BINARY(And, hn::And)
WARPSCOPE_BINARY(Or, hn::Or)
WARPSCOPE_BINARY(Xor, hn::Xor)
WARPSCOPE_BINARY(Min, hn::Min)
WARPSCOPE_BINARY(Max, hn::Max)
#undef WARPSCOPE_BINARY

struct Not : Integer<std::uint32_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a) const {
        return hn::Not(a);
    }
};
struct Neg : Integer<std::int32_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a) const {
        return hn::Sub(hn::Zero(d), a);
    }
};
struct Abs : Integer<std::int32_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a) const {
        return hn::Abs(a);
    }
};
struct MadLo : Integer<std::uint32_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D, V a, V b, V c) const {
        return hn::Add(hn::Mul(a, b), c);
    }
};

// Shift amounts are unsigned 32-bit values clamped to the width (PTX ISA, shl and shr).
struct Shl32 : Integer<std::uint32_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V n) const {
        const auto in_range = hn::Lt(n, hn::Set(d, 32u));
        return hn::IfThenElseZero(in_range, hn::Shl(a, hn::IfThenElseZero(in_range, n)));
    }
};
struct ShrU32 : Integer<std::uint32_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V n) const {
        const auto in_range = hn::Lt(n, hn::Set(d, 32u));
        return hn::IfThenElseZero(in_range, hn::Shr(a, hn::IfThenElseZero(in_range, n)));
    }
};
struct ShrS32 : Integer<std::int32_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V n) const {
        const hn::RebindToUnsigned<D> du;
        const auto clamped = hn::Min(hn::BitCast(du, n), hn::Set(du, 31u));
        return hn::Shr(a, hn::BitCast(d, clamped));
    }
};
// The shift amount has 32 bits in PTX. Only a uniform amount can be read as a 64-bit operand.
template <bool left>
struct Shift64 : Integer<std::uint64_t, std::uint64_t> {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V a, V n) const {
        const auto amount = hn::And(n, hn::Set(d, 0xFFFFFFFFull));
        const auto in_range = hn::Lt(amount, hn::Set(d, 64ull));
        const auto safe = hn::IfThenElseZero(in_range, amount);
        return hn::IfThenElseZero(in_range, left ? hn::Shl(a, safe) : hn::Shr(a, safe));
    }
};

// The 64-bit product of two 32-bit registers.
template <typename Result, typename Argument>
struct MulWide : Integer<Result, Argument> {
    template <class D, class V>
    HWY_INLINE hn::Vec<D> operator()(D d, V a, V b) const {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
        return hn::Mul(hn::PromoteTo(d, a), hn::PromoteTo(d, b));
#else
        const hn::Repartition<Argument, D> d32;
        // MulEven takes the even lanes, which is where widening to 64 bits puts the values.
        return hn::MulEven(hn::BitCast(d32, hn::PromoteTo(d, a)),
                           hn::BitCast(d32, hn::PromoteTo(d, b)));
#endif
    }
    template <class D, class V>
    HWY_INLINE hn::Vec<D> operator()(D d, V a, V b, hn::Vec<D> c) const {
        return hn::Add((*this)(d, a, b), c);
    }
};

template <class Op>
Handler shift_handler(OperandKinds kinds) {
    if (kinds.uniform_result) return binary_scalar<Op>;
    if (!(kinds.uniform_sources & 2)) return nullptr;
    return kinds.uniform_sources & 1 ? binary<Op, true, true> : binary<Op, false, true>;
}

Handler arithmetic_of_32_bits(Operation operation, bool is_signed, OperandKinds kinds) {
    switch (operation) {
        case Operation::add:
            return binary_handler<Add<std::uint32_t>>(kinds);
        case Operation::sub:
            return binary_handler<Sub<std::uint32_t>>(kinds);
        case Operation::mul_lo:
            return binary_handler<MulLo<std::uint32_t>>(kinds);
        case Operation::mad_lo:
            return ternary_handler<MadLo>(kinds);
        case Operation::min:
            return is_signed ? binary_handler<Min<std::int32_t>>(kinds)
                             : binary_handler<Min<std::uint32_t>>(kinds);
        case Operation::max:
            return is_signed ? binary_handler<Max<std::int32_t>>(kinds)
                             : binary_handler<Max<std::uint32_t>>(kinds);
        case Operation::neg:
            return is_signed ? unary_handler<Neg>(kinds) : nullptr;
        case Operation::abs:
            return is_signed ? unary_handler<Abs>(kinds) : nullptr;
        case Operation::mul_wide:
            return is_signed ? binary_handler<MulWide<std::int64_t, std::int32_t>>(kinds)
                             : binary_handler<MulWide<std::uint64_t, std::uint32_t>>(kinds);
        case Operation::mad_wide:
            return is_signed ? ternary_handler<MulWide<std::int64_t, std::int32_t>>(kinds)
                             : ternary_handler<MulWide<std::uint64_t, std::uint32_t>>(kinds);
        case Operation::shr:
            return is_signed ? binary_handler<ShrS32>(kinds) : binary_handler<ShrU32>(kinds);
        default:
            return nullptr;
    }
}

Handler logic_of_32_bits(Operation operation, OperandKinds kinds) {
    switch (operation) {
        case Operation::and_:
            return binary_handler<And<std::uint32_t>>(kinds);
        case Operation::or_:
            return binary_handler<Or<std::uint32_t>>(kinds);
        case Operation::xor_:
            return binary_handler<Xor<std::uint32_t>>(kinds);
        case Operation::not_:
            return unary_handler<Not>(kinds);
        case Operation::shl:
            return binary_handler<Shl32>(kinds);
        case Operation::shr:
            return binary_handler<ShrU32>(kinds);
        default:
            return nullptr;
    }
}

Handler arithmetic_of_64_bits(Operation operation, bool is_signed, OperandKinds kinds) {
    switch (operation) {
        case Operation::add:
            return binary_handler<Add<std::uint64_t>>(kinds);
        case Operation::sub:
            return binary_handler<Sub<std::uint64_t>>(kinds);
        case Operation::shr:
            return is_signed ? nullptr : shift_handler<Shift64<false>>(kinds);
        default:
            return nullptr;
    }
}

Handler logic_of_64_bits(Operation operation, OperandKinds kinds) {
    switch (operation) {
        case Operation::and_:
            return binary_handler<And<std::uint64_t>>(kinds);
        case Operation::or_:
            return binary_handler<Or<std::uint64_t>>(kinds);
        case Operation::xor_:
            return binary_handler<Xor<std::uint64_t>>(kinds);
        case Operation::shl:
            return shift_handler<Shift64<true>>(kinds);
        case Operation::shr:
            return shift_handler<Shift64<false>>(kinds);
        default:
            return nullptr;
    }
}

}  // namespace

Handler find_integer_handler(Operation operation, Type type, OperandKinds kinds) {
    switch (type) {
        case Type::u32:
        case Type::s32:
            return arithmetic_of_32_bits(operation, is_signed(type), kinds);
        case Type::b32:
            return logic_of_32_bits(operation, kinds);
        case Type::u64:
        case Type::s64:
            return arithmetic_of_64_bits(operation, is_signed(type), kinds);
        case Type::b64:
            return logic_of_64_bits(operation, kinds);
        default:
            return nullptr;
    }
}

}  // namespace warpscope::emulator::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpscope::emulator {
HWY_EXPORT(find_integer_handler);
Handler integer_handler(Operation operation, Type type, OperandKinds kinds) {
    return HWY_DYNAMIC_DISPATCH(find_integer_handler)(operation, type, kinds);
}
}  // namespace warpscope::emulator
#endif
