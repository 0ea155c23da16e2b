#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace warpscope::programs {

/// Sees the accesses of the host to memory, and finds out whether it polls, that is, reads the same
/// words again and again until work on the GPU has written one. While the memory is watched, each
/// access to it ends in SIGSEGV. The handler lets the instruction run, and hides the page again
/// behind it. What is found does not depend on time.
class PolledMemory {
  public:
    /// A word that is accessed so often is polled,
    static constexpr unsigned most_accesses = 32;
    /// unless the host accesses more words than these: then it computes.
    static constexpr std::size_t most_words = 64;
    /// Where polls do not count, the memory is shown once the host has accessed so many words.
    static constexpr std::size_t most_words_seen = 1024;
    static constexpr std::uint64_t page_bytes = 4096;

    struct Pages {
        std::uint64_t begin = 0, end = 0;  ///< multiples of page_bytes
        bool shows_reads = false;          ///< only writes are seen
        auto operator<=>(const Pages&) const = default;
    };
    /// Watches memory, until the host accesses a word too often or too many words. `on_poll` is
    /// called in the handler of the signal; empty: polls do not count.
    void watch(std::vector<Pages> pages, std::function<void()> on_poll = {});
    void unwatch();
    /// Shows the memory to the system, which is to access these bytes: false if they are not
    /// watched.
    bool show_if_watched(std::uint64_t address, std::size_t bytes);
    /// Accesses until now do not count: the host has called meanwhile.
    void restart();
    bool is_watching() const { return is_watching_; }
    /// Whether the host has polled since the last call of this function.
    bool take_poll() { return is_polled_.exchange(false); }
    enum class Access {
        other,  ///< the memory is not watched
        step,   ///< shown for one instruction, after which end_step() is to be called
        open    ///< shown
    };
    /// For the handler of SIGSEGV.
    Access on_access(std::uint64_t address);
    void end_step();

  private:
    void show();
    int protection_of(std::uint64_t page) const;

    std::recursive_mutex mutex_;  ///< of what follows
    std::vector<Pages> pages_;
    std::set<std::uint64_t> stepping_;            ///< pages that are shown for one instruction
    std::map<std::uint64_t, unsigned> accesses_;  ///< by address
    std::function<void()> on_poll_;
    std::atomic<bool> is_watching_ = false, is_polled_ = false;
};

}  // namespace warpscope::programs
