#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program/module.h"
#include "ui/source/source_colour.h"

namespace warpscope::ui {

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
