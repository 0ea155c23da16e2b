#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "emulator/checks/undefined_values.h"
#include "emulator/observe/finding_log.h"
#include "emulator/observe/observer.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Finds barriers that not every thread reaches, as compute-sanitizer's synccheck does, and wrong
/// member masks of warp-wide instructions: such an instruction is a barrier of the lanes it names.
///   error    Some lanes of a warp arrive without the others (except at barrier.sync without
///            .aligned, which allows it), or the threads of a block wait for each other forever. A
///            lane executes a warp-wide instruction with a member mask that does not name it, or
///            that a lane which it names does not have; or a shuffle reads a lane that takes no
///            part, and the value is used (see UndefinedValues).
///   warning  The barrier completes although threads of the block have exited before it. Synccheck
///            reports nothing here, because since Volta exited threads do not count.
///   note     Threads wait at the barriers of two lines, which count as one. PTX lets them, and the
///            CUDA Programming Guide does not.
/// Lanes that take another branch and exit there give an error if the others arrive before that, a
/// warning if they arrive after it.
class BarrierCheck : public Observer {
  public:
    std::vector<Finding> findings() const { return log_.findings(); }
    std::size_t size() const { return log_.size(); }  ///< of findings()

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(std::uint32_t block) override { log_.forget_after(block); }
    void on_launch(const Kernel& kernel, const LaunchShape& launch) override {
        launch_.begin(kernel, launch);
        log_.begin_launch();
        outsiders_.begin_launch(kernel, launch);
    }
    void on_block_begin(const Kernel&, std::uint32_t block) override {
        log_.begin_block(block);
        outsiders_.begin_block(block);
    }
    void on_block_turn(std::uint32_t block) override;
    bool wants_instructions(const Kernel& kernel) const override {
        return UndefinedValues::are_possible(kernel, UndefinedValues::Source::outsiders);
    }
    void on_instruction(std::uint32_t, const Warp& warp, std::uint32_t mask,
                        std::uint32_t pc) override {
        outsiders_.follow(warp, mask, pc, log_);
    }
    bool wants_global_accesses() const override { return false; }
    bool wants_shared_accesses() const override { return false; }
    void on_barrier_arrival(const BarrierArrival& arrival) override;
    void on_barrier_release(const BarrierRelease& release) override;
    void on_member_fault(std::uint32_t block, const MemberFault& fault) override;
    void on_error(std::uint32_t block, const Error& error) override;

  private:
    Finding finding_at(FindingKind kind, Severity severity, std::uint32_t pc, std::uint32_t thread,
                       std::uint32_t block) const;
    Finding finding_at(const BarrierArrival& arrival, Severity severity) const;
    void note_two_lines(const BarrierArrival& before, const BarrierArrival& arrival);
    files::Sentence sentence(const MemberFault& fault, std::uint32_t lane, const Finding& f) const;

    FindingLog log_;
    ObservedLaunch launch_;
    UndefinedValues outsiders_{UndefinedValues::Source::outsiders};
    using Arrivals = std::array<BarrierArrival, barriers_per_block>;  ///< by barrier
    Arrivals newest_;                              ///< those before the last release have no lanes
    std::map<std::uint32_t, Arrivals> of_others_;  ///< by block, of a cooperative launch
    std::uint32_t block_ = 0;                      ///< whose turn it is
};

}  // namespace warpscope::emulator
