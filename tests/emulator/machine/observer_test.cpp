#include "emulator/observe/observer.h"

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

struct Recorder : Observer {
    struct Seen {
        std::uint32_t block, warp, mask, bytes;
        MemoryAccess kind;
        std::uint64_t first_address;
    };
    std::vector<Seen> shared, global;
    std::vector<std::uint32_t> completed, begun, ended;
    std::uint64_t instructions = 0;
    std::uint32_t only = ~0u;

    bool wants(std::uint32_t block) override { return only == ~0u || block == only; }
    void on_block_begin(const Kernel&, std::uint32_t block) override { begun.push_back(block); }
    void on_block_end(std::uint32_t block, const Statistics&) override { ended.push_back(block); }
    static Seen seen(const Access& a) {
        return {a.block, a.warp, a.mask,
                a.bytes, a.kind, a.address(unsigned(__builtin_ctz(a.mask)))};
    }
    void on_shared_access(const Access& a) override { shared.push_back(seen(a)); }
    void on_global_access(const Access& a) override { global.push_back(seen(a)); }
    void on_barrier_release(const BarrierRelease& release) override {
        completed.push_back(release.completed_barriers);
        EXPECT_EQ(release.shared_memory.size(), 256u);
        EXPECT_EQ(release.shared_memory[4], std::byte{1}) << "the value that thread 1 stored";
    }
    void on_instruction(std::uint32_t, const Warp&, std::uint32_t, std::uint32_t) override {
        ++instructions;
    }
};

const std::string observed_kernel = kernel_text(
    "shl.b32 %r2, %r1, 2; mov.u32 %r3, cell; add.s32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1; "
    "bar.sync 0;"
    "setp.lt.u32 %p1, %r1, 5; @%p1 ld.shared.u32 %r4, [%r2+16]; st.global.u32 [%rd1], %r4;",
    ".shared .align 4 .b8 cell[256];");

TEST(Observer, SeesAccessesBarriersAndInstructions) {
    Runner r(observed_kernel);
    Recorder recorder;
    r.observer = &recorder;
    r.settings.schedule = Schedule::run_to_barrier;
    r.run({{2, 1, 1}, {64, 1, 1}, 0});
    EXPECT_EQ(recorder.begun, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(recorder.ended, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(recorder.completed, (std::vector<std::uint32_t>{0, 0}));
    ASSERT_EQ(recorder.shared.size(), 6u) << "two stores and, in the first warp only, a load";
    EXPECT_EQ(recorder.shared[0].kind, MemoryAccess::store);
    EXPECT_EQ(recorder.shared[1].first_address, 128u);
    EXPECT_EQ(recorder.shared[2].kind, MemoryAccess::load);
    EXPECT_EQ(recorder.shared[2].mask, 31u);
    EXPECT_EQ(recorder.shared[2].first_address, 16u);
    EXPECT_EQ(recorder.global.size(), 4u);
}

TEST(Observer, SeesTheBlocksItWantsAndDoesNotChangeTheResult) {
    Runner watched(observed_kernel), free(observed_kernel);
    Recorder recorder;
    recorder.only = 3;
    watched.observer = &recorder;
    const LaunchShape launch{{8, 1, 1}, {64, 1, 1}, 0};
    EXPECT_EQ(watched.run(launch), free.run(launch));
    EXPECT_EQ(watched.statistics.warp_instructions, free.statistics.warp_instructions);
    EXPECT_EQ(watched.statistics.thread_instructions, free.statistics.thread_instructions);
    EXPECT_EQ(recorder.begun, (std::vector<std::uint32_t>{3}));
    for (const auto& s : recorder.global) EXPECT_EQ(s.block, 3u);
}

}  // namespace
}  // namespace warpscope::emulator
