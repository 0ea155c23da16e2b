#include "ui/source/kernel_text.h"

#include <gtest/gtest.h>

#include "compute/device/kernel_files.h"
#include "compute/pick_device.h"
#include "experiments/replicas/specimen.h"

namespace warpscope::ui {
namespace {

constexpr const char* add_one = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 add_one_param_0)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<3>;
	.loc	1 3 0
	ld.param.u64 	%rd1, [add_one_param_0];
	mov.u32 	%r1, %tid.x;
	bar.sync 	0;
	st.global.u32 	[%rd1], %r1;
	ret;
}
)";

class RippleTextTest : public testing::Test {
  protected:
    RippleTextTest() { specimen_ = std::make_unique<experiments::Specimen>(entry_, *live_); }
    const emulator::Kernel& kernel() const { return *specimen_->launch().kernel; }

    const experiments::Entry& entry_ = experiments::find_experiment("ripple");
    std::unique_ptr<compute::Device> device_ = compute::pick_device("emulator");
    std::unique_ptr<experiments::Experiment> live_ = entry_.make(*device_);
    std::unique_ptr<experiments::Specimen> specimen_;
};

TEST_F(RippleTextTest, SourceIsTheWholeFileAndMarksTheBarrier) {
    const KernelText text = source_text(kernel(), compute::kernel_source);
    EXPECT_EQ(text.file, "kernels/ripple.cu");
    std::string whole;
    for (const KernelText::Line& line : text.lines) whole += line.text + "\n";
    EXPECT_EQ(whole, compute::kernel_source("kernels/ripple.cu"));
    int barriers = 0;
    for (const KernelText::Line& line : text.lines) {
        if (!line.barrier) continue;
        ++barriers;
        EXPECT_EQ(line.text, "    if (barrier) __syncthreads();");
        EXPECT_TRUE(line.code);
    }
    EXPECT_EQ(barriers, 1);
    EXPECT_FALSE(text.lines.front().code);
}

TEST_F(RippleTextTest, EveryInstructionHasTheRowOfItsPtxLine) {
    const KernelText text = ptx_text(kernel());
    ASSERT_FALSE(text.empty());
    EXPECT_NE(text.lines.front().text.find(kernel().name), std::string::npos);
    EXPECT_EQ(text.lines.back().text, "}");
    for (std::uint32_t pc = 0; pc < kernel().lines.size(); ++pc) {
        if (kernel().lines[pc].pseudo) continue;
        ASSERT_TRUE(text.row(pc)) << pc;
        const std::string& statement = kernel().lines[pc].text;
        const std::string opcode = statement.substr(0, statement.find_first_of(" \t"));
        EXPECT_NE(text.lines[*text.row(pc)].text.find(opcode), std::string::npos) << statement;
    }
    for (const KernelText::Line& line : text.lines)
        EXPECT_EQ(line.text.find(".loc "), std::string::npos);
}

TEST_F(RippleTextTest, ARowIsFoundByItsLineNumber) {
    const KernelText text = ptx_text(kernel());
    for (std::uint32_t row = 0; row < text.lines.size(); ++row)
        EXPECT_EQ(text.row_of_line(text.lines[row].number), row);
    EXPECT_FALSE(text.row_of_line(0));
    EXPECT_FALSE(text.row_of_line(1'000'000));
    EXPECT_FALSE(text.row(1'000'000));
}

TEST(KernelTextTest, WithoutAKnownSourceOnlyThePtxIsThere) {
    const auto module = emulator::Module::parse(add_one, "some text");
    const emulator::Kernel& kernel = *module->find("add_one");
    EXPECT_TRUE(source_text(kernel, compute::kernel_source).empty());
    const KernelText text = ptx_text(kernel);
    ASSERT_EQ(text.lines.size(), 10U);
    EXPECT_EQ(text.lines[0].number, 5);
    EXPECT_EQ(text.lines[6].text, "  bar.sync           0;");
    EXPECT_TRUE(text.lines[6].barrier);
    EXPECT_TRUE(text.lines[7].code);
    EXPECT_FALSE(text.lines[2].code);
}

}  // namespace
}  // namespace warpscope::ui
