#pragma once

#include <string_view>

namespace warpscope::compiler {

/// The compute capability that a kernel source is compiled for: 75, or 80 or 90 where the source
/// uses what only newer GPUs have, such as asynchronous copies and clusters. It is told by words,
/// not by the grammar: a word in a comment counts, too.
unsigned target_of(std::string_view source);

}  // namespace warpscope::compiler
