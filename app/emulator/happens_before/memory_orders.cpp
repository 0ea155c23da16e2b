#include "emulator/happens_before/memory_orders.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "emulator/happens_before/kernel_paths.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

namespace {

/// The operands that have one value for all threads of a launch: arguments, constants, and what one
/// instruction computes of these alone.
std::set<std::uint32_t> operands_of_launch(const Kernel& kernel) {
    std::map<std::uint32_t, const Instruction*> setters;  // null: several
    for (const Instruction& i : kernel.code)
        for (unsigned k = 0; k < destination_count(i); ++k) {
            const auto [setter, is_first] = setters.try_emplace(i.operands[k], &i);
            if (!is_first) setter->second = nullptr;
        }
    std::set<std::uint32_t> found;
    const auto is_argument = [&](std::uint32_t operand) {
        return is_uniform(operand) && !setters.contains(operand) &&
               std::ranges::none_of(kernel.specials, [&](const SpecialSlot& special) {
                   return slot_offset(special.slot) == slot_offset(operand);
               });
    };
    const auto is_known = [&](std::uint32_t operand) {
        return operand == 0 || is_argument(operand) || found.contains(operand);
    };
    for (const Instruction& i : kernel.code)
        for (const std::uint32_t operand : i.operands)
            if (operand && is_argument(operand)) found.insert(operand);
    for (std::size_t before = 0; before != found.size();) {
        before = found.size();
        for (const auto& [operand, setter] : setters)
            if (setter && is_uniform(operand) &&
                kernel.lines[kernel.index_of(setter)].access == MemoryAccess::none &&
                std::all_of(setter->operands + destination_count(*setter),
                            std::end(setter->operands), is_known))
                found.insert(operand);
    }
    return found;
}

/// A thread stores to a word after it has read it, as the last block does that resets a counter:
/// `if (atomicAdd(count, 1) == last) *count = 0`.
bool resets(const Kernel& kernel, std::uint32_t read, std::uint32_t store) {
    const InstructionInfo &reads = kernel.lines[read], &stores = kernel.lines[store];
    const Instruction &a = kernel.code[read], &b = kernel.code[store];
    return reads.bytes == stores.bytes && a.immediate == b.immediate &&
           a.operands[reads.address_operand] == b.operands[stores.address_operand] &&
           reached_in_launch(kernel, read)[store];
}

}  // namespace

/// Tells which accesses of a kernel may access one word.
class MemoryOrders::WordPairs {
  public:
    explicit WordPairs(const Kernel& kernel) : kernel_(kernel) {}

    bool may_meet(std::uint32_t one, std::uint32_t other) const {
        if (are_apart(one, other)) return false;
        const int a = kernel_.lines[one].base, b = kernel_.lines[other].base;
        if (a < 0 || b < 0 || a == b) return true;
        const AddressBase &first = kernel_.bases[std::size_t(a)],
                          &second = kernel_.bases[std::size_t(b)];
        if (first.kind == AddressBase::any_pointer || second.kind == AddressBase::any_pointer)
            return true;
        // All arrays of dynamic shared memory are one.
        return first.kind == AddressBase::shared && second.kind == AddressBase::shared &&
               first.offset == second.offset;
    }

  private:
    /// Two accesses of different words behind an address that all threads share, such as p[0] and
    /// p[1] of an argument p. Of flag[b] and flag[b - 1], where b is the block, one block's may be
    /// the other's.
    bool are_apart(std::uint32_t one, std::uint32_t other) const {
        const InstructionInfo &first = kernel_.lines[one], &second = kernel_.lines[other];
        const Instruction &a = kernel_.code[one], &b = kernel_.code[other];
        const std::uint32_t address = a.operands[first.address_operand];
        if (address == 0 || address != b.operands[second.address_operand]) return false;
        if (std::abs(a.immediate - b.immediate) < std::max(first.bytes, second.bytes)) return false;
        if (!of_launch_) of_launch_ = operands_of_launch(kernel_);
        return of_launch_->contains(address);
    }

    const Kernel& kernel_;
    mutable std::optional<std::set<std::uint32_t>> of_launch_;  ///< found when it is needed
};

void MemoryOrders::begin_launch(const Kernel& kernel) {
    orders_.clear();
    bytes_.clear();
    scopes_.clear();
    fences_ = 0;
    order_blocks_by_words_ = kernel.uses_cluster;
    order_by_words_ = kernel.has_mbarriers || kernel.uses_cluster;
    has_bulk_copies_ = kernel.has_bulk_copies;
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
        fences_ |= 1u << unsigned(i.scope);
    }
    const WordPairs pairs(kernel);
    settle_volatile(kernel, pairs);
    settle_observed(kernel, pairs);
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

void MemoryOrders::settle_volatile(const Kernel& kernel, const WordPairs& pairs) {
    volatile_stores_.assign(orders_.size(), false);
    const auto is_volatile = [](MemoryOrder order) { return order == MemoryOrder::volatile_; };
    if (std::none_of(orders_.begin(), orders_.end(), is_volatile)) return;
    // In shared memory such a load is rather one that a barrier is missing before.
    const auto is_counted = [&](std::uint32_t load) {
        if (kernel.lines[load].space == Space::shared) return false;
        for (std::uint32_t pc = 0; pc < orders_.size(); ++pc)
            if (kernel.lines[pc].access == MemoryAccess::atomic && pairs.may_meet(load, pc))
                return true;
        return false;
    };
    for (std::uint32_t pc = 0; pc < orders_.size(); ++pc)
        if (is_volatile(orders_[pc]) && kernel.lines[pc].access == MemoryAccess::load)
            orders_[pc] =
                is_polled(kernel, pc) || is_counted(pc) ? MemoryOrder::relaxed : MemoryOrder::weak;
    const auto may_be_read = [&](std::uint32_t store) {
        for (std::uint32_t pc = 0; pc < orders_.size(); ++pc)
            if (reads_strongly(kernel, pc) && pairs.may_meet(store, pc)) return true;
        return false;
    };
    for (std::uint32_t pc = 0; pc < orders_.size(); ++pc) {
        if (!is_volatile(orders_[pc])) continue;
        volatile_stores_[pc] = may_be_read(pc);
        orders_[pc] = volatile_stores_[pc] ? MemoryOrder::relaxed : MemoryOrder::weak;
    }
}

bool MemoryOrders::reads_strongly(const Kernel& kernel, std::uint32_t pc) const {
    const MemoryAccess access = kernel.lines[pc].access;
    return (access == MemoryAccess::load || access == MemoryAccess::atomic) && is_strong(pc);
}

void MemoryOrders::settle_observed(const Kernel& kernel, const WordPairs& pairs) {
    std::vector<std::uint32_t> reads, racing;
    observes_.assign(orders_.size(), false);
    only_barriers_order_threads_ = !kernel.has_mbarriers && !(fences_ & 1);
    for (std::uint32_t pc = 0; pc < orders_.size(); ++pc) {
        const InstructionInfo& i = kernel.lines[pc];
        if (i.access == MemoryAccess::none) continue;
        observes_[pc] = reads_strongly(kernel, pc) && is_result_used(kernel, pc);
        if (observes_[pc]) reads.push_back(pc);
        if (!is_strong(pc) || is_volatile_store(pc)) racing.push_back(pc);
        const bool may_be_shared = i.space == Space::shared || i.space == Space::generic;
        only_barriers_order_threads_ &=
            !is_strong(pc) || (!may_be_shared && scopes_[pc] == Scope::device);
    }
    const auto any = [&](auto&& holds) {
        for (const std::uint32_t read : reads)
            for (const std::uint32_t pc : racing)
                if (holds(read, pc)) return true;
        return false;
    };
    const auto is_reset = [&](std::uint32_t read, std::uint32_t pc) {
        return kernel.lines[pc].access == MemoryAccess::store && !is_strong(pc) &&
               resets(kernel, read, pc);
    };
    if (!order_blocks_by_words_ && any([&](std::uint32_t read, std::uint32_t pc) {
            return scopes_[read] == Scope::device && is_reset(read, pc);
        }))
        order_by_words_ = order_blocks_by_words_ = true;
    if (!order_by_words_) order_by_words_ = any(is_reset);
    words_are_observed_ = order_by_words_ && any([&](std::uint32_t read, std::uint32_t pc) {
                              return pairs.may_meet(read, pc);
                          });
}

bool depends_on_order(const Kernel& kernel) {
    if (kernel.has_mbarriers || kernel.uses_cluster) return false;
    MemoryOrders orders;
    orders.begin_launch(kernel);
    return orders.order_by_words() || orders.atomics_decide();
}

}  // namespace warpscope::emulator
