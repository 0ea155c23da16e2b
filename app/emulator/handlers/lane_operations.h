#pragma once

#include <string_view>

#include "emulator/handlers/half.h"
#include "emulator/handlers/handlers.h"

// Operations that run lane by lane. Like the SIMD handlers, each writes all lanes, or the one value
// of a uniform result. A function returns nullptr where PTX, or the emulator, does not have the
// operation.
namespace warpscope::emulator {

/// Operand 0 is the result; the sources follow as in PTX.
Handler arithmetic_lanes(Operation operation, Type type);  ///< for types without a SIMD handler
Handler saturating_lanes(const Arithmetic& arithmetic);    ///< .sat of s32 and f32
Handler half_lanes(const Arithmetic& arithmetic);          ///< f16, bf16 and pairs of them
Handler predicate_handler(Operation operation);            ///< and, or, xor, not, mov of predicates

Handler compare_lanes(Comparison comparison, Type type);
/// Compares f16 or bf16 values; `high`: those in the upper halves of pairs.
Handler compare_halves(Comparison comparison, Type type, bool flushes, bool high);
/// min and max with modifiers, as Instruction::detail holds them.
struct Extremum {
    bool is_max = false, flushes = false;
    bool keeps_nan = false;       ///< .NaN: the result is NaN if an operand is
    bool ignores_signs = false;   ///< .abs
    bool combines_signs = false;  ///< .xorsign: the result is negative if one of two operands is
    std::uint8_t sources = 2;

    Extremum() = default;
    explicit Extremum(std::uint16_t detail)
        : is_max(detail & 1),
          flushes(detail & 2),
          keeps_nan(detail & 4),
          ignores_signs(detail & 8),
          combines_signs(detail & 16),
          sources(std::uint8_t(detail >> 5)) {}
    std::uint16_t encoded() const {
        return std::uint16_t(is_max | flushes << 1 | keeps_nan << 2 | ignores_signs << 3 |
                             combines_signs << 4 | sources << 5);
    }
};
Handler extremum_lanes(Type type);  ///< of 16 or 32 bits
/// testp: "finite", "infinite", "number", "notanumber", "normal", "subnormal".
Handler test_lanes(std::string_view test, Type type);
/// set: 1.0f (`float_result`) or -1 where predicate operand 1 holds, else 0; a 32-bit register.
Handler set_lanes(bool float_result);
/// set of pairs: the immediate's 16 bits into the lower half where predicate operand 1 holds, into
/// the upper half where operand 2 holds.
const Instruction* set_halves(const Instruction* i, Warp& w);

Handler conversion_lanes(const Conversion& conversion);
/// cvt of two f32 values to a pair: operand 1 goes into the upper half.
Handler pair_conversion(const Conversion& conversion);

const Instruction* predicate_and(const Instruction* i, Warp& w);
const Instruction* predicate_or(const Instruction* i, Warp& w);
const Instruction* predicate_xor(const Instruction* i, Warp& w);
const Instruction* predicate_not(const Instruction* i, Warp& w);
const Instruction* predicate_move(const Instruction* i, Warp& w);

/// add.cc, addc and so on: the last operand is CC.CF, a predicate. Honours the mask. detail: bit 0
/// reads the carry, bit 1 writes it. Types of 32 and 64 bits.
Handler carry_lanes(Operation operation, Type type);

/// dp4a, dp2a.lo, dp2a.hi of signed or unsigned 8- and 16-bit elements.
Handler dot_product_lanes(Operation operation, bool a_signed, bool b_signed);
/// vabsdiff2 and vabsdiff4: the differences of the elements; with `adds`, their sum plus operand c.
Handler absolute_difference_lanes(Operation operation, bool is_signed, bool adds);

/// isspacep: whether a generic address is one of shared, local or global memory.
Handler space_test(Space space);

const Instruction* lop3_lanes(const Instruction* i, Warp& w);  ///< immediate: the truth table
const Instruction* pack_32(const Instruction* i, Warp& w);     ///< b64 from {low, high}
const Instruction* pack_16(const Instruction* i, Warp& w);     ///< b32 from {low, high}
const Instruction* pack_4x16(const Instruction* i, Warp& w);   ///< b64 from four
const Instruction* unpack_32(const Instruction* i, Warp& w);   ///< {low, high} from b64, operand 2
const Instruction* unpack_16(const Instruction* i, Warp& w);   ///< {low, high} from b32, operand 2

}  // namespace warpscope::emulator
