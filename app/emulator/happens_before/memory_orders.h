#pragma once

#include <cstdint>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// How the accesses and fences of a kernel order memory (PTX ISA 8, "Memory Consistency Model").
///
/// A volatile access is strong: the PTX ISA treats it as relaxed. But most kernels say volatile
/// only to keep the compiler from removing an access. So a volatile load counts as relaxed where a
/// thread repeats it until its value lets the thread go on (is_polled()), or where an atomic may
/// access its word, and a volatile store where such a load, another strong load or an atomic may
/// read its word. Neither orders other accesses without a fence. Elsewhere a volatile access counts
/// as weak, and two volatile stores always race.
class MemoryOrders {
  public:
    void begin_launch(const Kernel& kernel);
    /// By index into Kernel::code; never volatile.
    MemoryOrder operator[](std::uint32_t pc) const { return orders_[pc]; }
    bool is_strong(std::uint32_t pc) const { return orders_[pc] != MemoryOrder::weak; }
    /// True for two accesses that may access one word at one time: neither is weak, and each
    /// accesses as many bytes ("morally strong").
    bool may_meet(std::uint32_t pc, std::uint32_t other) const {
        return is_strong(pc) && is_strong(other) && bytes_[pc] == bytes_[other] &&
               !(is_volatile_store(pc) && is_volatile_store(other));
    }
    /// A volatile store that is strong.
    bool is_volatile_store(std::uint32_t pc) const { return volatile_stores_[pc]; }
    /// True where the kernel has fences, acquires, releases, mbarriers or barriers of a cluster:
    /// its threads can then order their accesses by words of memory.
    bool order_by_words() const { return order_by_words_; }
    /// The kernel has atomics whose results it uses.
    bool atomics_decide() const { return atomics_decide_; }
    /// True where a thread can also see by the value of a word that another thread has stored: it
    /// has an atomic whose result it uses, a load that polls, an acquire, an mbarrier or a cluster.
    bool words_are_seen() const { return words_are_seen_; }
    /// Its threads have clocks: where words order accesses, and where bulk copies do, since a proxy
    /// fence counts for what its thread knows of.
    bool have_clocks() const { return order_by_words_ || has_bulk_copies_; }

    Scope scope(std::uint32_t pc) const { return scopes_[pc]; }
    // Between blocks, an access or a fence of block scope counts for nothing.
    MemoryOrder between_blocks(std::uint32_t pc) const {
        return scopes_[pc] == Scope::block ? MemoryOrder::weak : orders_[pc];
    }
    bool is_strong_between_blocks(std::uint32_t pc) const {
        return between_blocks(pc) != MemoryOrder::weak;
    }
    bool order_blocks_by_words() const { return order_blocks_by_words_; }
    /// True where words order threads or blocks, and one may access a word weakly that another one
    /// has read strongly: what its readers observe of the word then orders the two.
    bool words_are_observed() const { return words_are_observed_; }
    /// True for a strong read whose value is used. Without that, a thread does not know of the
    /// writes that it happens to come after.
    bool observes(std::uint32_t pc) const { return observes_[pc]; }
    /// True where nothing but barriers, and words of global memory with the scope of the device,
    /// orders the threads of a block.
    bool only_barriers_order_threads() const { return only_barriers_order_threads_; }
    bool has_fences_of(Scope scope) const { return fences_ >> unsigned(scope) & 1; }

  private:
    class WordPairs;

    void settle_volatile(const Kernel& kernel, const WordPairs& pairs);
    bool reads_strongly(const Kernel& kernel, std::uint32_t pc) const;
    void settle_observed(const Kernel& kernel, const WordPairs& pairs);

    std::vector<MemoryOrder> orders_;
    std::vector<std::uint8_t> bytes_;
    std::vector<Scope> scopes_;  ///< of what is not weak; else that of the device
    std::vector<bool> volatile_stores_, observes_;
    bool order_by_words_ = false, words_are_seen_ = false, atomics_decide_ = false;
    bool order_blocks_by_words_ = false, has_bulk_copies_ = false;
    bool words_are_observed_ = false, only_barriers_order_threads_ = false;
    unsigned fences_ = 0;  ///< scopes of the kernel's fences, a bit each
};

/// Whether the race check may find other races of a kernel where threads come to its words of
/// memory in another order: fences and words order its accesses, or its atomics decide. (mbarriers
/// and barriers of clusters order alike in any schedule.)
bool depends_on_order(const Kernel& kernel);

}  // namespace warpscope::emulator
