#include "emulator/happens_before/memory_orders.h"

#include <algorithm>

#include "emulator/happens_before/epoch_paths.h"
#include "emulator/happens_before/value_paths.h"

namespace warpscope::emulator {

void MemoryOrders::begin_launch(const Kernel& kernel) {
    orders_.clear();
    bytes_.clear();
    scopes_.clear();
    fences_ = 0;
    order_blocks_by_words_ = kernel.uses_cluster;
    order_by_words_ = kernel.has_mbarriers || kernel.uses_cluster;
    std::vector<std::uint32_t> fences;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const InstructionInfo& i = kernel.lines[pc];
        orders_.push_back(i.order);
        bytes_.push_back(i.bytes);
        scopes_.push_back(i.order == MemoryOrder::weak ? Scope::device : i.scope);
        const bool of_block = scopes_.back() == Scope::block;
        const bool orders = acquires(i.order) || releases(i.order);
        order_by_words_ |= orders;
        order_blocks_by_words_ |= orders && !of_block;
        if (i.access != MemoryAccess::none || i.order == MemoryOrder::weak) continue;
        fences.push_back(pc);
        fences_ |= 1u << unsigned(i.scope);
    }
    volatile_stores_.assign(orders_.size(), false);
    settle_volatile(kernel, fences);
}

void MemoryOrders::settle_volatile(const Kernel& kernel, const std::vector<std::uint32_t>& fences) {
    const auto is_volatile = [](MemoryOrder order) { return order == MemoryOrder::volatile_; };
    if (std::none_of(orders_.begin(), orders_.end(), is_volatile)) return;
    std::vector<bool> behind_fence(orders_.size());
    for (const std::uint32_t fence : fences) {
        const std::vector<bool> reached = reached_in_epoch(kernel, fence);
        for (std::size_t pc = 0; pc < reached.size(); ++pc)
            if (reached[pc]) behind_fence[pc] = true;
    }
    for (std::uint32_t pc = 0; pc < orders_.size(); ++pc) {
        if (!is_volatile(orders_[pc])) continue;
        const bool is_load = kernel.lines[pc].access == MemoryAccess::load;
        bool strong = behind_fence[pc];
        if (is_load) {
            const std::vector<bool> reached = reached_in_epoch(kernel, pc);
            strong = std::any_of(fences.begin(), fences.end(),
                                 [&](std::uint32_t fence) { return reached[fence]; }) &&
                     is_polled(kernel, pc);
        }
        volatile_stores_[pc] = strong && !is_load;
        orders_[pc] = strong ? MemoryOrder::relaxed : MemoryOrder::weak;
    }
}

}  // namespace warpscope::emulator
