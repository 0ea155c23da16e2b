#include "ui/widgets/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpscope::ui {

std::string dimensions(const compute::Dim3& size) {
    if (size.z > 1) return fmt::format("{}×{}×{}", size.x, size.y, size.z);
    if (size.y > 1) return fmt::format("{}×{}", size.x, size.y);
    return fmt::format("{}", size.x);
}

std::string grid_by_block(const compute::Dim3& grid, const compute::Dim3& block) {
    // Launches that are timed together, such as a library's call, have no common configuration.
    const auto none = [](const compute::Dim3& size) { return size == compute::Dim3{}; };
    if (none(grid) && none(block)) return "-";
    return dimensions(grid) + " · " + dimensions(block);
}

std::string rounded(double value, double low, double high) {
    std::string text = fmt::format("{:.3g}", value);
    const double read = std::stod(text);
    if (read < low) text = fmt::format("{}", low);
    if (read > high) text = fmt::format("{}", high);
    return text;
}

std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\t' || c == '\n';
        if (!blank)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    return line;
}

namespace {

/// Whether a character of Chinese begins here: lines break between these, which have no spaces.
bool is_wide(std::string_view words) {
    return !words.empty() && static_cast<unsigned char>(words[0]) >= 0xE3;
}

/// Bytes of the first piece of the words that stands on one line: a word, or a Chinese character,
/// and the punctuation that must not begin a line.
std::size_t piece_length(std::string_view words) {
    std::size_t length = is_wide(words) ? 3 : 1;
    while (length < words.size() && !is_wide(words) && !is_wide(words.substr(length)) &&
           words[length] != ' ' && words[length] != '\n')
        ++length;
    for (const std::string_view opening : {"（", "《"})
        if (words.starts_with(opening)) return length + piece_length(words.substr(length));
    for (const std::string_view closing : {"，", "。", "、", "；", "：", "？", "！", "）", "》"})
        if (words.substr(length).starts_with(closing)) return length + closing.size();
    return std::min(length, words.size());
}

}  // namespace

std::string with_line_breaks(std::string_view words,
                             const std::function<bool(const std::string&)>& fits) {
    std::string lines, line, gap;
    while (!words.empty()) {
        if (words[0] == '\n') lines += std::exchange(line, {}) + "\n";
        if (words[0] == ' ' || words[0] == '\n') {
            gap = words[0] == ' ' && !line.empty() ? gap + " " : "";
            words.remove_prefix(1);
            continue;
        }
        const std::string piece(words.substr(0, piece_length(words)));
        words.remove_prefix(piece.size());
        const std::string longer = line + std::exchange(gap, {}) + piece;
        if (line.empty() || fits(longer)) {
            line = longer;
            continue;
        }
        lines += std::exchange(line, piece) + "\n";
    }
    return lines + line;
}

}  // namespace warpscope::ui
