#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/host/host_launches.h"
#include "compiler/host/template_kernels.h"

namespace warpscope::compiler {
namespace {

using Texts = std::vector<std::string>;

TEST(TemplateKernels, GetArgumentsForTheirParameters) {
    EXPECT_EQ(template_kernels("template <typename T, const int side, bool even = false>\n"
                               "__global__ void f(T* p) { p[0] = 1 < 2; }\n"
                               "template <class T> __device__ T g(T a) { return a; }\n"
                               "template <> __global__ void f<int, 3>(int* p);\n"
                               "namespace lib { template <bool b, unsigned int n>\n"
                               "__global__ void h() {} }\n"
                               "__global__ void k() {}\n"),
              (Texts{"f<float, 16>", "h<true, 16>"}));
}

TEST(TemplateKernels, TakeTheArgumentsOfTheirFirstUseThatNamesNothingElse) {
    const std::string kernel = "template <class T, int n> __global__ void f(T* p) {}\n";
    EXPECT_EQ(template_kernels(kernel + "void run(int* p) { f<S, 8><<<1, 8>>>(p); \n"
                                        "f<unsigned int, 32><<<1, 32>>>(p); }"),
              Texts{"f<unsigned int, 32>"});
    EXPECT_EQ(template_kernels(kernel + "template __global__ void f<double, 4>(double*);"),
              Texts{"f<double, 4>"});
    EXPECT_EQ(template_kernels("bool a = f<3; " + kernel), Texts{"f<float, 16>"});
}

TEST(TemplateKernels, AreNamedWithoutNamespacesAndArguments) {
    EXPECT_EQ(template_name("lib::reduce<256, lib::real>"), "reduce");
    EXPECT_EQ(template_name("saxpy"), "saxpy");
}

TEST(HostLaunches, HaveTheirGridBlockAndArguments) {
    const auto found = host_launches(
        "#define SIDE 32\n"
        "const int n = 1 << 10;\n"
        "int main() {\n"
        "  dim3 one(1), grid((n + SIDE - 1) / SIDE, f(n, 2)), block;\n"
        "  dim3 threads = dim3(SIDE, 8);\n"
        "  k<<<grid, threads, n * sizeof(float), stream>>>(a, &b, n);\n"
        "  n = 5;\n"
        "  lib::t<int, 3><<<4, dim3(n)>>>();\n"
        "}\n");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].kernel, "k");
    EXPECT_EQ(found[0].grid, (Texts{"( n + SIDE - 1 ) / SIDE", "f ( n , 2 )"}));
    EXPECT_EQ(found[0].block, (Texts{"SIDE", "8"}));
    EXPECT_EQ(found[0].shared, "n * sizeof ( float )");
    EXPECT_EQ(found[0].arguments, (Texts{"a", "& b", "n"}));
    EXPECT_EQ(found[0].values.at("n"), "1 < < 10");
    EXPECT_EQ(found[0].values.at("SIDE"), "32 ");
    EXPECT_EQ(found[1].kernel, "t");
    EXPECT_EQ(found[1].grid, Texts{"4"});
    EXPECT_EQ(found[1].block, Texts{"n"});
    EXPECT_EQ(found[1].shared, "");
    EXPECT_TRUE(found[1].arguments.empty());
    EXPECT_EQ(found[1].values.at("n"), "5") << "the newest value before the launch";
}

TEST(HostLaunches, TextThatIsNoLaunchIsNone) {
    EXPECT_TRUE(host_launches("<<<").empty());
    EXPECT_TRUE(host_launches("k<<<1, 2").empty());
    EXPECT_TRUE(host_launches("int a = b <<< c;").empty());
    EXPECT_TRUE(host_launches("k<<<(1, 2>>>(a);").empty());
    EXPECT_TRUE(host_launches("> <<<1>>>").empty());
}

}  // namespace
}  // namespace warpscope::compiler
