#include "emulator/happens_before/synchronise.h"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/happens_before/block_clocks.h"
#include "emulator/happens_before/thread_clocks.h"
#include "emulator/warp/memory.h"

namespace warpscope::emulator {

namespace {

/// The compare-and-swaps of one instruction, lane by lane: those that fail only read.
class CompareAndSwap {
  public:
    CompareAndSwap(const Access& access, const InstructionInfo& info)
        : access_(access),
          instruction_(access.state->block->kernel->code[access.pc]),
          operand_(info.address_operand) {}

    bool writes(unsigned lane) {
        const std::uint64_t address = access_.address(lane);
        const std::optional<std::uint64_t> old = value_at(address);
        if (old && *old != value(operand_ + 1u, lane)) return false;
        swapped_.emplace_back(address, value(operand_ + 2u, lane));
        return true;
    }

  private:
    std::uint64_t value(unsigned operand, unsigned lane) const {
        const std::uint32_t slot = instruction_.operands[operand];
        const std::uint64_t all = access_.bytes == 8
                                      ? access_.state->get<std::uint64_t>(slot, lane)
                                      : access_.state->get<std::uint32_t>(slot, lane);
        return access_.bytes == 2 ? all & 0xFFFF : all;
    }

    /// Nothing where the emulator would have to look further than it does for an access.
    std::optional<std::uint64_t> value_at(std::uint64_t address) const {
        for (auto s = swapped_.rbegin(); s != swapped_.rend(); ++s)
            if (s->first == address) return s->second;
        const BlockContext& block = *access_.state->block;
        const std::byte* from = nullptr;
        if (address < block.shared_bytes && access_.bytes <= block.shared_bytes - address)
            from = block.shared + address;
        else if (const auto* found = block.memory->find(address))
            if (access_.bytes <= found->end - address)
                from = reinterpret_cast<const std::byte*>(address);
        if (!from) return {};
        std::uint64_t value = 0;
        std::memcpy(&value, from, access_.bytes);
        return value;
    }

    const Access& access_;
    const Instruction& instruction_;
    const unsigned operand_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> swapped_;  ///< addresses, values
};

}  // namespace

template <typename Clocks>
void synchronise(const Access& a, MemoryOrder order, Clocks& clocks) {
    if (order == MemoryOrder::weak && a.kind != MemoryAccess::store) return;
    const InstructionInfo& info = a.state->block->kernel->lines[a.pc];
    CompareAndSwap swaps(a, info);
    for (std::uint32_t lanes = a.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint32_t thread = a.warp * lanes_per_warp + lane;
        const std::uint64_t address = a.address(lane);
        if (order == MemoryOrder::weak) {
            clocks.overwrite(address, a.bytes);
            continue;
        }
        if (a.kind != MemoryAccess::store) clocks.read(address, thread, order);
        if (a.kind == MemoryAccess::load || (info.compares && !swaps.writes(lane))) continue;
        clocks.write(address, thread, order, a.kind == MemoryAccess::atomic);
    }
    if (releases(order)) clocks.advance(a.warp);
}

template void synchronise(const Access&, MemoryOrder, ThreadClocks&);
template void synchronise(const Access&, MemoryOrder, ScopedClocks&);

}  // namespace warpscope::emulator
