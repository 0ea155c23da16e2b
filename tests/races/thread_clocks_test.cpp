#include "emulator/happens_before/thread_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

/// The clocks of a block, of which lanes share some, compared with a clock for each thread.
namespace warpscope::tests {
namespace shared_clocks {
namespace {

using emulator::for_each_lane;
using emulator::MemoryOrder;
using emulator::ThreadClocks;

constexpr unsigned lanes = 32, threads = 72, rounded = 96, warps = 3, mbarriers = 3, words = 3;

/// Two warps, and eight lanes of a third one.
std::uint32_t lanes_of(unsigned warp) {
    return warp < 2 ? ~0u : 0xffu;
}

using Clock = std::vector<std::uint32_t>;

void join(Clock& into, const Clock& from) {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::max(into[k], from[k]);
}

/// What each thread knows: the newest time of each other thread, and the phases of mbarriers.
struct Known {
    Clock times = Clock(rounded), phases = Clock(mbarriers);
    void add(const Known& other) {
        join(times, other.times);
        join(phases, other.phases);
    }
};

struct Naive {
    std::vector<Known> known{rounded}, fenced{rounded}, pending{rounded};
    std::vector<Known> arriving{mbarriers}, ended{mbarriers};
    std::vector<std::uint32_t> phases = Clock(mbarriers), before_epoch = Clock(mbarriers),
                               seen = Clock(mbarriers);
    std::map<unsigned, Known> published;

    Known with_own(unsigned thread, std::uint32_t time) const {
        Known all = known[thread];
        all.times[thread] = time;
        return all;
    }
    void take_over(unsigned thread) { known[thread].add(pending[thread]); }
    void begin_epoch() {
        before_epoch = seen;
        published.clear();
    }
};

class Blocks {
  public:
    explicit Blocks(unsigned seed) : random_(seed) {
        clocks_.begin_launch(threads, true);
        first_.fill(clocks_.now(0));
    }
    void step() {
        switch (below(9)) {
            case 0:
                return sync_warp();
            case 1:
                return sync_some();
            case 2:
                return arrive();
            case 3:
                return end_phase();
            case 4:
                return see_phase();
            case 5:
                return publish();
            case 6:
                return read();
            case 7:
                return fence();
            default:
                if (below(20) == 0) begin_epoch();
        }
    }
    void check() {
        const unsigned thread = below(threads), before = below(warps), mbarrier = below(mbarriers);
        const std::uint32_t now = clocks_.now(before), first = first_[before];
        const std::uint32_t time = first + below(now - first + 1);
        std::uint32_t unordered = 0, asked = lanes_of(before);
        if (before == thread / lanes) asked &= ~(1u << thread % lanes);
        for_each_lane(asked, [&](unsigned lane) {
            const bool knows = naive_.known[thread].times[before * lanes + lane] >= time;
            unordered |= std::uint32_t(!knows) << lane;
        });
        ASSERT_EQ(clocks_.unordered_lanes(before, time, thread) & asked, unordered)
            << "thread " << thread << ", warp " << before << " at " << time;
        ASSERT_EQ(clocks_.phases_before(clocks_.number_of(mbarrier * 8), thread / lanes,
                                        1u << thread % lanes),
                  std::max(naive_.before_epoch[mbarrier], naive_.known[thread].phases[mbarrier]));
    }

  private:
    unsigned below(unsigned n) { return unsigned(random_() % n); }
    /// Some of the lanes of a warp, often all of them.
    std::uint32_t some(unsigned warp) {
        const std::uint32_t all = lanes_of(warp), mask = std::uint32_t(random_()) & all;
        return below(2) || !mask ? all : mask;
    }
    void sync_warp() {
        const unsigned warp = below(warps);
        const std::uint32_t members = some(warp), time = clocks_.now(warp);
        Known all;
        for_each_lane(members,
                      [&](unsigned k) { all.add(naive_.with_own(warp * lanes + k, time)); });
        for_each_lane(members, [&](unsigned k) { naive_.known[warp * lanes + k] = all; });
        clocks_.warp_sync(warp, members);
    }
    void sync_some() {
        const unsigned barrier = below(4);
        Known all;
        std::vector<std::uint32_t> masks;
        for (unsigned warp = 0; warp < warps; ++warp) {
            masks.push_back(below(3) ? some(warp) : 0);
            for_each_lane(masks.back(), [&](unsigned k) {
                naive_.take_over(warp * lanes + k);
                all.add(naive_.with_own(warp * lanes + k, clocks_.now(warp)));
            });
            if (masks.back()) clocks_.arrive(barrier, warp, masks.back());
        }
        for (unsigned warp = 0; warp < warps; ++warp) {
            for_each_lane(masks[warp],
                          [&](unsigned k) { naive_.known[warp * lanes + k].add(all); });
            if (masks[warp]) clocks_.leave(barrier, warp, masks[warp]);
        }
        clocks_.reset_barrier(barrier);
    }
    void arrive() {
        const unsigned warp = below(warps), mbarrier = below(mbarriers);
        const std::uint32_t mask = some(warp), time = clocks_.now(warp);
        for_each_lane(mask, [&](unsigned k) {
            naive_.arriving[mbarrier].add(naive_.with_own(warp * lanes + k, time));
        });
        clocks_.arrive_at_mbarrier(mbarrier * 8, warp, mask);
    }
    void end_phase() {
        const unsigned mbarrier = below(mbarriers);
        naive_.ended[mbarrier].add(naive_.arriving[mbarrier]);
        naive_.arriving[mbarrier] = {};
        ++naive_.phases[mbarrier];
        clocks_.end_phase(mbarrier * 8);
    }
    void see_phase() {
        const unsigned warp = below(warps), mbarrier = below(mbarriers);
        const std::uint32_t mask = some(warp), phases = naive_.phases[mbarrier];
        if (!phases) return;
        for_each_lane(mask, [&](unsigned k) {
            Known& own = naive_.known[warp * lanes + k];
            if (own.phases[mbarrier] == phases) return;
            own.add(naive_.ended[mbarrier]);
            own.phases[mbarrier] = phases;
        });
        naive_.seen[mbarrier] = phases;
        clocks_.see_phase(mbarrier * 8, warp, mask, phases);
    }
    void publish() {
        const unsigned thread = below(threads), word = below(words);
        const bool releases = below(2);
        const std::uint32_t time = clocks_.now(thread / lanes);
        naive_.published[word] = releases ? naive_.with_own(thread, time) : naive_.fenced[thread];
        clocks_.write(word * 4, thread, releases ? MemoryOrder::release : MemoryOrder::relaxed,
                      false);
        if (releases) clocks_.advance(thread / lanes);
    }
    void read() {
        const unsigned thread = below(threads), word = below(words);
        const bool acquires = below(2);
        clocks_.read(word * 4, thread, acquires ? MemoryOrder::acquire : MemoryOrder::relaxed);
        if (const auto found = naive_.published.find(word); found != naive_.published.end())
            (acquires ? naive_.known : naive_.pending)[thread].add(found->second);
    }
    void fence() {
        const unsigned warp = below(warps);
        const std::uint32_t mask = some(warp), time = clocks_.now(warp);
        for_each_lane(mask, [&](unsigned k) {
            const unsigned thread = warp * lanes + k;
            naive_.take_over(thread);
            naive_.fenced[thread] = naive_.with_own(thread, time);
        });
        clocks_.fence(warp, mask);
    }
    void begin_epoch() {
        naive_.begin_epoch();
        clocks_.begin_epoch();
        for (unsigned warp = 0; warp < warps; ++warp) first_[warp] = clocks_.now(warp);
    }

    std::mt19937 random_;
    ThreadClocks clocks_;
    Naive naive_;
    std::array<std::uint32_t, warps> first_{};  ///< times of the warps when the epoch began
};

TEST(ThreadClocks, SharedClocksKnowWhatAClockOfEachThreadKnows) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Blocks blocks(seed);
        for (unsigned k = 0; k < 400; ++k) {
            blocks.step();
            for (unsigned look = 0; look < 6; ++look) blocks.check();
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace shared_clocks
}  // namespace warpscope::tests
