#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// By index into Kernel::code: one thread can execute the instruction after instruction `from`, in
/// the same epoch.
std::vector<bool> reached_in_epoch(const Kernel& kernel, std::uint32_t from);

/// As reached_in_epoch, in any epoch.
std::vector<bool> reached_in_launch(const Kernel& kernel, std::uint32_t from);

/// As reached_in_epoch, on paths that do not pass an instruction for which `ends` is true.
std::vector<bool> reached_from(const Kernel& kernel, std::uint32_t from,
                               const std::function<bool(std::uint32_t)>& ends);

/// A barrier at which all threads of the block wait.
bool is_full_barrier(const Instruction& instruction);

/// Whether both instructions stand in a loop that lanes of a warp may leave after different numbers
/// of passes. No barrier for all threads may stand in it (CUDA C++ Programming Guide,
/// "Synchronization Functions").
bool share_uneven_loop(const Kernel& kernel, std::uint32_t first, std::uint32_t second);

/// True for a load that a thread repeats in one epoch until its value lets the thread go on:
/// `while (*flag == 0) {}`. The value decides a branch that leaves the loop.
bool is_polled(const Kernel& kernel, std::uint32_t load);

/// True where another instruction reads a result of this one.
bool is_result_used(const Kernel& kernel, std::uint32_t pc);

/// True where a comparison reads a result of this instruction, or what is computed of it.
bool is_result_compared(const Kernel& kernel, std::uint32_t pc);

/// By pc: a store whose address does not depend on the index of the block, so that each block
/// stores to the words of the others.
std::vector<bool> stores_of_all_blocks(const Kernel& kernel);

/// By pc: a plain load whose value an atomicCAS() of the word expects. `old = *p` stands so before
/// the usual loop, as in the CUDA C++ Programming Guide's atomicAdd() of doubles. An old value does
/// no harm: the compare-and-swap fails, and returns the newest one.
std::vector<bool> loads_that_guess(const Kernel& kernel);

/// True where a store changes the word that the load has read: `++*counter`. Both have one address
/// operand, and the stored value is computed of the loaded one, without a branch between. Threads
/// that do so at one time lose all changes but one. Not for `|=`, `&=`, min and max: threads that
/// store equal values there lose nothing.
bool is_update(const Kernel& kernel, std::uint32_t load, std::uint32_t store);

/// True where the value of the load decides whether the store overwrites the word that it has read,
/// in one line: `if (x > *most) *most = x`.
bool decides_store(const Kernel& kernel, std::uint32_t load, std::uint32_t store);

}  // namespace warpscope::emulator
