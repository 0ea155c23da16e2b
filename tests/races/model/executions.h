#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "program.h"

/// The executions of a small program that the PTX memory model allows: all of them, one by one, by
/// the definitions and axioms of the PTX ISA's chapter "Memory Consistency Model". Section numbers
/// in comments are of that chapter.
namespace warpscope::tests::memory_model {

/// Two operations in a data-race, as indices into Program::operations, the lower one first.
using Race = std::pair<unsigned, unsigned>;

/// The races of all allowed executions.
std::set<Race> races_of(const Program& program);

/// Whether an execution is allowed that ends with these values of registers and words: "r0=1 x=2".
bool is_allowed(const Program& program, const std::string& outcome);

/// The execution in which operations happen one after the other, each of those that are executed.
struct Replayed {
    bool is_allowed = false;
    std::set<Race> races;
    std::vector<std::uint32_t> registers;
};
Replayed replay(const Program& program, const std::vector<unsigned>& operations);

}  // namespace warpscope::tests::memory_model
