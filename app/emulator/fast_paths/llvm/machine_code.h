#pragma once

#include <memory>
#include <string>

#include "emulator/fast_paths/llvm/ir.h"
#include "emulator/fast_paths/llvm/llvm.h"
#include "emulator/program/instruction.h"

namespace warpscope::emulator {

/// The CPU that code is written for.
struct CodeTarget {
    static CodeTarget of(const Llvm& llvm, InstructionSet set);
    /// The attributes of functions. `flushes`: they run with the CPU's flush mode on.
    Ir::Attributes attributes(bool flushes) const;

    std::string triple, cpu, features;
    unsigned lanes = 4;  ///< of a vector of 32-bit elements
    bool has_fma = false;
};

/// A function as machine code.
struct MachineCode {
    /// Compiles the module of `ir`, which gives it away, for this function, which has the type of
    /// a Handler. Throws Error.
    static MachineCode of(Ir& ir, const CodeTarget& target, const char* function);

    Handler handler = nullptr;     ///< null: LLVM does not compile the function
    std::shared_ptr<void> engine;  ///< LLVM's; owns the machine code
};

}  // namespace warpscope::emulator
