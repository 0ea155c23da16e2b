#pragma once

#include <string_view>

#include "emulator/handlers.h"

namespace warpscope::emulator {

// Operations without SIMD handlers, lane by lane. Each writes all lanes (or the one of a uniform
// result), as the SIMD handlers do. nullptr: PTX, or the emulator, has no such operation.

// Integer arithmetic and logic by PTX opcode, such as "mul.hi", "bfe", "popc"; operand 0 the
// result, then the sources as in PTX.
Handler integer_lanes(std::string_view operation, Type type);
// Float arithmetic of both widths: "div", "sqrt", "rcp", "min", "copysign"; "add.sat", …
Handler float_lanes(std::string_view operation, Type type);

// setp: "eq" … "geu", "num", "nan", by type. Operand 0 is a predicate.
Handler compare_lanes(std::string_view comparison, Type type);
// testp: "finite", "infinite", "number", "notanumber", "normal", "subnormal".
Handler test_lanes(std::string_view test, Type type);
// set: 1.0 or -1 for true, 0 for false, into a 32-bit register.
Handler set_lanes(bool float_result);

enum class Rounding : uint8_t { none, nearest, zero, down, up };
struct Conversion {
    Type to = Type::b32, from = Type::b32;
    Rounding rounding = Rounding::none;
    bool to_integral = false;  // .rni, .rzi, .rmi, .rpi: round to a whole number
    bool saturate = false;
};
Handler conversion_lanes(const Conversion& conversion);  // its detail: encode_rounding()
uint16_t encode_rounding(const Conversion& conversion);

const Instruction* predicate_and(const Instruction* i, Warp& w);
const Instruction* predicate_or(const Instruction* i, Warp& w);
const Instruction* predicate_xor(const Instruction* i, Warp& w);
const Instruction* predicate_not(const Instruction* i, Warp& w);
const Instruction* predicate_move(const Instruction* i, Warp& w);

const Instruction* lop3_lanes(const Instruction* i, Warp& w);  // immediate: the truth table
const Instruction* pack_32(const Instruction* i, Warp& w);     // b64 from {lo, hi}
const Instruction* pack_16(const Instruction* i, Warp& w);     // b32 from {lo, hi}
const Instruction* pack_4x16(const Instruction* i, Warp& w);   // b64 from four
const Instruction* unpack_32(const Instruction* i, Warp& w);   // {lo, hi} from b64, operand 2
const Instruction* unpack_16(const Instruction* i, Warp& w);   // {lo, hi} from b32, operand 2

}  // namespace warpscope::emulator
