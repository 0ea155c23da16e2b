#pragma once

#include <imgui.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpscope::ui {

enum class Ink : std::uint8_t { plain, keyword, type, cuda, number, text, comment, directive };

ImU32 ink_colour(Ink ink);

/// Bytes [begin, end) of a line in one colour. Bytes outside all spans are plain.
struct InkSpan {
    std::size_t begin = 0, end = 0;
    Ink ink = Ink::plain;
    bool operator==(const InkSpan&) const = default;
};

/// Returns the colours of a line of CUDA C++. `in_comment` says whether the line begins inside a /*
/// comment */, and is set to whether the next one does.
std::vector<InkSpan> ink_cuda(std::string_view line, bool& in_comment);

/// Returns the colours of a line of PTX.
std::vector<InkSpan> ink_ptx(std::string_view line);

}  // namespace warpscope::ui
