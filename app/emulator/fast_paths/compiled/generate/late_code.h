#pragma once

#include <atomic>
#include <cstdint>

#include "emulator/program/instruction.h"

namespace warpscope::emulator {

/// Code that may be compiled later.
struct LateCode {
    /// The handlers, by Instruction::entry. Null: the interpreter runs.
    std::atomic<const Handler*> handlers = nullptr;
    std::atomic<std::uint64_t> missed = 0;  ///< times that the interpreter ran
};

}  // namespace warpscope::emulator
