#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpscope::emulator {

/// A set of numbers below a limit.
class NumberSet {
  public:
    explicit NumberSet(std::size_t limit = 0) : words_((limit + 63) / 64) {}

    void insert(std::uint32_t number) { words_[number / 64] |= bit(number); }
    bool contains(std::uint32_t number) const { return words_[number / 64] & bit(number); }
    NumberSet& operator|=(const NumberSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
        return *this;
    }
    NumberSet& operator&=(const NumberSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
        return *this;
    }
    NumberSet& operator-=(const NumberSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
        return *this;
    }
    friend NumberSet operator|(NumberSet a, const NumberSet& b) { return a |= b; }
    friend NumberSet operator&(NumberSet a, const NumberSet& b) { return a &= b; }
    bool operator==(const NumberSet& other) const = default;
    /// Calls visit(number), the lowest first.
    template <typename Visit>
    void each(const Visit& visit) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            for (std::uint64_t left = words_[w]; left; left &= left - 1)
                visit(std::uint32_t(w * 64) + std::uint32_t(std::countr_zero(left)));
    }

  private:
    static std::uint64_t bit(std::uint32_t number) { return std::uint64_t(1) << number % 64; }
    std::vector<std::uint64_t> words_;
};

}  // namespace warpscope::emulator
