#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/program/access_form.h"
#include "emulator/program/launch.h"
#include "emulator/program/ptx_type.h"

namespace warpscope::emulator {

/// Where the chunks of 16 bytes of a tile lie in shared memory, so that its columns have no bank
/// conflicts: the chunk's place in a span of so many bytes is changed by the number of the span's
/// line of 128 bytes (PTX ISA 5.5.6, "Swizzling Modes").
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// The address in shared memory that stands for `address` of the tile as it is without a swizzle.
constexpr std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address) {
    const std::uint64_t chunks = (std::uint64_t(1) << unsigned(swizzle)) - 1;
    return address ^ (address >> 7 & chunks) << 4;
}

/// A tensor in global memory, and the box of it that one bulk copy moves: what a CUtensorMap of the
/// emulator holds (PTX ISA 5.5.9, "Tensor-map"). NVIDIA does not say what its own maps hold.
struct TensorMap {
    static constexpr std::uint32_t mark_of_maps = 0x544D4150;
    static constexpr unsigned most_dimensions = 5;
    static constexpr unsigned bytes = 128, align = 64;

    std::uint32_t mark = mark_of_maps;
    std::uint8_t dimensions = 1;
    std::uint8_t element_bytes = 4;
    Type type = Type::u32;  ///< of an element, for reductions
    Swizzle swizzle = Swizzle::none;
    std::uint64_t memory = 0;
    std::array<std::uint64_t, most_dimensions> size{};        ///< elements; the first is contiguous
    std::array<std::uint64_t, most_dimensions - 1> stride{};  ///< bytes, from dimension 1 on
    std::array<std::uint32_t, most_dimensions> box{};         ///< elements
};
static_assert(sizeof(TensorMap) <= TensorMap::bytes);

/// An mbarrier object (PTX ISA 9.7.13.15, "mbarrier"): eight bytes of shared memory. A phase ends
/// when all arrivals that it expects have come and the bytes that it expects have been copied.
struct Mbarrier {
    std::uint32_t address = 0;   ///< offset into the block's shared memory
    std::uint32_t expected = 0;  ///< arrivals of each phase
    std::uint32_t pending = 0;   ///< arrivals that are missing in this phase
    std::int64_t bytes = 0;      ///< expected and not yet copied in this phase: the tx-count
    std::uint32_t phase = 0;     ///< phases that have ended
    // For the sentence about a hang. In this phase: bytes that were expected, arrivals that copies
    // have added to the expected ones, and by warp the lanes that have arrived. `arrived_before`
    // has the lanes that arrived in the phase before.
    std::int64_t announced = 0;
    std::uint32_t added = 0;
    std::array<std::uint32_t, 32> arrived{}, arrived_before{};

    bool has_ended(std::uint32_t parity) const { return (phase & 1) != (parity & 1); }
    // Both return false for more arrivals than are pending, of which they count none.
    bool arrive(std::uint32_t warp, unsigned lane, std::uint32_t arrivals);
    bool count(std::uint32_t arrivals);  ///< of a thread of another block
    void add_arrival() { ++pending, ++added; }
    void expect(std::int64_t more) { bytes += more, announced += more; }
    /// After arrivals, or after bytes have been copied: begins the next phase where this one has
    /// all. Returns true then.
    bool end_phase();
    /// What memory holds: the state that arrivals return. PTX leaves its layout open.
    std::uint64_t state() const;
    static std::uint32_t parity_of(std::uint64_t state) { return std::uint32_t(state >> 63); }
    static std::uint32_t pending_of(std::uint64_t state) { return state & largest_count; }

    static constexpr std::uint32_t largest_count = (1u << 20) - 1;
};

/// The mbarrier objects of a block.
class Mbarriers {
  public:
    void clear() { barriers_.clear(); }
    std::span<const Mbarrier> all() const { return barriers_; }
    /// nullptr: mbarrier.init has made none at this address.
    Mbarrier* find(std::uint32_t address);
    Mbarrier& init(std::uint32_t address, std::uint32_t count);
    void invalidate(std::uint32_t address);

  private:
    std::vector<Mbarrier> barriers_;
};

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
    /// The rank of the other block of the cluster to whose shared memory it copies, and whose
    /// mbarrier counts it; negative: the own block.
    int to_rank = -1, mbarrier_rank = -1;
    // By part. Addresses are global, or offsets into shared memory.
    std::array<std::uint64_t, 32> from{}, to{};
    Swizzle swizzle = Swizzle::none;  ///< of the addresses in shared memory
    /// What st.async stores, in place of a source.
    std::array<std::uint32_t, 4> values{};
    bool has_values = false;
    /// Joins `bytes` bytes of a reduction with those at its destination. Null: it is a plain copy.
    using Join = void (*)(std::byte* to, const std::byte* from, std::uint32_t bytes);
    Join join = nullptr;
    PerLane bytes{};
    PerLane read{};   ///< bytes that are read; those behind them become zero
    PerLane group{};  ///< the lane's groups before this one, of the kind `completion`

    /// How many bytes of a part, from this one on, lie one behind the other in shared memory.
    std::uint32_t contiguous(unsigned part, std::uint32_t done) const;
    unsigned lane_of(unsigned part) const { return lane < 0 ? part : unsigned(lane); }
    std::uint64_t bytes_of(std::uint32_t of) const;  ///< of these parts
    /// Calls f(address) for the words of shared memory that these parts write.
    void for_words(std::uint32_t of, const auto& f) const {
        if (!to_shared) return;
        for (unsigned part = 0; part < to.size(); ++part)
            for (std::uint32_t done = 0; (of >> part & 1) && done < bytes[part]; done += 4)
                f(swizzled(swizzle, to[part] + done));
    }
    /// Returns which of the parts `of` a lane of `lanes` has started in a group below below[lane].
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
        arrived_elsewhere,  ///< lanes arrive at `barrier` of the block `rank` of the cluster
        phase_ended,        ///< barrier, whose phase has the new number
        proxy_fence,        ///< lanes execute fence.proxy.async or fence.mbarrier_init
        phase_seen,         ///< lanes have seen that a phase of `barrier` has ended
        cluster_arrived,    ///< lanes arrive at the barrier of the cluster; `releases`
        cluster_waited,     ///< lanes have waited at it
        looked  ///< lanes, at `pc`, for a phase of `barrier`, or of the barrier of the cluster
                ///< (null), that has not ended
    };
    Kind kind;
    std::uint32_t warp = 0, lanes = 0, parts = 0, pc = 0;
    const AsyncCopy* copy = nullptr;
    const Mbarrier* barrier = nullptr;
    Completion completion = Completion::group;
    bool reads_only = false;       ///< groups_ended: their sources have been read; no more is known
    Space space = Space::generic;  ///< proxy_fence: whose accesses it orders; generic: all
    const std::uint32_t* below = nullptr;
    const Warp* state = nullptr;
    std::uint32_t rank = 0;
    std::uint32_t phase = 0;  ///< of the barrier of the cluster
    bool releases = false;
};

/// A lane looks whether a phase has ended, of an mbarrier or of the barrier of the cluster.
struct FailedWait {
    std::uint32_t pc = 0;
    unsigned lane = 0;
    std::uint32_t barrier = ~0u;  ///< address
    std::uint32_t parity = 0;     ///< of the phase
    bool for_cluster = false;

    bool is_some() const { return barrier != ~0u || for_cluster; }
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
    /// After begin_block(), with Landing::at_once: these copies of block `block` land later.
    void hold(std::uint32_t block, std::span<const HeldCopy> copies) {
        block_ = block;
        to_hold_ = copies;
    }
    /// The copies that the next instruction starts are held, or no longer.
    enum class Hold : std::uint8_t { none, to_end_of_turn, late };
    void hold_next(Hold hold) { hold_ = hold; }
    /// All copies of the block that were held so far.
    const std::vector<HeldCopy>& held() const { return held_; }
    /// After begin_block(), for blocks that run together: those of the cluster, by rank. Turns in
    /// which a block has only waited are counted for all blocks that have this counter.
    void join_cluster(std::span<AsyncCopies* const> blocks, std::uint32_t* waiting_turns) {
        cluster_ = blocks;
        waiting_together_ = waiting_turns;
    }

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
    /// Counts arrivals of a lane of this block at an mbarrier of another block of the cluster.
    bool arrive_elsewhere(std::uint32_t rank, Mbarrier& barrier, std::uint32_t warp, unsigned lane,
                          std::uint32_t count);
    void expect_bytes(Mbarrier& barrier, std::int64_t bytes);
    void complete_bytes(Mbarrier& barrier, std::int64_t bytes);
    /// Lanes order what they know of before later bulk copies. In the emulator memory is in order.
    void fence(std::uint32_t warp, std::uint32_t lanes, Space space) {
        tell({.kind = AsyncEvent::proxy_fence, .warp = warp, .lanes = lanes, .space = space});
    }
    void phase_seen(const Mbarrier& barrier, std::uint32_t warp, unsigned lane) {
        note(AsyncEvent::phase_seen, barrier, warp, lane);
    }
    /// At the end of an instruction whose lanes arrive or look: one event tells of all lanes that
    /// do so at one barrier, before the phase ends.
    void tell_noted() {
        if (noted_.lanes) tell(std::exchange(noted_, {}));
    }
    /// A lane has looked at a phase that has not ended.
    void wait_failed(std::uint32_t warp, const FailedWait& wait);
    /// What each warp has looked at last without success.
    std::span<const FailedWait> failed_waits() const { return waits_; }
    /// Tells that the running lanes arrive at the barrier of the cluster, or have waited there.
    void tell_cluster(AsyncEvent::Kind kind, std::uint32_t warp, std::uint32_t lanes,
                      std::uint32_t phase, bool releases = false);
    /// Threads have done nothing in the newest turn but look at phases that have not ended.
    bool turn_has_waited() const { return waiting_turns_ > 0; }

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
    bool is_held(const AsyncCopy& copy);
    void land_held_to_end_of_turn();
    void remove_landed();
    /// Arrivals from `first` on whose copies have landed.
    void resolve_arrivals(std::size_t first);
    void end_phase_if_complete(Mbarrier& barrier);
    void note(AsyncEvent::Kind kind, const Mbarrier& barrier, std::uint32_t warp, unsigned lane);
    void tell(const AsyncEvent& event) {
        if (listener_) listener_->on_async(event);
    }
    std::uint64_t next_random();

    std::byte* shared_ = nullptr;
    AsyncListener* listener_ = nullptr;
    Landing landing_ = Landing::random;
    std::uint64_t random_ = 1;
    std::uint32_t next_number_ = 1;
    std::uint32_t block_ = 0;
    std::span<const HeldCopy> to_hold_;
    Hold hold_ = Hold::none;
    std::vector<HeldCopy> held_;
    std::vector<std::uint32_t> started_;          ///< copies, by warp
    std::vector<std::uint32_t> until_turn_ends_;  ///< numbers of copies
    std::vector<AsyncCopy> copies_;
    std::vector<Arrival> arrivals_;
    std::vector<std::array<std::uint32_t, 2>> groups_;  ///< closed, by thread, of both kinds
    Mbarriers mbarriers_;
    AsyncEvent noted_{};             ///< see tell_noted(); no lanes: nothing
    std::vector<FailedWait> waits_;  ///< by warp
    bool turn_waits_ = false;
    std::uint32_t waiting_turns_ = 0;        ///< the newest turns, which have only waited
    std::span<AsyncCopies* const> cluster_;  ///< by rank; empty for a block that runs alone
    std::uint32_t* waiting_together_ = nullptr;
};

}  // namespace warpscope::emulator
