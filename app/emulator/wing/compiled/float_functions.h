#pragma once

#include "emulator/wing/compiled/arithmetic.h"

// Operations on floats that take more than one instruction of LLVM IR. Each is the function of its
// name in app/emulator/handlers/handlers_float.cpp or handlers_convert.cpp, with equal results.
namespace warpscope::emulator {

LlvmValue square_root(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue reciprocal(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue reciprocal_root(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue float_negated(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue float_absolute(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue float_smaller(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue float_larger(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue sine(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue cosine(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue power_of_two(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);

LlvmValue integer_from_integer(const Arithmetics& m, const Instruction& i,
                               const LlvmValue* sources);
LlvmValue float_from_integer(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue integer_from_float(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);
LlvmValue nearest_integer_from_float(const Arithmetics& m, const Instruction& i,
                                     const LlvmValue* sources);
LlvmValue nearest_whole(const Arithmetics& m, const Instruction& i, const LlvmValue* sources);

}  // namespace warpscope::emulator
