#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program/module.h"

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

/// A text of a kernel, CUDA C++ or PTX, and the row of each instruction in it.
struct KernelText {
    struct Line {
        int number = 0;  ///< the line's number in the file, from 1
        std::string text;
        std::vector<InkSpan> inks;
        bool code = false;     ///< instructions of the kernel come from this line
        bool barrier = false;  ///< one of them is a barrier of the block
    };
    std::string file;  ///< "kernels/ripple.cu"
    std::vector<Line> lines;
    /// Indices into `lines`, for each instruction.
    std::vector<std::optional<std::uint32_t>> row_of_pc;

    bool empty() const { return lines.empty(); }
    std::optional<std::uint32_t> row(std::uint32_t pc) const {
        return pc < row_of_pc.size() ? row_of_pc[pc] : std::nullopt;
    }
    /// The row of a line number of the file.
    std::optional<std::uint32_t> row_of_line(int number) const;
};

/// A function that returns the text of "kernels/ripple.cu"; empty for an unknown file.
using SourceOf = std::function<std::string_view(std::string_view file)>;

/// Returns the CUDA C++ file that most of the kernel's instructions come from; empty where it is
/// unknown. An instruction without a line in that file has the row of the instruction before it.
KernelText source_text(const emulator::Kernel& kernel, const SourceOf& source);

/// Returns the kernel's part of the PTX of its module, without .loc lines.
KernelText ptx_text(const emulator::Kernel& kernel);

}  // namespace warpscope::ui
