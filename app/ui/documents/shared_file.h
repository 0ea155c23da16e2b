#pragma once

#include <string>
#include <string_view>

namespace warpscope::ui {

/// A file that comes with Warpscope, in assets/ of the repository or in share/warpscope of an
/// installation; empty: not found.
std::string shared_file(std::string_view name);

}  // namespace warpscope::ui
