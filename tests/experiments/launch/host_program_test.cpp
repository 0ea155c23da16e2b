#include "experiments/launch_files/host_program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiments/launch_files/host_values.h"

namespace warpscope::experiments {
namespace {

using Texts = std::vector<std::string>;

/// The values of texts of a program; "?" where it does not say them.
std::string value(const HostProgram& program, const std::string& text) {
    const auto number = HostValues(program).number(text);
    return number ? to_string(*number) : "?";
}

Texts values(const HostProgram& program, const Texts& all) {
    Texts found;
    for (const std::string& text : all) found.push_back(value(program, text));
    return found;
}

HostProgram main_with(const std::string& statements, const std::string& before = "") {
    return read_host_program(before + "\nint main(int argc, char** argv) {\n" + statements + "\n}");
}

TEST(HostPrograms, LaunchesHaveTheirGridBlockAndArguments) {
    const HostProgram program = main_with(
        "  dim3 one(1), grid((n + SIDE - 1) / SIDE, f(2)), block;\n"
        "  dim3 threads = dim3(SIDE, 8);\n"
        "  k<<<grid, threads, n * sizeof(float), stream>>>(a, &b, n);\n"
        "  lib::t<int, 3><<<4, dim3(5)>>>();\n",
        "#define SIDE 32\nconst int n = 1 << 10;\nint f(int m) { return m * m; }");
    ASSERT_EQ(program.launches.size(), 2U);
    const HostLaunch& k = program.launches[0];
    EXPECT_EQ(k.kernel, "k");
    EXPECT_EQ(values(program, k.grid), (Texts{"32", "4"}));
    EXPECT_EQ(values(program, k.block), (Texts{"32", "8"}));
    EXPECT_EQ(value(program, k.shared), "4096");
    EXPECT_EQ(k.arguments.size(), 3U);
    EXPECT_EQ(value(program, k.arguments[2]), "1024");
    const HostLaunch& t = program.launches[1];
    EXPECT_EQ(t.kernel, "t");
    EXPECT_EQ(t.templates, (Texts{"int", "3"}));
    EXPECT_EQ(values(program, t.block), Texts{"5"});
    EXPECT_EQ(t.shared, "");
    EXPECT_TRUE(t.arguments.empty());
}

TEST(HostPrograms, ALaunchSeesTheValuesOfItsTime) {
    const HostProgram program =
        main_with("int n = 4; k<<<1, n>>>(); n = n * 2; k<<<1, n>>>(); n += 1; k<<<1, n>>>();");
    ASSERT_EQ(program.launches.size(), 3U);
    EXPECT_EQ(values(program, program.launches[0].block), Texts{"4"});
    EXPECT_EQ(values(program, program.launches[1].block), Texts{"8"});
    EXPECT_EQ(values(program, program.launches[2].block), Texts{"9"});
}

TEST(HostPrograms, ALoopIsPassedOnceAndItsCounterIsUnknownAfterIt) {
    const HostProgram program =
        main_with("int i; for (i = 1; i < 9; i *= 2) k<<<1, i>>>(); k<<<1, i>>>();");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(values(program, program.launches[0].block), Texts{"1"});
    EXPECT_EQ(values(program, program.launches[1].block), Texts{"?"});
}

TEST(HostPrograms, TheBranchOfAKnownConditionIsTaken) {
    const HostProgram program = main_with(
        "int n = argc > 1 ? atoi(argv[1]) : 64; int m = 1; if (argc > 1) m = 2;\n"
        "if (n > 32) a<<<n, m>>>(); else b<<<1, 1>>>();\n"
        "switch (n) { case 32: c<<<1, 1>>>(); break; case 64: d<<<1, 1>>>(); break; default: "
        "e<<<1, 1>>>(); }");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(program.launches[0].kernel, "a");
    EXPECT_EQ(values(program, program.launches[0].grid), Texts{"64"});
    EXPECT_EQ(values(program, program.launches[0].block), Texts{"1"});
    EXPECT_EQ(program.launches[1].kernel, "d");
}

TEST(HostPrograms, AFunctionIsReadWhereItIsCalledWithItsOwnNames) {
    const HostProgram program =
        main_with("int n = 5; run<float>(n, 7); k<<<n, 1>>>();",
                  "template <typename T> void run(int m, int n, int z = 3) { t<T><<<m, n>>>(z); }");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(values(program, program.launches[0].grid), Texts{"5"});
    EXPECT_EQ(values(program, program.launches[0].block), Texts{"7"});
    EXPECT_EQ(program.launches[0].templates, Texts{"float"});
    EXPECT_EQ(values(program, program.launches[1].grid), Texts{"5"});
}

TEST(HostPrograms, AFunctionThatCallsItselfEnds) {
    EXPECT_LE(
        main_with("f(1);", "void f(int n) { k<<<1, n>>>(); f(n + 1); f(n + 2); }").launches.size(),
        64U);
}

TEST(HostPrograms, ArraysHaveTheBytesOfTheirAllocation) {
    const HostProgram program = main_with(
        "float *d, *e; int n = 10; CHECK(cudaMalloc((void**)&d, (n + 2) * sizeof(float4)));\n"
        "cudaMallocManaged(&e, sizeof(double) * n); std::vector<int> v(3 * n, 7);\n"
        "float* alias = d + n; k<<<1, 1>>>(&d[4], alias + 1, v.data());");
    const HostValues known(program);
    const auto elements = [&](const char* array, std::size_t bytes) {
        return known.elements(find_array(program, array)->bytes, bytes)->text();
    };
    EXPECT_EQ(elements("d", 16), "12");
    EXPECT_EQ(elements("d", 4), "48");
    EXPECT_EQ(elements("e", 8), "10");
    EXPECT_EQ(elements("v", 4), "30");
    EXPECT_EQ(find_array(program, "v")->fill, "7");
    const Texts& arguments = program.launches.at(0).arguments;
    EXPECT_EQ(place_of(program, arguments[0]).array, "d");
    EXPECT_EQ(value(program, place_of(program, arguments[0]).offset), "4");
    EXPECT_EQ(place_of(program, arguments[1]).array, "d");
    EXPECT_EQ(value(program, place_of(program, arguments[1]).offset), "11");
    EXPECT_EQ(place_of(program, arguments[2]).array, "v");
    EXPECT_EQ(place_of(program, "nullptr").array, "");
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
    EXPECT_EQ(find_array(program, "z")->fill, "0");
}

TEST(HostPrograms, ATemplateTakesItsArgumentsFromPointers) {
    const HostProgram program = main_with(
        "real* p; k<<<1, 1>>>(p, 3); k2<4><<<1, 1>>>(p);",
        "typedef double real;\ntemplate <typename T> __global__ void k(const T* p, int n) {}\n"
        "template <int n, class T> __global__ void k2(T* p) {}");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(program.launches[0].templates, Texts{"real"});
    EXPECT_EQ(program.launches[1].templates, (Texts{"4", "real"}));
}

TEST(HostPrograms, TextThatIsNoLaunchIsNone) {
    for (const char* text : {"<<<", "k<<<1, 2", "int a = b <<< c;", "k<<<(1, 2>>>(a);", "> <<<1>>>",
                             "int main() { swap(", "int main() { dim3 a(; }", "for ("})
        EXPECT_TRUE(read_host_program(text).launches.empty()) << text;
}

}  // namespace
}  // namespace warpscope::experiments
