#pragma once

#include <string_view>

namespace warpscope::gl {

/// Bytes of assets/NAME, embedded; empty for an unknown name.
std::string_view asset(std::string_view name);

}  // namespace warpscope::gl
