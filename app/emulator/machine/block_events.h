#pragma once

#include <cstdint>
#include <exception>
#include <stop_token>
#include <vector>

#include "emulator/machine/block_model.h"
#include "emulator/machine/observer.h"
#include "emulator/warp/repeated_loads.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// A bit of BlockContext::wanted_events, for compiled code: accesses that are foreseen (see
/// BlockModel) are wanted. Others have Instruction::shared_access.
inline constexpr std::uint32_t wants_foreseen = 1u << 8;

/// Tells an observer what the running block does. A block without an observer has no BlockEvents,
/// and its loop has no hook for them.
class BlockEvents {
  public:
    BlockEvents(Observer& observer, const BlockContext& block, RepeatedLoads& repeated,
                BlockModel& model, const std::stop_token& stop);

    /// A mask of Instruction::Event: before_instruction() must be called for an instruction that
    /// has one of these.
    std::uint32_t wanted() const { return wanted_; }
    /// What compiled code follows: the model, where nobody is told of the block's events.
    ModelPosition& position() { return told_ ? nothing_ : model_.position(); }
    void before_instruction(const Instruction* i, const Warp& warp);
    /// True for an instruction that must be announced with before_instruction().
    bool announces(const Instruction* i, const Warp& warp) const {
        const bool reports_itself =
            warp.mode == Instruction::full && (i->events & Instruction::reports_itself);
        return (i->events & wanted_) && !reports_itself;
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
    /// The run of a split has ended. Throws what the observer has thrown in these functions.
    void run_end() {
        if (failure_) std::rethrow_exception(failure_);
        tell_broadcasts();
        if (!member_faults_.empty()) tell_member_faults();
    }

    /// True where the launch is to end. Asks seldom, as most events take less time than the
    /// question.
    bool must_end() {
        constexpr std::uint64_t events_together = 1 << 12;
        return ++sent_ % events_together == 0 && stop_.stop_requested();
    }

    /// Where handlers write down what they see; told when the run of a split has ended.
    std::vector<MemberFault>& member_faults() { return member_faults_; }

    void block_begin();
    void block_end(const Statistics& of_block);
    void error(const Error& error);
    void barrier_arrival(const Instruction* i, const Warp& warp, std::uint32_t lanes,
                         unsigned barrier, std::uint32_t expected) {
        tell_broadcasts();
        if (wants_barriers_) tell_arrival(i, warp, lanes, barrier, expected);
    }
    void barrier_release(unsigned barrier, std::uint32_t epoch) {
        tell_broadcasts();
        repeated_.forget();
        if (wants_barriers_) tell_release(barrier, epoch);
    }
    /// Completes the warp-wide instructions of `warp` whose members all wait.
    void complete_warp_syncs(Warp& warp);

  private:
    Access access_of(const Instruction* i, const Warp& warp, const std::uint64_t* addresses) const;
    /// Tells of the broadcasts that compiled code has written down, before any other event.
    void tell_broadcasts() {
        if (repeated_.any_written()) tell_written_broadcasts();
    }
    void tell_written_broadcasts();
    void tell_member_faults();
    void tell_arrival(const Instruction* i, const Warp& warp, std::uint32_t lanes, unsigned barrier,
                      std::uint32_t expected);
    void tell_release(unsigned barrier, std::uint32_t epoch);
    void shared_access(const Access& access);
    void global_access(const Access& access);
    void warp_sync(std::uint32_t warp, std::uint32_t members);
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
    /// An event that is the same in all blocks where that is proved (BlockModel::is_proved()).
    template <typename F, typename... Event>
    void tell_foreseen(F&& f, const Event&... event) {
        if (!model_.is_proved()) compare(event...);
        if (told_foreseen_) f(*told_foreseen_);
    }
    void memory_access(const Instruction* i, const Warp& warp, std::uint32_t mask);
    void uniform_shared_access(const Instruction* i, const Warp& warp);
    void generic_access(Access& access, std::uint64_t* addresses);
    void warp_barrier(const Instruction* i, const Warp& warp, std::uint32_t mask);

    Observer& observer_;
    const BlockContext& block_;
    Observer* const followers_;  ///< see Observer::followers()
    Observer* told_;  ///< of events: in a block that follows the model, the others; or nullptr
    Observer* told_foreseen_;  ///< likewise, of events that are foreseen
    RepeatedLoads& repeated_;
    BlockModel& model_;
    ModelPosition nothing_;  ///< of a block that follows no model
    const std::stop_token& stop_;
    std::uint32_t wanted_;
    bool wants_barriers_;
    std::uint64_t sent_ = 0;
    std::exception_ptr failure_;
    std::vector<MemberFault> member_faults_;
};

}  // namespace warpscope::emulator
