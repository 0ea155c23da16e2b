#include <gtest/gtest.h>

#include "gl/context.h"
#include "ui/fake_experiment.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {
namespace {

constexpr experiments::Size lost_gpu_view{640, 480};

/// One or several GPUs in host memory.
class FakeGpus final : public tests::HostDevice {
  public:
    explicit FakeGpus(const std::string& wish) {
        info_.kind = compute::DeviceKind::cuda;
        info_.name = wish;
        info_.ordinal = 1000;  // no machine has it
    }
};

class LostGpuTest : public testing::Test {
  protected:
    LostGpuTest() {
        Stage::Start start;
        start.device_wish = "cuda:0,1,2";
        start.entry = experiments::unowned(fake_entry());
        start.pick = [this](const std::string& wish, const experiments::Entry&) {
            if (wish == broken_) throw compute::DeviceError(wish + " can't exchange data");
            return std::make_unique<FakeGpus>(wish);
        };
        start.wishes_after_loss = [](const std::string& wish) {
            return wish == "cuda:0,1,2" ? std::vector<std::string>{"cuda:0,2", "cuda:0", "emulator"}
                                        : std::vector<std::string>{"emulator"};
        };
        stage_.emplace(start);
        for (int i = 0; i < 3; ++i) stage_->advance(lost_gpu_view);
    }
    FakeExperiment& fake() { return dynamic_cast<FakeExperiment&>(stage_->engine().experiment()); }
    void lose_gpu() {
        fake().lose_device = true;
        stage_->advance(lost_gpu_view);
    }

    gl::OffscreenContext context_;
    std::string broken_;
    std::optional<Stage> stage_;
};

TEST_F(LostGpuTest, TheOthersContinueFromTheLastSnapshot) {
    EXPECT_GE(fake().frame(), 3U);
    lose_gpu();
    EXPECT_EQ(stage_->device_wish(), "cuda:0,2");
    EXPECT_EQ(stage_->shown().lost_wish, "cuda:0,1,2");
    EXPECT_EQ(stage_->message().text,
              "the GPU is gone. cuda:0,2 continues. To use all GPUs again, restart Warpscope.");
    const std::uint64_t from = fake().frame();
    EXPECT_GE(from, 1U);  // of the snapshot, not of a reset
    stage_->advance(lost_gpu_view);
    EXPECT_EQ(fake().frame(), from + 1);
    EXPECT_FALSE(stage_->paused());
}

TEST_F(LostGpuTest, OneContinuesWhereTheOthersCannot) {
    broken_ = "cuda:0,2";
    lose_gpu();
    EXPECT_EQ(stage_->device_wish(), "cuda:0");
    EXPECT_FALSE(stage_->paused());
}

TEST_F(LostGpuTest, TheEmulatorContinuesWhereNoneIsLeft) {
    lose_gpu();
    lose_gpu();
    EXPECT_EQ(stage_->device_wish(), "emulator");
    EXPECT_EQ(stage_->shown().lost_wish, "cuda:0,1,2");
}

}  // namespace
}  // namespace warpscope::ui
