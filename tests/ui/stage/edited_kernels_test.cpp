#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "gl/context.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {
namespace {

using State = EditState;
using Clock = std::chrono::steady_clock;

const std::string file = "gallery/own";
constexpr experiments::Size edited_view{640, 480};

/// A kernel with the parameters of kernels/gallery/own.cu.
std::string kernel(const std::string& body, const std::string& before = "") {
    return before + R"(
extern "C" __global__ void rings(unsigned* pixels, int width, int height, float time,
                                 float3 mouse) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned value = 0xff0000ffu;
)" + body + R"(
    if (x < width && y < height) pixels[y * width + x] = value;
}
)";
}

std::string noise() {
    std::string bytes(20'000, ' ');
    unsigned state = 1;
    for (char& byte : bytes) byte = char((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
}

struct Case {
    const char* name;
    std::string text;
    bool runs;
    std::vector<const char*> words;  ///< of its message, or of the compiler's first one
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.name;
}

std::string padded(std::size_t bytes) {
    std::string text = kernel("");
    return text + std::string(bytes - text.size() - 1, ' ') + "\n";
}

std::vector<Case> cases() {
    return {
        {"does_not_compile", kernel("value = tiel;"), false, {"tiel", "7"}},
        {"other_signature",
         "extern \"C\" __global__ void rings(float* p) { *p = 1; }",
         false,
         {"launches[0].arguments", "mouse"}},
        {"loops_for_ever",
         kernel("volatile int go = 1; while (go) ++value;"),
         false,
         {"gallery/own.cu:7", "block"}},
        {"out_of_global_memory",
         kernel("if (x == 20 && y == 3) pixels[1 << 28] = 1;"),
         false,
         {"gallery/own.cu:7", "block", "thread"}},
        {"out_of_shared_memory",
         kernel("__shared__ int tile[16]; tile[20000 + x] = 1; value = tile[y + 20000];"),
         false,
         {"gallery/own.cu:7", "block", "thread"}},
        {"deadlock",
         kernel("if (threadIdx.y < 8) asm volatile(\"bar.sync 1, 256;\");\n"
                "else asm volatile(\"bar.sync 2, 256;\");"),
         false,
         {"gallery/own.cu:7", "block"}},
        {"unknown_opcode",
         kernel("asm volatile(\"vadd2.u32.u32.u32 %0, %1, %1, %1;\" : \"=r\"(value) : \"r\"(x));"),
         false,
         {"vadd2"}},
        {"binary_noise", noise(), false, {}},
        {"printf",
         kernel("if (x == 3 && y == 3) printf(\"%d %s\\n\", x, \"words\");"),
         true,
         {"printf: 3 words"}},
        {"calls",
         kernel("value += twice(x) - 2 * x;",
                "__device__ __noinline__ int twice(int x) { return 2 * x; }"),
         true,
         {}},
        {"predicated_ptx",
         kernel("asm(\"{ .reg .pred p; setp.gt.s32 p, %1, 1000000; @p mov.u32 %0, 7; }\""
                " : \"+r\"(value) : \"r\"(x));"),
         true,
         {}},
        {"local_array",
         kernel("int list[32]; for (int i = 0; i < 32; ++i) list[(i * 7 + x) % 32] = i;\n"
                "value += list[y % 32] - list[y % 32];\n"
                "for (int i = 0; i < 32; ++i) value += list[(x + i * y) % 32] >> 16;"),
         true,
         {}},
        {"a_megabyte", padded(1'000'000), true, {}},
        {"beyond_a_mebibyte",
         padded((1 << 20) + 1),
         false,
         {"1025 KiB: at most 1024 KiB can be compiled"}},
    };
}

class EditedKernelsTest : public testing::TestWithParam<Case> {
  protected:
    void SetUp() override {
        // The compiler's texts are kept here and not among the person's.
        ::setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
        helpers_.emplace(WARPSCOPE);
        Stage::Start start;
        start.device_wish = "emulator";
        start.entry = experiments::launch_entry(experiments::gallery_file("own"));
        start.assignments = {{"width", "64"}, {"height", "48"}};
        start.helpers = &*helpers_;
        stage_.emplace(start);
        stage_->advance(edited_view);
        run(good_);
        if (!helpers_->no_compiler().empty()) GTEST_SKIP() << helpers_->no_compiler();
        ASSERT_EQ(state(), State::running) << stage_->message().text;
    }
    void TearDown() override { std::filesystem::remove_all(cache_); }
    /// Frames until the text has been tried.
    void run(const std::string& text) {
        stage_->documents()[file].replace(text);
        finish_edits();
    }
    void finish_edits() {
        do {
            const auto start = Clock::now();
            stage_->advance(edited_view);
            longest_ = std::max(longest_, Clock::now() - start);
            stage_->wait_for_edits();
        } while (stage_->trying());
        stage_->advance(edited_view);
    }
    State state() { return stage_->documents()[file].state(); }
    unsigned first_pixel() {
        const auto p = stage_->pixels()->read_pixels();
        return unsigned(p[0]) | unsigned(p[1]) << 8 | unsigned(p[2]) << 16 | unsigned(p[3]) << 24;
    }

    const std::filesystem::path cache_ =
        std::filesystem::temp_directory_path() / ("warpscope_cache" + std::to_string(::getpid()));
    const std::string good_ = kernel("value = 0xff345678u;");
    gl::OffscreenContext context_;
    std::optional<compute::Helpers> helpers_;
    std::optional<Stage> stage_;
    Clock::duration longest_{};
};

TEST_P(EditedKernelsTest, RunsOrLeavesTheLastGoodKernelAndSaysWhy) {
    const Case& c = GetParam();
    const std::uint64_t before = stage_->engine().experiment().frame();
    run(c.text);
    const std::string message = stage_->message().text;
    RecordProperty("longest_ms", int(std::chrono::duration<double, std::milli>(longest_).count()));
    RecordProperty("message", message);
    EXPECT_GT(stage_->engine().experiment().frame(), before);
    ASSERT_NE(stage_->pixels(), nullptr);
    if (c.runs) {
        EXPECT_EQ(state(), State::running) << message;
        EXPECT_TRUE(stage_->engine().device().edits().at(file)->source == c.text);
        EXPECT_EQ(first_pixel(), 0xff0000ffu);
        for (const char* word : c.words)
            EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
        return;
    }
    EXPECT_EQ(state(), State::failed);
    EXPECT_EQ(stage_->engine().device().edits().at(file)->source, good_);
    EXPECT_EQ(first_pixel(), 0xff345678u);
    EXPECT_FALSE(message.empty());
    for (const char* word : c.words)
        EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
    run(good_);
    EXPECT_EQ(state(), State::running);
}

INSTANTIATE_TEST_SUITE_P(Source, EditedKernelsTest, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(EditedKernelsTest, APastedKernelGetsALaunchAndTheBuiltInOneGetsItsOwnBack) {
    run("__global__ void twice(float* out, int n) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) out[i] = 2 * i;\n"
        "}\n");
    ASSERT_EQ(state(), State::running) << stage_->message().text;
    const launches::LaunchFile pasted = stage_->shown().plan->file;
    ASSERT_EQ(pasted.launches.size(), 1U);
    EXPECT_EQ(pasted.launches[0].kernel, "twice");
    ASSERT_EQ(pasted.buffers.size(), 1U);
    EXPECT_EQ(pasted.buffers[0].name, "out");
    EXPECT_FALSE(pasted.saved);
    const experiments::Report report = stage_->engine().experiment().report();
    EXPECT_EQ(experiments::find(report, "largest")->value, 2 * 4095);
    run(std::string(stage_->documents()[file].shipped()));
    EXPECT_EQ(state(), State::shipped) << stage_->message().text;
    EXPECT_EQ(launches::to_json_text(stage_->shown().plan->file),
              launches::to_json_text(experiments::gallery_file("own")));
}

// The proposed launch has no dynamic shared memory.
TEST_F(EditedKernelsTest, APastedKernelThatFailsShowsItsLaunchAndRunsOnceThatIsMended) {
    const std::string mirrored =
        "extern __shared__ float tile[];\n"
        "__global__ void mirrored(float* out, int n) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    tile[2 * blockDim.x + threadIdx.x] = i;\n"
        "    __syncthreads();\n"
        "    if (i < n) out[i] = tile[3 * blockDim.x - 1 - threadIdx.x];\n"
        "}\n";
    for (const bool after_an_edit : {false, true}) {
        SCOPED_TRACE(after_an_edit);
        if (after_an_edit) run(good_);
        run(mirrored);
        EXPECT_EQ(state(), State::failed);
        EXPECT_NE(stage_->message().text.find("lie outside the 1024 bytes"), std::string::npos)
            << stage_->message().text;
        launches::LaunchFile launch = stage_->shown().plan->file;
        ASSERT_EQ(launch.launches.size(), 1U);
        ASSERT_EQ(launch.launches[0].kernel, "mirrored");
        EXPECT_TRUE(stage_->shown().inspected.failed_block);
        // Two changes, of which the first does not suffice.
        launch.launches[0].block = {launches::Expression("128")};
        stage_->change_launch(launch);
        finish_edits();
        EXPECT_EQ(state(), State::failed);
        launch = stage_->shown().plan->file;
        ASSERT_EQ(launch.launches[0].block[0].text(), "128") << stage_->message().text;
        launch.launches[0].shared = launches::Expression("3 * 4 * 128");
        launch.launches[0].grid = {launches::Expression("n / 128")};
        stage_->change_launch(launch);
        finish_edits();
        EXPECT_EQ(state(), State::running) << stage_->message().text;
        const experiments::Report report = stage_->engine().experiment().report();
        EXPECT_EQ(experiments::find(report, "largest")->value, 4095);
        run(std::string(stage_->documents()[file].shipped()));
    }
    run(mirrored);
    EXPECT_EQ(stage_->shown().plan->file.launches[0].kernel, "mirrored");
    run(std::string(stage_->documents()[file].shipped()));
    EXPECT_EQ(state(), State::shipped) << stage_->message().text;
    EXPECT_EQ(launches::to_json_text(stage_->shown().plan->file),
              launches::to_json_text(experiments::gallery_file("own")));
}

TEST_F(EditedKernelsTest, AKernelThatFailsAtItsHundredthFrameIsReplacedByTheOneBefore) {
    // It takes over at the frame on show, however many frames the compilations take.
    stage_->reset();
    stage_->pause(true);
    run(kernel("if (time * 60 > 99 && x == 5 && y == 5) pixels[1 << 28] = 1;"));
    ASSERT_EQ(state(), State::running) << stage_->message().text;
    stage_->pause(false);
    for (int i = 0; i < 200 && state() == State::running; ++i) stage_->advance(edited_view);
    EXPECT_EQ(state(), State::failed);
    EXPECT_GE(stage_->engine().experiment().frame(), 99U);
    run(std::string(stage_->documents()[file].text()));
    EXPECT_EQ(stage_->engine().device().edits().at(file)->source, good_);
    EXPECT_EQ(first_pixel(), 0xff345678u);
    EXPECT_NE(stage_->message().text.find("gallery/own.cu:7"), std::string::npos)
        << stage_->message().text;
    EXPECT_NE(stage_->message().text.find("Back to the last good kernel."), std::string::npos);
}

}  // namespace
}  // namespace warpscope::ui
