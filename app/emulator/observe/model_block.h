#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/observe/observer.h"

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
        for_accesses(true, f);
    }
    /// Calls f(access) for the accesses of an instruction to global memory, in a block that follows
    /// the model.
    template <typename F>
    void for_moved_accesses(const Move& move, F&& f) const {
        for_global_accesses([&](Access a) {
            if (a.pc != move.pc) return;
            std::array<std::uint64_t, lanes_per_warp> addresses;
            for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
                addresses[lane] = a.lane_addresses[lane] + move.distance;
            a.lane_addresses = addresses.data();
            f(a);
        });
    }
    /// Calls f(access) for the model's accesses to shared memory that are compared.
    template <typename F>
    void for_shared_accesses(F&& f) const {
        for_accesses(false, f);
    }

  protected:
    using Addresses = std::array<std::uint64_t, lanes_per_warp>;
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
    // The accesses, in the order in which they were recorded:
    std::vector<Access> accesses_;  ///< without lane_addresses
    std::vector<Addresses> addresses_;
    std::vector<std::uint8_t> is_global_;
    std::vector<GlobalAccesses> global_accesses_;  ///< by pc
    std::vector<Move> moves_;                      ///< of the running block

  private:
    template <typename F>
    void for_accesses(bool global, F&& f) const {
        for (std::size_t k = 0; k < accesses_.size(); ++k) {
            if (bool(is_global_[k]) != global) continue;
            Access access = accesses_[k];
            access.lane_addresses = addresses_[k].data();
            f(std::as_const(access));
        }
    }
};

}  // namespace warpscope::emulator
