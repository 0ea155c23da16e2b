#include "experiments/framework/cuda_source.h"

#include <gtest/gtest.h>

#include "compute/device/kernel_files.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

using Lines = std::vector<int>;

TEST(BarrierLines, AreThoseOfTheFunctionsBody) {
    const char* source =
        "void first(int a);\n"                 // 1
        "void first(int a) {\n"                // 2
        "    __syncthreads();\n"               // 3
        "    if (a) { // }\n"                  // 4
        "        /* __syncthreads(); */\n"     // 5
        "        __syncthreads_count(a);\n"    // 6
        "    }\n"                              // 7
        "    // __syncthreads();\n"            // 8
        "}\n"                                  // 9
        "void second() {\n"                    // 10
        "    first(1); __syncthreads(); }\n";  // 11
    EXPECT_EQ(barrier_lines(source, "first"), (Lines{3, 6}));
    EXPECT_EQ(barrier_lines(source, "second"), Lines{11});
    EXPECT_EQ(barrier_lines(source, "third"), Lines{});
    EXPECT_EQ(barrier_lines("void open() {\n /* __syncthreads();", "open"), Lines{});
    EXPECT_EQ(barrier_lines("void open() {\n __syncthreads(); //", "open"), Lines{2});
    EXPECT_EQ(place("dot", {30, 38}), "dot.cu:30 and 38");
    EXPECT_EQ(place("dot", {}), "dot.cu");
}

TEST(BarrierLines, CommentsBeginOutsideOfLiteralsOnly) {
    EXPECT_EQ(barrier_lines("void f() {\n print(\"/*\");\n __syncthreads();\n}", "f"), Lines{3});
    EXPECT_EQ(barrier_lines("void f() {\n print(\"\\\"//\"); __syncthreads();\n}", "f"), Lines{2});
    EXPECT_EQ(barrier_lines("void f() {\n put('\"'); /* \" */ __syncthreads();\n}", "f"), Lines{2});
}

TEST(BarrierLines, ADigitSeparatorBeginsNoLiteral) {
    EXPECT_EQ(barrier_lines("void f() {\n n = 65'536; // __syncthreads();\n}", "f"), Lines{});
}

TEST(BarrierLines, BracesAndBarriersInLiteralsDoNotCount) {
    EXPECT_EQ(barrier_lines("void f() {\n put('}');\n print(\"__syncthreads\");\n"
                            " __syncthreads();\n}",
                            "f"),
              Lines{4});
}

TEST(BarrierLines, AreFoundInTheKernels) {
    const auto count = [](const char* file, const char* function) {
        const std::string name = std::string("kernels/") + file;
        const Lines lines = barrier_lines(compute::kernel_source(name), function);
        for (const int line : lines)
            EXPECT_NE(tests::source_line(file, line).find("__syncthreads()"), std::string::npos);
        return lines.size();
    };
    for (const char* file : {"ripple.cu", "ripple_layouts.cu", "ripple_stamped.cu"})
        EXPECT_EQ(count(file, ""), 1u) << file;
    EXPECT_EQ(count("ripple.cu", "draw"), 1u);
    EXPECT_EQ(count("dot.cu", "dot_book"), 2u);
    EXPECT_EQ(count("dot.cu", "dot_without"), 2u);
    EXPECT_EQ(count("dot.cu", "dot_divergent"), 2u);
    EXPECT_EQ(count("dot.cu", "dot_divergent_bounded"), 2u);
}

}  // namespace
}  // namespace warpscope::experiments
