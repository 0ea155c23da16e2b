#include "jobs/headless/kernel_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "compiler/cache.h"
#include "compute/device/kernel_files.h"
#include "compute/pick_device.h"
#include "jobs/headless/headless.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/verdict.h"
#include "support/file_opens.h"

namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, std::string_view old, std::string_view by) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), by);
}

class KernelFiles : public testing::Test {
  public:
    KernelFiles() {
        std::string name = (fs::temp_directory_path() / "kernel_files.XXXXXX").string();
        if (::mkdtemp(name.data())) folder = name;
        ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    }
    ~KernelFiles() override { fs::remove_all(folder); }

    fs::path write(const std::string& name, const std::string& text) const {
        fs::create_directories((folder / name).parent_path());
        std::ofstream(folder / name, std::ios::binary) << text;
        return folder / name;
    }
    std::vector<KernelFile> read(const fs::path& source, const fs::path& kernels,
                                 std::vector<experiments::Assignment> sets = {},
                                 const char* experiment = "ripple") const {
        return read_kernel_files(source, kernels, experiments::find_experiment(experiment), sets);
    }
    /// The message of the UsageError; "none" if there was no error.
    std::string refusal(const fs::path& source, const fs::path& kernels) const {
        try {
            read(source, kernels);
        } catch (const UsageError& e) {
            return e.what();
        }
        return "none";
    }

    fs::path folder;
    const std::string ripple{compute::kernel_source("kernels/ripple.cu")};
};

TEST_F(KernelFiles, ASourceIsReadOnce) {
    const fs::path mine = write("mine.cu", "text");
    FileOpens opens(mine);
    read(mine, {});
    EXPECT_EQ(opens.count(), 1);
}

TEST_F(KernelFiles, ACheckOpensTheSourceAndDoesNotReadIt) {
    const fs::path mine = write("mine.cu", "text");
    FileOpens opens(mine);
    check_kernel_files(mine, {});
    EXPECT_EQ(opens.count(), 1);
    EXPECT_FALSE(opens.was_read());
    EXPECT_THROW(check_kernel_files(folder, {}), UsageError);
}

TEST_F(KernelFiles, KernelSourceReplacesTheExperimentsFile) {
    const fs::path mine = write("mine.cu", "text\n\xC0");
    const auto files = read(mine, {});
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].file, "ripple");
    EXPECT_EQ(files[0].from, mine);
    EXPECT_EQ(files[0].source, "text\n\xC0");
    EXPECT_EQ(read(mine, {}, {}, "nbody").at(0).file, "nbody");
}

TEST_F(KernelFiles, AFolderGivesTheFilesNamedLikeKernelFiles) {
    write("ripple.cu", "a");
    write("splat.cu", "b");
    write("unknown.cu", "c");
    write("dot.cu.orig", "d");
    write("dot.txt", "e");
    const auto files = read({}, folder);
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[0].file, "ripple");
    EXPECT_EQ(files[1].file, "splat");
    const auto both = read(write("mine.cu", "mine"), folder);
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0].file, "splat");
    EXPECT_EQ(both[1].source, "mine") << "--kernel-source comes before --kernels";
}

TEST_F(KernelFiles, UnreadablePathsAreUsageErrors) {
    EXPECT_NE(refusal(folder / "none.cu", {}).find("none.cu: No such file"), std::string::npos);
    EXPECT_NE(refusal(folder, {}).find("it is a folder"), std::string::npos);
    EXPECT_NE(refusal({}, folder).find("ripple.cu"), std::string::npos);
    EXPECT_NE(refusal({}, folder / "none").find("there is no such folder"), std::string::npos);
    EXPECT_THROW(read(write("mine.cu", ""), {}, {{"no", "such"}}), experiments::ParameterError);
}

TEST_F(KernelFiles, DiagnosticLinesHaveTheFormatOfCompilers) {
    using compiler::Severity;
    const std::vector<KernelFile> files{{"ripple",
                                         "my.cu",
                                         "",
                                         {{3, 7, Severity::error, "this"},
                                          {4, 0, Severity::warning, "that"},
                                          {0, 0, Severity::note, "all"}}}};
    EXPECT_EQ(diagnostic_lines(files),
              "my.cu:3:7: error: this\nmy.cu:4: warning: that\nmy.cu: note: all\n");
    const Json json = to_json(files)[0];
    EXPECT_EQ(json["file"], "kernels/ripple.cu");
    EXPECT_EQ(json["from"], "my.cu");
    EXPECT_EQ(json["warnings"][0], (Json{{"line", 3}, {"column", 7}, {"text", "this"}}));
}

/// Uses the compiler of this machine; skipped without one.
class CompiledFiles : public KernelFiles {
  public:
    void SetUp() override {
        try {
            helpers.compile("ripple", "", compute::Math::precise);
        } catch (const compiler::NoCompiler& error) {
            GTEST_SKIP() << error.what();
        }
    }
    int run(HeadlessRequest request, std::string& diagnostics) {
        request.experiment = "ripple";
        request.assignments.push_back({"size", "64"});
        const Painter none = [](const Shot&) -> Presentation {
            throw std::logic_error("no painter");
        };
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        int code = -1;
        try {
            code = run_headless(helpers, compute::pick_device("emulator"), request, none);
        } catch (const std::exception& e) {
            thrown = e.what();
        }
        printed = testing::internal::GetCapturedStdout();
        diagnostics = testing::internal::GetCapturedStderr();
        return code;
    }

    compute::Helpers helpers{WARPSCOPE};
    std::string printed, thrown;
};

TEST_F(CompiledFiles, BuiltInSourcesAreNotCompiled) {
    std::vector<KernelFile> files{{"ripple", "a/ripple.cu", ripple}};
    compute::KernelEdits edits;
    EXPECT_TRUE(jobs::compile(helpers, compute::Math::precise, files, edits));
    EXPECT_TRUE(edits.empty());
}

TEST_F(CompiledFiles, ErrorsOfEveryFileAreKept) {
    std::vector<KernelFile> files{{"ripple", "ripple.cu", "\n__device__ int a;"},
                                  {"dot", "dot.cu", "good;"}};
    compute::KernelEdits edits;
    EXPECT_FALSE(jobs::compile(helpers, compute::Math::fast, files, edits));
    ASSERT_TRUE(edits.contains("ripple"));
    EXPECT_EQ(edits["ripple"]->from, "ripple.cu");
    EXPECT_EQ(edits["ripple"]->math, compute::Math::fast);
    ASSERT_FALSE(files[1].said.empty());
    EXPECT_EQ(files[1].said[0].line, 1);
}

TEST_F(CompiledFiles, TheFileRunsInsteadOfTheBuiltInKernel) {
    const std::string barrier = "__syncthreads()";
    std::string racy = ripple;
    for (std::size_t at = 0; (at = racy.find(barrier, at)) != std::string::npos;)
        racy.replace(at, barrier.size(), std::string(barrier.size(), ' '));
    HeadlessRequest request{.experiment = ""};
    request.json = "-";
    std::string diagnostics;
    request.kernel_source = write("same.cu", ripple);
    EXPECT_EQ(run(request, diagnostics), 0) << thrown;
    EXPECT_EQ(Json::parse(printed)["kernel_source"][0]["file"], "kernels/ripple.cu");

    request.kernel_source = write("racy.cu", racy);
    request.checks.race = true;
    EXPECT_EQ(run(request, diagnostics), 1) << thrown;
    const Json json = Json::parse(printed);
    EXPECT_EQ(json["kernel_source"][0]["from"], request.kernel_source.string());
    ASSERT_FALSE(json["findings"].empty());
    EXPECT_EQ(json["findings"][0]["kind"], "race");
    EXPECT_EQ(json["findings"][0]["first"]["file"], request.kernel_source.string());
}

TEST_F(CompiledFiles, AWrongTextOfTheCacheThatTheDeviceRefusesIsReplaced) {
    const std::string mine = ripple + "// mine\n", version = compiler::Nvrtc().version();
    const compiler::Request compiled{"kernels/ripple.cu", mine, false};
    const char* const other =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry other()\n{\nret;\n}\n";
    compiler::Cache().keep(compiled, version, {other, {}});
    ASSERT_EQ(helpers.compile("ripple", mine, compute::Math::precise)->ptx, other);
    HeadlessRequest request{.experiment = ""};
    request.kernel_source = write("mine.cu", mine);
    std::string diagnostics;
    EXPECT_EQ(run(request, diagnostics), 0) << thrown;
    EXPECT_EQ(diagnostics, "");
    EXPECT_NE(compiler::Cache().find(compiled, version)->ptx, other);
}

TEST_F(CompiledFiles, CompileErrorsGoToStandardErrorWithLineAndColumn) {
    HeadlessRequest request{.experiment = ""};
    request.kernel_source = write("bad.cu", "\n__device__ int f() { return b; }\n");
    std::string diagnostics;
    EXPECT_EQ(run(request, diagnostics), 2);
    // NVRTC of CUDA 11 prints no columns.
    const char* const place = compiler::Nvrtc().version().starts_with("11.") ? ":2" : ":2:29";
    EXPECT_EQ(diagnostics,
              request.kernel_source.string() + place + ": error: identifier \"b\" is undefined\n");
    EXPECT_EQ(printed, "");
}

TEST_F(CompiledFiles, BinaryAndOversizedSourcesAreRefused) {
    HeadlessRequest request{.experiment = ""};
    std::string diagnostics;
    request.kernel_source = write("noise.cu", std::string("one\n\0two", 8));
    EXPECT_EQ(run(request, diagnostics), 2);
    EXPECT_NE(diagnostics.find("noise.cu:2: error: byte 0x00"), std::string::npos) << diagnostics;
    request.kernel_source = write("long.cu", std::string(5 << 20, '('));
    EXPECT_EQ(run(request, diagnostics), -1);
    EXPECT_NE(thrown.find("long.cu: it is larger than 1024 KiB"), std::string::npos) << thrown;
}

TEST_F(CompiledFiles, AnEndlessLaunchIsStoppedAtTheTimeLimit) {
    HeadlessRequest request{.experiment = ""};
    request.kernel_time = std::chrono::milliseconds(300);
    request.kernel_source =
        write("hang.cu", replaced(ripple, "__syncthreads();", "for (;;) __threadfence_block();"));
    std::string diagnostics;
    EXPECT_EQ(run(request, diagnostics), -1);
    EXPECT_NE(thrown.find(request.kernel_source.string() + ":"), std::string::npos) << thrown;
    EXPECT_NE(thrown.find("block"), std::string::npos) << thrown;
    request.checks.barrier = true;
    EXPECT_EQ(run(request, diagnostics), no_verdict);
}

TEST_F(CompiledFiles, AFileWithoutTheExperimentsKernelIsRefused) {
    HeadlessRequest request{.experiment = ""};
    request.kernel_source = write("other.cu", "extern \"C\" __global__ void other() {}\n");
    std::string diagnostics;
    EXPECT_EQ(run(request, diagnostics), -1);
    EXPECT_NE(thrown.find("other.cu"), std::string::npos) << thrown;
}

}  // namespace
}  // namespace warpscope::jobs
