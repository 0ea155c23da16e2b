#include "ui/source/kernel_lines.h"

#include <algorithm>
#include <cmath>

#include "experiments/framework/cuda_tokens.h"

namespace warpscope::ui {
namespace {

int width(char c) {
    if (c == '\t') return KernelLines::tab;
    // Nothing is drawn for later bytes of a UTF-8 character, nor for the carriage return.
    const bool none = (static_cast<unsigned char>(c) & 0xC0) == 0x80 || c == '\r';
    return none ? 0 : 1;
}

}  // namespace

int columns_of(std::string_view part) {
    int columns = 0;
    for (const char c : part) columns += width(c);
    return columns;
}

std::size_t byte_at(std::string_view line, double column) {
    double passed = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const double next = width(line[at]);
        if (next > 0 && passed + next / 2 > column) return at;
        passed += next;
    }
    return line.size();
}

std::string_view KernelLines::line(std::string_view text, int row) const {
    const std::size_t from = begin(row);
    const std::size_t to = row + 1 < count() ? begin(row + 1) - 1 : text.size();
    return text.substr(from, to - from);
}

int KernelLines::row(std::size_t byte) const {
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), byte,
                                        [](std::size_t b, const Line& l) { return b < l.begin; });
    return std::max(0, int(after - lines_.begin()) - 1);
}

/// Appends the lines that begin in [from, to] to `into`; a line begins at `from`.
void KernelLines::find_lines(std::string_view text, std::size_t from, std::size_t to,
                             std::vector<Line>& into) const {
    for (std::size_t at = from; at <= to;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        into.push_back({at, columns_of(text.substr(at, end - at)), false});
        if (end == text.size()) break;
        at = end + 1;
    }
}

/// Updates in_comment from row `first` on; after row `surely`, only while it changes.
void KernelLines::find_comments(std::string_view text, int first, int surely) {
    bool inside = in_comment(first);
    for (int row = first; row + 1 < count(); ++row) {
        const std::string_view words = line(text, row);
        // Without a slash no comment begins or ends, and most lines have none.
        if (words.find('/') != std::string_view::npos) experiments::cuda_tokens(words, inside);
        bool& next = lines_[std::size_t(row) + 1].in_comment;
        if (row >= surely && next == inside) return;
        next = inside;
    }
}

void KernelLines::find_widest() {
    columns_ = 0;
    for (const Line& line : lines_) columns_ = std::max(columns_, line.columns);
}

void KernelLines::set(std::string_view text) {
    lines_.clear();
    find_lines(text, 0, text.size(), lines_);
    find_comments(text, 0, count());
    find_widest();
}

void KernelLines::change(std::string_view text, std::size_t at, std::size_t removed,
                         std::size_t added) {
    const int first = row(at), last = row(at + removed);
    std::vector<Line> fresh;
    find_lines(text, begin(first), at + added, fresh);
    fresh.front().in_comment = in_comment(first);
    const auto low = lines_.begin() + first, high = lines_.begin() + last + 1;
    for (auto line = high; line != lines_.end(); ++line) line->begin += added - removed;
    // The search for comments may end at the first line that is not new.
    lines_.insert(lines_.erase(low, high), fresh.begin(), fresh.end());
    find_comments(text, first, first + int(fresh.size()) - 1);
    find_widest();
}

}  // namespace warpscope::ui
