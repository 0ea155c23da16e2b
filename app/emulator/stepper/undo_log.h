#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

class Memory;
struct Kernel;

/// The global stores of a block in their order, so that they can be undone and redone.
class UndoLog {
  public:
    UndoLog(const Memory& memory, const Kernel& kernel) : memory_(memory), kernel_(kernel) {}

    /// Saves the old contents. Must be called before a global store or atomic executes, also when a
    /// step is repeated. Invalid addresses are ignored: the instruction will not write them.
    void save(const Access& access);
    /// Saves bytes that lie in one allocation.
    void save(std::uint64_t address, std::size_t bytes);
    /// Number of stores that are in memory now.
    std::size_t mark() const { return done_; }
    /// Undoes or redoes stores until memory is as it was at `mark`.
    void move_to(std::size_t mark);
    /// Removes the undone stores.
    void forget_undone();

  private:
    struct Entry {
        std::uint64_t address = 0;
        std::size_t bytes = 0;
        std::size_t at = 0;  ///< offset into bytes_
        bool operator==(const Entry&) const = default;
    };
    void swap(const Entry& entry);

    const Memory& memory_;
    const Kernel& kernel_;
    std::vector<Entry> entries_;
    /// Contents before the store; for an undone store, those after it.
    std::vector<std::byte> bytes_;
    std::size_t done_ = 0;
};

}  // namespace warpscope::emulator
