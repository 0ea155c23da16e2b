#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/observe/block_summaries.h"

namespace warpscope::emulator {

/// The accesses to global memory of blocks that follow models: the models' accesses, and for each
/// block one distance for each instruction, and what it stores where that must be known.
class FollowedBlocks {
  public:
    using Move = ModelBlock::Move;

    /// Bytes [begin, end) of global memory.
    struct Run {
        std::uint64_t begin = 0, end = 0;
    };

    void clear();
    /// Later blocks follow this model.
    void begin_model(const ModelBlock& model);
    /// All bytes that the newest model accesses at an instruction, by address.
    std::span<const Run> runs(std::uint32_t pc) const { return models_.back().runs[pc]; }
    /// Calls f(access) for the accesses of the newest model at an instruction.
    template <typename F>
    void for_accesses(std::uint32_t pc, F&& f) const {
        const ModelAccesses& accesses = *models_.back().accesses;
        ModelAccesses::Addresses addresses;
        for (std::size_t k = 0; k < accesses.size(); ++k)
            if (accesses.is_global(k) && accesses.pc(k) == pc) f(accesses.moved(k, 0, addresses));
    }

    /// Keeps what the running block stores, which follows the newest model so far. Of large
    /// launches, not all of it.
    void keep_values(const Access& store);
    /// The running block does not follow the model any more: an access that it has executed before,
    /// with what was kept of it. The accesses come in their order.
    Access with_values(const Access& access);
    /// Adds the running block, which has followed the newest model.
    void add(std::uint32_t block, std::span<const Move> moves);
    /// Adds the blocks of another host thread.
    void join(FollowedBlocks&& other);
    /// Calls on_block(block), then on_access(access) for each of its accesses.
    template <typename OnBlock, typename OnAccess>
    void for_blocks(OnBlock&& on_block, OnAccess&& on_access);

  private:
    struct Model {
        std::shared_ptr<const ModelAccesses> accesses;
        std::vector<std::vector<Run>> runs;  ///< indexed by pc
    };
    /// What the lanes of a warp have stored, one behind the other.
    struct Stored {
        std::uint32_t block = 0, pc = 0;
        std::uint32_t warp = 0, lanes = 0;
        std::size_t first = 0;  ///< index into bytes_
        bool is_told = false;
    };
    struct Block {
        std::uint32_t block = 0, model = 0;
        std::size_t moves_end = 0;   ///< index into moves_
        std::size_t stored_end = 0;  ///< index into stored_
    };
    /// Looks for what was stored from number `first` on, and below `end`. Raises `first` to what
    /// was not told.
    Access with_values(const Access& access, std::size_t& first, std::size_t end);

    static constexpr std::size_t most_bytes = 1 << 27;
    std::vector<Model> models_;
    std::vector<Block> blocks_;
    std::vector<Move> moves_;     ///< moves of the blocks, one after the other
    std::vector<Stored> stored_;  ///< as moves_; those of the running block come last
    std::vector<std::byte> bytes_;
    std::vector<std::byte> values_;  ///< of the newest with_values()
};

template <typename OnBlock, typename OnAccess>
void FollowedBlocks::for_blocks(OnBlock&& on_block, OnAccess&& on_access) {
    std::size_t first = 0, stored = 0;
    ModelAccesses::Addresses addresses;
    for (const Block& block : blocks_) {
        on_block(block.block);
        const ModelAccesses& accesses = *models_[block.model].accesses;
        for (std::size_t k = 0; k < accesses.size(); ++k)
            for (std::size_t m = first; m < block.moves_end; ++m) {
                if (!accesses.is_global(k) || moves_[m].pc != accesses.pc(k)) continue;
                Access access = accesses.moved(k, moves_[m].distance, addresses);
                access.block = block.block;
                access.is_over = true;
                on_access(with_values(access, stored, block.stored_end));
            }
        first = block.moves_end;
        stored = block.stored_end;
    }
}

}  // namespace warpscope::emulator
