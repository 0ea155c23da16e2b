#pragma once

#include <string>
#include <string_view>

namespace warpscope::compute {

/// A file or a folder that comes with Warpscope: in share/warpscope of an installation, in assets/
/// of the repository or in the repository itself; empty: not found.
std::string shared_file(std::string_view name);

}  // namespace warpscope::compute
