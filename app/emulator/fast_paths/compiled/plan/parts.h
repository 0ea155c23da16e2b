#pragma once

#include "emulator/fast_paths/compiled/plan/plan.h"

namespace warpscope::emulator {

/// Units that are compiled as one function.
struct Part {
    std::uint32_t begin = 0, end = 0;  ///< indices into CompilationPlan::units()
    unsigned effort = 0;               ///< about how long it is compiled, in steps of 20 µs
};

/// A single part of all units.
Part whole(const CompilationPlan& plan);
/// The parts that are compiled at the same time, in their order: one, or up to six if that takes
/// long. They begin at leaders outside of tight loops.
std::vector<Part> divide_into_parts(const CompilationPlan& plan);

}  // namespace warpscope::emulator
