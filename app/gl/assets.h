#pragma once

#include <string_view>

namespace warpscope::gl {

/// The bytes of assets/NAME, built into the app; empty for an unknown name.
std::string_view asset(std::string_view name);

}  // namespace warpscope::gl
