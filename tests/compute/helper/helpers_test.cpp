#include "compute/helper/helpers.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "compiler/cache.h"
#include "compute/helper/helper_compiler.h"
#include "compute/pick_device.h"
#include "hostile_ptx.h"
#include "processes.h"
#include "support/devices.h"

namespace warpscope::compute {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::helper_ids, tests::hostile_ptx;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

template <class Call>
std::string message_of_error(Call call) {
    try {
        call();
    } catch (const DeviceError& error) {
        return error.what();
    }
    return {};
}

bool is_a_helper_called(const std::string& name) {
    for (const pid_t id : helper_ids()) {
        std::ifstream file("/proc/" + std::to_string(id) + "/comm");
        std::string text;
        if (file >> text && text == name) return true;
    }
    return false;
}

/// Uses a cache folder of its own and the fake compiler, which obeys words in the source.
class HelpersTest : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(folder_);
        ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
        ::setenv("LD_LIBRARY_PATH", FAKE_TOOLKIT, 1);
    }
    void TearDown() override {
        ::unsetenv("LD_LIBRARY_PATH");
        ::unsetenv("XDG_CACHE_HOME");
        for (const auto& [name, value] : before_)
            value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
        fs::remove_all(folder_);
    }
    /// Has the dynamic loader find libraries of NVRTC's names that have none of its functions.
    void let_the_loader_find_others() const {
        for (const char* name :
             {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"})
            fs::copy_file(FAKE_NVML, folder_ / name);
        ::setenv("LD_LIBRARY_PATH", folder_.c_str(), 1);
    }
    static std::optional<std::string> environment(const char* name) {
        const char* const value = std::getenv(name);
        return value ? std::optional<std::string>(value) : std::nullopt;
    }
    const std::map<const char*, std::optional<std::string>> before_{
        {"CUDA_HOME", environment("CUDA_HOME")},
        {"CUDA_PATH", environment("CUDA_PATH")},
        {"XDG_DATA_HOME", environment("XDG_DATA_HOME")}};
    fs::path folder_ = fs::path(testing::TempDir()) / ("helpers" + std::to_string(::getpid()));
};

compiler::Request text(const std::string& source) {
    return {"kernels/mine.cu", source, false};
}

TEST_F(HelpersTest, CompilesInAHelperProcessAndReturnsTheMessages) {
    Helpers helpers(WARPSCOPE);
    const auto edit = helpers.compile("mine", "WARN", Math::fast);
    EXPECT_EQ(edit->file, "mine");
    EXPECT_EQ(edit->source, "WARN");
    EXPECT_EQ(edit->math, Math::fast);
    EXPECT_HAS(edit->ptx, "fast");
    ASSERT_EQ(edit->warnings.size(), 1U);
    EXPECT_EQ(edit->warnings[0].line, 1);
    EXPECT_EQ(helpers.no_compiler(), "");
    try {
        helpers.compile("mine", "FAIL", Math::precise);
        FAIL() << "it was compiled";
    } catch (const compiler::CompileError& error) {
        ASSERT_EQ(error.diagnostics.size(), 1U);
        EXPECT_EQ(error.diagnostics[0].line, 2);
        EXPECT_EQ(error.diagnostics[0].column, 3);
        EXPECT_EQ(error.diagnostics[0].text, "it is wrong");
    }
}

TEST_F(HelpersTest, NamesAndHeadersReachTheCompiler) {
    compiler::Request request = text("text");
    request.names = {"scale<4>", "plain"};
    request.headers = {{"own.h", "own text"}};
    request.debug_info = true;
    HelperCompiler first(WARPSCOPE);
    const compiler::Compiled compiled = first.compile(request, {60s, {}});
    EXPECT_HAS(compiled.ptx, "// header own.h: own text\n");
    EXPECT_HAS(compiled.ptx, "// name scale<4>\n// name plain\n");
    EXPECT_HAS(compiled.ptx, "// --device-debug\n");
    Helpers helpers(WARPSCOPE);
    EXPECT_EQ(helpers.compile(request), compiled);
    EXPECT_EQ(compiler::Cache().find(request, "98.7"), compiled);
}

TEST_F(HelpersTest, ASourceThatWasCompiledBeforeIsTakenFromTheCache) {
    const auto first = Helpers(WARPSCOPE).compile("mine", "WARN", Math::precise);
    Helpers again(WARPSCOPE);
    const auto second = again.compile("mine", "WARN", Math::precise);
    EXPECT_EQ(second->ptx, first->ptx);
    EXPECT_EQ(second->warnings, first->warnings);
    // The fake compiler would end its process if it compiled this source.
    const compiler::Request ends{"kernels/mine.cu", "ABORT", false};
    compiler::Cache().keep(ends, "98.7", {std::string(hostile_ptx), {}});
    EXPECT_EQ(again.compile("mine", "ABORT", Math::precise)->ptx, hostile_ptx);
}

TEST_F(HelpersTest, AKeptTextThatADeviceRefusesIsCompiledAnew) {
    const compiler::Request request{"kernels/mine.cu", "good", false};
    compiler::Cache().keep(request, "98.7", {std::string(hostile_ptx), {}});
    Helpers helpers(WARPSCOPE);
    const KernelEdits forged{{"mine", helpers.compile("mine", "good", Math::precise)}};
    EXPECT_EQ(forged.at("mine")->ptx, hostile_ptx);
    const KernelEdits anew = helpers.compiled_anew(forged);
    EXPECT_HAS(anew.at("mine")->ptx, "compute_75");
    EXPECT_EQ(anew.at("mine")->source, "good");
    EXPECT_EQ(compiler::Cache().find(request, "98.7")->ptx, anew.at("mine")->ptx);
    // What the compiler has made stays, from the cache or not.
    EXPECT_EQ(helpers.compiled_anew(anew), anew);
    const KernelEdits kept{{"mine", helpers.compile("mine", "good", Math::precise)}};
    EXPECT_NE(kept.at("mine")->kept, nullptr);
    EXPECT_EQ(helpers.compiled_anew(kept), kept);
    // So does a text that can't be compiled anew.
    compiler::Cache().keep(text("FAIL"), "98.7", {std::string(hostile_ptx), {}});
    const KernelEdits lost{{"mine", helpers.compile("mine", "FAIL", Math::precise)}};
    EXPECT_EQ(helpers.compiled_anew(lost), lost);
}

TEST_F(HelpersTest, AnInvalidSourceIsRefusedWithoutAHelperProcess) {
    Helpers helpers("/no/such/program");
    EXPECT_THROW(helpers.compile("mine", std::string("a\0b", 3), Math::precise),
                 compiler::CompileError);
    EXPECT_HAS(message_of_error([&] { helpers.compile("mine", "a", Math::precise); }),
               "/no/such/program");
}

TEST_F(HelpersTest, AfterACrashOfTheCompilerTheNextSourceCompiles) {
    Helpers helpers(WARPSCOPE);
    for (int i = 0; i < 2; ++i) {
        EXPECT_HAS(message_of_error([&] { helpers.compile("mine", "ABORT", Math::precise); }),
                   "the compiler crashed: it ended with exit code 42");
        EXPECT_HAS(helpers.compile("mine", "good", Math::precise)->ptx, "compute_75");
    }
}

TEST_F(HelpersTest, ACompilerThatHangsIsKilled) {
    HelperCompiler compiler(WARPSCOPE);
    EXPECT_EQ(compiler.version({60s, {}}), "98.7");
    EXPECT_HAS(message_of_error([&] {
                   compiler.compile(text("HANG"), {200ms, {}});
               }),
               "the compiler did not finish within 0.2 s");
    EXPECT_HAS(compiler.compile(text("good"), {60s, {}}).ptx, "compute_75");
    std::stop_source stop;
    const std::jthread stopper([&] {
        EXPECT_TRUE(tests::soon([] { return is_a_helper_called("hanging"); }));
        stop.request_stop();
    });
    EXPECT_HAS(message_of_error([&] {
                   compiler.compile(text("HANG"), {60s, stop.get_token()});
               }),
               "the compiler was stopped");
    EXPECT_HAS(compiler.compile(text("good"), {60s, {}}).ptx, "compute_75");
}

TEST_F(HelpersTest, ACompilerThatComputesForEverUsesUpItsCpuTime) {
    HelperCompiler compiler(WARPSCOPE, 1s);
    for (int i = 0; i < 2; ++i)
        EXPECT_HAS(compiler.compile(text("good"), {60s, {}}).ptx, "compute_75");
    EXPECT_HAS(message_of_error([&] {
                   compiler.compile(text("SPIN"), {60s, {}});
               }),
               "the compiler did not finish within 1 s of CPU time");
    EXPECT_HAS(compiler.compile(text("good"), {60s, {}}).ptx, "compute_75");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(HelpersTest, TheCompilerIsConfined) {
    const bool landlock = ::syscall(444, nullptr, 0, 1) > 0;
    const fs::path before = fs::current_path();
    fs::create_directories(folder_ / "kernels");
    std::ofstream(folder_ / "kernels/own.h") << "\n";
    std::ofstream(folder_ / "other.h") << "\n";
    fs::current_path(folder_);
    ::setenv("WARPSCOPE_TEST", "secret", 1);
    const std::string ptx = HelperCompiler(WARPSCOPE).compile(text("PROBE"), {60s, {}}).ptx;
    ::unsetenv("WARPSCOPE_TEST");
    fs::current_path(before);
    const std::string unconfined = landlock ? "no" : "yes";
    const std::uint32_t refusal = SECCOMP_RET_ERRNO;
    const bool seccomp = ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &refusal) == 0;
    const std::string free = seccomp ? "no" : "yes";
    EXPECT_EQ(ptx.substr(0, ptx.find("// --gpu")),
              "// reads kernels/own.h: yes\n// reads other.h: " + unconfined +
                  "\n// reads /etc/passwd: " + unconfined +
                  "\n// makes kernels/new: " + unconfined +
                  "\n// maps 1 GiB: yes\n// maps 5 GiB: no\n"
                  "// may gain rights: no\n// has WARPSCOPE_TEST: no\n" +  //
                  "// opens a socket: " +
                  free + "\n// may start a program: " + free + "\n// may start a process: " + free +
                  "\n// may end another process: " + free + "\n// starts a thread: yes\n");
}

TEST_F(HelpersTest, AConfinedCompilerReadsTheHeadersOfItsToolkit) {
    ::unsetenv("LD_LIBRARY_PATH");
    HelperCompiler compiler(WARPSCOPE);
    try {
        if (compiler.version({60s, {}}).empty()) FAIL();
    } catch (const compiler::NoCompiler& none) {
        GTEST_SKIP() << none.what();
    }
    const std::string kernel = "extern \"C\" __global__ void k(float* x) { *x = sinf(*x); }\n";
    EXPECT_HAS(compiler.compile(text(kernel), {60s, {}}).ptx, ".entry k(");
    try {
        EXPECT_HAS(compiler.compile(text("#include <cuda_fp16.h>\n" + kernel), {60s, {}}).ptx,
                   ".entry k(");
    } catch (const compiler::CompileError& error) {
        EXPECT_HAS(std::string(error.what()), "no directories in search list") << "no headers";
    }
}
#endif

TEST_F(HelpersTest, AnIdleCompilerThatWasKilledIsReplaced) {
    HelperCompiler compiler(WARPSCOPE);
    EXPECT_HAS(compiler.compile(text("good"), {60s, {}}).ptx, "compute_75");
    for (const pid_t id : helper_ids()) {
        ::kill(id, SIGKILL);
        EXPECT_TRUE(tests::soon([&] { return tests::has_ended(id); }));
    }
    EXPECT_HAS(compiler.compile(text("good"), {60s, {}}).ptx, "compute_75");
}

TEST_F(HelpersTest, SeveralThreadsCanCompileAtOnce) {
    Helpers helpers(WARPSCOPE);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&helpers, i] {
            for (int j = 0; j < 5; ++j) {
                const auto source = "text " + std::to_string(10 * i + j);
                EXPECT_EQ(helpers.compile("mine", source, Math::precise)->source, source);
            }
        });
}

TEST_F(HelpersTest, NoCompilerIsReportedWithoutWaiting) {
    ::unsetenv("LD_LIBRARY_PATH");
    std::string expected;
    try {
        const compiler::Nvrtc here;
    } catch (const compiler::NoCompiler& none) {
        expected = none.what();
    }
    Helpers helpers(WARPSCOPE);
    EXPECT_EQ(helpers.no_compiler(), "");
    if (expected.empty()) {
        EXPECT_NO_THROW(helpers.compile("mine", "", Math::precise));
    } else {
        EXPECT_TRUE(tests::soon([&] { return !helpers.no_compiler().empty(); }));
        EXPECT_THROW(helpers.compile("mine", "", Math::precise), compiler::NoCompiler);
    }
    EXPECT_EQ(helpers.no_compiler(), expected);
}

/// A helper program that finds no compiler until a file is there.
TEST_F(HelpersTest, ACompilerThatIsInstalledLaterIsFoundWhenAskedFor) {
    fs::create_directories(folder_);
    const fs::path program = folder_ / "program";
    WireWriter hello(HelperAnswer::hello), none(HelperAnswer::no_compiler);
    std::ofstream(folder_ / "answers", std::ios::binary)
        << hello.number(protocol_version).frame() << none.text("None is here.").frame();
    std::ofstream(program) << "#!/bin/sh\ncd " << folder_ << "\n[ -e installed ] && exec "
                           << WARPSCOPE << " \"$@\"\n/bin/cat answers >&3; /bin/cat <&3\n";
    fs::permissions(program, fs::perms::owner_all);
    Helpers helpers(program);
    EXPECT_TRUE(tests::soon([&] { return !helpers.no_compiler().empty(); }));
    std::ofstream(folder_ / "installed").flush();
    EXPECT_EQ(helpers.no_compiler(), "None is here.");
    EXPECT_THROW(helpers.compile("mine", "good", Math::precise), compiler::NoCompiler);
    helpers.search_compiler();
    EXPECT_EQ(helpers.no_compiler(), "");
    EXPECT_HAS(helpers.compile("mine", "good", Math::precise)->ptx, "compute_75");
}

TEST_F(HelpersTest, ALibraryWithoutTheFunctionsOfNvrtcDoesNotEndTheSearch) {
    const fs::path toolkit = folder_ / "toolkit";
    fs::create_directories(toolkit);
    fs::create_symlink(FAKE_TOOLKIT, toolkit / "lib64");
    let_the_loader_find_others();
    ::setenv("CUDA_HOME", toolkit.c_str(), 1);
    EXPECT_EQ(HelperCompiler(WARPSCOPE).version({60s, {}}), "98.7");
}

TEST_F(HelpersTest, ALibraryIsNotLoadedByARelativePath) {
    const fs::path before = fs::current_path();
    fs::create_directories(folder_ / "warpscope");
    fs::create_symlink(FAKE_TOOLKIT, folder_ / "lib64");
    fs::create_symlink(FAKE_TOOLKIT, folder_ / "warpscope/nvrtc");
    let_the_loader_find_others();
    fs::current_path(folder_);
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "XDG_DATA_HOME"}) ::setenv(name, ".", 1);
    try {
        EXPECT_NE(HelperCompiler(WARPSCOPE).version({60s, {}}), "98.7") << "the fake one";
    } catch (const compiler::NoCompiler& none) {
        EXPECT_EQ(std::string(none.what()).find("./lib64"), std::string::npos) << none.what();
    }
    fs::current_path(before);
}

TEST_F(HelpersTest, AnEmulatorRunsInThisProcessWithLimits) {
    Helpers helpers(WARPSCOPE);
    const auto like = pick_device("emulator");
    const auto made = helpers.device(like->info(), {.seed = 5}, {}, {.time = 200ms});
    EXPECT_FALSE(made->info().in_helper);
    EXPECT_EQ(made->info().reason, like->info().reason);
    EXPECT_EQ(made->settings().seed, 5U);
    const auto spin = made->kernel_from_ptx<std::uint64_t>(hostile_ptx, "spin");
    EXPECT_HAS(message_of_error([&] {
                   made->launch(spin, {{1}, {32}}, {}, ~std::uint64_t(0));
               }),
               "did not end within 0.2 s");
    EXPECT_TRUE(helper_ids().empty());
}

}  // namespace
}  // namespace warpscope::compute
