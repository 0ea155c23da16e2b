#include "programs/checks/check_host_calls.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "programs/images/status.h"

namespace warpscope::programs {
namespace {

using emulator::FindingKind;

/// The text of the CallError that the call ends with; empty: it ends with none.
template <class Call>
std::string error_of(Call&& call) {
    try {
        call();
    } catch (const CallError& error) {
        return error.what();
    }
    return "";
}

TEST(CheckHostCalls, ARangeEndsWithItsAllocation) {
    const MemoryBlock block{.begin = 0x1000, .bytes = 16};
    const auto check = [&](std::uint64_t address, std::size_t bytes) {
        return error_of([&] { check_range(nullptr, block, address, bytes, "a copy"); });
    };
    EXPECT_EQ(check(0x1000, 16), "");
    EXPECT_EQ(check(0x100c, 4), "");
    EXPECT_EQ(check(0x100c, 5), "a copy: 5 bytes from byte 12 on of an allocation of 16 bytes");
    EXPECT_EQ(error_of([] { check_range(nullptr, {}, 0x10, 4, "a copy"); }),
              "a copy: 0x10 is no memory of the device");
}

TEST(CheckHostCalls, ACopyOfFreedMemoryFails) {
    emulator::Memory emulated;
    const DeviceMemory memory(emulated);
    HostFindings host;
    host.on_allocate(0x1000, 16);
    host.on_free(0x1000, 0);
    const auto copy = [&](std::uint64_t to, std::uint64_t from) {
        return error_of([&] { check_copy(host, 0, memory, to, from, Direction::any); });
    };
    EXPECT_TRUE(copy(0x1004, 0x9000).starts_with("the destination of the copy was freed"));
    EXPECT_TRUE(copy(0x9000, 0x1004).starts_with("the source of the copy was freed"));
    EXPECT_EQ(copy(0x9000, 0xa000), "");
}

TEST(CheckHostCalls, TheDirectionOfACopyMustFitItsMemory) {
    emulator::Memory emulated;
    DeviceMemory memory(emulated);
    const std::uint64_t device = memory.allocate(16, MemoryKind::device),
                        managed = memory.allocate(16, MemoryKind::managed);
    if (!device) GTEST_SKIP() << "ThreadSanitizer does not map these addresses";
    HostFindings host;
    check_copy(host, 0, memory, device, managed, Direction::host_to_device);
    check_copy(host, 0, memory, managed, device, Direction::device_to_host);
    EXPECT_TRUE(findings_of(host.report()).empty());
    check_copy(host, 0, memory, device, managed, Direction::device_to_host);
    ASSERT_EQ(findings_of(host.report()).size(), 1u);
    EXPECT_NE(findings_of(host.report())[0].sentence.find("its destination is memory of the host"),
              std::string::npos);
    for (const std::uint64_t address : {device, managed}) memory.free(address);
}

TEST(CheckHostCalls, AnArgumentThatPointsToFreedMemoryIsAFinding) {
    HostFindings host;
    host.on_allocate(0x1000, 16);
    const std::array<std::uint64_t, 2> arguments{7, 0x1008};
    const auto bytes = std::as_bytes(std::span(arguments));
    check_arguments(host, 0, "kernel", bytes);
    EXPECT_TRUE(findings_of(host.report()).empty());
    host.on_free(0x1000, 0);
    check_arguments(host, 0, "kernel", bytes);
    ASSERT_EQ(findings_of(host.report()).size(), 1u);
    EXPECT_EQ(findings_of(host.report())[0].kind, FindingKind::memory);
}

}  // namespace
}  // namespace warpscope::programs
