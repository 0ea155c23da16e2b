#pragma once

#include <stdexcept>

namespace warpscope::gl {

/// A failure of a window, of OpenGL or of an image file. The message says what failed, where, and
/// what to do.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace warpscope::gl
