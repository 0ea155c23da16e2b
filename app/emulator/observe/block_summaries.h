#pragma once

#include <cstdint>
#include <span>

#include "emulator/observe/model_block.h"
#include "emulator/observe/observer.h"

namespace warpscope::emulator {

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
