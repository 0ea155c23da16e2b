#pragma once

#include <array>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "emulator/fast_paths/alike/block_model.h"
#include "emulator/machine/block_events.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/observe/block_summaries.h"
#include "emulator/observe/observer_list.h"

namespace warpscope::emulator {

/// A bit of ObservedBlock::wanted, for compiled code: accesses that are foreseen (see ModelBlock)
/// are wanted. Others have Instruction::shared_access.
inline constexpr std::uint32_t wants_foreseen = 1u << 8;
/// Another one: loads of global memory are wanted. Stores have Instruction::global_access.
inline constexpr std::uint32_t wants_global_loads = 1u << 9;

class AlikeEvents;

/// What compiled code uses of a block that is observed.
struct ReportedBlock : ObservedBlock {
    AlikeEvents* events = nullptr;
    ModelPosition* model = nullptr;
    BroadcastLoad* next_load = nullptr;  ///< where the next one is written
    const BroadcastLoad* loads_end = nullptr;
};

/// Spares observers the events of blocks that are alike: BlockModel compares each block with an
/// earlier one, and observers that have BlockSummaries are told at the end that the block has
/// followed it. The other observers are told of all events.
///
/// Compiled code compares most accesses itself, as far as ReportedBlock::model leads. It writes
/// down loads of one shared address by all lanes, the most frequent accesses of inner loops, and
/// goes on: observers are told of many at a time, before they are told of anything else.
class AlikeEvents final : public BlockEvents {
  public:
    /// `likeness` may be null; `independent_warps`: the order of the warps cannot be seen.
    /// Without `has_model` no block follows another one.
    AlikeEvents(Observer& observer, BlockContext& block, const std::stop_token& stop,
                const BlockLikeness* likeness, bool independent_warps, bool has_model);

    void before_instruction(const Instruction* i, const Warp& warp) override {
        tell_broadcasts();
        BlockEvents::before_instruction(i, warp);
    }
    void block_begin() override;
    void block_end(const Statistics& of_block) override;
    void error(const Error& error) override;
    /// Throws what an observer has thrown in the functions for compiled code.
    void run_end() override {
        if (failure_) std::rethrow_exception(failure_);
        tell_broadcasts();
        BlockEvents::run_end();
    }

    // For compiled code, through which no exception passes: the observer's exception waits.
    /// A load or store of all lanes that will not fail. `addresses` as Access::lane_addresses, and
    /// so many neighbouring lanes access bytes that follow each other, if not 0: a whole or half a
    /// warp. True where the turn must end, because the launch does.
    bool report(const Instruction* i, const Warp& warp, const std::uint64_t* addresses,
                unsigned consecutive_lanes) noexcept;
    /// There is no room for further broadcasts. Returns what report() does.
    bool report_broadcasts() noexcept;
    /// before_instruction() of an instruction that the interpreter runs within compiled code.
    void announce(const Instruction* i, const Warp& warp) noexcept;

  private:
    static constexpr std::size_t told_together = 256;

    void shared_access(const Access& access) override;
    void global_access(const Access& access) override;
    void warp_sync(std::uint32_t warp, std::uint32_t members) override;
    void arrival(const BarrierArrival& arrival) override;
    void release(const BarrierRelease& release) override;

    ReportedBlock& reported() { return static_cast<ReportedBlock&>(observed()); }
    /// Tells of the broadcasts that compiled code has written down, before any other event.
    void tell_broadcasts() {
        if (reported().next_load != loads_.data()) tell_written_broadcasts();
    }
    void tell_written_broadcasts();
    /// Compiled code writes from the beginning again, up to so many loads.
    void write_broadcasts(std::size_t most);
    void begin_to_follow();
    /// Compares an event of a block that follows the model, or records it.
    template <typename... Event>
    void compare(const Event&... event);
    /// The block goes on in another way than the model.
    void leave_model();
    template <typename F>
    void tell(F&& f) {
        if (told_) f(*told_);
    }
    /// An event that all blocks have where that is proved (ModelBlock::is_proved()).
    template <typename F, typename... Event>
    void tell_foreseen(F&& f, const Event&... event) {
        if (!model_.is_proved()) compare(event...);
        if (told_foreseen_) f(*told_foreseen_);
    }
    template <typename F>
    void summarize(F&& f) {
        for (BlockSummaries* s : summaries_) f(*s);
    }

    /// The observers that have summaries, and the others.
    ObserverList followers_, others_;
    std::vector<BlockSummaries*> summaries_;
    std::vector<BlockSummaries*> of_shared_accesses_;  ///< of these, those that want them
    Observer* told_foreseen_ = nullptr;  ///< who is told of events that are foreseen; or nullptr
    BlockModel model_;
    ModelPosition nothing_;  ///< of a block that follows no model
    std::array<BroadcastLoad, told_together> loads_;
    std::exception_ptr failure_;
};

/// Makes AlikeEvents for the blocks of a launch of the kernel, or of another form of it.
MakeBlockEvents alike_events(const Kernel& kernel, bool independent_warps, bool has_model = true);

}  // namespace warpscope::emulator
