#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/observe/model_accesses.h"

namespace warpscope::emulator {

/// The accesses of one block, the model, and how far those of the running block are from them.
class ModelBlock {
  public:
    /// All addresses of an instruction in global memory, in the block that follows the model.
    struct Move {
        std::uint32_t pc = 0;
        std::uint64_t distance = 0;  ///< from the model's
    };

    /// A proof says that no block of the launch has races, and that all blocks have equal barriers,
    /// and equal accesses to shared memory where is_foreseen(). Those are not compared.
    bool is_proved() const { return is_proved_; }
    /// The instruction accesses shared memory in all blocks alike: equal threads execute it equally
    /// often, at equal addresses, between equal barriers.
    bool is_foreseen(std::uint32_t pc) const { return is_foreseen_[pc]; }

    /// The first accesses to global memory of each instruction, in the running block.
    std::span<const Move> moves() const { return moves_; }
    /// Addresses [begin, end) in global memory that the model accesses at an instruction.
    std::uint64_t begin(std::uint32_t pc) const { return global_accesses_[pc].begin; }
    std::uint64_t end(std::uint32_t pc) const { return global_accesses_[pc].end; }
    /// Calls f(access) for the model's accesses to global memory, in the order of their execution.
    template <typename F>
    void for_global_accesses(F&& f) const {
        accesses_->for_all(true, f);
    }
    /// Calls f(access) for the accesses of an instruction to global memory, in a block that follows
    /// the model.
    template <typename F>
    void for_moved_accesses(const Move& move, F&& f) const {
        ModelAccesses::Addresses addresses;
        for (std::size_t k = 0; k < accesses_->size(); ++k)
            if (accesses_->is_global(k) && accesses_->pc(k) == move.pc)
                f(accesses_->moved(k, move.distance, addresses));
    }
    /// Calls f(access) for the model's accesses to shared memory that are compared.
    template <typename F>
    void for_shared_accesses(F&& f) const {
        accesses_->for_all(false, f);
    }
    /// All of them, for an observer that keeps them longer than the block is the model.
    std::shared_ptr<const ModelAccesses> accesses() const { return accesses_; }

  protected:
    /// The global accesses of an instruction.
    struct GlobalAccesses {
        std::uint64_t begin = ~0ull, end = 0;  ///< in the model
        std::uint64_t moved_by = 0;            ///< in the running block, if `is_moved`
        bool is_moved = false;
        bool needs_values = false;  ///< in the running block, if `is_moved`
        bool writes = false;
    };

    bool is_proved_ = false;
    std::vector<bool> is_foreseen_;  ///< by pc
    std::shared_ptr<ModelAccesses> accesses_ = std::make_shared<ModelAccesses>();
    std::vector<GlobalAccesses> global_accesses_;  ///< by pc
    std::vector<Move> moves_;                      ///< of the running block
};

}  // namespace warpscope::emulator
