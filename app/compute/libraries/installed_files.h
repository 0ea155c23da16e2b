#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compute {

/// Where a library of our own may be: beside the program, where it is built, or in lib/warpscope of
/// an installation. The files need not exist.
std::vector<std::filesystem::path> places_of_library(const std::string& name);

/// A file or a folder that comes with Warpscope: in share/warpscope of an installation, in assets/
/// of the repository or in the repository itself; empty: not found.
std::string shared_file(std::string_view name);

}  // namespace warpscope::compute
