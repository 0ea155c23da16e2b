#include "experiments/measure/line_figures.h"

#include <algorithm>

#include "compute/device/kernel_source.h"
#include "files/take_line.h"

namespace warpscope::experiments {

std::string_view source_of(const compute::KernelEdits& edits, std::string_view path) {
    for (const auto& [file, edit] : edits)
        if (path == compute::kernel_path(file) || path == edit->from) return edit->source;
    return compute::kernel_source(path);
}

std::uint64_t figure_of(const emulator::ExecutedWork& work, LineFigure figure) {
    switch (figure) {
        case LineFigure::instructions:
            return work.warp_instructions;
        case LineFigure::divergence:
            return work.idle_lanes();
        case LineFigure::sectors:
            return work.global().sectors;
        case LineFigure::wavefronts:
            return work.shared().wavefronts;
        case LineFigure::conflicts:
            return work.shared().conflicts();
    }
    return 0;
}

std::vector<const emulator::LineCounters*> sorted_lines(const emulator::KernelCounters& kernel,
                                                        LineFigure figure) {
    std::vector<const emulator::LineCounters*> lines;
    for (const emulator::LineCounters& line : kernel.lines) lines.push_back(&line);
    std::stable_sort(lines.begin(), lines.end(), [&](const auto* a, const auto* b) {
        return figure_of(*a, figure) > figure_of(*b, figure);
    });
    return lines;
}

std::string_view text_of_line(const compute::KernelEdits& edits, std::string_view file, int line) {
    std::string_view text = source_of(edits, file);
    for (int k = 1; k < line && !text.empty(); ++k) files::take_line(text);
    text = files::take_line(text);
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (line < 1 || first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace warpscope::experiments
