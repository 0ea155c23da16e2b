#pragma once

#include <stdexcept>

namespace warpscope::gl {

/// What went wrong with a window, OpenGL or an image file: what, where, and what to do.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace warpscope::gl
