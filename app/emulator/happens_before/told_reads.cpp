#include "emulator/happens_before/told_reads.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "emulator/happens_before/kernel_paths.h"
#include "emulator/lower/uniformity.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

namespace {

bool is_global(const InstructionInfo& i) {
    return i.space == Space::global || i.space == Space::generic;
}

}  // namespace

/// Where the values of a kernel come from: through registers, through memory of the block or the
/// thread, and from the conditions around an instruction.
class ToldReads::ValueSources {
  public:
    explicit ValueSources(const Kernel& kernel) : kernel_(kernel) {
        for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
            const Instruction& i = kernel.code[pc];
            for (unsigned k = 0; k < destination_count(i); ++k)
                setters_.emplace(slot_offset(i.operands[k]), pc);
            const InstructionInfo& info = kernel.lines[pc];
            if (info.access != MemoryAccess::none && info.access != MemoryAccess::load &&
                info.space != Space::global)
                writes_.push_back(pc);
        }
        find_conditions();
    }

    /// These instructions, and those of which their operands may be computed.
    std::vector<bool> of(std::vector<std::uint32_t> open) const {
        std::vector<bool> found(kernel_.code.size());
        for (const std::uint32_t pc : open) found[pc] = true;
        const auto add = [&](std::uint32_t source) {
            if (found[source]) return;
            found[source] = true;
            open.push_back(source);
        };
        while (!open.empty()) {
            const std::uint32_t at = open.back();
            open.pop_back();
            const Instruction& i = kernel_.code[at];
            const bool branches = is_branch(i.role);
            for (unsigned k = branches ? 0 : destination_count(i); k < (branches ? 1u : 6u); ++k)
                add_setters(i.operands[k], add);
            if (at > 0 && is_guard(kernel_.code[at - 1].role))
                add_setters(kernel_.code[at - 1].operands[0], add);
            const auto [first, last] = conditions_.equal_range(block_of(at));
            for (auto branch = first; branch != last; ++branch) add(branch->second);
            const InstructionInfo& info = kernel_.lines[at];
            if (info.access != MemoryAccess::none && info.access != MemoryAccess::store &&
                info.space != Space::global)
                std::ranges::for_each(writes_, add);
        }
        return found;
    }

  private:
    template <typename F>
    void add_setters(std::uint32_t operand, F&& add) const {
        const auto [first, last] = setters_.equal_range(slot_offset(operand));
        for (auto setter = first; operand && setter != last; ++setter) add(setter->second);
    }

    std::size_t block_of(std::uint32_t pc) const {
        const auto& begins = kernel_.origin->block_begin;
        return std::size_t(std::ranges::upper_bound(begins, pc) - begins.begin() - 1);
    }

    void find_conditions() {
        const ControlFlow& flow = kernel_.origin->flow;
        for (std::uint32_t pc = 0; pc < kernel_.code.size(); ++pc) {
            const Role role = kernel_.code[pc].role;
            if (role != Role::branch_if && role != Role::branch_unless) continue;
            const std::size_t block = block_of(pc);
            const std::uint32_t join = flow.post_dominator[block];
            std::vector<bool> inside(flow.blocks.size());
            for (const std::uint32_t next : flow.blocks[block].successors)
                if (next != join) merge(inside, flow.region(next, join));
            for (std::size_t b = 0; b < inside.size(); ++b)
                if (inside[b]) conditions_.emplace(b, pc);
        }
    }

    const Kernel& kernel_;
    std::multimap<std::uint32_t, std::uint32_t> setters_;  ///< pc by slot
    std::vector<std::uint32_t> writes_;                    ///< to memory of the block or the thread
    std::multimap<std::size_t, std::uint32_t> conditions_;  ///< branch by block that it decides
};

void ToldReads::begin_launch(const Kernel& kernel, const LaunchShape& launch,
                             const MemoryOrders& orders) {
    is_followed_ = false;
    if (launch.cooperative || kernel.uses_cluster || launch.grid.count() > most_blocks) return;
    std::vector<std::uint32_t> words, looks, stores;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
        const InstructionInfo& i = kernel.lines[pc];
        if (i.access == MemoryAccess::none || !is_global(i)) continue;
        const bool is_strong = orders.is_strong_between_blocks(pc);
        if (is_strong && i.access != MemoryAccess::load) words.push_back(pc);
        if (is_strong && orders.observes(pc)) looks.push_back(pc);
        if (!is_strong && i.access == MemoryAccess::store) stores.push_back(pc);
    }
    if (words.empty() || looks.empty() || stores.empty()) return;
    const ValueSources sources(kernel);
    find_told(kernel, orders, sources, words);
    if (!is_followed_) return;
    looks_.assign(kernel.code.size(), false);
    const std::vector<bool> decides = sources.of(stores);
    for (const std::uint32_t pc : looks) looks_[pc] = decides[pc] || is_polled(kernel, pc);
    clocks_.begin_launch(launch, {.clocks = 1, .tells_threads_apart = true});
    moments_.assign(1, {});
}

void ToldReads::find_told(const Kernel& kernel, const MemoryOrders& orders,
                          const ValueSources& sources, const std::vector<std::uint32_t>& words) {
    told_.assign(kernel.code.size(), false);
    tells_ = told_;
    for (const std::uint32_t word : words) {
        const std::vector<bool> found = sources.of({word});
        for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
            const InstructionInfo& i = kernel.lines[pc];
            const bool reads = i.access == MemoryAccess::load || i.access == MemoryAccess::atomic;
            if (!found[pc] || !reads || !is_global(i) || pc == word) continue;
            tells_[word] = true;
            if (orders.is_strong_between_blocks(pc)) continue;
            told_[pc] = is_followed_ = true;
        }
    }
}

void ToldReads::begin_block(std::uint32_t block) {
    if (is_followed_) clocks_.begin_block(block);
}

void ToldReads::barrier() {
    if (is_followed_) clocks_.barrier();
}

void ToldReads::warp_sync(std::uint32_t warp) {
    if (is_followed_) clocks_.warp_sync(warp);
}

void ToldReads::add_event(std::uint32_t warp) {
    if (is_followed_) moments_.push_back({clocks_.time(), clocks_.seen(warp)});
}

void ToldReads::access(const Access& a, const MemoryOrders& orders) {
    if (!is_followed_) return;
    MemoryOrder order = orders.between_blocks(a.pc);
    if (order != MemoryOrder::weak)
        order = tells_[a.pc]   ? looks_[a.pc] ? MemoryOrder::acq_rel : MemoryOrder::release
                : looks_[a.pc] ? MemoryOrder::acquire
                               : MemoryOrder::relaxed;
    ScopedClocks clocks{clocks_, Scope::device};
    synchronise(a, order, false, clocks);
}

}  // namespace warpscope::emulator
