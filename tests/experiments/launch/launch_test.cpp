#include "experiments/launch/launch.h"

#include <gtest/gtest.h>

#include <string>

#include "compute/emulated/emulated_device.h"
#include "experiments/replicas/try_edits.h"
#include "scale_launch.h"
#include "support/add_kernel.h"
#include "support/devices.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

using tests::add_signature;
using tests::file_text;

class LaunchExperiment : public tests::OnDevices {
  protected:
    std::unique_ptr<Launch> make(const std::string& text) {
        device().set_edits({{"launch/add", tests::add_kernels("")}});
        return std::make_unique<Launch>(device(), std::make_shared<LaunchPlan>(plan_launch(
                                                      parse_launch_file(text), {add_signature()})));
    }
    static void set(Launch& launch, const char* id, const char* value) {
        const Assignment assignment{id, value};
        launch.set({&assignment, 1});
    }
};

WARPSCOPE_ON_DEVICES(LaunchExperiment);

TEST_P(LaunchExperiment, RunsTheKernelAndComparesItsBuffers) {
    const auto launch = make(file_text(R"(, "expect": [{"buffer": "y", "equals": "2 * i + 1"}])"));
    const Report report = launch->report();
    ASSERT_EQ(report.size(), 4U);
    EXPECT_EQ(report[0].verdict, Verdict::pass);
    EXPECT_EQ(report[0].value, 0);
    EXPECT_EQ(launch->array("y").at(999), Number(1999.0));
    EXPECT_EQ(find(report, "largest")->value, 1999);
    EXPECT_EQ(find(report, "mean")->value, 1000);
}

TEST_P(LaunchExperiment, NamesTheFirstNumberThatDiffers) {
    const auto launch = make(file_text(
        R"(, "expect": [{"buffer": "y", "equals": "i == 7 ? 0 : 2 * i + 1", "absolute": 0.5}])"));
    const Report report = launch->report();
    EXPECT_EQ(report[0].verdict, Verdict::fail);
    EXPECT_EQ(report[0].value, 1);
    EXPECT_NE(report[0].sentence.english().find("y[7] = 15, expected 0"), std::string::npos)
        << report[0].sentence.english();
}

std::unique_ptr<Launch> make_scale(compute::Device& device, const std::string& text) {
    device.set_edits({{"launch/scale", std::make_shared<const compute::KernelEdit>(
                                           compute::KernelEdit{.file = "launch/scale",
                                                               .source = "",
                                                               .math = compute::Math::precise,
                                                               .ptx = tests::scale_ptx,
                                                               .warnings = {}})}});
    return std::make_unique<Launch>(
        device, std::make_shared<LaunchPlan>(planned_scale(text, scale_variables())));
}

TEST_P(LaunchExperiment, BuffersWithTheNamesOfVariablesAreTheVariables) {
    const auto launch = make_scale(device(), scale_file(""));
    launch->step();  // the next frame is number 1
    EXPECT_EQ(launch->array("factors").at(3), Number(40.0));
    EXPECT_EQ(launch->array("y").at(0), Number(10.0));
    EXPECT_EQ(launch->array("y").at(7), Number(320.0));
    EXPECT_EQ(launch->array("calls").at(0), Number(std::int64_t(8))) << "filled before each frame";
    EXPECT_EQ(launch->array("calls").type, parse_element_type("unsigned"));
}

TEST_P(LaunchExperiment, AVariableThatIsKeptCountsOverFrames) {
    const auto launch = make_scale(device(), scale_file(R"(, "fill": 5, "keep": true)"));
    launch->step();
    launch->step();
    EXPECT_EQ(launch->array("calls").at(0), Number(std::int64_t(5 + 3 * 8)));
}

TEST_P(LaunchExperiment, ABufferLargerThanItsVariableIsRefused) {
    std::string text = scale_file("");
    text.replace(text.find("\"shape\": 4"), 10, "\"shape\": 5");
    try {
        make_scale(device(), text);
        FAIL() << "no error";
    } catch (const LaunchError& error) {
        EXPECT_STREQ(error.what(),
                     "buffers.factors.shape: the buffer has 20 bytes, but the variable factors of "
                     "the source has 16");
    }
}

TEST_P(LaunchExperiment, ABufferThatIsKeptGoesOnFromFrameToFrame) {
    std::string text = file_text();
    const auto fresh = make(text);
    text.replace(text.find("\"fill\": 1"), 9, "\"fill\": 1, \"keep\": true");
    const auto kept = make(text);
    for (int frame = 0; frame < 3; ++frame) {
        fresh->step();
        kept->step();
    }
    // Frame 3 is the fourth one: y = 1 + 4 * 2 * i.
    EXPECT_EQ(fresh->array("y").at(10), Number(21.0));
    EXPECT_EQ(kept->array("y").at(10), Number(81.0));
    const Snapshot snapshot = kept->snapshot();
    kept->reset();
    EXPECT_EQ(kept->array("y").at(10), Number(21.0));
    kept->resume(snapshot);
    EXPECT_EQ(kept->array("y").at(10), Number(81.0));
}

TEST_P(LaunchExperiment, ABufferBeginsWithWhatTheFrameBeforeLeftInAnother) {
    std::string text = file_text();
    text.replace(text.find("\"fill\": \"i\""), 11, "\"fill\": \"i\", \"keep\": \"y\"");
    const auto launch = make(text);
    // y = 1 + 2 * x, and x is the y of the frame before: 1 + 2i, 3 + 4i, 7 + 8i.
    launch->step();
    launch->step();
    EXPECT_EQ(launch->array("x").at(10), Number(43.0));
    EXPECT_EQ(launch->array("y").at(10), Number(87.0));
    EXPECT_EQ(launch->array("y").at(0), Number(7.0));
    const Snapshot snapshot = launch->snapshot();
    launch->reset();
    EXPECT_EQ(launch->array("y").at(10), Number(21.0));
    launch->resume(snapshot);
    EXPECT_EQ(launch->array("y").at(10), Number(87.0));
    set(*launch, "a", "3");
    EXPECT_EQ(launch->array("y").at(10), Number(130.0)) << "x stays: 1 + 3 * 43";
    set(*launch, "n", "500");
    EXPECT_EQ(launch->frame(), 0U) << "another size begins anew";
    EXPECT_EQ(launch->array("x").at(10), Number(10.0));
}

TEST_P(LaunchExperiment, ABufferOfAnotherShapeCanNotBeKept) {
    std::string text = file_text();
    text.replace(text.find("\"shape\": \"n\", \"fill\": \"i\""), 25,
                 "\"shape\": \"n + 24\", \"keep\": \"y\"");
    try {
        make(text);
        FAIL() << "no error";
    } catch (const LaunchError& error) {
        EXPECT_STREQ(error.what(),
                     "buffers.x.keep: x and y need equal types and shapes: x is float, 1024; y is "
                     "float, 1000");
    }
}

/// A launch file with a picture of 5 x 3 pixels that no kernel uses; `more` are further fields.
std::string picture_file(const std::string& more) {
    std::string text = file_text(more + R"(, "show": {"buffer": "p", "as": "colors"})");
    const std::string picture =
        R"("p": {"type": "uchar4", "shape": [3, 5], "fill": "i * 16 + lane"}, )";
    return text.insert(text.find("\"x\":"), picture);
}

std::vector<Rgba> rendered(Launch& launch) {
    const Size size = launch.picture_size({640, 480});
    EXPECT_EQ(size, (Size{5, 3}));
    const compute::Buffer<Rgba> target(launch.device(), 15);
    launch.render_into({target.pointer(), size});
    return target.download();
}

TEST_P(LaunchExperiment, ABufferOfPixelsIsDrawnOpaque) {
    const auto launch = make(picture_file(""));
    const std::vector<Rgba> pixels = rendered(*launch);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const Rgba& pixel = pixels[i];
        EXPECT_EQ((std::vector<std::size_t>{pixel.r, pixel.g, pixel.b, pixel.a}),
                  (std::vector<std::size_t>{16 * i, 16 * i + 1, 16 * i + 2, 255}));
    }
}

TEST_P(LaunchExperiment, PixelsThatDifferAreDrawnRed) {
    const auto launch = make(
        picture_file(R"(, "expect": [{"buffer": "p", "equals": "i == 7 ? 0 : i * 16 + lane"}])"));
    const std::vector<Rgba> pixels = rendered(*launch);
    EXPECT_EQ(pixels[6].r, 96);
    EXPECT_GT(pixels[7].r, 2 * pixels[7].g);
    set(*launch, "marks", "off");
    EXPECT_EQ(rendered(*launch)[7].r, 112);
}

TEST_P(LaunchExperiment, ScalarsFollowTheMouse) {
    const auto plain = make(file_text());
    EXPECT_FALSE(plain->mouse_use().point);
    std::string text = file_text();
    text.insert(text.find("\"n\": "), "\"mouse_x\": 3.5, \"mouse_y\": 4, \"mouse_z\": 0, ");
    const auto launch = make(text);
    EXPECT_TRUE(launch->mouse_use().point);
    launch->point({12.25, 7.75, true});
    EXPECT_EQ(launch->parameters().find("mouse_x").text(), "12.2");
    EXPECT_EQ(launch->parameters().find("mouse_y").text(), "7");
    EXPECT_EQ(launch->parameters().find("mouse_z").text(), "1");
    launch->point({-1e9, -0.5, false});
    EXPECT_EQ(launch->parameters().find("mouse_x").text(), "-65536");
    EXPECT_EQ(launch->parameters().find("mouse_y").text(), "-1");
    EXPECT_EQ(launch->parameters().find("mouse_z").text(), "0");
}

TEST_P(LaunchExperiment, ALaunchIsRepeated) {
    const auto launch = make(file_text("", R"(, "repeat": 3, "arguments": {"a": "iteration"})"));
    EXPECT_EQ(launch->array("y").at(10), Number(31.0));  // 1 + (0 + 1 + 2) * 10
}

TEST_P(LaunchExperiment, AScalarIsAParameter) {
    const auto launch = make(file_text());
    set(*launch, "n", "500");
    EXPECT_EQ(launch->array("y").shape, (std::vector<std::size_t>{500}));
    EXPECT_EQ(launch->array("y").at(499), Number(999.0));
    set(*launch, "a", "0.5");
    EXPECT_EQ(launch->array("y").at(499), Number(250.5));
    EXPECT_THROW(set(*launch, "n", "0"), LaunchError);
    EXPECT_EQ(launch->array("y").at(499), Number(250.5));
}

TEST_P(LaunchExperiment, ItsWorkGrowsWithItsThreads) {
    const auto launch = make(file_text("", R"(, "repeat": 2)"));
    const double work = launch->parameters().work();
    EXPECT_EQ(work, 2 * 4 * 256 * 100.0);
    set(*launch, "n", "2048");
    EXPECT_EQ(launch->parameters().work(), 2 * work);
}

TEST_P(LaunchExperiment, ALaunchOverALimitNamesItsField) {
    const auto error = [&](const char* from, const char* to) -> std::string {
        std::string text = file_text();
        text.replace(text.find(from), std::string(from).size(), to);
        try {
            make(text)->report();
            return "no error";
        } catch (const LaunchError& e) {
            return e.what();
        }
    };
    EXPECT_EQ(error("\"block\": 256", "\"block\": [32, 33]"),
              "launches[0].block: it has 1056 threads: a block has at most 1024");
    EXPECT_EQ(error("\"block\": 256", "\"block\": 0"),
              "launches[0].block: \"0\" is 0: it must be 1 to 1024");
    EXPECT_EQ(error("\"(n + 255) / 256\"", "[1, 70000]"),
              "launches[0].grid: \"70000\" is 70000: it must be 1 to 65535");
    EXPECT_EQ(error("(n + 255) / 256", "n / 0"), "launches[0].grid: \"n / 0\": division by zero");
}

TEST_P(LaunchExperiment, DrawsItsBuffer) {
    const auto launch = make(file_text());
    set(*launch, "view", "grey");
    // 1000 elements in rows of 32: the last row has 8.
    EXPECT_EQ(launch->picture_size({640, 480}), (Size{32, 32}));
    compute::Buffer<Rgba> pixels(device(), 1024);
    launch->render_into({pixels.pointer(), {32, 32}});
    EXPECT_LT(pixels.download()[1000].b, 40);
    // y goes from 1 to 1999, so number 500 has (1001 - 1) / 1998 of 255.
    EXPECT_EQ(pixels.download()[0].r, 0);
    EXPECT_EQ(pixels.download()[500].g, 128);
    EXPECT_EQ(pixels.download()[999].b, 255);
    set(*launch, "view", "automatic");
    EXPECT_EQ(launch->picture_size({640, 480}), (Size{640, 480}));
}

TEST_P(LaunchExperiment, MarksTheElementsThatDiffer) {
    const auto launch =
        make(file_text(R"(, "expect": [{"buffer": "y", "equals": "i == 7 ? 0 : 2 * i + 1"}])"));
    set(*launch, "view", "grey");
    compute::Buffer<Rgba> pixels(device(), 1024);
    launch->render_into({pixels.pointer(), {32, 32}});
    const auto red = [&](std::size_t x) {
        const Rgba pixel = pixels.download()[x];
        return pixel.r > pixel.g;
    };
    EXPECT_TRUE(red(7));
    EXPECT_FALSE(red(6));
    EXPECT_FALSE(red(999));
    set(*launch, "marks", "off");
    launch->render_into({pixels.pointer(), {32, 32}});
    EXPECT_FALSE(red(7));
}

TEST_P(LaunchExperiment, AnExpectationOfTheFrameFollowsIt) {
    const auto launch =
        make(file_text(R"(, "expect": [{"buffer": "y", "equals": "frame == 2 ? 0 : 2 * i + 1"}])"));
    EXPECT_EQ(launch->report()[0].value, 0);
    launch->step();
    EXPECT_EQ(launch->report()[0].value, 0);
    launch->step();
    EXPECT_EQ(launch->report()[0].value, 1000);
}

TEST_P(LaunchExperiment, AFillOfTheFrameFollowsIt) {
    std::string text = file_text(R"(, "expect": [{"buffer": "y", "equals": "2 * i + frame"}])");
    text.replace(text.find("\"fill\": 1"), 9, "\"fill\": \"frame\"");
    const auto launch = make(text);
    EXPECT_EQ(launch->report()[0].value, 0);
    launch->step();
    EXPECT_EQ(launch->report()[0].value, 0);
    EXPECT_EQ(launch->array("y").at(10), Number(21.0));
}

TEST_P(LaunchExperiment, DrawsNothingBeforeItsSourceIsCompiled) {
    const auto plan = std::make_shared<LaunchPlan>(uncompiled_plan(parse_launch_file(file_text())));
    Launch launch(device(), plan);
    launch.step();
    EXPECT_TRUE(launch.report().empty());
    compute::Buffer<Rgba> pixels(device(), 12);
    launch.render_into({pixels.pointer(), launch.picture_size({4, 3})});
    EXPECT_EQ(pixels.download()[11].r, 0);
    // Of a snapshot, what the compiled launch can take is taken over.
    const auto compiled = make(file_text());
    Snapshot snapshot = launch.snapshot();
    snapshot.parameters.push_back({"gone", "1"});
    snapshot.parameters.push_back({"n", "many"});
    snapshot.parameters.push_back({"a", "3"});
    compiled->resume(fitted(snapshot, *launch_entry(compiled->plan())));
    EXPECT_EQ(compiled->frame(), 1U);
    EXPECT_EQ(compiled->array("y").at(10), Number(31.0));
}

TEST(LaunchErrors, AnAccessBehindABufferNamesTheFieldOfItsShape) {
    std::string text = file_text();
    const std::string shape = "\"x\": {\"shape\": \"n\"";
    text.replace(text.find(shape), shape.size(), "\"x\": {\"shape\": 10");
    const std::shared_ptr<compute::Device> device = compute::make_emulated_device("");
    device->set_edits({{"launch/add", tests::add_kernels("")}});
    Launch launch(*device, std::make_shared<LaunchPlan>(
                               plan_launch(parse_launch_file(text), {add_signature()})));
    try {
        launch.report();
        FAIL() << "x has 10 elements";
    } catch (const compute::BlockError& error) {
        const std::string words = error.what();
        EXPECT_TRUE(words.starts_with("buffers.x.shape: kernel add, ")) << words;
        EXPECT_NE(words.find("0 bytes past the end of the allocation of 40 bytes"),
                  std::string::npos)
            << words;
    }
}

}  // namespace
}  // namespace warpscope::experiments
