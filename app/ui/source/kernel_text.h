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

/// A text that a kernel's instructions come from, and where each stands in it.
struct KernelText {
    struct Line {
        int number = 0;  ///< in the file, from 1
        std::string text;
        std::vector<InkSpan> inks;
        bool code = false;     ///< instructions of the kernel come from here
        bool barrier = false;  ///< one of them is a barrier of the block
    };
    std::string file;  ///< "kernels/ripple.cu"
    std::vector<Line> lines;
    std::vector<std::optional<std::uint32_t>> row_of_pc;  ///< index into lines, by instruction

    bool empty() const { return lines.empty(); }
    std::optional<std::uint32_t> row(std::uint32_t pc) const {
        return pc < row_of_pc.size() ? row_of_pc[pc] : std::nullopt;
    }
    /// Of a line number of the file.
    std::optional<std::uint32_t> row_of_line(int number) const;
};

/// The text of "kernels/ripple.cu"; empty for an unknown file.
using SourceOf = std::function<std::string_view(std::string_view file)>;

/// The CUDA source that most of the kernel comes from; empty where it is not known. An instruction
/// without a line of that file stands where the one before it does.
KernelText source_text(const emulator::Kernel& kernel, const SourceOf& source);

/// The kernel's own part of its module's PTX, without the lines that only carry line numbers.
KernelText ptx_text(const emulator::Kernel& kernel);

}  // namespace warpscope::ui
