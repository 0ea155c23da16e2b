#pragma once

#include <cstddef>
#include <vector>

#include "compute/emulated/block_trace.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// A row for each snapshot with the first `elements` floats of a block's shared memory. Thread
/// `threads_per_element` * i wrote element i.
std::vector<Tree::Row> tree_rows(const std::vector<compute::BarrierSnapshot>& snapshots,
                                 std::size_t elements, unsigned threads_per_element = 1);

}  // namespace warpscope::experiments
