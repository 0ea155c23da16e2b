#include <optional>

#include "all_orders.h"
#include "emulator/slice/wrong_word.h"
#include "emulator/witness/order_search.h"
#include "emulator/witness/schedule_file.h"
#include "emulator/witness/witness_words.h"

namespace warpscope::tests {
namespace {

/// The first thread of warp 1 writes 5 and sets a flag, without a fence. That of warp 0 polls the
/// flag, reads, and stores what it has read. Lines of the source stand for these operations.
constexpr const char* message = R"(
.version 9.0
.target sm_75
.address_size 64
.shared .align 4 .b8 cell[8];
.visible .entry message(.param .u64 p_out)
{
.reg .pred %p;
.reg .b32 %r<4>;
.reg .b64 %out;
.loc 1 1 0
mov.u32 %r0, %tid.x;
setp.gt.u32 %p, %r0, 1;
@%p bra SPLIT;
mul.lo.u32 %r1, %r0, 4;
mov.u32 %r2, cell;
add.u32 %r1, %r1, %r2;
st.shared.u32 [%r1], 0;
SPLIT:
bar.sync 0;
and.b32 %r1, %r0, 31;
setp.ne.u32 %p, %r1, 0;
@%p ret;
setp.eq.u32 %p, %r0, 0;
@%p bra READER;
.loc 1 10 0
st.shared.u32 [cell], 5;
.loc 1 11 0
st.relaxed.cta.shared.u32 [cell+4], 1;
ret;
READER:
.loc 1 20 0
ld.relaxed.cta.shared.u32 %r1, [cell+4];
setp.eq.u32 %p, %r1, 0;
@%p bra READER;
.loc 1 21 0
ld.shared.u32 %r2, [cell];
.loc 1 22 0
ld.param.u64 %out, [p_out];
st.global.u32 [%out], %r2;
ret;
}
.file 1 "message.cu"
)";

class OldValuesInABlock : public testing::Test {
  protected:
    emulator::LaunchSettings settings_of(const std::string& order) {
        emulator::LaunchSettings settings;
        ScheduleFile::parse(order, "order").apply(*kernel_, {{1, 1, 1}, {64, 1, 1}, 0}, settings);
        return settings;
    }
    using ScheduleFile = emulator::ScheduleFile;
    const std::shared_ptr<const emulator::Module> module_ =
        emulator::Module::parse(message, "message");
    const emulator::Kernel* kernel_ = module_->kernels().front().get();
    const std::string order_ =
        "kernel message\nepoch 1\nwarp 1\nwarp 0 until message.cu:21\nwarp 0 with old values\n";
};

TEST_F(OldValuesInABlock, AreReadByTheFirstLoadOfTheTurnAlone) {
    SmallBlock usual(*kernel_, 64, settings_of("kernel message\nepoch 1\nwarp 1\n"));
    usual.machine.run(usual.launch);
    EXPECT_EQ(usual.values()[0], 5u);
    SmallBlock block(*kernel_, 64, settings_of(order_));
    block.machine.run(block.launch);
    EXPECT_EQ(block.values()[0], 0u);
}

TEST_F(OldValuesInABlock, AreFoundWhereNoOrderDoesHarm) {
    SmallBlock block(*kernel_, 64);
    const emulator::OrderSearch search{.time = std::chrono::hours(1),
                                       .pairs = {{"message.cu:10", "message.cu:21"}}};
    const auto found = search.run(block.machine, block.launch, 0);
    ASSERT_TRUE(found.witnesses[0]);
    ASSERT_TRUE(found.witnesses[0]->old_read);
    EXPECT_EQ(found.witnesses[0]->value, 0u);
    EXPECT_EQ(found.witnesses[0]->expected, 5u);
    EXPECT_EQ(block.values()[0], 0u) << "memory is as it was before";
    const std::string sentence =
        witness_sentence(block.machine, *kernel_, *found.witnesses[0], found);
    EXPECT_TRUE(sentence.starts_with(
        "With 0 preemptions, warp 0 reads at message.cu:21 what the word held before warp 1 stored "
        "to it at message.cu:10, as it may, since nothing orders the two: then byte 0 of"))
        << sentence;
    const ScheduleFile file = schedule_of(*kernel_, {1, 1, 1}, {0, 0, 0}, *found.witnesses[0]);
    SmallBlock again(*kernel_, 64, settings_of(file.text()));
    again.machine.run(again.launch);
    EXPECT_EQ(again.values()[0], 0u);
}

TEST_F(OldValuesInABlock, AreReadAgainWhenTheBlockIsSteppedBackAndForth) {
    SmallBlock block(*kernel_, 64, settings_of(order_));
    emulator::Stepper stepper(block.machine, block.launch, 0);
    stepper.run();
    EXPECT_EQ(block.values()[0], 0u);
    std::optional<std::uint64_t> load;
    for (std::uint64_t k = 0; k < stepper.history().size(); ++k) {
        if (!stepper.history()[k].reads_old) continue;
        EXPECT_FALSE(load) << "two loads get old values";
        load = k;
    }
    ASSERT_TRUE(load);
    for (unsigned times = 0; times < 2; ++times) {
        stepper.seek(0);
        stepper.seek(*load);
        EXPECT_EQ(old_read_words(stepper), "");
        stepper.seek(*load + 1);
        EXPECT_EQ(old_read_words(stepper),
                  "thread (0,0,0) reads 0, as it may: nothing orders the write of 5 before it");
        std::uint32_t now = 0;
        std::memcpy(&now, stepper.shared_memory().data(), sizeof now);
        EXPECT_EQ(now, 5u) << "memory keeps the newest value";
        stepper.seek(*load + 2);
        EXPECT_EQ(old_read_words(stepper), "");
        stepper.run();
        EXPECT_EQ(block.values()[0], 0u);
    }
}

}  // namespace
}  // namespace warpscope::tests
