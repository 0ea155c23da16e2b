#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "emulator/counters/kernel_heat.h"

namespace warpscope::emulator {

/// The hazards of a launch, counted for each 4-byte word of shared or of global memory. Takes
/// memory for words with hazards and their neighbours only.
class HazardCounts {
  public:
    /// Adds `number` to each word that has one of the bytes.
    void add(std::uint64_t address, std::uint64_t bytes, std::uint64_t number) {
        const std::uint64_t last = (address + bytes - 1) / word_bytes;
        for (std::uint64_t word = address / word_bytes; word <= last; ++word)
            pages_[word / page_words][word % page_words] += number;
    }
    HazardCounts& operator+=(const HazardCounts& other) {
        for (const auto& [page, counts] : other.pages_)
            for (std::uint64_t k = 0; k < page_words; ++k) pages_[page][k] += counts[k];
        return *this;
    }
    /// Calls f(address, number) for each word with hazards, in no particular order.
    template <typename F>
    void for_words(F&& f) const {
        for (const auto& [page, counts] : pages_)
            for (std::uint64_t k = 0; k < page_words; ++k)
                if (counts[k]) f((page * page_words + k) * word_bytes, counts[k]);
    }

  private:
    static constexpr std::uint64_t word_bytes = WordCounts::word_bytes;
    static constexpr std::uint64_t page_words = 64;

    std::unordered_map<std::uint64_t, std::array<std::uint64_t, page_words>> pages_;
};

}  // namespace warpscope::emulator
