#include "programs/checks/stream_races.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

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

TEST_F(StreamRacesTest, TheNewestAccessOfEachStreamCounts) {
    work('b', MemoryAccess::load);
    const std::uint64_t other = work('c', MemoryAccess::load);
    work('a', MemoryAccess::load);  // is newer, and does not hide those of the others
    work('a', MemoryAccess::store, 0x1000, {other});
    ASSERT_EQ(findings().size(), 1u);  // with 'b', and not with 'c'
    EXPECT_EQ(findings()[0].hazard, Hazard::write_after_read);
    EXPECT_EQ(findings()[0].count, 4u);
}

TEST_F(StreamRacesTest, BytesOfOneWordDoNotRaceWithEachOther) {
    races_.on_add(&streams_[0], 1, {});
    races_.on_add(&streams_[1], 2, {});
    races_.begin_work(1);
    for (const std::uint64_t byte : {0x1000, 0x1002})
        races_.on_access(byte, 1, MemoryAccess::store);
    races_.begin_work(2);
    races_.on_access(0x1001, 1, MemoryAccess::store);
    races_.on_access(0x1003, 4, MemoryAccess::store);
    EXPECT_TRUE(findings().empty());
    races_.on_access(0x1000, 1, MemoryAccess::load);
    EXPECT_EQ(findings().size(), 1u);
}

/// The host accesses a word, before or after the work runs that accesses it.
class HostRacesTest : public StreamRacesTest {
  protected:
    void add() { races_.on_add(&streams_[0], ++newest_, {}); }
    void run(MemoryAccess kind) {
        races_.begin_work(newest_);
        races_.on_access(0x1000, 4, kind);
    }
    void host(bool writes, std::uint64_t address = 0x1000) {
        races_.on_host_access(address, 1, writes, 0);
    }
};

TEST_F(HostRacesTest, AnAccessWithoutAWaitRacesWhenTheWorkRunsLater) {
    host(true);  // before the work is added
    add();
    host(false);
    run(MemoryAccess::load);
    EXPECT_TRUE(findings().empty());
    host(true);
    ASSERT_EQ(findings().size(), 1u);
    EXPECT_EQ(findings()[0].hazard, Hazard::write_after_read);
    add();
    host(false);
    run(MemoryAccess::store);
    ASSERT_EQ(findings().size(), 2u);
}

TEST_F(HostRacesTest, WhatIsFoundDoesNotDependOnWhenTheWorkRuns) {
    for (const bool runs_first : {false, true}) {
        races_.on_wait_for_all();
        const std::size_t before = findings().empty() ? 0 : findings()[0].count;
        add();
        if (runs_first) run(MemoryAccess::store);
        host(false);
        if (!runs_first) run(MemoryAccess::store);
        ASSERT_EQ(findings().size(), 1u);
        EXPECT_EQ(findings()[0].hazard, Hazard::read_after_write);
        EXPECT_EQ(findings()[0].count, before + 1);
    }
}

TEST_F(HostRacesTest, AWaitOrdersAndOtherBytesDoNotRace) {
    add();
    run(MemoryAccess::store);
    host(true, 0x1004);
    races_.on_wait(newest_);
    host(true);
    EXPECT_TRUE(findings().empty());
}

TEST_F(HostRacesTest, AtomicsOfAKernelHandOverWhatItHasDone) {
    add();
    races_.begin_work(newest_);
    races_.on_access(0x2000, 4, MemoryAccess::store);
    races_.on_access(0x1000, 4, MemoryAccess::atomic);
    host(false);
    host(false, 0x2000);
    EXPECT_TRUE(findings().empty());
}

TEST_F(HostRacesTest, AHostThatWritesAWordHandsOverWhatItHasDone) {
    add();
    host(true, 0x2000);
    host(true);
    races_.begin_work(newest_);
    races_.on_access(0x1000, 4, MemoryAccess::atomic);
    races_.on_access(0x2000, 4, MemoryAccess::load);
    EXPECT_TRUE(findings().empty());
}

TEST_F(HostRacesTest, WorkThatTheHostHasSeenEndsForItsAccessesOnly) {
    add();
    run(MemoryAccess::store);
    races_.on_seen(newest_);
    host(false);
    EXPECT_TRUE(findings().empty());
    work('b', MemoryAccess::load);
    EXPECT_EQ(findings().size(), 1u);
}

TEST_F(HostRacesTest, PagesAreInUseUntilTheHostWaits) {
    races_.on_add(&streams_[0], 1, {}, {{0x1000, 0x2000}});
    races_.on_add(&streams_[0], 2, {}, {{0x1000, 0x2000}, {0x3000, 0x4000, true}});
    races_.on_wait(1);
    ASSERT_EQ(races_.pages_in_use().size(), 2u);
    EXPECT_TRUE(races_.pages_in_use()[1].shows_reads);
    races_.on_wait(2);
    EXPECT_TRUE(races_.pages_in_use().empty());
}

TEST_F(StreamRacesTest, MemoryOfAStreamIsUsedBehindItsAllocationAndBeforeItsFree) {
    races_.on_add(&streams_[0], ++newest_, {});
    const std::uint64_t allocation = newest_;
    races_.on_allocate_in(allocation, 0x1000, 16, 0);
    const std::uint64_t use = work('b', MemoryAccess::store, 0x1000, {allocation});
    const auto free = [&](std::initializer_list<std::uint64_t> after) {
        races_.on_add(&streams_[0], ++newest_, after);
        races_.begin_work(newest_);
        races_.on_free_in(0x1000, 16, 0);
    };
    free({use});
    EXPECT_TRUE(findings().empty());
    work('c', MemoryAccess::load);
    ASSERT_EQ(findings().size(), 1u);
    EXPECT_EQ(findings()[0].kind, emulator::FindingKind::memory);
    EXPECT_NE(findings()[0].sentence.english().find("nothing orders it before this free"),
              std::string::npos);
}

TEST_F(StreamRacesTest, AUseThatIsNotBehindTheAllocationIsFound) {
    races_.on_add(&streams_[0], ++newest_, {});
    races_.on_allocate_in(newest_, 0x1000, 16, 0);
    work('b', MemoryAccess::load);
    ASSERT_EQ(findings().size(), 1u);
    EXPECT_EQ(findings()[0].count, 4u);
    EXPECT_NE(findings()[0].sentence.english().find("nothing orders it behind this allocation"),
              std::string::npos);
}

TEST_F(StreamRacesTest, AUseThatRunsBeforeAFreeWithoutAnOrderIsFound) {
    work('b', MemoryAccess::load);
    races_.on_add(&streams_[0], ++newest_, {});
    races_.begin_work(newest_);
    races_.on_free_in(0x1000, 16, 0);
    ASSERT_EQ(findings().size(), 1u);
    EXPECT_EQ(findings()[0].kind, emulator::FindingKind::memory);
}

TEST_F(StreamRacesTest, NewMemoryHasNoEarlierAccesses) {
    work('a', MemoryAccess::store);
    races_.on_allocate(0x1000, 16);
    work('b', MemoryAccess::store);
    EXPECT_TRUE(findings().empty());
}

}  // namespace
}  // namespace warpscope::programs
