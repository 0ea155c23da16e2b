#include "emulator/checks/struct_padding.h"

#include <algorithm>
#include <cstddef>

namespace warpscope::emulator {

namespace {

// In words. An array of fewer than 256 bytes of which one element is missing looks like one large
// structure.
constexpr std::size_t largest_structure = 64, largest_alone = 6;

bool repeats(const std::vector<bool>& written, std::size_t words) {
    return std::equal(written.begin() + std::ptrdiff_t(words), written.end(), written.begin());
}

/// Whether a structure of so many words has a member of `alignment` words, all of which is written.
bool has_member(const std::vector<bool>& written, std::size_t words, std::size_t alignment) {
    for (std::size_t at = 0; at + alignment <= words; at += alignment) {
        const auto begin = written.begin() + std::ptrdiff_t(at);
        if (std::all_of(begin, begin + std::ptrdiff_t(alignment), [](bool word) { return word; }))
            return true;
    }
    return false;
}

/// Whether the unwritten words of the first structure end where a member that needs them as padding
/// could begin.
bool is_padded(const std::vector<bool>& written, std::size_t words) {
    for (std::size_t at = 0; at < words;) {
        const std::size_t begin = at;
        while (at < words && !written[at]) ++at;
        if (at == begin) {
            ++at;
            continue;
        }
        const std::size_t gap = at - begin, alignment = gap == 1 ? 2 : 4;
        if (gap >= alignment || at % alignment || words % alignment ||
            !has_member(written, words, alignment))
            return false;
    }
    return true;
}

}  // namespace

bool may_be_padding(const std::vector<bool>& written) {
    const std::size_t size = written.size();
    const std::size_t most = size <= largest_alone ? size : std::min(largest_structure, size / 2);
    for (std::size_t words = 2; words <= most; words += 2)
        if (size % words == 0 && repeats(written, words)) return is_padded(written, words);
    return false;
}

}  // namespace warpscope::emulator
