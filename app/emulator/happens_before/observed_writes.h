#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace warpscope::emulator {

/// Which writes of a word its readers have observed (PTX ISA 8, "Observation Order" and "Causality
/// Order"). A strong write comes before all that follows a strong read of its value, or of a value
/// that atomics have made of it: the last block that counts may reset the counter. That holds for
/// the write alone, and not for what came before it.
///
/// Each instruction that writes words strongly has a number, in the order of their execution. The
/// readers are threads, or blocks, and have times, as the clocks that use this class do.
class ObservedWrites {
  public:
    /// Writes of one word, each but the first one by an atomic, from one number to another.
    struct Chain {
        std::uint32_t first = 1, last = 0;
        bool empty() const { return last < first; }
        bool holds(std::uint32_t write) const { return first <= write && write <= last; }
        bool operator==(const Chain&) const = default;
    };

    void clear() { words_.clear(); }
    std::uint32_t newest() const { return newest_; }  ///< the number of the newest write
    void begin_write() { ++newest_; }

    /// The newest write writes the word at this address. `updates`: as an atomic, whose read of the
    /// word the writer has told before.
    void write(std::uint64_t address, bool updates, std::uint32_t writer);
    /// True where the reader, at this time, observes what it had not observed.
    bool read(std::uint64_t address, std::uint32_t reader, std::uint32_t time);
    /// A weak write of these bytes by a reader, or one that no other reader can observe.
    void overwrite(std::uint64_t address, std::uint32_t bytes, std::uint32_t reader,
                   std::uint32_t time);

    /// Calls f(chain) for what is_before(reader, time) has observed of the word.
    template <typename IsBefore, typename F>
    void for_chains(std::uint64_t address, IsBefore&& is_before, F&& f) const {
        const auto word = words_.find(address);
        if (word == words_.end()) return;
        for (const auto& [reader, readings] : word->second.readings)
            for (const Reading& reading : readings)
                if (is_before(reader, reading.time)) f(reading.chain);
    }

  private:
    struct Reading {
        std::uint32_t time = 0;
        Chain chain;
    };
    struct Word {
        Chain newest;                                            ///< that leads to its value
        std::map<std::uint32_t, std::vector<Reading>> readings;  ///< by reader
    };

    std::unordered_map<std::uint64_t, Word> words_;  ///< by address
    std::uint32_t newest_ = 0;
};

}  // namespace warpscope::emulator
