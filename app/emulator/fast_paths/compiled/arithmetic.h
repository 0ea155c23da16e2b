#pragma once

#include "emulator/fast_paths/llvm/ir.h"
#include "emulator/program/instruction.h"

namespace warpscope::emulator {

/// Writes the arithmetic of one instruction, with the results of app/emulator/handlers bit for bit:
/// both are made from handlers/operations.def and handlers/meanings.inc.
struct Arithmetics {
    Ir& ir;
    bool has_fma;  ///< the CPU has a fused multiply-add; else llvm.fma calls fmaf() for each lane
    bool flushes;  ///< the kernel runs with the CPU's flush mode on

    /// The result, of the instruction's type, from its sources in their types: see operand_type().
    using Make = LlvmValue (*)(const Arithmetics&, const Instruction&, const LlvmValue* sources);
};

/// How to compile an instruction that computes; nullptr where it is left to the interpreter.
Arithmetics::Make find_arithmetic(const Instruction& i);

/// The type of operand `k` of an instruction that computes (0: the result).
Type operand_type(const Instruction& i, unsigned k);
/// The number of sources of an instruction that computes.
unsigned source_count(const Instruction& i);

}  // namespace warpscope::emulator
