#include "programs/checks/check_host_calls.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "emulator/program/module.h"
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
    EXPECT_NE(findings_of(host.report())[0].sentence.english().find(
                  "its destination is memory of the host"),
              std::string::npos);
    for (const std::uint64_t address : {device, managed}) memory.free(address);
}

/// What is found of arguments of which the word `at` points to freed memory, by a kernel with two
/// parameters of 16 bytes that executes the statement.
std::size_t found_in_arguments(const std::string& statement, std::size_t at, bool is_freed = true) {
    const auto module = emulator::Module::parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry kernel(.param .align 8 .b8 first[16], .param .align 8 .b8 second[16]) {\n"
        ".reg .b32 %r<3>; .reg .b64 %rd<3>;\n" +
            statement + "\nret; }",
        "test");
    HostFindings host;
    host.on_allocate(0x1000, 16);
    if (is_freed) host.on_free(0x1000, 0);
    std::array<std::uint64_t, 4> arguments{7, 7, 7, 7};
    arguments[at] = 0x1008;
    check_arguments(host, 0, *module->kernels().front(), std::as_bytes(std::span(arguments)));
    const auto findings = findings_of(host.report());
    for (const auto& finding : findings) EXPECT_EQ(finding.kind, FindingKind::memory);
    return findings.size();
}

TEST(CheckHostCalls, AnArgumentThatPointsToFreedMemoryIsAFinding) {
    const std::string load = "ld.param.u64 %rd1, [second];";
    EXPECT_EQ(found_in_arguments(load, 2), 1u);
    EXPECT_EQ(found_in_arguments(load, 2, false), 0u);
    EXPECT_EQ(found_in_arguments("ld.param.u64 %rd1, [first+8];", 1), 1u);
    EXPECT_EQ(found_in_arguments("ld.param.v2.b64 {%rd1, %rd2}, [first];", 1), 1u);
    EXPECT_EQ(found_in_arguments("mov.b64 %rd1, second;", 3), 1u);
}

TEST(CheckHostCalls, BytesOfAnArgumentThatNoKernelLoadsAsAPointerAreNoFinding) {
    EXPECT_EQ(found_in_arguments("", 2), 0u);
    EXPECT_EQ(found_in_arguments("ld.param.u32 %r1, [second];", 2), 0u);  // with padding behind it
    EXPECT_EQ(found_in_arguments("ld.param.v2.u32 {%r1, %r2}, [second];", 2), 0u);
    EXPECT_EQ(found_in_arguments("ld.param.u64 %rd1, [second];", 3), 0u);
    EXPECT_EQ(found_in_arguments("mov.b64 %rd1, second;", 1), 0u);
}

}  // namespace
}  // namespace warpscope::programs
