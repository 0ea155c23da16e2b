#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/host/host_code.h"

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
    EXPECT_EQ(template_kernels("template <class T, class U = Pair<T, int>, int n = (1 > 0)>\n"
                               "__global__ void f(T* p) {}\n"
                               "template <int n = 4> __global__ void g() {}\n"),
              (Texts{"f<float>", "g<>"}));
    EXPECT_EQ(template_kernels("bool a = f<3; template <int n> __global__ void f() {}"),
              Texts{"f<16>"});
}

TEST(TemplateKernels, AreNamedWithoutNamespacesAndArguments) {
    EXPECT_EQ(template_name("lib::reduce<256, lib::real>"), "reduce");
    EXPECT_EQ(template_name("saxpy"), "saxpy");
}

}  // namespace
}  // namespace warpscope::compiler
