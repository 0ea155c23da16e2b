#include "ui/source/kernel_text.h"
#include "files/take_line.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace warpscope::ui {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) lines.push_back(files::take_line(text));
    return lines;
}

/// Returns the line with spaces in place of tabs, because the columns of a listing are characters.
std::string expanded(std::string_view line) {
    std::string text;
    for (const char c : line) {
        if (c == '\t')
            text.append(4 - text.size() % 4, ' ');
        else if (c != '\r')
            text += c;
    }
    return text;
}

/// Returns a PTX statement with its operands aligned in a column.
std::string aligned(std::string_view line) {
    constexpr std::size_t indent = 2, operands = 21;
    const std::size_t first = line.find_first_not_of(" \t");
    std::string text(first == 0 ? 0 : indent, ' ');
    for (const char c : line.substr(first)) {
        if (c == '\t')
            text.append(text.size() < operands ? operands - text.size() : 1, ' ');
        else if (c != '\r')
            text += c;
    }
    return text;
}

/// Returns the index into Module::files() of the file that most instructions come from, among the
/// files whose text is known; -1: none.
int main_file(const emulator::Kernel& kernel, const SourceOf& source) {
    const std::vector<std::string>& files = kernel.module->files();
    std::map<int, int> uses;
    for (const emulator::InstructionInfo& info : kernel.lines)
        if (info.source.file >= 0 && std::size_t(info.source.file) < files.size())
            ++uses[info.source.file];
    int best = -1;
    for (const auto& [file, count] : uses) {
        const bool known = !source(files[std::size_t(file)]).empty();
        if (known && (best < 0 || count > uses[best])) best = file;
    }
    return best;
}

void mark(KernelText& text, std::uint32_t pc, const emulator::InstructionInfo& info,
          std::optional<std::uint32_t> row) {
    text.row_of_pc[pc] = row;
    if (!row || info.pseudo) return;
    text.lines[*row].code = true;
    text.lines[*row].barrier |= info.barrier;
}

std::string_view first_word(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

}  // namespace

std::optional<std::uint32_t> KernelText::row_of_line(int number) const {
    const auto found = std::lower_bound(lines.begin(), lines.end(), number,
                                        [](const Line& l, int n) { return l.number < n; });
    if (found == lines.end() || found->number != number) return {};
    return std::uint32_t(found - lines.begin());
}

KernelText source_text(const emulator::Kernel& kernel, const SourceOf& source) {
    KernelText text;
    const int file = kernel.module ? main_file(kernel, source) : -1;
    if (file < 0) return text;
    text.file = kernel.module->files()[std::size_t(file)];
    bool in_comment = false;
    for (const std::string_view line : split_lines(source(text.file))) {
        std::string words = expanded(line);
        auto inks = ink_cuda(words, in_comment);
        text.lines.push_back({int(text.lines.size()) + 1, std::move(words), std::move(inks)});
    }
    text.row_of_pc.resize(kernel.lines.size());
    std::optional<std::uint32_t> row;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const emulator::SourceLine& place = kernel.lines[pc].source;
        if (place.file == file)
            if (const auto here = text.row_of_line(place.line)) row = here;
        mark(text, pc, kernel.lines[pc], row);
    }
    return text;
}

KernelText ptx_text(const emulator::Kernel& kernel) {
    KernelText text;
    if (!kernel.module || kernel.lines.empty()) return text;
    text.file = "PTX";
    const auto all = split_lines(kernel.module->text());
    const auto by_line = [](const auto& a, const auto& b) {
        return a.source.ptx_line < b.source.ptx_line;
    };
    const auto [low, high] = std::minmax_element(kernel.lines.begin(), kernel.lines.end(), by_line);
    auto first = std::min(std::size_t(std::max(low->source.ptx_line, 1)) - 1, all.size());
    auto last = std::min(std::size_t(std::max(high->source.ptx_line, 1)), all.size());
    while (first > 0 && all[first].find(".entry") == std::string_view::npos) --first;
    while (last < all.size() && all[last - 1] != "}") ++last;
    for (std::size_t i = first; i < last; ++i) {
        const std::string_view word = first_word(all[i]);
        if (word.empty() || word == ".loc") continue;
        std::string words = aligned(all[i]);
        auto inks = ink_ptx(words);
        text.lines.push_back({int(i) + 1, std::move(words), std::move(inks)});
    }
    text.row_of_pc.resize(kernel.lines.size());
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc)
        mark(text, pc, kernel.lines[pc], text.row_of_line(kernel.lines[pc].source.ptx_line));
    return text;
}

}  // namespace warpscope::ui
