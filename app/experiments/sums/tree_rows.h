#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compute/emulated/block_trace.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// The rows of a tree of the first `elements` floats of a block's shared memory. Thread
/// `threads_per_element` * i writes element i. There is a row for each barrier; where barriers are
/// missing, for each pass: the threads' first stores, their second stores, and so on.
std::vector<Tree::Row> tree_rows(const compute::BlockTrace& trace, std::size_t elements,
                                 unsigned threads_per_element = 1);

/// Says that the rows are passes and not barriers; empty where they are barriers.
std::string remark_on(const std::vector<Tree::Row>& rows);

}  // namespace warpscope::experiments
