#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emulator/fast_paths/alike/likeness.h"
#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// What the blocks of a launch do alike, by statement: see BlockLikeness.
///
/// A branch is known if every thread decides it as the thread of the same index in any other block:
/// its predicate depends on arguments, dimensions and the thread's index alone. Between an unknown
/// branch and its join nothing is certain. A thread executes all that is certain in every block in
/// the same order, and with equal values where these are known.
struct StatementLikeness {
    std::string obstacle;  ///< see BlockLikeness::obstacle
    struct At {
        BlockLikeness::Access access;
        BlockLikeness::Action action = BlockLikeness::Action::skip;
        bool loads_before_join = false;
        /// For a branch that is not known: the basic block of its join.
        std::uint32_t join = ControlFlow::no_block;
    };
    std::vector<At> statements;
    std::vector<std::string> parameters;  ///< parameters on which addresses or branches depend
};

StatementLikeness analyse_likeness(const KernelSyntax& kernel, const ControlFlow& flow,
                                   const Uniformity& uniformity);

}  // namespace warpscope::emulator
