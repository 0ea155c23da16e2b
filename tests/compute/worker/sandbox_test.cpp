#include "compute/worker/sandbox.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "compiler/cache.h"
#include "compute/worker/probe_compiler.h"
#include "compute/worker/probe_pool.h"
#include "probe_ptx.h"
#include "support/devices.h"

namespace warpscope::compute {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::hostile_ptx;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

template <class Call>
std::string words_of_error(Call call) {
    try {
        call();
    } catch (const DeviceError& error) {
        return error.what();
    }
    return {};
}

/// The helpers that this process has, by their ids.
std::vector<pid_t> helpers() {
    std::vector<pid_t> found;
    const auto self = std::to_string(::getpid());
    for (const auto& task : fs::directory_iterator("/proc/self/task")) {
        std::ifstream children(task.path() / "children");
        for (pid_t id; children >> id;) {
            std::ifstream name("/proc/" + std::to_string(id) + "/comm");
            std::string text;
            if (name >> text) found.push_back(id);
        }
    }
    return found;
}

/// A cache of its own, and a compiler that does what its text says.
class SandboxTest : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(folder_);
        ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
        ::setenv("LD_LIBRARY_PATH", FAKE_TOOLKIT, 1);
    }
    void TearDown() override {
        ::unsetenv("LD_LIBRARY_PATH");
        ::unsetenv("XDG_CACHE_HOME");
        fs::remove_all(folder_);
    }
    fs::path folder_ = fs::path(testing::TempDir()) / ("sandbox" + std::to_string(::getpid()));
};

compiler::Request text(const std::string& source) {
    return {"kernels/mine.cu", source, false};
}

TEST_F(SandboxTest, CompilesInAHelperAndKeepsWhatItSays) {
    Sandbox sandbox(WARPSCOPE);
    const auto edit = sandbox.compile("mine", "WARN", Math::fast);
    EXPECT_EQ(edit->file, "mine");
    EXPECT_EQ(edit->source, "WARN");
    EXPECT_EQ(edit->math, Math::fast);
    EXPECT_HAS(edit->ptx, "fast");
    ASSERT_EQ(edit->warnings.size(), 1U);
    EXPECT_EQ(edit->warnings[0].line, 1);
    EXPECT_EQ(sandbox.no_compiler(), "");
    try {
        sandbox.compile("mine", "FAIL", Math::precise);
        FAIL() << "it was compiled";
    } catch (const compiler::CompileError& error) {
        ASSERT_EQ(error.diagnostics.size(), 1U);
        EXPECT_EQ(error.diagnostics[0].line, 2);
        EXPECT_EQ(error.diagnostics[0].column, 3);
        EXPECT_EQ(error.diagnostics[0].text, "it is wrong");
    }
}

TEST_F(SandboxTest, ATextThatWasCompiledBeforeIsNotCompiledAgain) {
    const auto first = Sandbox(WARPSCOPE).compile("mine", "WARN", Math::precise);
    Sandbox again(WARPSCOPE);
    const auto second = again.compile("mine", "WARN", Math::precise);
    EXPECT_EQ(second->ptx, first->ptx);
    EXPECT_EQ(second->warnings, first->warnings);
    // The fake compiler ends its process at this text, were it to see it.
    const compiler::Request ends{"kernels/mine.cu", "ABORT", false};
    compiler::Cache().keep(ends, "98.7", {"kept", {}});
    EXPECT_EQ(again.compile("mine", "ABORT", Math::precise)->ptx, "kept");
}

TEST_F(SandboxTest, ATextThatNoCompilerShouldSeeStartsNone) {
    Sandbox sandbox("/no/such/program");
    EXPECT_THROW(sandbox.compile("mine", std::string("a\0b", 3), Math::precise),
                 compiler::CompileError);
    EXPECT_HAS(words_of_error([&] { sandbox.compile("mine", "a", Math::precise); }),
               "/no/such/program");
}

TEST_F(SandboxTest, ACompilerThatCrashesCostsOnlyItsText) {
    Sandbox sandbox(WARPSCOPE);
    for (int i = 0; i < 2; ++i) {
        EXPECT_HAS(words_of_error([&] { sandbox.compile("mine", "ABORT", Math::precise); }),
                   "the compiler crashed on this text: it ended with exit code 42");
        EXPECT_HAS(sandbox.compile("mine", "good", Math::precise)->ptx, "compute_75");
    }
}

TEST_F(SandboxTest, ACompilerThatHangsIsGivenUp) {
    ProbeCompiler compiler(WARPSCOPE);
    EXPECT_EQ(compiler.version({10s, {}}), "98.7");
    EXPECT_HAS(words_of_error([&] {
                   compiler.compile(text("HANG"), {200ms, {}});
               }),
               "the compiler did not get done with this text within 0.2 s");
    EXPECT_HAS(compiler.compile(text("good"), {10s, {}}).ptx, "compute_75");
    std::stop_source stop;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(50ms);
        stop.request_stop();
    });
    EXPECT_HAS(words_of_error([&] {
                   compiler.compile(text("HANG"), {10s, stop.get_token()});
               }),
               "the compiler was stopped");
    EXPECT_HAS(compiler.compile(text("good"), {10s, {}}).ptx, "compute_75");
}

TEST_F(SandboxTest, ACompilerThatWasKilledWhileItWaitedIsReplaced) {
    ProbeCompiler compiler(WARPSCOPE);
    EXPECT_HAS(compiler.compile(text("good"), {10s, {}}).ptx, "compute_75");
    for (const pid_t id : helpers()) ::kill(id, SIGKILL);
    std::this_thread::sleep_for(50ms);
    EXPECT_HAS(compiler.compile(text("good"), {10s, {}}).ptx, "compute_75");
}

TEST_F(SandboxTest, SeveralThreadsCompileAtOnce) {
    Sandbox sandbox(WARPSCOPE);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&sandbox, i] {
            for (int j = 0; j < 5; ++j) {
                const auto source = "text " + std::to_string(10 * i + j);
                EXPECT_EQ(sandbox.compile("mine", source, Math::precise)->source, source);
            }
        });
}

TEST_F(SandboxTest, WhetherThereIsACompilerIsFoundOutWithoutWaiting) {
    ::unsetenv("LD_LIBRARY_PATH");
    std::string expected;
    try {
        const compiler::Nvrtc here;
    } catch (const compiler::NoCompiler& none) {
        expected = none.what();
    }
    Sandbox sandbox(WARPSCOPE);
    std::string found = sandbox.no_compiler();
    EXPECT_EQ(found, "");
    for (int i = 0; i < 500 && found.empty(); ++i) {
        std::this_thread::sleep_for(10ms);
        found = sandbox.no_compiler();
        if (expected.empty() && i > 50) break;
    }
    EXPECT_EQ(found, expected);
    if (!expected.empty()) {
        EXPECT_THROW(sandbox.compile("mine", "", Math::precise), compiler::NoCompiler);
    }
}

TEST_F(SandboxTest, AnEmulatorIsMadeHereWithLimits) {
    Sandbox sandbox(WARPSCOPE);
    const auto like = pick_device("emulator");
    const auto made = sandbox.device(like->info(), {.seed = 5}, {}, {.time = 200ms});
    EXPECT_FALSE(made->info().apart);
    EXPECT_EQ(made->info().reason, like->info().reason);
    EXPECT_EQ(made->settings().seed, 5U);
    const auto spin = made->kernel_from_ptx<std::uint64_t>(hostile_ptx, "spin");
    EXPECT_HAS(words_of_error([&] {
                   made->launch(spin, {{1}, {32}}, {}, ~std::uint64_t(0));
               }),
               "did not end within 0.2 s");
    EXPECT_TRUE(helpers().empty());
}

class PoolTest : public tests::OnDevices {
  protected:
    std::string wish() { return GetParam() == "cuda" ? "cuda:0" : GetParam(); }
    static void spin(Device& device, std::uint64_t rounds) {
        device.launch(device.kernel_from_ptx<std::uint64_t>(hostile_ptx, "spin"), {{1}, {32}}, {},
                      rounds);
    }
    std::shared_ptr<ProbePool> pool_ = std::make_shared<ProbePool>(WARPSCOPE);
};
WARPSCOPE_ON_DEVICES(PoolTest);

TEST_P(PoolTest, ADeviceThatWasGivenBackServesAgainWithNothingLeftInIt) {
    std::set<pid_t> seen;
    for (int i = 0; i < 6; ++i) {
        const auto device = pool_->device(wish(), "because");
        EXPECT_EQ(device->info().reason, "because");
        for (const pid_t id : helpers()) seen.insert(id);
        // Left behind on purpose: six of these would not fit into a GPU.
        const bool gpu = GetParam() == "cuda";
        EXPECT_NO_THROW(device->allocate(gpu ? device->info().memory_bytes / 3 : 4096));
        EXPECT_TRUE(device->edits().empty());
        spin(*device, 1);
    }
    EXPECT_EQ(seen.size(), 2U);
}

TEST_P(PoolTest, OneThatIsLostIsReplacedByTheSpare) {
    auto live = pool_->device(wish(), "");
    for (int i = 0; i < 3; ++i) {
        auto tried = pool_->device(wish(), "");
        tried->limit({.time = 100ms});
        EXPECT_THROW(spin(*tried, ~std::uint64_t(0)), DeviceLost);
        EXPECT_NO_THROW(spin(*live, 1));
    }
    auto next = pool_->device(wish(), "");
    EXPECT_NO_THROW(spin(*next, 1));
}

TEST_P(PoolTest, ASpareThatEndedMeanwhileIsReplaced) {
    pool_->warm(wish());
    for (const pid_t id : helpers()) ::kill(id, SIGKILL);
    const auto device = pool_->device(wish(), "");
    EXPECT_NO_THROW(spin(*device, 1));
}

TEST_P(PoolTest, ADeviceMayOutliveThePool) {
    const auto device = pool_->device(wish(), "");
    pool_ = nullptr;
    EXPECT_NO_THROW(spin(*device, 1));
}

TEST(Pool, ADeviceThatIsNotThereIsAnError) {
    const auto pool = std::make_shared<ProbePool>(WARPSCOPE);
    EXPECT_HAS(words_of_error([&] { pool->device("cuda:999", ""); }), "GPU");
}

}  // namespace
}  // namespace warpscope::compute
