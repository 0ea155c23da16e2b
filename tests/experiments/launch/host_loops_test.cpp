#include <gtest/gtest.h>

#include "host_main.h"

namespace warpscope::experiments {
namespace {

TEST(HostPrograms, ALoopIsPassedOnceAndItsCounterIsUnknownAfterIt) {
    const HostProgram program =
        main_with("int i; for (i = 1; i < 9; i *= 2) k<<<1, i>>>(); k<<<1, i>>>();");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(values(program, program.launches[0].block), Texts{"1"});
    EXPECT_EQ(values(program, program.launches[1].block), Texts{"?"});
}

TEST(HostPrograms, ArraysHoldWhatSimpleLoopsWrite) {
    const HostProgram program = main_with(
        "const int w = 8; float h[64], *d, *z; cudaMalloc(&d, 256); cudaMalloc(&z, 4);\n"
        "for (int y = 0; y < 8; ++y) for (int x = 0; x < w; ++x) h[y * w + x] = 10 * y + x;\n"
        "cudaMemcpy(d, h, 256, cudaMemcpyHostToDevice); cudaMemset(z, 0, 4); k<<<1, 1>>>(d);\n"
        "for (int i = 0; i < 64; i++) h[i] = 5; cudaMemcpy(d, h, 256, cudaMemcpyHostToDevice);");
    HostValues known(program);
    known.is_scalar("$i", "i");
    const auto fill = known.expression(find_array(program, "d")->fill);
    ASSERT_TRUE(fill);
    EXPECT_EQ(fill->value(Names{{"i", 19L}}), Number(23L)) << "row 2, column 3; before the launch";
    EXPECT_EQ(find_array(program, "z")->fill, "memset ( 0 )");
}

/// The element `i` that the loop has written into h, which the program copies; "?": it is unknown.
std::string element(const std::string& loop, std::int64_t i) {
    const HostProgram program =
        main_with("const int n = 64; float h[64], *d; cudaMalloc(&d, 256); " + loop +
                  " cudaMemcpy(d, h, 256, cudaMemcpyHostToDevice); k<<<1, 1>>>(d);");
    HostValues known(program);
    known.is_scalar("$i", "i");
    const HostArray* const array = find_array(program, "d");
    const auto fill = array ? known.expression(array->fill) : std::nullopt;
    return fill ? to_string(fill->value(Names{{"i", i}})) : "?";
}

TEST(HostPrograms, ALoopThatCountsByOneWritesAllElements) {
    EXPECT_EQ(element("int j = 0; while (j < n) { h[j] = 2 * j; j++; }", 5), "10");
    EXPECT_EQ(element("int j = 0; while (j < n) { h[j] = 3 * j; j += 1; }", 5), "15");
    EXPECT_EQ(element("int j = 0; while (j < n) h[j++] = 7;", 5), "7");
    EXPECT_EQ(element("int j = n; while (j-- > 0) { h[j] = j; }", 5), "5");
    EXPECT_EQ(element("int j = 0; do { h[j] = j + 1; ++j; } while (j < n);", 5), "6");
    EXPECT_EQ(element("for (int j{0}; j != n; j = j + 1) h[j] = 4 * j;", 5), "20");
    EXPECT_EQ(element("for (int j = 0, last = n; j < last; ++j) h[j] = j;", 5), "5");
    // Others write some elements.
    EXPECT_EQ(element("int j = 1; while (j < n) { h[j] = 2; j *= 2; }", 5), "?");
    EXPECT_EQ(element("for (int j = 0; j < n; j += 2) h[j] = 2;", 5), "?");
    EXPECT_EQ(element("int j = 0; while (more()) { h[j] = 2; j++; }", 5), "?");
}

TEST(HostPrograms, TheCounterOfAWhileLoopIsUnknownAfterIt) {
    const HostProgram program =
        main_with("int j = 0; while (j < 9) { k<<<1, 32>>>(); ++j; } k<<<1, j>>>();");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(values(program, program.launches[1].block), Texts{"?"});
}

TEST(HostPrograms, AListOfNumbersFillsAnArray) {
    const HostProgram program =
        main_with("int a[4] = {5, 6}, b[3] = {0}, c[2] = {d(), 1}; k<<<1, 1>>>();");
    EXPECT_EQ(find_array(program, "a")->fill, "$i == 0 ? 5 : $i == 1 ? 6 : 0");
    EXPECT_EQ(find_array(program, "b")->fill, "0");
    EXPECT_EQ(find_array(program, "c")->fill, "");
}

}  // namespace
}  // namespace warpscope::experiments
