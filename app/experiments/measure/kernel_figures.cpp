#include "experiments/measure/kernel_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compute/device/kernel_files.h"
#include "experiments/framework/cuda_source.h"
#include "files/text.h"

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

using emulator::HeatArray;
using emulator::HeatFigure;

std::vector<HeatRun> heat_runs(const HeatArray& array) {
    std::vector<HeatRun> runs;
    for (std::uint64_t word = 0; word < array.words(); ++word) {
        HeatRun next{word, 1, {}};
        for (std::size_t f = 0; f < next.counts.size(); ++f)
            next.counts[f] = array.counts[f].at(word);
        if (std::ranges::all_of(next.counts, [](std::uint64_t n) { return n == 0; })) continue;
        if (!runs.empty() && runs.back().first + runs.back().words == word &&
            runs.back().counts == next.counts)
            ++runs.back().words;
        else
            runs.push_back(next);
    }
    return runs;
}

std::vector<HeatRun> hottest(const std::vector<HeatRun>& runs, HeatFigure figure) {
    std::vector<HeatRun> sorted;
    std::ranges::copy_if(runs, std::back_inserter(sorted),
                         [&](const HeatRun& run) { return run.count(figure) > 0; });
    std::ranges::stable_sort(sorted, std::ranges::greater(),
                             [&](const HeatRun& run) { return run.count(figure); });
    return sorted;
}

std::uint64_t heat_total(const std::vector<HeatRun>& runs, HeatFigure figure) {
    std::uint64_t total = 0;
    for (const HeatRun& run : runs) total += run.words * run.count(figure);
    return total;
}

std::vector<compute::Word<HeatFigure>> heat_words(const emulator::KernelHeat& kernel) {
    std::vector<compute::Word<HeatFigure>> words;
    std::ranges::copy_if(compute::words_of<HeatFigure>, std::back_inserter(words),
                         [&](const compute::Word<HeatFigure>& word) {
                             return word.value != HeatFigure::races || kernel.has_races;
                         });
    return words;
}

std::string heat_name(const emulator::KernelHeat& kernel, const HeatArray& array,
                      const compute::KernelEdits& edits) {
    if (!array.name.empty()) return array.name;
    if (array.parameter < 0) return fmt::format("{} bytes", array.bytes);
    std::string name = kernel.kernel;
    for (const auto& [file, edit] : edits) {
        const auto found = edit->names.find(name);
        if (found != edit->names.end()) name = found->second;
    }
    const std::vector<std::string> names =
        parameter_names(source_of(edits, kernel.file), name.substr(0, name.find_first_of("<(")));
    const auto index = std::size_t(array.parameter);
    if (index < names.size() && !names[index].empty()) return names[index];
    return fmt::format("parameter {}", array.parameter + 1);
}

}  // namespace warpscope::experiments
