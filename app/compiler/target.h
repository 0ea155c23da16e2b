#pragma once

#include <array>
#include <string_view>

namespace warpscope::compiler {

/// The compute capability that a kernel source is compiled for: 75, or 80 or 90 where the source
/// uses what only newer GPUs have, such as asynchronous copies and clusters. It is told by words,
/// not by the grammar: a word in a comment counts, too.
unsigned target_of(std::string_view source);

/// The targets that a person can choose.
inline constexpr std::array<unsigned, 3> targets{75, 80, 90};
/// The target that a message of the compiler says is needed, such as "is not supported before
/// SM_90": one of `targets`, or 0 where it names none.
unsigned target_named_in(std::string_view message);

}  // namespace warpscope::compiler
