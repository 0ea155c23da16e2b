#include "compiler/host/host_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace warpscope::compiler {
namespace {

namespace fs = std::filesystem;

/// The device code of one text, with one space in place of every gap. Checks that lines stay.
std::string device(const std::string& text) {
    const std::string source = device_code(std::vector{text})[0].source;
    EXPECT_EQ(source.size(), text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
        EXPECT_TRUE(source[i] == text[i] || (source[i] == ' ' && text[i] != '\n')) << i;
    std::string packed;
    for (const char c : source) {
        const bool blank = c == ' ' || c == '\n';
        if (!blank)
            packed += c;
        else if (!packed.empty() && packed.back() != ' ')
            packed += ' ';
    }
    while (packed.ends_with(' ')) packed.pop_back();
    return packed;
}

std::vector<std::string> left_out(const std::string& text) {
    std::vector<std::string> all;
    const std::vector<DeviceCode> codes = device_code(std::vector{text});
    for (const LeftOut& one : codes[0].left_out)
        all.push_back(fmt::format("{} {}-{}", one.what, one.first_line, one.last_line));
    return all;
}

const std::string kernel = "__global__ void k(float* p) { *p = 1; }";

TEST(HostCode, FunctionsOfTheHostAreLeftOutWithTheirLines) {
    const std::string text = "static int f(int a)\n{\n  if (a) { return 1; }\n  return 0;\n}\n" +
                             kernel + "\nint main() {\n  k<<<1, 1>>>(nullptr);\n}\n";
    EXPECT_EQ(device(text), kernel);
    EXPECT_EQ(left_out(text),
              (std::vector<std::string>{"the function f 1-5", "the function main 7-9"}));
}

TEST(HostCode, BracesInTextsCommentsAndRawStringsDoNotCount) {
    EXPECT_EQ(device("const char* a() { return \"}{\\\"}\"; } // }\n"
                     "char b() { /* } */ return '}'; }\n"
                     "auto c() { return R\"x(\n} )\" }\n)x\"; }\n" +
                     kernel),
              "// } /* } */ " + kernel);
}

TEST(HostCode, ADirectiveStaysAlsoInWhatIsLeftOut) {
    EXPECT_EQ(device("void f() {\n#ifdef A\n  g();\n#endif\n}\n" + kernel),
              "#ifdef A #endif " + kernel);
}

TEST(HostCode, BranchesOfAnIfMayShareTheirClosingBrace) {
    EXPECT_EQ(device("#ifdef A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n  g();\n}\n" + kernel),
              "#ifdef A #else #endif " + kernel);
    EXPECT_EQ(
        device("#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid f();\n" + kernel +
               "\n#ifdef __cplusplus\n}\n#endif\nvoid g() {}"),
        "#ifdef __cplusplus extern \"C\" { #endif " + kernel + " #ifdef __cplusplus } #endif");
}

TEST(HostCode, MacrosWithBracesAndContinuedLinesStay) {
    const std::string macro = "#define CHECK(x) do { \\\n if (x) { exit(1); \\\n} } while (0)\n";
    EXPECT_EQ(device(macro + kernel + "\nvoid f() { CHECK(1); }"),
              "#define CHECK(x) do { \\ if (x) { exit(1); \\ } } while (0) " + kernel);
}

TEST(HostCode, AMacroWithoutASemicolonIsADeclarationOfItsOwn) {
    EXPECT_EQ(device("REGISTER(f)\n" + kernel + "\nREGISTER(g)\nvoid h() {}"), kernel);
}

TEST(HostCode, WhatAMacroCallsDeviceCodeStays) {
    EXPECT_EQ(
        device(
            "#define DEV static __device__\nDEV float f() { return 1; }\nfloat g() { return 2; }"),
        "#define DEV static __device__ DEV float f() { return 1; }");
    EXPECT_EQ(device("#define A __device__\n#define B A inline\nB int f() { return 1; }"),
              "#define A __device__ #define B A inline B int f() { return 1; }");
}

TEST(HostCode, TemplatesAndAttributesOfKernelsStay) {
    for (const std::string text :
         {"template <int N, class T = float> __global__ void k(T* p) { p[0] = N; }",
          "template <bool B = (1 > 2)> __device__ int f() { return B; }",
          "__global__ void __launch_bounds__(256, 2) k() {}",
          "__launch_bounds__(256) __global__ void k() {}",
          "[[nodiscard]] __device__ int f() { return 1; }", "extern \"C\" __global__ void k();",
          "__global__ void k(int);\n__global__ void k(int a) { a = 1; }",
          "template __global__ void k<3>(float*);", "__constant__ float c[4] = {1, 2, 3, 4};",
          "extern __shared__ float tile[];"}) {
        std::string packed = text;
        std::ranges::replace(packed, '\n', ' ');
        EXPECT_EQ(device(text), packed);
    }
    EXPECT_EQ(device("template <class T> void f(T* p) { g<<<1, 1>>>(p); }\n"
                     "template void f<int>(int*);\n" +
                     kernel),
              kernel);
}

TEST(HostCode, NamespacesAndExternCKeepTheirBraces) {
    EXPECT_EQ(device("namespace a { namespace b {\nint f() { return 1; }\n" + kernel +
                     "\n} }\nextern \"C\" {\n"
                     "void g() {}\n__device__ int h() { return 1; }\n}"),
              "namespace a { namespace b { " + kernel +
                  " } } extern \"C\" { __device__ int h() { return 1; } }");
}

TEST(HostCode, ConstantsAndTypesStayWhereDeviceCodeUsesThem) {
    const std::string user = "__global__ void k(Pair* p) { p->a = n + E2 + twice(m); }";
    const std::string used =
        "const int n = (3 + 4); const int other = 1, m = 2; enum Kind { E1, E2 }; "
        "typedef struct __align__(8) { int a; Inner in; } Pair; using Inner = float; "
        "constexpr int twice(int x) { return 2 * x; } ";
    EXPECT_EQ(device(used + user), used + user);
    EXPECT_EQ(device("const int a = max(n, m), n = m, q = 2; const int m = 1, p[] = {3, m};\n"
                     "__global__ void k() { int x = m; }"),
              "const int m = 1, p[] = {3, m}; __global__ void k() { int x = m; }");
    EXPECT_EQ(device("typedef pthread_t Thread; struct Timer { long start; }; int count = 3;\n"
                     "const char* name = \"k\"; const dim3 grid(3, 4);\n" +
                     kernel),
              kernel);
}

TEST(HostCode, AnAliasOfANamespaceStaysWhereItIsUsed) {
    const std::string user =
        "namespace cg = cooperative_groups; __global__ void k() { cg::this_grid(); }";
    EXPECT_EQ(device(user), user);
    EXPECT_EQ(device("namespace fs = std::filesystem;\nusing namespace std;\n" + kernel), kernel);
}

TEST(HostCode, UsesOfTheStandardLibraryAreLeftOut) {
    EXPECT_EQ(device("struct Rows { std::vector<int> rows; };\nusing std::max;\n"
                     "static_assert(std::is_same_v<int, int>);\n"
                     "__global__ void k() { int Rows = max(1, 2); }"),
              "__global__ void k() { int Rows = max(1, 2); }");
    const std::string own = "using T = cuda::std::array<int, 2>; __global__ void k(T t) {}";
    EXPECT_EQ(device(own), own);
}

TEST(HostCode, FunctionsOfTheHostInATypeAreLeftOut) {
    EXPECT_EQ(
        device(
            "struct Lock {\n  int* mutex;\npublic:\n  Lock(int a) : mutex{new int(a)} { init(); }\n"
            "  ~Lock() { free(mutex); }\n  Lock() = default;\n  void (*call)(int);\n"
            "  struct Inner { int a; int f() const { return a; } } inner;\n"
            "  __device__ void lock() { while (*mutex) {} }\n};\n"
            "__global__ void k(Lock lock) { lock.lock(); }"),
        "struct Lock { int* mutex; public: Lock() = default; void (*call)(int); "
        "struct Inner { int a; } inner; __device__ void lock() { while (*mutex) {} } }; "
        "__global__ void k(Lock lock) { lock.lock(); }");
}

TEST(HostCode, AHostFunctionWithADeviceLambdaIsLeftOut) {
    EXPECT_EQ(device("int main() { run([=] __device__ (int i) { return i; }); }\n" + kernel),
              kernel);
}

TEST(HostCode, AConstructorThatInitializesWithBracesIsOneDeclaration) {
    EXPECT_EQ(device("App::App(int a) : a_{a}, b_(a) {\n  start();\n}\n" + kernel), kernel);
}

TEST(HostCode, ACheckStaysUnlessItNamesWhatIsLeftOut) {
    EXPECT_EQ(
        device("const int B = 32, H = 1;\nconst int W = 4;\nstatic_assert(B % 32 == 0);\n"
               "static_assert(W == 4);\n__global__ void k() { int b = B; }"),
        "const int B = 32, H = 1; static_assert(B % 32 == 0); __global__ void k() { int b = B; }");
}

TEST(HostCode, TheRestStaysWhereBracesDoNotMatch) {
    EXPECT_EQ(device("int f() { return 1; }\nint g() { return 2;\nint h() { return 3; }"),
              "int g() { return 2; int h() { return 3; }");
}

TEST(HostCode, TextsAreOneProgram) {
    const std::vector<std::string> texts{"#include \"a.h\"\nGLOBAL void k(Params p) {}",
                                         "#define GLOBAL __global__\nstruct Params { int n; };\n"
                                         "struct Window { int w; };"};
    const std::vector<DeviceCode> codes = device_code(texts);
    ASSERT_EQ(codes.size(), 2U);
    EXPECT_EQ(codes[0].source, texts[0]);
    EXPECT_NE(codes[1].source.find("struct Params { int n; };"), std::string::npos);
    EXPECT_EQ(codes[1].source.find("Window"), std::string::npos);
    const std::vector<std::string> names{"k<Window>"};
    EXPECT_NE(device_code(texts, names)[1].source.find("struct Window"), std::string::npos);
}

class HeadersOfASource : public testing::Test {
  protected:
    HeadersOfASource() { fs::create_directories(folder_ / "include"); }
    ~HeadersOfASource() override { fs::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }
    std::vector<std::string> names(const Request& request) const {
        std::vector<std::string> all;
        for (const Header& header : request.headers) all.push_back(header.name);
        return all;
    }
    const fs::path folder_ =
        fs::temp_directory_path() / ("warpscope-host-" + std::to_string(::getpid()));
};

TEST_F(HeadersOfASource, AreReadBesideTheTextThatIncludesThem) {
    write("include/a.h",
          "#include \"b.h\"\n#include \"a.h\"\n__device__ int a() { return 1; }\nvoid f();");
    write("include/b.h", "#include <vector>\n__device__ int b() { return 1; }\n");
    Request request{
        .file = "k.cu",
        .source = "#include \"include/a.h\"\n#include <vector>\n#include \"none.h\"\n" + kernel};
    const auto left_out = leave_out_host_code(request, folder_ / "k.cu");
    EXPECT_EQ(names(request), (std::vector<std::string>{"implied.h", "include/a.h", "b.h", "a.h"}));
    EXPECT_EQ(request.headers[0].path, "") << "implied.h is no file";
    EXPECT_EQ(request.headers[2].path, folder_ / "include/b.h");
    EXPECT_EQ(request.headers[2].text,
              std::string(17, ' ') + "\n__device__ int b() { return 1; }\n");
    ASSERT_EQ(left_out.size(), 2U);
    EXPECT_EQ(left_out[0].what, "#include of vector");
    EXPECT_EQ(left_out[1].what, "#include of none.h, which was not found");
    EXPECT_EQ(left_out[1].first_line, 3);
}

TEST_F(HeadersOfASource, AreSearchedForInFoldersToo) {
    write("include/math3.h", "__device__ int b() { return 1; }\n");
    const std::vector<fs::path> folders{folder_ / "include"};
    Request request{.file = "k.cu", .source = "#include <math3.h>\n" + kernel};
    EXPECT_TRUE(leave_out_host_code(request, folder_ / "k.cu", folders).empty());
    EXPECT_EQ(names(request), (std::vector<std::string>{"implied.h", "math3.h"}));
    request = {.file = "k.cu", .source = "#include <math3.h>\n" + kernel};
    EXPECT_EQ(leave_out_host_code(request, folder_ / "k.cu").size(), 1U);
}

TEST_F(HeadersOfASource, OfTheToolkitStayIfTheyHaveDeviceCode) {
    const std::string kept = "#include <cooperative_groups.h>\n#include <cub/cub.cuh>\n";
    Request request{.file = "k.cu", .source = kept + "#include <cuda_runtime.h>\n" + kernel};
    (void)leave_out_host_code(request, folder_ / "k.cu");
    EXPECT_EQ(request.source, kept + std::string(25, ' ') + "\n" + kernel);
}

TEST_F(HeadersOfASource, ForTheHostMayBringHalfPrecision) {
    const auto implied = [&](const std::string& directive) {
        Request request{.file = "k.cu", .source = directive + "\n" + kernel};
        (void)leave_out_host_code(request, folder_ / "k.cu");
        return request.headers.at(0).text;
    };
    EXPECT_NE(implied("#include <cublas_v2.h>").find("cuda_bf16.h"), std::string::npos);
    EXPECT_EQ(implied("#include <cuda.h>").find("cuda_bf16.h"), std::string::npos);
}

TEST_F(HeadersOfASource, GiveDeviceCodeTheArraysOfTheStandardLibrary) {
    const auto implied = [&](const std::string& body) {
        Request request{.file = "k.cu",
                        .source = "#include <array>\n__global__ void k(float* p) { " + body + " }"};
        (void)leave_out_host_code(request, folder_ / "k.cu");
        return request.headers.at(0).text;
    };
    const std::string array = "#include <cuda/std/array>", limits = "#include <cuda/std/limits>";
    EXPECT_NE(implied("std::array<float, 2> a; *p = a[0];").find(array), std::string::npos);
    EXPECT_NE(implied("*p = std::numeric_limits<float>::max();").find(limits), std::string::npos);
    for (const char* body : {"*p = 1;", "cuda::std::array<float, 2> a; *p = a[0];"})
        EXPECT_EQ(implied(body).find("cuda/std"), std::string::npos) << body;
}

TEST_F(HeadersOfASource, AreLimited) {
    std::string source;
    for (int i = 0; i < 70; ++i) {
        write("include/" + std::to_string(i) + ".h", "\n");
        source += fmt::format("#include \"include/{}.h\"\n", i);
    }
    Request request{.file = "k.cu", .source = source};
    EXPECT_THROW((void)leave_out_host_code(request, folder_ / "k.cu"), std::runtime_error);
}

}  // namespace
}  // namespace warpscope::compiler
