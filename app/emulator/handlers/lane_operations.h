#pragma once

#include <string_view>

#include "emulator/handlers/half.h"
#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

// Operations without SIMD handlers, lane by lane. Each writes all lanes (or the one of a uniform
// result), as the SIMD handlers do. nullptr: PTX, or the emulator, has no such operation.

// Integer arithmetic and logic by PTX opcode, such as "mul.hi", "bfe", "popc"; operand 0 the
// result, then the sources as in PTX.
Handler integer_lanes(std::string_view operation, Type type);
// Float arithmetic of both widths: "div", "sqrt", "rcp", "min", "copysign"; "add.sat", …
Handler float_lanes(std::string_view operation, Type type);

// f16, or with `packed` f16x2: "add", "sub", "mul", "fma", "neg", "abs", "ex2", "tanh".
Handler half_lanes(std::string_view operation, bool packed, bool flushes, bool saturates);

// setp: "eq" … "geu", "num", "nan", by type. Operand 0 is a predicate.
Handler compare_lanes(std::string_view comparison, Type type);
// The same of f16; `high`: of the upper halves of f16x2.
Handler compare_halves(std::string_view comparison, bool flushes, bool high);
// testp: "finite", "infinite", "number", "notanumber", "normal", "subnormal".
Handler test_lanes(std::string_view test, Type type);
// set: 1.0 or -1 for true, 0 for false, into a 32-bit register.
Handler set_lanes(bool float_result);
// set: the immediate's 16 bits into the lower half where operand 1 holds, into the upper one where
// operand 2 does, both predicates.
const Instruction* set_halves(const Instruction* i, Warp& w);

struct Conversion {
    Type to = Type::b32, from = Type::b32;
    Rounding rounding = Rounding::none;
    bool to_integral = false;  // .rni, .rzi, .rmi, .rpi: round to a whole number
    bool saturate = false;
};
Handler conversion_lanes(const Conversion& conversion);  // its detail: encode_rounding()
std::uint16_t encode_rounding(const Conversion& conversion);

const Instruction* predicate_and(const Instruction* i, Warp& w);
const Instruction* predicate_or(const Instruction* i, Warp& w);
const Instruction* predicate_xor(const Instruction* i, Warp& w);
const Instruction* predicate_not(const Instruction* i, Warp& w);
const Instruction* predicate_move(const Instruction* i, Warp& w);

// add.cc, addc, … (PTX ISA 9.7.2): sums that leave or take a carry, the last operand, a predicate.
// Honour the mask. nullptr where the type is not one of 32 or 64 bits.
struct CarryOperation {
    enum Kind : std::uint8_t { add, sub, mad_lo, mad_hi } kind = add;
    bool takes = false;   // addc
    bool leaves = false;  // .cc
};
Handler carry_lanes(const CarryOperation& operation, Type type);

// dp4a, and dp2a of the lower or upper two bytes of b; 8- and 16-bit elements, signed or not.
Handler dot_product_lanes(bool four, bool high, bool a_signed, bool b_signed);
// vabsdiff2 and vabsdiff4: differences of each half or byte, or with `adds` their sum plus c.
Handler absolute_difference_lanes(unsigned elements, bool sign, bool adds);

// isspacep: whether a generic address is one of shared, local or global memory.
Handler space_test(Space space);

const Instruction* lop3_lanes(const Instruction* i, Warp& w);  // immediate: the truth table
const Instruction* pack_32(const Instruction* i, Warp& w);     // b64 from {lo, hi}
const Instruction* pack_16(const Instruction* i, Warp& w);     // b32 from {lo, hi}
const Instruction* pack_4x16(const Instruction* i, Warp& w);   // b64 from four
const Instruction* unpack_32(const Instruction* i, Warp& w);   // {lo, hi} from b64, operand 2
const Instruction* unpack_16(const Instruction* i, Warp& w);   // {lo, hi} from b32, operand 2

}  // namespace warpscope::emulator
