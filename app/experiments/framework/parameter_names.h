#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

/// The names of the parameters of a kernel (`__global__`) in a CUDA C++ source, in their order; a
/// parameter without a name has an empty one. Empty where the source has no such kernel.
std::vector<std::string> parameter_names(std::string_view source, std::string_view kernel);

}  // namespace warpscope::experiments
