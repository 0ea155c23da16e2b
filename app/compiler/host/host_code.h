#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// Lines of a source that run on the host.
struct LeftOut {
    int first_line = 0, last_line = 0;
    std::string what;  ///< "the function main", "#include <iostream>"
};

struct DeviceCode {
    std::string source;  ///< the text with blanks in place of host code: lines and columns stay
    std::vector<LeftOut> left_out;
};

/// A CUDA source without its host program: without functions that have neither __global__ nor
/// __device__, without variables of the host, without types that use the C++ standard library.
/// Constants, constexpr functions, types, macros and directives stay. Where braces do not match,
/// the rest of the text stays, so that the compiler names the fault.
DeviceCode device_code(std::string_view source);

/// Puts the device code of `request.source` in its place, without the #include of headers for host
/// code, and adds the headers beside `path` that it includes by #include "name", likewise. Returns
/// what was left out of the source. Throws std::runtime_error for headers that are too many or too
/// large.
std::vector<LeftOut> leave_out_host_code(Request& request, const std::filesystem::path& path);

}  // namespace warpscope::compiler
