#include "emulator/machine/still_watch.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include "emulator/warp/memory.h"
#include "emulator/warp/splitmix64.h"

namespace warpscope::emulator {
namespace {

using namespace std::chrono_literals;

/// Most launches have a block that ends within this time, and are not looked at.
constexpr auto before_looking = 1s;
/// Memory is looked at only where registers repeat themselves: compiled code does not keep all.
constexpr auto before_memory = 1s;
/// Each block that runs is looked at meanwhile, also on a busy machine.
constexpr auto without_change = 2s;
constexpr unsigned fewest_looks = 8;
constexpr auto between_looks = 1ms;
/// A loop that waits has fewer states. More are forgotten.
constexpr std::size_t most_states = 64;

std::uint64_t state_of(const void* bytes, std::size_t number) {
    return std::hash<std::string_view>()({static_cast<const char*>(bytes), number});
}

std::uint64_t state_of(const Warp& warp, const Kernel& kernel) {
    std::uint64_t state = state_of(warp.registers, kernel.register_bytes);
    for (const Split& split : warp.splits)
        for (const std::uint64_t part : {std::uint64_t(kernel.index_of(split.pc)),
                                         std::uint64_t(split.mask), std::uint64_t(split.state)})
            state = splitmix64(state ^ part);
    return state;
}

std::uint64_t state_of_memory(const BlockState& block) {
    const BlockContext& context = block.context;
    std::uint64_t state = state_of(context.shared, context.shared_bytes);
    const auto add = [&](const void* bytes, std::size_t number) {
        state = splitmix64(state ^ state_of(bytes, number));
    };
    add(block.local.data(), block.local.size());
    for (const Memory::Allocation& allocation : context.memory->allocations())
        add(reinterpret_cast<const void*>(allocation.begin), allocation.used_bytes());
    for (const Module::GlobalVariable& variable : context.kernel->module->variables())
        add(variable.data, variable.bytes);
    return state;
}

}  // namespace

bool StillWatch::is_new(const BlockState& block, bool with_memory) {
    bool is_new = false;
    seen_.resize(block.warps.size());
    for (std::size_t w = 0; w < block.warps.size(); ++w) {
        if (seen_[w].size() > most_states) seen_[w].clear();
        is_new |= seen_[w].insert(state_of(block.warps[w], *block.context.kernel)).second;
    }
    if (!with_memory || is_new) {
        memory_.reset();
        return is_new;
    }
    const std::uint64_t memory = state_of_memory(block);
    return memory != std::exchange(memory_, memory).value_or(memory);
}

bool StillWatch::is_still(const BlockState& block, Budget& budget) {
    turned_ |= 1u << block.last_warp;
    const auto start = Clock::now();
    const auto time = start - budget.changed_at();
    if (start < next_look_ || (seen_.empty() && time < before_looking)) return false;
    const bool is_new = this->is_new(block, time >= before_memory);
    const auto end = Clock::now();
    next_look_ = end + std::max<Clock::duration>(between_looks, 4 * (end - start));
    if (is_new) {
        looks_ = 0;
        turned_ = 0;
        budget.note_change();
        return false;
    }
    return ++looks_ >= fewest_looks && memory_ && time >= without_change &&
           !(block.runnable & ~turned_);
}

}  // namespace warpscope::emulator
