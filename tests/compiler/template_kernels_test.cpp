#include <gtest/gtest.h>

#include <string>
#include <vector>

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
              (Texts{"f<float, 16>", "lib::h<true, 16>"}));
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

}  // namespace
}  // namespace warpscope::compiler
