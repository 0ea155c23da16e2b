#include "emulator/counters/kernel_heat.h"

#include <algorithm>

namespace warpscope::emulator {

SparseCounts::Page& SparseCounts::page_of(std::uint64_t index) {
    const std::uint64_t page = index / page_size;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    return *pages_[page];
}

std::uint64_t SparseCounts::at(std::uint64_t index) const {
    const std::uint64_t page = index / page_size;
    if (page >= pages_.size() || !pages_[page]) return 0;
    const auto carry = carries_.find(index);
    return (*pages_[page])[index % page_size] + (carry == carries_.end() ? 0 : carry->second);
}

void SparseCounts::add(std::uint64_t first, std::uint64_t indices, std::uint64_t number) {
    const auto low = std::uint32_t(number);
    const std::uint64_t high = number - low;
    while (indices > 0) {
        const std::uint64_t at = first % page_size, n = std::min(indices, page_size - at);
        std::uint32_t* const counts = page_of(first).data() + at;
        bool wraps = high > 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            counts[i] += low;
            wraps |= counts[i] < low;
        }
        for (std::uint64_t i = 0; wraps && i < n; ++i)
            if (const std::uint64_t carry = high + (std::uint64_t(counts[i] < low) << 32))
                carries_[first + i] += carry;
        first += n;
        indices -= n;
    }
}

SparseCounts& SparseCounts::operator+=(SparseCounts&& other) {
    if (pages_.size() < other.pages_.size()) pages_.resize(other.pages_.size());
    for (std::uint64_t p = 0; p < other.pages_.size(); ++p) {
        if (!other.pages_[p]) continue;
        if (!pages_[p]) {
            pages_[p] = std::move(other.pages_[p]);
            continue;
        }
        Page& own = *pages_[p];
        const Page& added = *other.pages_[p];
        bool wraps = false;
        for (std::uint64_t i = 0; i < page_size; ++i) {
            own[i] += added[i];
            wraps |= own[i] < added[i];
        }
        for (std::uint64_t i = 0; wraps && i < page_size; ++i)
            if (own[i] < added[i]) carries_[p * page_size + i] += std::uint64_t(1) << 32;
    }
    for (const auto& [index, carry] : other.carries_) carries_[index] += carry;
    return *this;
}

void WordCounts::add(std::uint64_t first, std::uint64_t words, std::uint64_t number) {
    const std::uint64_t end = first + words, first_group = (first + group_words - 1) / group_words,
                        end_group = end / group_words;
    if (first_group >= end_group) return words_.add(first, words, number);
    groups_.add(first_group, end_group - first_group, number);
    words_.add(first, first_group * group_words - first, number);
    words_.add(end_group * group_words, end - end_group * group_words, number);
}

void WordCounts::add_part(const WordCounts& other, std::uint64_t first, std::uint64_t words) {
    if (!other.any()) return;
    for (std::uint64_t i = 0; i < words; ++i)
        if (const std::uint64_t number = other.at(first + i)) add(i, 1, number);
}

WordCounts& WordCounts::operator+=(WordCounts&& other) {
    words_ += std::move(other.words_);
    groups_ += std::move(other.groups_);
    return *this;
}

}  // namespace warpscope::emulator
