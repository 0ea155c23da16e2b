#pragma once

#include <cstdint>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// How the accesses and fences of a kernel order memory (PTX ISA 8, "Memory Consistency Model").
///
/// A volatile access is strong: the PTX ISA treats it as relaxed. But most kernels say volatile
/// only to keep the compiler from removing an access, and without a fence it orders nothing. So it
/// counts as relaxed where it may be half of a release or acquire pattern: a store that a thread
/// can execute after a fence in the same epoch, and a load before one. Elsewhere it counts as weak.
class MemoryOrders {
  public:
    void begin_launch(const Kernel& kernel);
    /// By index into Kernel::code; never volatile.
    MemoryOrder operator[](std::uint32_t pc) const { return orders_[pc]; }
    bool is_strong(std::uint32_t pc) const { return orders_[pc] != MemoryOrder::weak; }
    /// True for two accesses that may access one word at one time: neither is weak, and each
    /// accesses as many bytes ("morally strong").
    bool may_meet(std::uint32_t pc, std::uint32_t other) const {
        return is_strong(pc) && is_strong(other) && bytes_[pc] == bytes_[other];
    }
    /// True where the kernel has fences, acquires or releases: its threads can then order their
    /// accesses by words of memory.
    bool order_by_words() const { return order_by_words_; }

  private:
    void settle_volatile(const Kernel& kernel, const std::vector<std::uint32_t>& fences);

    std::vector<MemoryOrder> orders_;
    std::vector<std::uint8_t> bytes_;
    bool order_by_words_ = false;
};

}  // namespace warpscope::emulator
