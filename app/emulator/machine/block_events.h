#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/observe/observer.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Tells an observer what a block does. A block without an observer has no BlockEvents, and its
/// loop has no hook for them. One object serves the blocks that a host thread runs, one after the
/// other.
class BlockEvents : public AsyncListener {
  public:
    /// `observed`: where `block` points while it is observed; a derived class may have more there.
    BlockEvents(Observer& observer, BlockContext& block, const std::stop_token& stop,
                std::shared_ptr<ObservedBlock> observed = std::make_shared<ObservedBlock>());
    ~BlockEvents() override = default;
    BlockEvents(const BlockEvents&) = delete;
    BlockEvents& operator=(const BlockEvents&) = delete;

    const Observer& observer() const { return observer_; }
    ObservedBlock& observed() { return *observed_; }
    /// A mask of Instruction::Event: before_instruction() must be called for an instruction that
    /// has one of these.
    std::uint32_t wanted() const { return wanted_; }
    virtual void before_instruction(const Instruction* i, const Warp& warp);
    /// True for an instruction that must be announced with before_instruction().
    bool announces(const Instruction* i, const Warp& warp) const {
        const bool reports_itself =
            warp.mode == Instruction::full && (i->events & Instruction::reports_itself);
        return (i->events & wanted_) && !reports_itself;
    }
    /// The run of a split has ended.
    virtual void run_end() {
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

    /// The next events are of this block, whose turn it is: see Observer::on_block_turn().
    void turn_begin() { observer_.on_block_turn(block_.block); }
    virtual void block_begin();
    virtual void block_end(const Statistics& of_block);
    virtual void error(const Error& error);
    void barrier_arrival(const Instruction* i, const Warp& warp, std::uint32_t lanes,
                         unsigned barrier, std::uint32_t expected) {
        if (wants_barriers_) tell_arrival(i, warp, lanes, barrier, expected);
    }
    void barrier_release(unsigned barrier, std::uint32_t completed) {
        if (wants_barriers_) tell_release(barrier, completed);
    }
    void on_async(const AsyncEvent& event) override;
    /// Completes the warp-wide instructions of `warp` whose members all wait.
    void complete_warp_syncs(Warp& warp);

  protected:
    /// A mask of Instruction::Event.
    static std::uint32_t wanted_by(const Observer& observer, const Kernel& kernel);
    void want(std::uint32_t events, bool barriers) {
        wanted_ = observed_->wanted = events;
        wants_barriers_ = barriers;
    }

    Access access_of(const Instruction* i, const Warp& warp, const std::uint64_t* addresses) const;
    virtual void shared_access(const Access& access) { told_->on_shared_access(access); }
    /// shared_access(), and what a cluster of several blocks is told of it.
    void own_shared_access(const Access& access) {
        shared_access(access);
        if (in_cluster_) cluster_access(access, block_.rank);
    }
    virtual void global_access(const Access& access) { told_->on_global_access(access); }
    virtual void warp_sync(std::uint32_t warp, std::uint32_t members) {
        told_->on_warp_sync(block_.block, warp, members);
    }
    virtual void arrival(const BarrierArrival& arrival) { told_->on_barrier_arrival(arrival); }
    virtual void release(const BarrierRelease& release) { told_->on_barrier_release(release); }

    Observer& observer_;
    BlockContext& block_;
    Observer* told_;  ///< of the block's events; a derived class may set nullptr
    const std::stop_token& stop_;

  private:
    void tell_member_faults();
    void tell_arrival(const Instruction* i, const Warp& warp, std::uint32_t lanes, unsigned barrier,
                      std::uint32_t expected);
    void tell_release(unsigned barrier, std::uint32_t completed);
    void copy_accesses(const AsyncEvent& event, bool destinations, bool shared);
    void memory_access(const Instruction* i, const Warp& warp, std::uint32_t mask);
    void image_access(const Instruction* i, const Warp& warp, std::uint32_t mask);
    void uniform_shared_access(const Instruction* i, const Warp& warp);
    void generic_access(Access& access, std::uint64_t* addresses);
    /// The lanes access the window .shared::cluster, in any blocks of the cluster.
    void shared_access_in_cluster(Access& access, std::uint64_t* addresses);
    /// The addresses of `access` are offsets into the shared memory of block `rank` of the cluster.
    void cluster_access(const Access& access, std::uint32_t rank);
    void warp_barrier(const Instruction* i, const Warp& warp, std::uint32_t mask);

    const std::shared_ptr<ObservedBlock> observed_;
    std::uint32_t wanted_ = 0;
    bool wants_barriers_ = false;
    bool in_cluster_ = false;  ///< of several blocks
    std::uint64_t sent_ = 0;
    std::vector<MemberFault> member_faults_;
};

}  // namespace warpscope::emulator
