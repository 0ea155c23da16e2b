#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/fast_paths/alike/likeness.h"
#include "emulator/observe/block_summaries.h"

namespace warpscope::emulator {

/// What a warp of the model block does (BlockModel): an access to memory, the arrival at a barrier,
/// or a warp-wide synchronization. Small, so that those of a block stay in the CPU's cache.
struct ModelStep {
    enum class Kind : std::uint8_t { shared_access, global_access, arrival, warp_sync };
    /// Which addresses of an access determine those of all lanes.
    enum class Shape : std::uint8_t {
        lanes,  ///< each its own
        first,  ///< that of the first lane
        halves  ///< those of lanes 0 and 16: behind them, each half of the warp accesses bytes that
                ///< follow each other
    };
    static constexpr std::uint32_t no_pc = ~0u;

    std::array<std::uint64_t, 2> addresses{};  ///< of the first lane, and of lane 16
    std::uint32_t mask = 0;                    ///< or the members
    std::uint32_t pc = no_pc;                  ///< none: of a synchronization
    std::uint32_t details = 0;                 ///< BlockModel's
    Kind kind = Kind::arrival;
    Shape shape = Shape::lanes;
};

/// How far the running block has followed the model. Compiled code goes on here where a warp's
/// access is its next step.
struct ModelPosition {
    /// Among `distances`: none is known, or more than the addresses must be compared. No two
    /// addresses of a process are so far apart.
    static constexpr std::uint64_t no_distance = std::uint64_t(1) << 63;
    static constexpr ModelStep no_step{};

    ModelPosition() { next.fill(&no_step); }

    std::array<const ModelStep*, 32> next;  ///< by warp
    std::uint8_t* next_warp = nullptr;      ///< where the warp of the block's next step is noted
    /// By pc, from the model's addresses. There for each block, because compiled code loads one
    /// before it knows whether the warp has a next step.
    const std::uint64_t* distances = nullptr;
};

/// What a block has accessed, and its barriers, by warp and in order: the model. A later block
/// whose warps execute equal accesses and barriers follows the model: many observers need not be
/// told of its events (BlockSummaries::on_followed()), and comparing them takes less time than
/// telling them.
///
/// Where the race detector found no race in the model, there is none in a block that follows it,
/// under every schedule: Each barrier of the model is one of the whole block, and each barrier of a
/// block that follows the model has equal accesses before it. Where two warps access one word
/// between two barriers, both only read it, so their order does not matter. Addresses in shared
/// memory are equal to the model's. In global memory, all addresses of an instruction may differ
/// from the model's by one distance, if its accesses overlap those of other instructions only where
/// they do in the model.
///
/// What has followed the model is kept, so that the observers can be told when the block does
/// something else.
class BlockModel : public ModelBlock {
  public:
    using Kind = ModelStep::Kind;

    /// `likeness` may be null; `independent_warps`: the order of the warps cannot be seen.
    BlockModel(const Kernel& kernel, const LaunchShape& launch, const BlockLikeness* likeness,
               bool independent_warps);
    /// In a launch that is proved, some accesses to shared memory are not foreseen.
    bool has_unforeseen() const { return !unforeseen_.empty(); }
    /// No further block is, or follows, a model.
    void turn_off() { state_ = State::off; }
    /// The second block becomes the model: many launches have only one.
    void begin_block();
    /// `is_good`: later blocks may follow the block if it was recorded. True where it is the model
    /// from now on.
    bool end_block(bool is_good);

    bool is_followed() const { return state_ == State::following; }
    bool is_recording() const { return state_ == State::recording; }
    /// The running block has done all that the model does.
    bool is_at_end() const {
        return followed() == number_of_steps_ && released_ == releases_.size();
    }
    /// Where the running block is in the model. Its warps have no next step where it does not
    /// follow the model.
    ModelPosition& position() { return position_; }

    /// The answer of BlockSummaries::needs_values() for the newest move.
    void set_needs_values(bool needs) {
        const auto& [pc, distance] = moves_.back();
        global_accesses_[pc].needs_values = needs;
        if (!needs) distances_[pc] = distance;
    }
    bool needs_values(std::uint32_t pc) const { return global_accesses_[pc].needs_values; }
    /// True when the running block goes on as the model does. Only where it is followed.
    bool has(const Access& access, Kind kind);
    bool has(const BarrierArrival& arrival);
    bool has(const BarrierRelease& release);
    bool has(std::uint32_t warp, std::uint32_t members);  ///< of a warp-wide synchronization
    void record(const Access& access, Kind kind);
    void record(const BarrierArrival& arrival);
    void record(const BarrierRelease& release);
    void record(std::uint32_t warp, std::uint32_t members);

    /// The block does something else: it is followed no longer. Calls on_access(access, kind),
    /// on_arrival(arrival), on_release(release) and on_sync(warp, members) for what it has done, in
    /// its order.
    template <typename OnAccess, typename OnArrival, typename OnRelease, typename OnSync>
    void leave(std::uint32_t block, OnAccess&& on_access, OnArrival&& on_arrival,
               OnRelease&& on_release, OnSync&& on_sync);

  private:
    /// `off` until the end of the launch, `left` until the end of the block.
    enum class State : std::uint8_t { off, first_block, left, recording, following };

    struct Release {
        BarrierRelease release;
        std::size_t steps = 0;  ///< of all warps, before it
    };
    static bool proves(const Kernel& kernel, const BlockLikeness& likeness);
    /// All threads have executed what is not foreseen.
    bool has_all_unforeseen() const;
    void fail();
    void forget();
    bool add(std::uint32_t warp, const ModelStep& step);
    /// The next step of a warp, if it is of this kind; nullptr otherwise.
    const ModelStep* next(std::uint32_t warp, Kind kind, std::uint32_t mask) const {
        const ModelStep* const step = position_.next[warp];
        return step->kind == kind && step->mask == mask ? step : nullptr;
    }
    bool follow(std::uint32_t warp) {
        ++position_.next[warp];
        *position_.next_warp++ = std::uint8_t(warp);
        return true;
    }
    std::size_t followed() const { return std::size_t(position_.next_warp - order_.data()); }
    /// From now on, the running block does not follow the model.
    void leave_position() { position_.next.fill(&ModelPosition::no_step); }
    bool move(const Access& access, std::uint64_t distance);

    const std::uint32_t threads_;            ///< of a block
    std::vector<std::uint32_t> unforeseen_;  ///< pcs, where `is_proved_`
    State state_ = State::first_block;
    std::uint32_t matches_ = 0, failures_ = 0, recordings_ = 0;
    bool is_complete_ = false;
    bool has_failed_ = false;  ///< the newest block that began to follow it has not
    std::vector<std::vector<ModelStep>> steps_;  ///< by warp; `details`: accesses_ or arrivals_
    std::vector<BarrierArrival> arrivals_;
    std::vector<Release> releases_;
    std::size_t number_of_steps_ = 0;
    // What the running block has done:
    std::vector<std::uint64_t> distances_;  ///< see ModelPosition
    std::vector<std::uint8_t> order_;       ///< warps of the steps
    std::size_t released_ = 0;              ///< barriers
    ModelPosition position_;
};

template <typename OnAccess, typename OnArrival, typename OnRelease, typename OnSync>
void BlockModel::leave(std::uint32_t block, OnAccess&& on_access, OnArrival&& on_arrival,
                       OnRelease&& on_release, OnSync&& on_sync) {
    fail();
    leave_position();
    std::vector<std::size_t> next(steps_.size());
    ModelAccesses::Addresses addresses;
    std::size_t released = 0;
    for (std::size_t n = 0;; ++n) {
        for (; released < released_ && releases_[released].steps == n; ++released) {
            BarrierRelease release = releases_[released].release;
            release.block = block;
            on_release(release);
        }
        if (n == followed()) return;
        const std::uint32_t warp = order_[n];
        const ModelStep& step = steps_[warp][next[warp]++];
        if (step.kind == Kind::warp_sync) {
            on_sync(warp, step.mask);
        } else if (step.kind == Kind::arrival) {
            BarrierArrival arrival = arrivals_[step.details];
            arrival.block = block;
            on_arrival(arrival);
        } else {
            const bool is_global = step.kind == Kind::global_access;
            const std::uint64_t distance = is_global ? global_accesses_[step.pc].moved_by : 0;
            Access access = accesses_->moved(step.details, distance, addresses);
            access.block = block;
            access.is_over = true;
            on_access(access, step.kind);
        }
    }
}

}  // namespace warpscope::emulator
