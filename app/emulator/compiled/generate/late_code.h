#pragma once

#include <atomic>
#include <cstdint>

#include "emulator/program/instruction.h"

namespace warpscope::emulator {

struct FunctionContext;

/// Code that may be compiled later.
struct LateCode {
    /// By Instruction::entry. Null: the interpreter runs.
    std::atomic<const Handler*> handlers = nullptr;
    std::atomic<std::uint64_t> missed = 0;  ///< times that the interpreter ran

    /// Writes the rest of a function that goes to this code, or to the kernel's own handlers.
    void write_call(const FunctionContext& function);
};

}  // namespace warpscope::emulator
