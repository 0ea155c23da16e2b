#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/async/landing.h"
#include "emulator/async/mbarriers.h"

namespace warpscope::emulator {

class Warp;

/// What tells threads that a copy has ended: their own groups, their bulk groups, or an mbarrier.
enum class Completion : std::uint8_t { group, bulk_group, mbarrier };

/// A number for each lane of a warp.
using PerLane = std::array<std::uint32_t, 32>;

/// The copies that one asynchronous instruction of a warp has started (PTX ISA 9.7.9.25), in up to
/// 32 parts: one for each lane, or the parts of one lane's bulk copy.
struct AsyncCopy {
    std::uint32_t number = 0;  ///< in its block, from 1 on
    std::uint32_t pc = 0;
    std::uint32_t warp = 0;
    std::uint32_t parts = 0;  ///< a mask: those that have not landed
    int lane = -1;            ///< of a bulk copy; negative: part k is of lane k
    Completion completion = Completion::group;
    std::uint32_t mbarrier = 0;  ///< its address, for Completion::mbarrier
    bool from_shared = false, to_shared = true;
    // By part. Addresses are global, or offsets into shared memory.
    std::array<std::uint64_t, 32> from{}, to{};
    PerLane bytes{};
    PerLane read{};   ///< bytes that are read; those behind them become zero
    PerLane group{};  ///< the lane's groups before this one, of the kind `completion`

    unsigned lane_of(unsigned part) const { return lane < 0 ? part : unsigned(lane); }
    /// Those of the parts `of` whose lane is one of `lanes` and whose group is below below[lane].
    std::uint32_t parts_below(std::uint32_t of, std::uint32_t lanes,
                              const std::uint32_t* below) const;
};

/// Something that an asynchronous copy or an mbarrier of a block does. Which members have a meaning
/// depends on the kind.
struct AsyncEvent {
    enum Kind : std::uint8_t {
        copy_started,  ///< copy, state
        copy_lands,    ///< copy, its `parts`; `barrier` where it counts the bytes; before that
        groups_ended,  ///< lanes have waited: their copies in groups below below[lane] have landed
        arrived,       ///< lanes arrive at `barrier`
        copies_arrived,  ///< the lane's copies with numbers below below[lane] arrive at `barrier`
        phase_ended,     ///< barrier, whose phase has the new number
        proxy_fence,     ///< lanes execute fence.proxy.async or fence.mbarrier_init
        phase_seen       ///< lanes have seen that a phase of `barrier` has ended
    };
    Kind kind;
    std::uint32_t warp = 0, lanes = 0, parts = 0;
    const AsyncCopy* copy = nullptr;
    const Mbarrier* barrier = nullptr;
    Completion completion = Completion::group;
    bool reads_only = false;  ///< groups_ended: their sources have been read; no more is known
    const std::uint32_t* below = nullptr;
    const Warp* state = nullptr;
};

/// A lane looks whether a phase has ended.
struct MbarrierWait {
    std::uint32_t pc = 0;
    unsigned lane = 0;
    std::uint32_t barrier = ~0u;  ///< address
    std::uint32_t parity = 0;     ///< of the phase
};

/// Is told what happens, while it does.
class AsyncListener {
  public:
    virtual ~AsyncListener() = default;
    virtual void on_async(const AsyncEvent& event) = 0;
};

/// The asynchronous copies of a block and its mbarrier objects. A plain value, as BlockState is:
/// what it points to belongs to the block.
class AsyncCopies {
  public:
    void begin_block(std::byte* shared, std::size_t threads, Landing landing, std::uint64_t seed,
                     AsyncListener* listener);

    Mbarriers& mbarriers() { return mbarriers_; }
    std::span<const Mbarrier> barriers() const { return mbarriers_.all(); }
    /// In the order in which they were started.
    std::span<const AsyncCopy> in_flight() const { return copies_; }

    /// Starts copies of a warp. Sets their number and groups.
    void start(AsyncCopy copy, const Warp& warp);
    /// The lanes close their group.
    void commit(std::uint32_t warp, std::uint32_t lanes, Completion kind);
    /// Lands the groups of these lanes but the `but` newest ones, by lane. `reads_only`: they wait
    /// for the reads of the copies; that these write at once is a choice that PTX allows.
    void wait_groups(std::uint32_t warp, std::uint32_t lanes, Completion kind, const PerLane& but,
                     bool reads_only = false);
    /// Lands the copies of these lanes, in groups or not.
    void wait_all(std::uint32_t warp, std::uint32_t lanes);

    void init(std::uint32_t address, std::uint32_t count);
    /// Counts arrivals of one lane. Returns false for more than the phase expects.
    bool arrive(Mbarrier& barrier, std::uint32_t warp, unsigned lane, std::uint32_t count);
    /// The lane arrives when its copies so far have landed (cp.async.mbarrier.arrive).
    void arrive_when_landed(Mbarrier& barrier, std::uint32_t warp, unsigned lane);
    void expect_bytes(Mbarrier& barrier, std::int64_t bytes);
    void complete_bytes(Mbarrier& barrier, std::int64_t bytes);
    /// Lanes order what they know of before later bulk copies. In the emulator memory is in order.
    void fence(std::uint32_t warp, std::uint32_t lanes) {
        tell({.kind = AsyncEvent::proxy_fence, .warp = warp, .lanes = lanes});
    }
    void phase_seen(const Mbarrier& barrier, std::uint32_t warp, unsigned lane);
    /// A lane has looked at a phase that has not ended.
    void wait_failed(std::uint32_t warp, const MbarrierWait& wait);
    /// What each warp has looked at last without success; `barrier` is ~0u where it has not.
    std::span<const MbarrierWait> failed_waits() const { return waits_; }

    /// After each turn of a warp. Returns false where the block hangs: its threads do nothing but
    /// look at phases that nothing ends.
    bool end_turn();
    /// Lands parts of the copy with this number.
    void land(std::uint32_t number, std::uint32_t parts = ~0u);
    void land_all();

  private:
    struct Arrival {
        std::uint32_t barrier = 0, warp = 0, lane = 0;
        std::uint32_t below = 0;  ///< it waits for copies with numbers below this one
    };

    std::uint32_t& group_of(std::uint32_t warp, unsigned lane, Completion kind) {
        return groups_[warp * 32 + lane][kind == Completion::bulk_group];
    }
    bool has_copies(const Arrival& arrival) const;
    void copy_bytes(const AsyncCopy& copy, std::uint32_t parts);
    /// Lands parts of copies_[index]; keeps the copy, perhaps without parts.
    void land_at(std::size_t index, std::uint32_t parts);
    void land_some();
    void remove_landed();
    /// Arrivals from `first` on whose copies have landed.
    void resolve_arrivals(std::size_t first);
    void end_phase_if_complete(Mbarrier& barrier);
    void tell(const AsyncEvent& event) {
        if (listener_) listener_->on_async(event);
    }
    std::uint64_t next_random();

    std::byte* shared_ = nullptr;
    AsyncListener* listener_ = nullptr;
    Landing landing_ = Landing::random;
    std::uint64_t random_ = 1;
    std::uint32_t next_number_ = 1;
    std::vector<AsyncCopy> copies_;
    std::vector<Arrival> arrivals_;
    std::vector<std::array<std::uint32_t, 2>> groups_;  ///< closed, by thread, of both kinds
    Mbarriers mbarriers_;
    std::vector<MbarrierWait> waits_;  ///< by warp
    bool turn_waits_ = false;
    std::uint32_t waiting_turns_ = 0;  ///< the newest turns, which have only waited
};

}  // namespace warpscope::emulator
