#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/machine/launch_settings.h"
#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// The words of global memory that a block has stored to, in any order of its warps, with what they
/// held before the block.
class WrittenWords {
  public:
    WrittenWords(const Memory& memory, const Module& module) : memory_(memory), module_(module) {}

    /// To be called before the bytes are stored to. Ignores invalid addresses.
    void add(std::uint64_t address, std::uint32_t bytes);
    std::size_t size() const { return words_.size(); }
    std::uint64_t address(std::size_t k) const { return words_[k].address; }
    std::uint32_t original(std::size_t k) const { return words_[k].original; }
    std::uint32_t now(std::size_t k) const;

    std::vector<std::uint32_t> values() const;
    /// Writes values() of an earlier moment back; with none, what they held before.
    void restore(const std::vector<std::uint32_t>& values);
    /// The block begins. restore() leaves what was stored before; restore_all() undoes that, too.
    void begin();
    void restore_all();
    /// A number for what the block has changed. It does not depend on the words that were added.
    std::uint64_t key() const;

  private:
    struct Word {
        std::uint64_t address = 0;
        std::uint32_t original = 0;
    };
    const Memory& memory_;
    const Module& module_;
    std::vector<Word> words_, before_begin_;
    std::unordered_map<std::uint64_t, std::uint32_t> index_;
};

/// Whether a word of global memory holds what people expect of the launch.
enum class WordVerdict : std::uint8_t { unknown, right, wrong };
/// Judges the word at an address, as it is now.
using JudgeWord = std::function<WordVerdict(std::uint64_t address)>;

/// An access of a warp to a word that another warp accesses in the same epoch, one of them writing.
struct ConflictAccess {
    std::uint64_t word = 0;
    std::uint32_t pc = 0;
    std::uint32_t epoch = 0;
    std::uint8_t warp = 0;
    bool writes = false;
};

/// Watches the accesses of one block over many of its orders, and learns which words of shared and
/// global memory the warps contend for. What it has learned only grows; its log is of one order.
class AccessWatch : public Observer {
  public:
    AccessWatch(const Memory& memory, const Module& module) : written(memory, module) {}

    /// What the newest access of a warp is.
    enum class Newest : std::uint8_t { alone, contended };
    Newest newest = Newest::alone;
    std::uint32_t epoch = 0;          ///< of the next accesses
    std::vector<ConflictAccess> log;  ///< the accesses of contended words in this order
    WrittenWords written;
    /// Is told in place of this watch, while an order is repeated that it knows; null: it is told.
    Observer* instead = nullptr;

    /// Before this call, which is before the block itself, only what is written is noted.
    void begin() {
        if (!std::exchange(begun_, true)) written.begin();
    }
    /// The accesses are those of several blocks, whose barriers order nothing between them:
    /// everywhere else, "warp" stands for a unit. `in_cluster`: they are a cluster that uses each
    /// other's shared memory.
    void join_blocks(BlockGroup group, bool in_cluster) {
        group_ = std::move(group);
        in_cluster_ = in_cluster;
        has_epochs_ = false;
    }
    std::uint64_t learned() const { return learned_; }  ///< changes with each new conflict
    /// The warps that contend, directly or through others, with `warp` in this epoch.
    std::uint32_t rivals(std::uint32_t warp) const;

    bool wants_instructions(const Kernel&) const override { return false; }
    void on_shared_access(const Access& access) override {
        if (instead) return instead->on_shared_access(access);
        if (!in_cluster_) note(access, Space::shared);
    }
    void on_cluster_access(const Access& access) override {
        if (instead) return instead->on_cluster_access(access);
        if (in_cluster_) note(access, Space::cluster);
    }
    void on_global_access(const Access& access) override {
        if (instead) return instead->on_global_access(access);
        note(access, Space::global);
    }
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override {
        if (instead) instead->on_barrier_release(release);
    }
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override {
        if (instead) instead->on_warp_sync(block, warp, members);
    }
    void on_async(std::uint32_t block, const AsyncEvent& event) override {
        if (instead) instead->on_async(block, event);
    }
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  Fence fence) override {
        if (instead) instead->on_fence(block, warp, mask, fence);
    }

  private:
    struct Users {
        std::uint32_t readers = 0, writers = 0;  ///< warps, a bit each
    };
    using Groups = std::array<std::uint32_t, 32>;  ///< for each warp, the warps of its group
    void note(const Access& access, Space space);
    bool note_word(std::uint32_t unit, bool writes, std::uint64_t word);
    void unite(std::uint32_t warps);

    std::unordered_map<std::uint64_t, Users> users_;
    std::unordered_map<std::uint32_t, Groups> groups_;  ///< by epoch
    std::uint64_t learned_ = 0;
    std::optional<BlockGroup> group_;  ///< where several blocks run together
    bool in_cluster_ = false, begun_ = false;
    bool has_epochs_ = true;  ///< false: a barrier does not hold all threads, so it orders little
};

}  // namespace warpscope::emulator
