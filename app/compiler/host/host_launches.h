#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compiler {

/// A launch in the host program of a source, `kernel<<<grid, block, shared>>>(arguments)`, as it
/// stands there. The parts of a dim3 are separate.
struct HostLaunch {
    std::string kernel;  ///< without the arguments of a template
    std::vector<std::string> grid, block;
    std::string shared;  ///< empty: none is given
    std::vector<std::string> arguments;
    /// The values that names have in the source before the launch, by #define, `const int n = 4`
    /// and the like: the newest of each.
    std::map<std::string, std::string, std::less<>> values;
};

std::vector<HostLaunch> host_launches(std::string_view source);

}  // namespace warpscope::compiler
