#include "emulator/checks/kernel_heat.h"

#include <algorithm>

namespace warpscope::emulator {

WordCounts::Page& WordCounts::page_of(std::uint64_t word) {
    const std::uint64_t index = word / page_words;
    if (index >= pages_.size()) pages_.resize(index + 1);
    if (!pages_[index]) pages_[index] = std::make_unique<Page>();
    return *pages_[index];
}

std::uint64_t WordCounts::at(std::uint64_t word) const {
    const std::uint64_t index = word / page_words;
    if (index >= pages_.size() || !pages_[index]) return 0;
    const auto carry = carries_.find(word);
    return (*pages_[index])[word % page_words] + (carry == carries_.end() ? 0 : carry->second);
}

void WordCounts::add(std::uint64_t first, std::uint64_t words, std::uint64_t number) {
    const auto low = std::uint32_t(number);
    const std::uint64_t high = number - low;
    while (words > 0) {
        const std::uint64_t at = first % page_words, n = std::min(words, page_words - at);
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
        words -= n;
    }
}

void WordCounts::add_part(const WordCounts& other, std::uint64_t first, std::uint64_t words) {
    if (!other.any()) return;
    for (std::uint64_t i = 0; i < words; ++i)
        if (const std::uint64_t number = other.at(first + i)) add(i, 1, number);
}

WordCounts& WordCounts::operator+=(WordCounts&& other) {
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
        for (std::uint64_t i = 0; i < page_words; ++i) {
            own[i] += added[i];
            wraps |= own[i] < added[i];
        }
        for (std::uint64_t i = 0; wraps && i < page_words; ++i)
            if (own[i] < added[i]) carries_[p * page_words + i] += std::uint64_t(1) << 32;
    }
    for (const auto& [word, carry] : other.carries_) carries_[word] += carry;
    return *this;
}

void CountLog::move_to(WordCounts& counts) {
    for (const Run& run : runs_) counts.add(run.first, run.words, run.number);
    runs_.clear();
}

CountLog& CountLog::operator+=(CountLog&& other) {
    if (runs_.empty())
        runs_ = std::move(other.runs_);
    else
        runs_.insert(runs_.end(), other.runs_.begin(), other.runs_.end());
    return *this;
}

}  // namespace warpscope::emulator
