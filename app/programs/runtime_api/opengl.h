#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "programs/gpu/arrays.h"

// The program's OpenGL, whose context is current in the calling thread. Every function throws
// CallError where none is.
namespace warpscope::programs::opengl {

/// The bytes of a buffer object. Status::invalid_value if no buffer has this name.
std::size_t buffer_bytes(unsigned buffer);
std::vector<std::byte> read_buffer(unsigned buffer);
void write_buffer(unsigned buffer, std::span<const std::byte> bytes);

/// The size and the elements of a two-dimensional texture, level 0. Status::not_supported for
/// another target, and for formats without an equal one of arrays.
Array texture_shape(unsigned texture, unsigned target);
std::vector<std::byte> read_texture(unsigned texture);
void write_texture(unsigned texture, std::span<const std::byte> bytes);

}  // namespace warpscope::programs::opengl
