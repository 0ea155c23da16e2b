#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/observer.h"

namespace warpscope::emulator {

class Memory;
struct Kernel;

// The bytes of global memory that a block's stores replaced, so that they can be taken back.
class UndoLog {
  public:
    UndoLog(const Memory& memory, const Kernel& kernel) : memory_(memory), kernel_(kernel) {}

    // Before a global store or atomic executes. Wild addresses are left out: they will not be
    // written.
    void save(const Access& access);
    size_t mark() const { return entries_.size(); }
    // Memory as it was at a mark.
    void roll_back(size_t mark);

  private:
    struct Entry {
        uint64_t address = 0;
        size_t bytes = 0;
    };
    bool is_valid(uint64_t address, size_t bytes) const;
    void save(uint64_t address, size_t bytes);

    const Memory& memory_;
    const Kernel& kernel_;
    std::vector<Entry> entries_;
    std::vector<std::byte> bytes_;  // of all entries, in order
};

}  // namespace warpscope::emulator
