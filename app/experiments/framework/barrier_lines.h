#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

/// Lines, counted from 1, of the calls of __syncthreads(), cluster.sync() and cluster_sync() in a kernel source: all of them, or those
/// in the body of `function`. Comments and literals do not count. Empty if there are no calls or if
/// the function does not exist.
std::vector<int> barrier_lines(std::string_view source, std::string_view function = {});

/// "ripple.cu:71", "dot.cu:30 and 38"; "dot.cu" if `lines` is empty.
std::string place(std::string_view file, const std::vector<int>& lines);

}  // namespace warpscope::experiments
