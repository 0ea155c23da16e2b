#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/observe/model_block.h"

namespace warpscope::emulator {

/// The accesses to global memory of blocks that follow models: the models' accesses, and for each
/// block one distance for each instruction.
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
        const Model& model = models_.back();
        Addresses addresses;
        for (std::size_t k = 0; k < model.accesses.size(); ++k)
            if (model.accesses[k].pc == pc) f(moved(model, k, 0, addresses));
    }

    /// Adds a block that follows the newest model, with the instructions that count.
    void add(std::uint32_t block, std::span<const Move> moves);
    /// Adds the blocks of another host thread.
    void join(FollowedBlocks&& other);
    /// Calls on_block(block), then on_access(access) for each of its accesses.
    template <typename OnBlock, typename OnAccess>
    void for_blocks(OnBlock&& on_block, OnAccess&& on_access) const;

  private:
    using Addresses = std::array<std::uint64_t, lanes_per_warp>;
    struct Model {
        std::vector<Access> accesses;  ///< their lane_addresses are not kept
        std::vector<Addresses> addresses;
        std::vector<std::vector<Run>> runs;  ///< indexed by pc
    };
    struct Block {
        std::uint32_t block = 0, model = 0;
        std::size_t moves_end = 0;  ///< index into moves_
    };

    static Access moved(const Model& model, std::size_t number, std::uint64_t distance,
                        Addresses& addresses) {
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
            addresses[lane] = model.addresses[number][lane] + distance;
        Access access = model.accesses[number];
        access.lane_addresses = addresses.data();
        return access;
    }

    std::vector<Model> models_;
    std::vector<Block> blocks_;
    std::vector<Move> moves_;  ///< moves of the blocks, one after the other
};

template <typename OnBlock, typename OnAccess>
void FollowedBlocks::for_blocks(OnBlock&& on_block, OnAccess&& on_access) const {
    std::size_t first = 0;
    Addresses addresses;
    for (const Block& block : blocks_) {
        on_block(block.block);
        const Model& model = models_[block.model];
        for (std::size_t k = 0; k < model.accesses.size(); ++k)
            for (std::size_t m = first; m < block.moves_end; ++m) {
                if (moves_[m].pc != model.accesses[k].pc) continue;
                Access access = moved(model, k, moves_[m].distance, addresses);
                access.block = block.block;
                on_access(access);
            }
        first = block.moves_end;
    }
}

}  // namespace warpscope::emulator
