#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace warpscope::compiler {

/// A token of C++, or a whole preprocessing directive with its continued lines.
struct SourceToken {
    enum class Kind { word, number, text, sign, directive };
    Kind kind;
    std::size_t begin, end;  ///< bytes of the source
};

/// The tokens of a source, without comments and spaces. A sign is one character. A text that does
/// not end reaches to the end of its line or, if raw, of the source.
std::vector<SourceToken> tokens_of(std::string_view source);

}  // namespace warpscope::compiler
