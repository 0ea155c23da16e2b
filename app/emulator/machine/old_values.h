#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// What the words of shared and global memory held before their newest stores, so that a load may
/// get an older value: PTX lets it where nothing orders the store before the load, as where a fence
/// is missing (PTX ISA 8, "Memory Consistency Model"). An atomic never gets one. Clusters have no
/// old values of each other's shared memory.
class OldValues : public Observer {
  public:
    /// The newest store to a word.
    struct Store {
        std::uint32_t block = 0, warp = 0, pc = 0;
    };
    struct Word {
        Store store;
        std::uint32_t before = 0;
    };
    using Words = std::unordered_map<std::byte*, Word>;  ///< by their places

    const Words& words() const { return words_; }
    void set_words(Words words) { words_ = std::move(words); }
    /// A number for what has been stored, and what it has replaced.
    std::uint64_t key() const;

    /// Of a block whose turns end at instructions that were announced: one is announced, and it
    /// does not execute now.
    void begin_instruction();
    void take_back();
    /// The store of another warp whose value the announced load need not get, though that is
    /// another one than before; nullopt: there is none.
    const std::optional<Store>& other_store() const { return other_store_; }

    /// While it lives, loads that are announced find the old values in memory.
    class Use {
      public:
        /// `values` may be null: nothing happens.
        explicit Use(OldValues* values) : values_(values) {
            if (values_) values_->is_used_ = true;
        }
        ~Use() {
            if (values_) values_->end_use();
        }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        OldValues* values_;
    };

    bool wants_instructions(const Kernel&) const override { return false; }
    bool wants_barriers() const override { return false; }
    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;

  private:
    void note(const Access& access, std::byte* word);
    void end_use();

    Words words_;
    std::vector<std::pair<std::byte*, std::optional<Word>>> replaced_;  ///< by the instruction
    bool may_take_back_ = false;
    std::optional<Store> other_store_;
    bool is_used_ = false;
    std::vector<std::pair<std::byte*, std::uint32_t>> hidden_;  ///< the values of words in use
};

}  // namespace warpscope::emulator
