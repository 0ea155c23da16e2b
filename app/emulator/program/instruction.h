#pragma once

#include <cstdint>

namespace warpscope::emulator {

struct Instruction;
class Warp;

// Executes one instruction for the current split of a warp and returns the next one, or nullptr
// when the split can't go on in this turn.
using Handler = const Instruction* (*)(const Instruction*, Warp&);

// A decoded instruction: one cache line. Text and source line lie in Kernel::lines beside it.
//
// An operand is the byte offset of a slot in the warp's register file; its lowest bit says that the
// slot is warp-uniform (one 8-byte value) instead of 32 lanes. Immediates are uniform slots too.
struct alignas(64) Instruction {
    enum Mode : uint32_t { full, masked };
    // What an observer can be told of it; a guard has the events of what it guards.
    enum Event : uint8_t {
        executes = 1,
        shared_access = 2,  // a generic address has both: where it lies, only the lanes know
        global_access = 4,
        warp_sync = 8,
        guards = 16,         // a prefix of what it has the events of
        uniform_shared = 32  // beside shared_access: all lanes have one narrow address
    };

    Handler handlers[2];   // by Mode: all lanes; only the lanes of the mask
    uint32_t operands[6];  // destinations first, then sources, as in the PTX text
    int64_t immediate;     // address offset, or what else the handler knows
    uint32_t target;       // index of the branch target; elsewhere a detail of the handler
    uint16_t cost;         // at a checkpoint: PTX instructions since the one before
    uint16_t detail;
    uint8_t events;
};

static_assert(sizeof(Instruction) == 64);

}  // namespace warpscope::emulator
