#include <gtest/gtest.h>

#include "compute/device/kernel_images.h"
#include "experiments/live.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

using tests::Live;
using tests::reading;
using tests::set;

compute::KernelEdits edit_of(const std::string& file, std::string ptx) {
    compute::KernelEdit edit;
    edit.file = file;
    edit.source = "// as typed";
    edit.ptx = std::move(ptx);
    return {{file, std::make_shared<const compute::KernelEdit>(std::move(edit))}};
}

std::string shipped_ptx(const std::string& file) {
    return std::string(compute::kernel_ptx(file, compute::Math::precise));
}

std::string ptx_with(const std::string& entry) {
    return ".version 7.0\n.target sm_75\n.address_size 64\n" + entry;
}

/// The experiment on the emulator with this PTX in place of kernels/gallery/own.cu.
class Own {
  public:
    explicit Own(const std::string& ptx) : device_(compute::make_emulated_device("")) {
        device_->set_edits(edit_of("gallery/own", ptx));
        experiment_ = find_experiment("scratch").make(*device_);
        set(*experiment_, {{"width", "48"}, {"height", "32"}});
    }
    Experiment& operator*() { return *experiment_; }
    std::vector<Rgba> picture() { return Live::picture_of(*experiment_); }

  private:
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<Experiment> experiment_;
};

std::string failure(const std::string& ptx) {
    try {
        Own own(ptx);
    } catch (const compute::DeviceError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* five =
    ".param .u64 a, .param .u32 b, .param .u32 c, .param .f32 d, .param .align 4 .b8 e[12]";

bool states_the_signature(const std::string& words) {
    return words.find(
               "extern \"C\" __global__ void scratch(Pixel* pixels, int width, int height, "
               "float time, float3 mouse)") != std::string::npos &&
           words.find("const Pixel* before") != std::string::npos;
}

TEST(ScratchEntry, HasFiveArgumentsOrSix) {
    const std::string start = ".visible .entry scratch(" + std::string(five);
    EXPECT_EQ(failure(ptx_with(start + ") { ret; }")), "");
    EXPECT_EQ(failure(ptx_with(start + ", .param .u64 f) { ret; }")), "");
    for (const char* more : {", .param .u32 f", ", .param .u64 f, .param .u64 g"}) {
        const std::string words = failure(ptx_with(start + more + ") { ret; }"));
        EXPECT_TRUE(states_the_signature(words)) << words;
    }
    const std::string fewer = failure(ptx_with(".visible .entry scratch(.param .u64 a) { ret; }"));
    EXPECT_TRUE(states_the_signature(fewer)) << fewer;
    EXPECT_NE(fewer.find("kernels/gallery/own.cu"), std::string::npos) << fewer;
}

TEST(ScratchEntry, MustBeCalledScratch) {
    const std::string words =
        failure(ptx_with(".visible .entry _Z7scratchPj(.param .u64 a) { ret; }"));
    EXPECT_TRUE(states_the_signature(words)) << words;
    EXPECT_NE(words.find("has no kernel scratch"), std::string::npos) << words;
}

TEST(ScratchEntry, AnErrorThatIsNotAboutTheArgumentsIsReported) {
    const std::string words = failure(
        ptx_with(".visible .entry scratch(" + std::string(five) + ") { dance.b32 %r1; ret; }"));
    EXPECT_NE(words.find("dance"), std::string::npos) << words;
    EXPECT_FALSE(states_the_signature(words)) << words;
}

TEST(Scratch, PixelsThatAreNotDrawnAreBlack) {
    Own own(ptx_with(".visible .entry scratch(" + std::string(five) + ") { ret; }"));
    for (const Rgba p : own.picture()) {
        EXPECT_EQ(p.r | p.g | p.b, 0);
        EXPECT_EQ(p.a, 255);
    }
}

TEST(Scratch, AKernelReadsTheFrameBeforeFromTheFirstFrameOn) {
    // The built-in life replaces own, which has one argument less.
    Own own(shipped_ptx("gallery/life"));
    Live life("scratch", {{"start", "life"}, {"width", "48"}, {"height", "32"}});
    for (int frame = 0; frame < 3; ++frame) (*own).step();
    const std::vector<Rgba> picture = own.picture(), expected = life.picture();
    EXPECT_EQ(std::memcmp(picture.data(), expected.data(), picture.size() * sizeof(Rgba)), 0);
}

TEST(Scratch, AnEditedKernelHasNoVerdict) {
    const auto device = compute::make_emulated_device("");
    device->set_edits(edit_of("gallery/double_buffer", shipped_ptx("gallery/single_buffer")));
    const auto experiment = find_experiment("scratch").make(*device);
    set(*experiment, {{"start", "double_buffer"}, {"width", "64"}, {"height", "64"}});
    const Reading wrong = reading(experiment->report(), "wrong_pixels");
    EXPECT_GT(wrong.value, 0);
    EXPECT_EQ(wrong.verdict, Verdict::none);
    EXPECT_EQ(wrong.label, "Pixels that differ from the built-in kernel");
    set(*experiment, {{"start", "single_buffer"}});
    EXPECT_EQ(reading(experiment->report(), "wrong_pixels").verdict, Verdict::finding);
}

TEST(Scratch, TheMouseSetsItsParameters) {
    Live live("scratch", {{"width", "64"}, {"height", "64"}, {"start", "blur"}});
    live.experiment().point({12.25, -3, true});
    const ParameterSet& parameters = live.experiment().parameters();
    EXPECT_EQ(parameters.find("mouse_x").text(), "12.2");
    EXPECT_EQ(parameters.find("mouse_y").text(), "-3");
    EXPECT_EQ(parameters.find("mouse_down").text(), "on");
    const auto edge = [&](std::size_t x) {
        const std::vector<Rgba> picture = live.picture();
        return picture[x].r == 255 && picture[x].g == 255 && picture[x].b == 255;
    };
    EXPECT_TRUE(edge(12));
    live.experiment().point({1e9, 0, false});
    EXPECT_FALSE(edge(12));
    EXPECT_FALSE(live.experiment().changed_since_reset())
        << "only the current picture depends on the mouse";
}

TEST(Scratch, TheMouseLeavesATraceInAKernelThatReadsTheFrameBefore) {
    Live live("scratch", {{"width", "64"}, {"height", "64"}, {"start", "life"}});
    live.experiment().point({12, 12, true});
    EXPECT_TRUE(live.experiment().changed_since_reset());
}

TEST(Scratch, AnotherStartOrSizeBeginsAtFrameZero) {
    Live live("scratch", {{"width", "64"}, {"height", "64"}, {"start", "life"}});
    const std::vector<Assignment> anew{{"start", "blur"}}, larger{{"width", "80"}};
    EXPECT_EQ(live.experiment().frame(), 3u);
    live.experiment().set(anew);
    EXPECT_EQ(live.experiment().kernel_file(), "gallery/blur");
    EXPECT_EQ(live.experiment().frame(), 0u);
    live.experiment().step();
    live.experiment().set(larger);
    EXPECT_EQ(live.experiment().frame(), 0u);
    EXPECT_EQ(live.experiment().picture_size({}), (Size{80, 64}));
    EXPECT_FALSE(live.experiment().changed_since_reset());
}

TEST(Scratch, AStateOfAnotherSizeIsNotLoaded) {
    const std::vector<Assignment> small{{"width", "48"}, {"height", "32"}, {"start", "life"}},
        large{{"width", "64"}, {"height", "32"}, {"start", "life"}};
    Live from("scratch", large), to("scratch", small);
    Snapshot snapshot = to.experiment().snapshot();
    snapshot.state = from.experiment().snapshot().state;
    to.experiment().resume(snapshot);
    to.experiment().reset();
    const std::vector<Rgba> reset = to.picture();
    snapshot.frame = 0;
    to.experiment().resume(snapshot);
    const std::vector<Rgba> resumed = to.picture();
    ASSERT_EQ(resumed.size(), std::size_t(48 * 32));
    EXPECT_EQ(std::memcmp(resumed.data(), reset.data(), reset.size() * sizeof(Rgba)), 0);
}

TEST(Scratch, AStartWhoseEditFailsLeavesTheOldStart) {
    const auto device = compute::make_emulated_device("");
    device->set_edits(edit_of("gallery/life", ptx_with(".visible .entry other() { ret; }")));
    const auto experiment = find_experiment("scratch").make(*device);
    EXPECT_THROW(set(*experiment, {{"width", "80"}, {"start", "life"}}), compute::DeviceError);
    EXPECT_EQ(experiment->kernel_file(), "gallery/own");
    EXPECT_EQ(experiment->picture_size({}), (Size{768, 512}));
    EXPECT_NO_THROW(Live::picture_of(*experiment));
}

TEST(Scratch, RereadingAPausedFrameDrawsItAgain) {
    Live live("scratch", {{"width", "64"}, {"height", "64"}, {"start", "life"}});
    const std::vector<Rgba> once = live.picture();
    live.experiment().point({30, 30, true});
    live.picture();
    live.experiment().point({384, 256, false});
    const std::vector<Rgba> again = live.picture();
    EXPECT_EQ(std::memcmp(once.data(), again.data(), once.size() * sizeof(Rgba)), 0);
}

}  // namespace
}  // namespace warpscope::experiments
