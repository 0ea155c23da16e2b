#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Accesses of a block to shared and global memory, in the order in which they were recorded.
/// Of lanes that access bytes that follow each other, only the first address is kept: most
/// accesses of large launches are of this kind, and each host thread of a launch keeps a model.
class ModelAccesses {
  public:
    using Addresses = std::array<std::uint64_t, lanes_per_warp>;

    std::size_t size() const { return kept_.size(); }
    std::uint32_t pc(std::size_t number) const { return kept_[number].access.pc; }
    bool is_global(std::size_t number) const { return kept_[number].is_global; }
    /// Sets Access::consecutive of what it keeps, where that is so.
    void add(const Access& access, bool is_global);
    /// Returns an access with all of its addresses moved by `distance`. It points into `addresses`.
    Access moved(std::size_t number, std::uint64_t distance, Addresses& addresses) const;

    /// Calls f(access) for the accesses to global, or to shared memory.
    template <typename F>
    void for_all(bool global, F&& f) const {
        Addresses addresses;
        for (std::size_t k = 0; k < size(); ++k)
            if (is_global(k) == global) f(moved(k, 0, addresses));
    }

  private:
    struct Kept {
        Access access;              ///< without lane_addresses
        std::size_t addresses = 0;  ///< index of the first one in addresses_
        bool is_global = false;
    };

    std::vector<Kept> kept_;
    std::vector<std::uint64_t> addresses_;  ///< one of each access, or one of each lane
};

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

/// A load of one address in shared memory by all lanes of a warp, which the warp has executed.
struct BroadcastLoad {
    std::uint64_t address = 0;
    const Warp* warp = nullptr;
    std::uint32_t pc = 0;
};
/// The load as an access whose address has been checked. Points into `load`.
Access access_of(const BroadcastLoad& load);

/// What an observer does with blocks that are alike (Observer::summaries()). One block becomes the
/// model. Of a block that follows the model, the observer is told at its end with on_followed(), in
/// place of all events from on_block_begin() to on_block_end(). A block that leaves the model
/// begins late for the observer: its accesses so far are Access::is_over.
class BlockSummaries {
  public:
    virtual ~BlockSummaries() = default;
    /// The block that begins may become the model.
    virtual void on_model_begin() {}
    /// Asked before the end of that block: what was found in it would not be found in another one.
    virtual bool refuses_model() const { return false; }
    /// The block has become the model.
    virtual void on_model(const ModelBlock&) {}
    /// In a block that follows the model, an instruction accesses global memory for the first time,
    /// at this distance from the model's addresses. True where on_stored_values() must be called
    /// for each of the instruction's accesses in this block.
    virtual bool needs_values(std::uint32_t /*pc*/, std::uint64_t /*distance*/) { return false; }
    virtual void on_stored_values(const Access&) {}
    /// Follows on_block_begin() of a block that has no races (ModelBlock::is_proved()), but does
    /// not follow the model: its barriers, and its accesses to shared memory that are foreseen, are
    /// those of the model, and are not told.
    virtual void on_proved_block(const ModelBlock&) {}
    virtual void on_followed(const ModelBlock&, std::uint32_t /*block*/,
                             const Statistics& /*of the block*/) {}
    /// Loads in their order, in place of Observer::on_shared_access(), since the event before.
    virtual void on_broadcasts(std::span<const BroadcastLoad> loads) = 0;
};

}  // namespace warpscope::emulator
