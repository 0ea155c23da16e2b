#include <algorithm>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

std::string run_error(const std::string& body, LaunchShape launch, std::uint32_t n = 0,
                      std::size_t words = 0, const std::string& before = "") {
    Runner r(kernel_text(body, before));
    return error_of([&] { r.run(launch, n, words); });
}

TEST(MemoryAccess, StorePastTheEndNamesThreadLineAndAllocation) {
    EXPECT_EQ(run_error("st.global.u32 [%rd1], 1;", one_block(48), 0, 48), "");
    const std::string text = run_error("st.global.u32 [%rd1], 1;", one_block(48), 0, 47);
    expect_contains(text, "kernel k");
    expect_contains(text, "thread (47,0,0) of block (0,0,0)");
    expect_contains(text, "PTX line");
    expect_contains(text, "0 bytes past the end of the allocation of 188 bytes");
    EXPECT_EQ(text.find("0x"), std::string::npos) << "an address of the host: " << text;
}

TEST(MemoryAccess, AnErrorAtASourceLineHasNoPtx) {
    const auto error_at_line = [](const std::string& access) {
        Runner r(kernel_text(".loc 1 7 1\n" + access) + "\n.file 1 \"mine.cu\"\n");
        return error_of([&] { r.run(one_block(48), 0, 47); });
    };
    const std::string what =
        "kernel k, mine.cu:7: thread (47,0,0) of block (0,0,0): 4 bytes at "
        "global memory, 0 bytes past the end of the allocation of 188 bytes, the nearest";
    expect_contains(error_at_line("st.global.u32 [%rd1], 1;"), what + " (write)");
    expect_contains(error_at_line("ld.global.u32 %r2, [%rd1];"), what + " (read)");
    expect_contains(error_at_line("atom.global.add.u32 %r2, [%rd1], 1;"),
                    what + " (atomic operation)");
    expect_contains(run_error("st.global.u32 [%rd1], 1;", one_block(48), 0, 47),
                    "(st.global.u32 [%rd1], 1)");
}

TEST(MemoryAccess, WhatPassesTheEndOfAnAllocationIsInNoOther) {
    Memory memory;
    for (const std::size_t bytes : {std::size_t(4), std::size_t(16384), std::size_t(33) << 20}) {
        void* const a = memory.allocate(bytes);
        void* const b = memory.allocate(bytes);
        const std::uint64_t end = std::uint64_t(a) + bytes;
        EXPECT_EQ(memory.find(end + 4000), nullptr) << bytes;
        ASSERT_NE(memory.nearest(end + 100), nullptr);
        EXPECT_EQ(memory.nearest(end + 100)->begin, std::uint64_t(a)) << bytes;
        memory.free(a);
        memory.free(b);
    }
    EXPECT_EQ(memory.nearest(1), nullptr) << "nothing is allocated";
}

TEST(MemoryAccess, ErrorNamesBlockAndThreadInThreeDimensions) {
    const std::string text = run_error(
        "mov.u32 %r2, %ctaid.y; setp.ne.s32 %p1, %r2, 2; @%p1 ret; mov.u32 %r3, %tid.z;"
        "setp.ne.s32 %p2, %r3, 1; @%p2 ret; ld.global.u32 %r4, [%rd0+-4];",
        {{2, 3, 1}, {4, 2, 2}, 0});
    expect_contains(text, "thread (0,0,1) of block (0,2,0)");
    expect_contains(text, "4 bytes before the beginning");
}

TEST(MemoryAccess, NullAndMisalignedAddressesAreErrors) {
    expect_contains(run_error("mov.u64 %rd2, 0; ld.global.u32 %r2, [%rd2];", one_block(1)), "0x0");
    const std::string odd = run_error("ld.global.u32 %r2, [%rd0+2];", one_block(4));
    expect_contains(odd, "not a multiple of 4: the remainder is 2");
    EXPECT_EQ(odd.find("0x"), std::string::npos) << odd;
    expect_contains(run_error("add.s64 %rd2, %rd1, 1; st.global.u32 [%rd2], %r1;", one_block(9)),
                    "not a multiple of 4");
    expect_contains(run_error("ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd0+8];", one_block(16)),
                    "not a multiple of 16");
}

TEST(MemoryAccess, MemoryOfAnySizeIsZeroAndAligned) {
    Memory memory;
    for (const std::size_t bytes : {std::size_t(1), std::size_t(1) << 20, std::size_t(40) << 20}) {
        for (int time = 0; time < 2; ++time) {
            auto* const first = static_cast<unsigned char*>(memory.allocate(bytes));
            EXPECT_EQ(std::uint64_t(first) % 64, 0U);
            EXPECT_EQ(std::count(first, first + bytes, 0), std::ptrdiff_t(bytes));
            EXPECT_EQ(memory.used_bytes(), bytes);
            std::fill(first, first + bytes, static_cast<unsigned char>(7));
            memory.free(first);
            EXPECT_EQ(memory.used_bytes(), 0U);
            EXPECT_EQ(memory.find(std::uint64_t(first)), nullptr);
        }
    }
    EXPECT_THROW(memory.allocate(std::size_t(1) << 60), Error);
}

TEST(MemoryAccess, FreedAndDetachedMemoryIsInvalid) {
    Machine machine;
    const auto module = Module::parse(kernel_text("st.global.u32 [%rd1], 3;"), "t");
    void* out = machine.memory().allocate(128);
    const std::uint32_t n = 0;
    const void* arguments[] = {&out, &n};
    machine.run(*module->find("k"), one_block(32), arguments);
    EXPECT_EQ(static_cast<std::uint32_t*>(out)[31], 3u);
    void* other = machine.memory().allocate(64);
    machine.memory().free(out);
    EXPECT_THROW(machine.run(*module->find("k"), one_block(32), arguments), Error);
    EXPECT_THROW(machine.memory().free(out), Error);
    machine.memory().free(other);

    alignas(64) std::uint32_t host[32] = {};
    out = host;
    machine.memory().attach(host, sizeof(host));
    machine.run(*module->find("k"), one_block(32), arguments);
    EXPECT_EQ(host[31], 3u);
    machine.memory().detach(host);
    EXPECT_THROW(machine.run(*module->find("k"), one_block(32), arguments), Error);
}

TEST(MemoryAccess, SharedMemoryAccessMustLieInTheBlocksBytes) {
    const std::string body =
        "shl.b32 %r2, %r1, 2; mov.u32 %r3, dyn; add.s32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1;";
    const std::string dynamic = ".extern .shared .align 16 .b8 dyn[];";
    EXPECT_EQ(run_error(body, one_block(64, 256), 0, 0, dynamic), "");
    const std::string text = run_error(body, one_block(64, 252), 0, 0, dynamic);
    expect_contains(text, "thread (63,0,0)");
    expect_contains(text, "252 bytes that the block has");
    expect_contains(run_error("st.shared.u32 [%r1+1], %r1;", one_block(1, 64), 0, 0, dynamic),
                    "not a multiple of 4");
}

// Consecutive words whose addresses wrap around below 0: the first are invalid, the last are valid.
TEST(MemoryAccess, SharedMemoryAddressesThatWrapBelowZeroAreErrors) {
    const std::string shared = ".shared .align 4 .b8 s[256];";
    for (const char* bytes : {"4", "8", "64", "128"})
        for (const char* access : {"st.shared.u32 [%r2], %r1;", "ld.shared.u32 %r3, [%r2];"}) {
            const std::string text =
                run_error("mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; sub.u32 %r2, %r2, " +
                              std::string(bytes) + "; " + access,
                          one_block(64), 0, 0, shared);
            expect_contains(text, "thread (0,0,0) of block (0,0,0)");
            expect_contains(text, "the 256 bytes that the block has");
        }
    expect_contains(run_error("mov.u32 %r2, %ctaid.x; ld.shared.u32 %r3, [%r2+-4];"
                              "st.global.u32 [%rd1], %r3;",
                              one_block(32), 0, 0, shared),
                    "shared memory address 0xfffffffc");
}

TEST(MemoryAccess, LocalMemoryIsPrivateAndBounded) {
    const std::string local =
        ".local .align 8 .b8 depot[32];\nmov.u64 %rd2, depot; cvta.local.u64 %rd3, %rd2;";
    Runner r(kernel_text(local + "st.local.u32 [%rd2+8], %r1; ld.u32 %r2, [%rd3+8];"
                                 "add.s32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;"));
    const auto out = r.run(one_block(70));
    for (std::uint32_t t = 0; t < 70; ++t) EXPECT_EQ(out[t], t + 1);
    expect_contains(run_error(local + "ld.local.u32 %r2, [%rd2+32];", one_block(1)),
                    "local memory");
}

TEST(MemoryAccess, GenericAddressesReachSharedMemory) {
    Runner r(kernel_text(
        "shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd2, %r2; mov.u64 %rd3, cell; add.s64 %rd3, %rd3, %rd2;"
        "cvta.shared.u64 %rd4, %rd3; st.u32 [%rd4], %r1; ld.shared.u32 %r3, [%r2];"
        "st.u32 [%rd1], %r3;",
        ".shared .align 4 .b8 cell[128];"));
    const auto out = r.run(one_block(32));
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t);
}

TEST(MemoryAccess, TheLowestFailingBlockIsReportedOnAnyNumberOfThreads) {
    for (unsigned threads : {1, 2, 6}) {
        Runner r(kernel_text("mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r2, 61; @%p1 ret; trap;"));
        r.settings.threads = threads;
        const std::string text = error_of([&] { r.run({{500, 1, 1}, {32, 1, 1}, 0}, 0, 1); });
        expect_contains(text, "of block (61,0,0): the kernel trapped");
    }
}

TEST(MemoryAccess, InvalidLaunchConfigurationsAreErrors) {
    Runner r(kernel_text(""));
    EXPECT_THROW(r.run(one_block(1025)), Error);
    EXPECT_THROW(r.run({{1, 1, 1}, {0, 1, 1}, 0}, 0, 1), Error);
    EXPECT_THROW(r.run({{1, 1, 1}, {1, 1, 65}, 0}, 0, 1), Error);
    EXPECT_THROW(r.run(one_block(32, 228 * 1024)), Error);
    EXPECT_NO_THROW(r.run(one_block(1024)));
    EXPECT_THROW(r.machine.run(*r.module->find("k"), one_block(1), {}), Error);
}

TEST(MemoryAccess, RowsAndColumnsOfWordsAreStoredAndLoaded) {
    // Rows of 16 threads that are 20 words apart, then a column.
    Runner r(kernel_text(
        "and.b32 %r2, %r1, 15; shr.u32 %r3, %r1, 4; mad.lo.s32 %r4, %r3, 20, %r2;"
        "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, %rd0, %rd2; add.s32 %r5, %r1, 1;"
        "st.global.u32 [%rd2], %r5; ld.global.u32 %r6, [%rd2]; mul.lo.s32 %r7, %r1, 12;"
        "mul.wide.u32 %rd3, %r7, 4; add.s64 %rd3, %rd0, %rd3; st.global.u32 [%rd3+400], %r6;"));
    const auto out = r.run(one_block(32), 0, 600);
    for (std::uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(out[100 + 12 * t], t + 1);
        EXPECT_EQ(out[t / 16 * 20 + t % 16], t + 1);
    }
}

// A block must not find what an earlier block on its host thread has left in local memory.
TEST(LocalMemory, IsZeroAtTheStartOfEveryBlock) {
    Runner r(
        kernel_text(".local .align 4 .b8 x[16];\nmov.u32 %r2, %ctaid.x;\n"
                    "mad.lo.u32 %r3, %r2, 32, %r1;\nmul.wide.u32 %rd2, %r3, 4;\n"
                    "add.s64 %rd2, %rd0, %rd2;\nld.local.u32 %r4, [x+8];\n"
                    "add.s32 %r5, %r4, 1;\nst.local.u32 [x+8], %r5;\n"
                    "ld.local.u32 %r6, [x+8];\nst.global.u32 [%rd2], %r6;"));
    EXPECT_EQ(r.run({{20, 1, 1}, {32, 1, 1}, 0}), std::vector<std::uint32_t>(640, 1));
}

// A load that only copies an argument is replaced by the argument, if it is valid.
TEST(ParameterAccess, FailsOutsideOfTheParametersOrMisaligned) {
    const auto error = [](const std::string& load) {
        Runner r(kernel_text(load + "\nst.global.u64 [%rd1], %rd2;\nst.global.u32 [%rd1], %r2;"));
        return error_of([&] { r.run(one_block(1), 0, 4); });
    };
    EXPECT_EQ(error("ld.param.u32 %r2, [k_out+4];"), "");
    for (const char* load : {"ld.param.u64 %rd2, [k_out+-8];", "ld.param.u32 %r2, [k_out+12];",
                             "ld.param.u32 %r2, [k_out+-4];"})
        expect_contains(error(load), "outside of the kernel's parameters");
    expect_contains(error("ld.param.u64 %rd2, [k_out+4];"), "0x4 is not a multiple of 8");
}

}  // namespace
}  // namespace warpscope::emulator
