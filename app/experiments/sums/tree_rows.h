#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compute/emulated/shared_memory_trace.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// The tree of the sum in block 0, of an array that is called `array`. Where it is empty, the sums
/// are those of warps.
Tree sum_tree(const compute::SharedMemoryTrace& trace, std::size_t threads, std::string_view array,
              std::string_view kernel);

/// Says that the rows are passes and not barriers; empty where they are barriers.
std::string remark_on(const std::vector<Tree::Row>& rows);

}  // namespace warpscope::experiments
