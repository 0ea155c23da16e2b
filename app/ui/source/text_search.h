#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// A place of the words that a person looks for: bytes [begin, end) of a row, which counts from 0.
struct TextMatch {
    int row = 0;
    std::size_t begin = 0, end = 0;
    bool operator==(const TextMatch&) const = default;
};

/// The rows of a text.
struct TextRows {
    int count = 0;
    std::function<std::string_view(int row)> row;
};

/// Every place of the words, from the top down, at most `most`. Places do not overlap. An
/// upper-case letter in the words finds only itself, a lower-case one finds both.
std::vector<TextMatch> find_words(const TextRows& text, std::string_view words,
                                  std::size_t most = 10'000);

}  // namespace warpscope::ui
