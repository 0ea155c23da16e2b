#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/program/instruction.h"
#include "emulator/program/launch.h"

namespace warpscope::emulator {

/// A 64-bit number for each index. Indices without a number take no memory, others about 4 bytes.
class SparseCounts {
  public:
    std::uint64_t at(std::uint64_t index) const;
    bool any() const { return !pages_.empty(); }  ///< add() has been called
    /// Adds `number` to each of `indices` indices.
    void add(std::uint64_t first, std::uint64_t indices, std::uint64_t number);
    SparseCounts& operator+=(SparseCounts&& other);

  private:
    static constexpr std::uint64_t page_size = 64;
    using Page = std::array<std::uint32_t, page_size>;

    Page& page_of(std::uint64_t index);

    std::vector<std::unique_ptr<Page>> pages_;  ///< null: all zero
    /// The part of a number that does not fit into the 32 bits of its page, by index.
    std::map<std::uint64_t, std::uint64_t> carries_;
};

/// A count for each 4-byte word of an array. Words that are never counted take no memory, others
/// about 4 bytes.
class WordCounts {
  public:
    static constexpr std::uint64_t word_bytes = 4;

    std::uint64_t at(std::uint64_t word) const {
        return words_.at(word) + groups_.at(word / group_words);
    }
    bool any() const { return words_.any() || groups_.any(); }  ///< a word has been counted
    /// Adds `number` to each of `words` words.
    void add(std::uint64_t first, std::uint64_t words, std::uint64_t number);
    /// Adds words [first, first + words) of `other` as words 0 to words - 1.
    void add_part(const WordCounts& other, std::uint64_t first, std::uint64_t words);
    WordCounts& operator+=(WordCounts&& other);

  private:
    /// Words of half a warp, which a row of a 16x16 block accesses. An access to all words of a
    /// group is counted once, for the group, which saves most of the memory traffic of the counts.
    static constexpr std::uint64_t group_words = 16;

    SparseCounts words_;   ///< counts of accesses to a part of a group
    SparseCounts groups_;  ///< for each group, a count that holds for each of its words
};

/// The counts of each word.
enum class HeatFigure : std::uint8_t {
    reads,    ///< reads, counted by lanes
    writes,   ///< writes, counted by lanes
    atomics,  ///< atomics, counted by lanes
    races,    ///< hazards that the race check finds, if it ran: see KernelHeat::has_races
    /// Additional wavefronts of the bank of a word in shared memory. In a pass that accesses n
    /// words of one bank, each of these words takes part in n - 1.
    conflicts
};
inline constexpr std::size_t heat_figures = 5;
/// The accesses to each word of a variable in shared memory, summed over all blocks, or of an
/// allocation or a variable in global memory.
struct HeatArray {
    std::string name;         ///< name of a variable in the source; empty for an allocation
    bool shared = false;      ///< in shared memory
    std::uint64_t begin = 0;  ///< offset into the block's shared memory, or the address
    std::uint64_t bytes = 0;
    /// The first parameter of the kernel that holds an address of the array; -1: none does.
    int parameter = -1;
    /// Bytes before this address in the parameter, which is a struct.
    std::uint32_t parameter_offset = 0;
    std::array<WordCounts, heat_figures> counts{};  ///< indexed by HeatFigure

    /// The words of which the array has a byte: bytes / 4 + 1 if it begins within a word.
    std::uint64_t words() const {
        constexpr std::uint64_t size = WordCounts::word_bytes;
        return (begin % size + bytes + size - 1) / size;
    }
    std::uint64_t count(HeatFigure figure, std::uint64_t word) const {
        return counts[std::size_t(figure)].at(word);
    }
};

/// The arrays that all launches of one kernel have accessed: first those in shared memory. The
/// arrays that a launch is the first to access are in the order of its parameters.
struct KernelHeat {
    std::string kernel;
    /// File of the kernel's source, named as in the PTX; empty if the PTX names none.
    std::string file;
    std::uint64_t launches = 0;
    LaunchShape launch;  ///< the newest launch
    /// True if the race check ran too, so that HeatFigure::races has its hazards.
    bool has_races = false;
    std::vector<HeatArray> arrays;
};

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
