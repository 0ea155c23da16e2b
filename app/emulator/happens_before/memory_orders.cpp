#include "emulator/happens_before/memory_orders.h"

#include <algorithm>
#include <cstdlib>

#include "emulator/happens_before/kernel_paths.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

namespace {

/// Two accesses of different words behind one address, such as p[0] and p[1].
bool are_apart(const Kernel& kernel, std::uint32_t one, std::uint32_t other) {
    const InstructionInfo &first = kernel.lines[one], &second = kernel.lines[other];
    const Instruction &a = kernel.code[one], &b = kernel.code[other];
    const std::uint32_t address = a.operands[first.address_operand];
    if (address == 0 || address != b.operands[second.address_operand]) return false;
    // An address that the kernel changes may be that of another word.
    const auto sets = std::count_if(kernel.code.begin(), kernel.code.end(), [&](const auto& i) {
        const auto end = i.operands + destination_count(i);
        return std::find(i.operands, end, address) != end;
    });
    return sets <= 1 && std::abs(a.immediate - b.immediate) >= std::max(first.bytes, second.bytes);
}

}  // namespace

void MemoryOrders::begin_launch(const Kernel& kernel) {
    orders_.clear();
    bytes_.clear();
    scopes_.clear();
    fences_ = 0;
    order_blocks_by_words_ = kernel.uses_cluster;
    order_by_words_ = kernel.has_mbarriers || kernel.uses_cluster;
    has_bulk_copies_ = kernel.has_bulk_copies;
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
    words_are_seen_ = kernel.has_mbarriers || kernel.uses_cluster;
    atomics_decide_ = false;
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const InstructionInfo& i = kernel.lines[pc];
        if (!atomics_decide_ && i.access == MemoryAccess::atomic)
            atomics_decide_ = is_result_used(kernel, pc);
        words_are_seen_ |= i.access == MemoryAccess::load && is_strong(pc);
    }
    words_are_seen_ = order_by_words_ && (words_are_seen_ || atomics_decide_);
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
    const auto is_load = [&](std::uint32_t pc) {
        return kernel.lines[pc].access == MemoryAccess::load;
    };
    for (std::uint32_t pc = 0; pc < orders_.size(); ++pc) {
        if (!is_volatile(orders_[pc]) || !is_load(pc)) continue;
        const std::vector<bool> reached = reached_in_epoch(kernel, pc);
        const bool strong = std::any_of(fences.begin(), fences.end(),
                                        [&](std::uint32_t fence) { return reached[fence]; }) &&
                            is_polled(kernel, pc);
        orders_[pc] = strong ? MemoryOrder::relaxed : MemoryOrder::weak;
    }
    const auto may_meet = [&](std::uint32_t one, std::uint32_t other) {
        if (are_apart(kernel, one, other)) return false;
        const int a = kernel.lines[one].base, b = kernel.lines[other].base;
        if (a < 0 || b < 0 || a == b) return true;
        const AddressBase &first = kernel.bases[std::size_t(a)],
                          &second = kernel.bases[std::size_t(b)];
        if (first.kind == AddressBase::any_pointer || second.kind == AddressBase::any_pointer)
            return true;
        // All arrays of dynamic shared memory are one.
        return first.kind == AddressBase::shared && second.kind == AddressBase::shared &&
               first.offset == second.offset;
    };
    const auto may_be_read = [&](std::uint32_t store) {
        for (std::uint32_t pc = 0; pc < orders_.size(); ++pc)
            if (kernel.lines[pc].access != MemoryAccess::none &&
                kernel.lines[pc].access != MemoryAccess::store && is_strong(pc) &&
                may_meet(store, pc))
                return true;
        return false;
    };
    for (std::uint32_t pc = 0; pc < orders_.size(); ++pc) {
        if (!is_volatile(orders_[pc])) continue;
        volatile_stores_[pc] = behind_fence[pc] && may_be_read(pc);
        orders_[pc] = volatile_stores_[pc] ? MemoryOrder::relaxed : MemoryOrder::weak;
    }
}

bool depends_on_order(const Kernel& kernel) {
    if (kernel.has_mbarriers || kernel.uses_cluster) return false;
    MemoryOrders orders;
    orders.begin_launch(kernel);
    return orders.order_by_words() || orders.atomics_decide();
}

}  // namespace warpscope::emulator
