#include "experiments/framework/cuda_source.h"

#include <gtest/gtest.h>

#include "compute/device/kernel_files.h"

namespace warpscope::experiments {
namespace {

using Ids = std::vector<std::string>;

TEST(ParameterNames, OfBuiltInKernels) {
    const auto names = [](const char* file, const char* kernel) {
        return parameter_names(compute::kernel_source(file), kernel);
    };
    EXPECT_EQ(names("kernels/dot.cu", "dot_book"), (Ids{"a", "b", "partial", "n"}));
    EXPECT_EQ(names("kernels/dot.cu", "dot_no_first_barrier"), (Ids{"a", "b", "partial", "n"}));
    EXPECT_EQ(names("kernels/ripple.cu", "ripple_txty").at(0), "pixels");
    EXPECT_EQ(names("kernels/dot.cu", "dot"), Ids{}) << "part of a name";
}

TEST(ParameterNames, OfDeclarationsOfEveryForm) {
    const std::string source =
        "void k(int host);\n"
        "/* __global__ void k(int comment) */\n"
        "template <class T, int n>\n"
        "__global__ void __launch_bounds__(256, 2)\n"
        "k (const Pair<T, n>* __restrict__ pairs, float (&rows)[4], int, // the count\n"
        "   unsigned long long last[8], float scale = max(1, 2)) { k2(pairs); }\n"
        "__global__ void none() {}\n";
    EXPECT_EQ(parameter_names(source, "k"), (Ids{"pairs", "rows", "", "last", "scale"}));
    EXPECT_EQ(parameter_names(source, "none"), Ids{});
    EXPECT_EQ(parameter_names(source, "k2"), Ids{});
    EXPECT_EQ(parameter_names(source, ""), Ids{});
    EXPECT_EQ(parameter_names("__global__ void k(int a, ", "k"), Ids{"a"}) << "unfinished";
}

}  // namespace
}  // namespace warpscope::experiments
