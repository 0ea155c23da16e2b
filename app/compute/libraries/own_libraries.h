#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpscope::compute {

/// Where a library of our own may be: beside the program, where it is built, or in lib/warpscope of
/// an installation. The files need not exist.
std::vector<std::filesystem::path> places_of_library(const std::string& name);

}  // namespace warpscope::compute
