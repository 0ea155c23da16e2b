#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "programs/checks/host_findings.h"
#include "programs/memory/device_memory.h"
#include "programs/memory/polled_memory.h"

namespace warpscope::programs {
namespace {

using emulator::FindingKind;
using emulator::Severity;

TEST(HostFindings, DescribesWhereAnAddressIs) {
    HostFindings checks;
    checks.on_allocate(0x1000, 16);
    EXPECT_TRUE(
        checks.describe(0x100f).english().starts_with("byte 15 of an allocation of 16 bytes"));
    EXPECT_EQ(checks.describe(0x1010), "");
    EXPECT_EQ(checks.describe(0xfff), "");
    EXPECT_FALSE(checks.is_freed(0x1000));
    checks.on_free(0x1000, 0);
    EXPECT_TRUE(checks.is_freed(0x100f));
    EXPECT_FALSE(checks.is_freed(0x1010));
}

TEST(HostFindings, FindingsOfOneKindAtOnePlaceAreOne) {
    HostFindings checks;
    checks.report(FindingKind::call, Severity::error, 0, "a");
    checks.report(FindingKind::call, Severity::error, 0, "b");
    checks.report(FindingKind::leak, Severity::warning, 0, "c");
    const auto findings = findings_of(checks.report());
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].sentence, "a");
    EXPECT_EQ(findings[0].count, 2u);
    EXPECT_TRUE(findings[0].by_host);
    EXPECT_EQ(findings[1].sentence, "c");
}

TEST(HostFindings, AnErrorThatWasReadIsNoFinding) {
    HostFindings checks;
    checks.on_launch_error(0, "e");
    checks.on_error_read();
    checks.report_unread();
    EXPECT_TRUE(findings_of(checks.report()).empty());
    checks.on_launch_error(0, "e");
    checks.report_unread();
    EXPECT_EQ(findings_of(checks.report()).size(), 1u);
}

TEST(HostFindings, PlacesAreReplacedInSentences) {
    HostFindings checks;
    checks.on_allocate(0x1000, 16);
    checks.on_allocate(0x2000, 32);
    checks.on_free(0x1000, 0);
    checks.report_leaks({});
    checks.report(FindingKind::call, Severity::error, 0, checks.describe(0x1000).english() + ".");
    const auto findings = findings_of(checks.report());
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].sentence, "32 bytes were allocated here and never freed.");
    EXPECT_TRUE(findings[1].sentence.english().ends_with(", freed at an unknown place."));
    EXPECT_EQ(findings[1].sentence.english().find('\1'), std::string::npos);
}

/// Whether the system can read the byte, which asks no handler of signals.
bool is_readable(std::uint64_t address) {
    int ends[2];
    if (pipe(ends)) return false;
    const long written = syscall(SYS_write, ends[1], address, 1);  // sanitizers do not look
    const bool is_fault = written < 0 && errno == EFAULT;
    close(ends[0]);
    close(ends[1]);
    return !is_fault;
}

TEST(DeviceMemory, IsHiddenFromTheHostOnceItIsGuarded) {
    emulator::Memory memory;
    DeviceMemory guarded(memory);
    guarded.guard();
    const std::uint64_t device = guarded.allocate(8192, MemoryKind::device),
                        other = guarded.allocate(16, MemoryKind::device),
                        managed = guarded.allocate(16, MemoryKind::managed);
    if (!device) GTEST_SKIP() << "ThreadSanitizer does not map these addresses";
    EXPECT_FALSE(is_readable(device));
    EXPECT_TRUE(is_readable(managed));
    EXPECT_FALSE(guarded.open(device));  // no work runs
    guarded.begin_work();
    EXPECT_TRUE(guarded.open(device + 5000));
    EXPECT_TRUE(is_readable(device));
    EXPECT_FALSE(is_readable(other));
    EXPECT_FALSE(guarded.open(managed));
    guarded.end_work();
    EXPECT_FALSE(is_readable(device));
    for (const std::uint64_t address : {device, other, managed}) guarded.free(address);
}

class PolledMemoryTest : public testing::Test {
  protected:
    PolledMemoryTest() {
        memory_.watch({{begin_, begin_ + bytes}}, [this] { ++polls_; });
    }
    ~PolledMemoryTest() override { munmap(reinterpret_cast<void*>(begin_), bytes); }

    static constexpr std::size_t bytes = 4 * PolledMemory::page_bytes;
    const std::uint64_t begin_ = reinterpret_cast<std::uint64_t>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    PolledMemory memory_;
    int polls_ = 0;
};

TEST_F(PolledMemoryTest, IsShownForOneInstruction) {
    EXPECT_FALSE(is_readable(begin_));
    EXPECT_EQ(memory_.on_access(begin_ + 5000), PolledMemory::Access::step);
    EXPECT_TRUE(is_readable(begin_ + 5000));
    EXPECT_FALSE(is_readable(begin_));
    memory_.end_step();
    EXPECT_FALSE(is_readable(begin_ + 5000));
    EXPECT_EQ(memory_.on_access(begin_ + bytes), PolledMemory::Access::other);
    memory_.unwatch();
    EXPECT_TRUE(is_readable(begin_));
    // Another thread may have accessed it just before.
    EXPECT_EQ(memory_.on_access(begin_), PolledMemory::Access::open);
}

TEST_F(PolledMemoryTest, AWordThatIsAccessedAgainAndAgainIsPolled) {
    for (unsigned i = 1; i < PolledMemory::most_accesses; ++i) {
        EXPECT_EQ(memory_.on_access(begin_ + 8), PolledMemory::Access::step);
        memory_.end_step();
    }
    EXPECT_EQ(polls_, 0);
    EXPECT_EQ(memory_.on_access(begin_ + 8), PolledMemory::Access::open);
    EXPECT_EQ(polls_, 1);
    EXPECT_TRUE(is_readable(begin_));
    EXPECT_TRUE(memory_.take_poll());
    EXPECT_FALSE(memory_.take_poll());
}

TEST_F(PolledMemoryTest, AHostThatAccessesManyWordsComputes) {
    for (std::size_t i = 0; i < PolledMemory::most_words; ++i)
        EXPECT_EQ(memory_.on_access(begin_ + 4 * i), PolledMemory::Access::step);
    EXPECT_EQ(memory_.on_access(begin_ + 4 * PolledMemory::most_words), PolledMemory::Access::open);
    EXPECT_FALSE(memory_.take_poll());
    EXPECT_FALSE(memory_.is_watching());
}

}  // namespace
}  // namespace warpscope::programs
