#include "emulator/checks/memory_check.h"

#include "compute/emulated/emulated_device.h"
#include "race_kernels.h"

namespace warpscope::tests {
namespace {

using compute::Buffer;
using compute::DevicePointer;
using emulator::Finding;
using emulator::FindingKind;

using Words = DevicePointer<std::uint32_t>;

/// Copies word tid of `in` to `out`.
constexpr const char* copy =
    ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry copy(.param .u64 copy_out, "
    ".param .u64 copy_in)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<5>;\nld.param.u64 %d1, [copy_out];\n"
    "ld.param.u64 %d2, [copy_in];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 4;\n"
    "add.s64 %d1, %d1, %d3;\nadd.s64 %d2, %d2, %d3;\nld.global.u32 %r2, [%d2];\n"
    "st.global.u32 [%d1], %r2;\nret;\n}\n";

class MemoryCheck : public testing::Test {
  protected:
    MemoryCheck() {
        device_->observe(&check_);
        kernel_ = device_->kernel_from_ptx<Words, Words>(copy, "copy");
    }
    ~MemoryCheck() override { device_->observe(nullptr); }

    std::vector<Finding> after_copy(const Buffer<std::uint32_t>& out,
                                    const Buffer<std::uint32_t>& in, unsigned threads) {
        device_->launch(kernel_, {{1, 1, 1}, {threads, 1, 1}}, {}, out.pointer(), in.pointer());
        return check_.findings();
    }

    emulator::MemoryCheck check_;
    std::unique_ptr<compute::EmulatedDevice> device_ = compute::make_emulated_device("");
    compute::Kernel<Words, Words> kernel_;
};

TEST_F(MemoryCheck, FindsReadsOfMemoryThatWasNeverWritten) {
    Buffer<std::uint32_t> in(*device_, 40), out(*device_, 40);
    const auto found = after_copy(out, in, 40);
    ASSERT_EQ(found.size(), 1u) << sentences(found);
    EXPECT_EQ(found[0].kind, FindingKind::uninitialized);
    EXPECT_EQ(found[0].count, 40u);
    EXPECT_EQ(found[0].first.line, 14) << "of the PTX text";
    EXPECT_NE(found[0].sentence.english().find(
                  "Thread (0,0,0) of block (0,0,0) reads 4 bytes of global memory "
                  "at PTX line 14 that were never written, at byte 0 of an "
                  "allocation of 160 bytes."),
              std::string::npos)
        << found[0].sentence.english();
}

TEST_F(MemoryCheck, SaysWhichBytesWereNeverWritten) {
    check_.on_allocate(0x1000, 10);
    EXPECT_EQ(check_.unwritten(0x1000, 10).count, 10u);
    EXPECT_EQ(check_.unwritten(0x1003, 2).first, 0x1003u);
    EXPECT_EQ(check_.unwritten(0x1003, 2).count, 2u);
    check_.on_host_write(0x1000, 4);
    EXPECT_EQ(check_.unwritten(0x1000, 10).first, 0x1004u);
    EXPECT_EQ(check_.unwritten(0x1000, 10).count, 6u);
    check_.on_host_write(0x1005, 1);  // the rest of its word may be padding
    EXPECT_EQ(check_.unwritten(0x1000, 10).first, 0x1008u);
    EXPECT_EQ(check_.unwritten(0x1000, 10).count, 2u);
    EXPECT_EQ(check_.unwritten(0x5000, 10).count, 0u);
}

TEST_F(MemoryCheck, ACopyWithinTheDeviceLeavesBytesUnwritten) {
    check_.on_allocate(0x1000, 12);
    check_.on_allocate(0x2000, 12);
    check_.on_host_write(0x1000, 4);
    check_.on_copy(0x2004, 0x1000, 8);
    EXPECT_EQ(check_.unwritten(0x2004, 4).count, 0u);
    EXPECT_EQ(check_.unwritten(0x2000, 12).count, 8u);
    check_.on_copy(0x2008, 0x1000, 4);
    EXPECT_EQ(check_.unwritten(0x2000, 12).count, 4u);
}

TEST_F(MemoryCheck, UploadsFillsAndKernelsCountAsWrites) {
    Buffer<std::uint32_t> uploaded(*device_, std::vector<std::uint32_t>(40, 7)),
        filled(*device_, 40), out(*device_, 40), again(*device_, 40);
    filled.fill(0);
    EXPECT_TRUE(after_copy(out, uploaded, 40).empty());
    EXPECT_TRUE(after_copy(again, out, 40).empty()) << "a kernel wrote it";
    EXPECT_TRUE(after_copy(out, filled, 40).empty());
}

TEST_F(MemoryCheck, FindsTheUnwrittenPartOfAnAllocation) {
    Buffer<std::uint32_t> in(*device_, 40), out(*device_, 40);
    const std::vector<std::uint32_t> some(30, 1);
    in.upload(some);
    const auto found = after_copy(out, in, 40);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].count, 10u);
    EXPECT_EQ(found[0].first.thread.x, 30u);
}

TEST_F(MemoryCheck, NewAllocationIsUnwrittenEvenAtAnOldAddress) {
    Buffer<std::uint32_t> out(*device_, 64);
    { const Buffer<std::uint32_t> old(*device_, std::vector<std::uint32_t>(64, 1)); }
    const Buffer<std::uint32_t> in(*device_, 64);
    EXPECT_EQ(after_copy(out, in, 64).at(0).count, 64u);
}

// An exchange whose old value nothing uses only writes: flags and locks are set so.
TEST_F(MemoryCheck, AnExchangeReadsWhereItsOldValueIsUsed) {
    for (const bool is_used : {false, true}) {
        const std::string exchange =
            ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry swap(.param .u64 "
            "swap_out, .param .u64 swap_in)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<3>;\nld.param.u64 "
            "%d1, [swap_out];\nld.param.u64 %d2, [swap_in];\natom.global.exch.b32 %r1, [%d2], "
            "1;\n" +
            std::string(is_used ? "st.global.u32 [%d1], %r1;\n" : "") + "ret;\n}\n";
        const auto swap = device_->kernel_from_ptx<Words, Words>(exchange, "swap");
        Buffer<std::uint32_t> word(*device_, 1), out(*device_, 1);
        device_->launch(swap, {{1, 1, 1}, {1, 1, 1}}, {}, out.pointer(), word.pointer());
        EXPECT_EQ(check_.findings().size(), is_used ? 1u : 0u) << sentences(check_.findings());
    }
}

TEST_F(MemoryCheck, InvalidAccessIsAFinding) {
    Buffer<std::uint32_t> in(*device_, std::vector<std::uint32_t>(40, 1)), out(*device_, 40);
    EXPECT_THROW(after_copy(out, in, 64), compute::DeviceError);
    const auto found = check_.findings();
    ASSERT_EQ(found.size(), 1u) << sentences(found);
    EXPECT_EQ(found[0].kind, FindingKind::memory);
    EXPECT_EQ(found[0].kernel, "copy");
    EXPECT_EQ(found[0].first.thread.x, 40u);
    EXPECT_NE(found[0].sentence.english().find("past the end"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::tests
