#include "programs/checks/stream_races.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace warpscope::programs {
namespace {

using emulator::Hazard;
using emulator::MemoryAccess;

/// Work of streams with the numbers 1, 2, …, which runs in this order.
class StreamRacesTest : public testing::Test {
  protected:
    /// Work of a stream that accesses 16 bytes, which are four words.
    std::uint64_t work(char stream, MemoryAccess kind, std::uint64_t address = 0x1000,
                       std::initializer_list<std::uint64_t> after = {}) {
        races_.on_add(&streams_[stream - 'a'], ++newest_, after);
        races_.begin_work(newest_);
        races_.on_access(address, 16, kind);
        return newest_;
    }
    std::vector<emulator::Finding> findings() {
        HostFindings host;
        races_.report_to(host);
        return findings_of(host.report());
    }

    StreamRaces races_;
    int streams_[3] = {};
    std::uint64_t newest_ = 0;
};

TEST_F(StreamRacesTest, WorkThatNothingOrdersRaces) {
    work('a', MemoryAccess::store);
    work('b', MemoryAccess::load, 0x1008);
    const auto found = findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].hazard, Hazard::read_after_write);
    EXPECT_EQ(found[0].count, 2u);  // the words at 0x1008 and 0x100c
    EXPECT_TRUE(found[0].second);
}

TEST_F(StreamRacesTest, HazardsAreThoseOfTheOrderInWhichTheWorkRan) {
    work('a', MemoryAccess::load);
    work('b', MemoryAccess::store);
    ASSERT_EQ(findings().size(), 1u);
    EXPECT_EQ(findings()[0].hazard, Hazard::write_after_read);
    EXPECT_EQ(findings()[0].count, 4u);
    work('c', MemoryAccess::store);  // races with both
    EXPECT_EQ(findings().size(), 2u);
}

TEST_F(StreamRacesTest, ReadsAndOtherWordsDoNotRace) {
    work('a', MemoryAccess::load);
    work('b', MemoryAccess::load);
    work('c', MemoryAccess::store, 0x1010);
    EXPECT_TRUE(findings().empty());
}

TEST_F(StreamRacesTest, AStreamAndWhatComesAfterAnEventAreOrdered) {
    const std::uint64_t first = work('a', MemoryAccess::store);
    work('a', MemoryAccess::store);
    const std::uint64_t second = work('b', MemoryAccess::load, 0x2000, {first + 1});
    work('c', MemoryAccess::store, 0x1000, {second});  // after all of 'a', through 'b'
    EXPECT_TRUE(findings().empty());
    work('a', MemoryAccess::load);  // 'c' does not wait for it, nor it for 'c'
    EXPECT_EQ(findings().size(), 1u);
}

TEST_F(StreamRacesTest, AWaitOfTheHostOrdersWhatItAddsLater) {
    const std::uint64_t first = work('a', MemoryAccess::store);
    races_.on_wait(first);
    work('b', MemoryAccess::store);
    races_.on_wait_for_all();
    const std::uint64_t third = work('c', MemoryAccess::store);
    EXPECT_TRUE(findings().empty());
    work('c', MemoryAccess::load, 0x2000);
    races_.on_wait(third);  // and not for the load behind it
    work('a', MemoryAccess::store);
    EXPECT_TRUE(findings().empty());
    work('b', MemoryAccess::store, 0x2000);
    EXPECT_EQ(findings().size(), 1u);
}

TEST_F(StreamRacesTest, AtomicsDoNotRaceWithEachOther) {
    work('a', MemoryAccess::atomic);
    work('b', MemoryAccess::atomic);
    EXPECT_TRUE(findings().empty());
    work('c', MemoryAccess::load);
    ASSERT_EQ(findings().size(), 1u);
    EXPECT_EQ(findings()[0].hazard, Hazard::read_after_write);
}

TEST_F(StreamRacesTest, NewMemoryHasNoEarlierAccesses) {
    work('a', MemoryAccess::store);
    races_.on_allocate(0x1000, 16);
    work('b', MemoryAccess::store);
    EXPECT_TRUE(findings().empty());
}

}  // namespace
}  // namespace warpscope::programs
