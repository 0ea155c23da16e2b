#include "compiler/nvrtc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "real_nvrtc.h"

namespace warpscope::compiler {
namespace {

const std::string small_kernel =
    "extern \"C\" __global__ void k(int* p) {\n    p[threadIdx.x] = 1;\n}\n";

std::vector<Diagnostic> diagnostics_of(const Nvrtc& nvrtc, const std::string& source) {
    try {
        nvrtc.compile({"kernels/ripple.cu", source});
    } catch (const CompileError& error) {
        return error.diagnostics;
    }
    ADD_FAILURE() << "this compiles: " << source.substr(0, 200);
    return {};
}

std::string complaint(const Request& request) {
    try {
        check_source(request);
    } catch (const CompileError& error) {
        EXPECT_EQ(error.diagnostics.size(), 1u);
        return error.what();
    }
    return "";
}

TEST(Source, BytesThatAreNotTextAreRefusedWithTheirLine) {
    using namespace std::string_literals;
    EXPECT_EQ(complaint({"kernels/dot.cu", "one\ntwo \xC0\x80 \x1b"}), "");
    EXPECT_EQ(complaint({"kernels/dot.cu", "one\ntwo\0"s}),
              "kernels/dot.cu:2: byte 0x00 is not allowed in a source");
    EXPECT_EQ(complaint({"kernels/dot.cu", "\xFFone\ntwo\0"s}),
              "kernels/dot.cu:1: byte 0xff is not allowed in a source");
}

TEST(Source, MoreThanOneMebibyteIsRefused) {
    EXPECT_EQ(complaint({"kernels/dot.cu", std::string(largest_source, ' ')}), "");
    EXPECT_EQ(complaint({"kernels/dot.cu", std::string(3 * largest_source / 2, ' ')}),
              "kernels/dot.cu: the source has 1536 KiB: at most 1024 KiB can be compiled");
}

TEST(Source, HeadersAndNamesHaveLimits) {
    Request request{"kernels/dot.cu", "text"};
    request.headers.assign(most_headers, {"own.h", ""});
    request.headers[0].text.resize(largest_headers, ' ');
    request.names = {std::string(4096, 'n')};
    EXPECT_EQ(complaint(request), "");
    request.headers[1].text = "\n";
    EXPECT_EQ(
        complaint(request),
        "kernels/dot.cu: its headers are 64 files with 4097 KiB: at most 64 with 4096 KiB can "
        "be compiled");
    request.headers[1] = {"bad.h", "one\ntwo \xFF"};
    EXPECT_EQ(complaint(request),
              "kernels/dot.cu: byte 0xff is not allowed in the header bad.h, line 2");
    request.headers.assign(most_headers + 1, {"own.h", ""});
    EXPECT_EQ(
        complaint(request),
        "kernels/dot.cu: its headers are 65 files with 0 KiB: at most 64 with 4096 KiB can be "
        "compiled");
    request.headers.clear();
    request.names = {std::string(4097, 'n')};
    EXPECT_EQ(complaint(request),
              "kernels/dot.cu: the name of a kernel has 4097 bytes: at most 4096 are allowed");
    request.names = {std::string("a\0b", 3)};
    EXPECT_EQ(complaint(request), "kernels/dot.cu: byte 0x00 is not allowed in a kernel's name");
}

TEST(FakeNvrtc, HasVersionAndPath) {
    const Nvrtc nvrtc(FAKE_NVRTC);
    EXPECT_EQ(nvrtc.version(), "98.7");
    EXPECT_TRUE(nvrtc.path().ends_with("libfake_nvrtc.so")) << nvrtc.path();
}

TEST(FakeNvrtc, FindsTheLibraryOfBuiltinsThatLiesBesideIt) {
    const Nvrtc nvrtc(FAKE_NVRTC);
    const std::string ptx = nvrtc.compile({"kernels/ripple.cu", "BUILTINS"}).ptx;
    EXPECT_EQ(ptx.substr(0, ptx.find('\n')), "// builtins: yes");
}

TEST(FakeNvrtc, ReceivesTheOptionsOfTheMathSetting) {
    const Nvrtc nvrtc(FAKE_NVRTC);
    const std::string precise =
        "// --gpu-architecture=compute_75\n// --std=c++17\n// --diag-suppress=1444\n// "
        "--generate-line-info\n";
    const std::string file = "\t.file\t1 \"kernels/gallery/own.cu\"\n";
    EXPECT_EQ(nvrtc.compile({"kernels/gallery/own.cu", "text"}).ptx, precise + file);
    EXPECT_EQ(nvrtc.compile({"kernels/gallery/own.cu", "text", true}).ptx,
              precise + "// --use_fast_math\n" + file);
}

TEST(FakeNvrtc, ItsLogBecomesErrorsAndWarnings) {
    const Nvrtc nvrtc(FAKE_NVRTC);
    const Diagnostic warning{1, 1, Severity::warning, "#1-D: watch out"};
    EXPECT_EQ(nvrtc.compile({"kernels/ripple.cu", "WARN"}).warnings,
              std::vector<Diagnostic>{warning});
    EXPECT_EQ(diagnostics_of(nvrtc, "WARN\nFAIL"),
              (std::vector<Diagnostic>{warning, {2, 3, Severity::error, "it is wrong"}}));
    try {
        nvrtc.compile({"kernels/ripple.cu", "WARN\nFAIL"});
    } catch (const CompileError& error) {
        EXPECT_STREQ(error.what(), "kernels/ripple.cu:2: it is wrong");
    }
    EXPECT_EQ(diagnostics_of(nvrtc, "CRASH"),
              (std::vector<Diagnostic>{
                  {0, 0, Severity::error, "NVRTC failed: NVRTC_ERROR_INTERNAL_ERROR"}}));
}

TEST(FakeNvrtc, ReceivesHeadersAndTheOptionForDebugInformation) {
    const Nvrtc nvrtc(FAKE_NVRTC);
    Request request{"kernels/ripple.cu", "text"};
    request.headers = {{"one.h", "1"}, {"two.h", "2"}};
    request.debug_info = true;
    EXPECT_EQ(nvrtc.compile(request).ptx,
              "// header one.h: 1\n// header two.h: 2\n// --gpu-architecture=compute_75\n"
              "// --std=c++17\n// --diag-suppress=1444\n// --device-debug\n\t.file\t1 "
              "\"kernels/ripple.cu\"\n");
}

TEST(FakeNvrtc, DoesNotReceiveAnInvalidSource) {
    const Nvrtc nvrtc(FAKE_NVRTC);
    EXPECT_EQ(diagnostics_of(nvrtc, std::string("a\nCRASH\0", 8)).at(0).line, 2);
}

TEST(NoNvrtc, TheErrorNamesTheLibraryAndTheReason) {
    try {
        const Nvrtc nvrtc("/nowhere/libnvrtc.so");
        FAIL() << "there is one";
    } catch (const NoCompiler& error) {
        EXPECT_NE(std::string(error.what()).find("/nowhere/libnvrtc.so"), std::string::npos);
    }
    EXPECT_THROW(Nvrtc("libm.so.6"), NoCompiler) << "a library of something else";
}

class NvrtcHere : public RealNvrtc {
  public:
    std::vector<Diagnostic> errors(const std::string& source) {
        return diagnostics_of(*nvrtc_, source);
    }
};

TEST_F(NvrtcHere, CompilesForComputeCapability75WithLines) {
    const Compiled compiled = nvrtc_->compile({"kernels/gallery/own.cu", small_kernel});
    EXPECT_TRUE(compiled.warnings.empty());
    const auto has = [&](const char* text) { return compiled.ptx.find(text) != std::string::npos; };
    EXPECT_TRUE(has(".target sm_75"));
    EXPECT_TRUE(has(".visible .entry k("));
    EXPECT_TRUE(has(".loc\t1 2 5"));
    EXPECT_TRUE(has(".file\t1 \"kernels/gallery/own.cu\"\n"));
    EXPECT_FALSE(compiled.ptx.ends_with('\0'));
}

TEST_F(NvrtcHere, CompilesForTheTargetThatIsChosenOrThatAMessageAsksFor) {
    const std::string picky =
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n#error \"this needs sm_80\"\n#endif\n" +
        small_kernel;
    const auto ptx_for = [&](const std::string& source, unsigned target) {
        Request request{"kernels/ripple.cu", source};
        request.target = target;
        return nvrtc_->compile(request).ptx;
    };
    EXPECT_NE(ptx_for(small_kernel, 90).find(".target sm_90"), std::string::npos);
    EXPECT_NE(ptx_for(picky, 0).find(".target sm_80"), std::string::npos);
    EXPECT_THROW(ptx_for(picky, 75), CompileError) << "a target that was chosen stays";
}

TEST_F(NvrtcHere, FastMathChangesTheCode) {
    const std::string source = "extern \"C\" __global__ void k(float* p) { *p = sinf(*p); }\n";
    const auto approximates = [&](bool fast) {
        return nvrtc_->compile({"kernels/ripple.cu", source, fast}).ptx.find("sin.approx.ftz") !=
               std::string::npos;
    };
    EXPECT_FALSE(approximates(false));
    EXPECT_TRUE(approximates(true));
}

TEST_F(NvrtcHere, ErrorsAndWarningsHaveTheirLines) {
    const auto column = [&](int printed) { return is_of_cuda_11() ? 0 : printed; };
    EXPECT_EQ(
        errors("extern \"C\" __global__ void k(int* p) {\n    int unused;\n    p[0] = b;\n}\n"),
        (std::vector<Diagnostic>{
            {3, column(12), Severity::error, "identifier \"b\" is undefined"},
            {2, column(9), Severity::warning,
             "#177-D: variable \"unused\" was declared but never referenced"}}));
    EXPECT_EQ(nvrtc_
                  ->compile({"kernels/ripple.cu",
                             "extern \"C\" __global__ void k(int* p) {\n    int unused;\n}\n"})
                  .warnings,
              (std::vector<Diagnostic>{
                  {2, column(9), Severity::warning,
                   "#177-D: variable \"unused\" was declared but never referenced"}}));
}

TEST_F(NvrtcHere, ColumnsCountBytes) {
    if (is_of_cuda_11()) GTEST_SKIP() << "NVRTC of CUDA 11 prints no columns";
    EXPECT_EQ(errors("extern \"C\" __global__ void k(int* p) {\n/* äöü\t*/ p[0] = b;\n}\n").at(0),
              (Diagnostic{2, 21, Severity::error, "identifier \"b\" is undefined"}));
}

TEST_F(NvrtcHere, AnIncompleteSourceHasAnErrorAtItsEnd) {
    const auto found = errors("extern \"C\" __global__ void k(int* p) {\n    p[0] = 1;\n");
    EXPECT_EQ(found.at(0), (Diagnostic{2, 0, Severity::error, "expected a \"}\""}));
}

TEST_F(NvrtcHere, AMissingHeaderIsNamedInTheError) {
    const Diagnostic error = errors("\n#include <no_such_header.h>\n").at(0);
    EXPECT_EQ(error.line, 2);
    EXPECT_NE(error.text.find("no_such_header.h"), std::string::npos) << error.text;
}

TEST_F(NvrtcHere, RandomBytesGiveMessagesThatAreValidText) {
    std::string noise;
    unsigned state = 1;
    for (int i = 0; i < 200000; ++i) {
        state = state * 1664525 + 1013904223;
        const char byte = char(state >> 24);
        noise += byte == '\0' || byte == '\xFF' ? ' ' : byte;
    }
    const auto found = errors(noise);
    ASSERT_FALSE(found.empty());
    for (const Diagnostic& d : found) {
        EXPECT_LE(d.text.size(), 410u);
        EXPECT_TRUE(
            std::none_of(d.text.begin(), d.text.end(), [](char c) { return c >= 0 && c < ' '; }));
    }
}

TEST_F(NvrtcHere, ASourceOfOneMebibyteCompiles) {
    std::string source = small_kernel;
    while (source.size() + 20 < largest_source) source += "// a line of text\n";
    EXPECT_NE(nvrtc_->compile({"kernels/ripple.cu", source}).ptx.find(".entry k("),
              std::string::npos);
}

TEST_F(NvrtcHere, CompilesAgainAfterErrors) {
    errors("this is not CUDA");
    EXPECT_FALSE(nvrtc_->compile({"kernels/ripple.cu", small_kernel}).ptx.empty());
}

}  // namespace
}  // namespace warpscope::compiler
