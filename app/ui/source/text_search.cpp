#include "ui/source/text_search.h"

#include <algorithm>

namespace warpscope::ui {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

}  // namespace

std::vector<TextMatch> find_words(const TextRows& text, std::string_view words, std::size_t most) {
    std::vector<TextMatch> found;
    if (words.empty()) return found;
    const auto equal = [](char in_text, char wanted) {
        return in_text == wanted || lower(in_text) == wanted;
    };
    for (int row = 0; row < text.count; ++row) {
        const std::string_view line = text.row(row);
        auto from = line.begin();
        while (found.size() < most) {
            const auto at = std::search(from, line.end(), words.begin(), words.end(), equal);
            if (at == line.end()) break;
            const auto begin = std::size_t(at - line.begin());
            found.push_back({row, begin, begin + words.size()});
            from = at + std::ptrdiff_t(words.size());
        }
    }
    return found;
}

}  // namespace warpscope::ui
