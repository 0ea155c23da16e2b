#include "emulator/machine/old_values.h"

#include <cstring>

#include "emulator/warp/memory.h"
#include "emulator/warp/splitmix64.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {
namespace {

constexpr std::uint64_t word_bytes = 4;

std::uint32_t value_at(const std::byte* word) {
    std::uint32_t value = 0;
    std::memcpy(&value, word, sizeof value);
    return value;
}

/// Calls f(address) for each word that the lanes of an access touch.
template <typename F>
void for_words(const Access& access, F&& f) {
    for_each_lane(access.same_address ? access.mask & (0 - access.mask) : access.mask,
                  [&](unsigned lane) {
                      const std::uint64_t address = access.address(lane);
                      for (std::uint64_t word = address & ~(word_bytes - 1);
                           word < address + access.bytes; word += word_bytes)
                          f(word);
                  });
}

}  // namespace

std::uint64_t OldValues::key() const {
    std::uint64_t sum = 0;
    for (const auto& [place, word] : words_)
        if (word.before != value_at(place))
            sum += splitmix64(std::uint64_t(place) ^
                              splitmix64(word.before | std::uint64_t(word.store.warp) << 32 |
                                         std::uint64_t(word.store.block) << 37));
    return sum;
}

void OldValues::begin_instruction() {
    may_take_back_ = true;
    replaced_.clear();
    other_store_.reset();
}

void OldValues::take_back() {
    for (; !replaced_.empty(); replaced_.pop_back()) {
        const auto& [place, word] = replaced_.back();
        if (word)
            words_[place] = *word;
        else
            words_.erase(place);
    }
}

void OldValues::end_use() {
    is_used_ = false;
    for (const auto& [place, value] : hidden_) std::memcpy(place, &value, sizeof value);
    hidden_.clear();
}

void OldValues::on_shared_access(const Access& access) {
    const BlockContext& block = *access.state->block;
    for_words(access, [&](std::uint64_t offset) {
        if (offset + word_bytes <= block.shared_bytes) note(access, block.shared + offset);
    });
}

// An address of global memory is one of the host.
void OldValues::on_global_access(const Access& access) {
    const BlockContext& block = *access.state->block;
    for_words(access, [&](std::uint64_t address) {
        if (find_global(*block.memory, *block.kernel->module, address, word_bytes))
            note(access, reinterpret_cast<std::byte*>(address));
    });
}

void OldValues::note(const Access& access, std::byte* place) {
    const std::uint32_t now = value_at(place);
    const auto known = words_.find(place);
    const bool is_known = known != words_.end();
    if (access.kind != MemoryAccess::load) {
        if (may_take_back_)
            replaced_.emplace_back(place, is_known ? std::optional(known->second) : std::nullopt);
        words_[place] = {{access.block, access.warp, access.pc}, now};
        return;
    }
    if (!is_known || known->second.before == now) return;
    const Store& store = known->second.store;
    if (store.block == access.block && store.warp == access.warp) return;
    other_store_ = store;
    if (!is_used_) return;
    hidden_.emplace_back(place, now);
    std::memcpy(place, &known->second.before, sizeof now);
}

}  // namespace warpscope::emulator
