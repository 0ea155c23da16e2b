#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/machine/observer.h"

namespace warpscope::emulator {

class Memory;
struct Kernel;

// The global stores of a block in their order, so that they can be taken back and done again.
class UndoLog {
  public:
    UndoLog(const Memory& memory, const Kernel& kernel) : memory_(memory), kernel_(kernel) {}

    // Before a global store or atomic executes, for the first time or once more. Wild addresses
    // are left out: they will not be written.
    void save(const Access& access);
    // How many are done.
    size_t mark() const { return done_; }
    // Memory as it was, or will be, at a mark.
    void move_to(size_t mark);
    // Forgets those that are taken back.
    void forget();

  private:
    struct Entry {
        uint64_t address = 0;
        size_t bytes = 0;
        size_t at = 0;  // in bytes_
        bool operator==(const Entry&) const = default;
    };
    bool is_valid(uint64_t address, size_t bytes) const;
    void save(uint64_t address, size_t bytes);
    void swap(const Entry& entry);

    const Memory& memory_;
    const Kernel& kernel_;
    std::vector<Entry> entries_;
    std::vector<std::byte> bytes_;  // what memory held before; of those taken back, after
    size_t done_ = 0;
};

}  // namespace warpscope::emulator
