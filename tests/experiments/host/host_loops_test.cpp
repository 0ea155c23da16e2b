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

/// "kernel of the sizes of its blocks" of each launch.
std::string launches_of(const HostProgram& program) {
    std::string all;
    for (const HostLaunch& launch : program.launches) {
        all += all.empty() ? launch.kernel : " " + launch.kernel;
        for (const std::string& argument : launch.templates) all += "<" + argument + ">";
        all += " " + value(program, launch.block[0]) + (launch.repeats ? " repeats;" : ";");
    }
    return all;
}

TEST(HostPrograms, ALoopWhoseCounterChoosesTheLaunchIsReadPassByPass) {
    const std::string run =
        "void run(int which, int n) { switch (which) {\n"
        "case 0: a<8><<<1, n>>>(); break; case 1: a<16><<<1, n>>>(); break; } }";
    EXPECT_EQ(launches_of(main_with("for (int k = 0; k < 2; ++k) run(k, 32);", run)),
              "a<8> 32; a<16> 32;");
    EXPECT_EQ(launches_of(main_with("for (int which : {1, 0}) run(which, 64);", run)),
              "a<16> 64; a<8> 64;");
    EXPECT_EQ(launches_of(main_with("for (int k = 3; k >= 0; k -= 2) if (k > 2) a<<<1, k>>>();\n"
                                    "else b<<<1, k>>>();")),
              "a 3; b 1;");
    EXPECT_EQ(launches_of(main_with("void (*kernels[])(int) = {a, b};\n"
                                    "for (int k = 0; k < 2; k++) kernels[k]<<<1, k + 1>>>(k);")),
              "a 1; b 2;");
    EXPECT_EQ(launches_of(main_with("int sizes[] = {32, 64};\n"
                                    "for (int size : sizes) if (size > 32) a<<<1, size>>>();\n"
                                    "else b<<<1, size>>>();")),
              "b 32; a 64;");
}

TEST(HostPrograms, OtherLoopsArePassedOnce) {
    // Of nine passes one is read, which may make either launch; a counter that chooses nothing
    // needs one.
    EXPECT_EQ(launches_of(main_with("for (int k = 0; k < 9; ++k) if (k == 0) a<<<1, 1>>>();\n"
                                    "else b<<<1, 2>>>();")),
              "a 1 repeats; b 2 repeats;");
    EXPECT_EQ(launches_of(main_with("for (int k = 1; k < 4; ++k) a<<<1, k>>>();")), "a 1 repeats;");
    EXPECT_EQ(launches_of(main_with("for (int size : {32, 64}) a<<<1, size>>>();")),
              "a 32 repeats;");
}

TEST(HostPrograms, ArgumentsOfTemplatesFollowFromTypes) {
    const std::string map =
        "template <typename I, typename V> struct Map { I* keys; V* values;\n"
        "Span<V> span() const { return {values, 1}; } };\n"
        "template <typename T> __global__ void one(Span<T> s) {}\n"
        "template <typename I, typename V> __global__ void two(Map<I, V> m, V v) {}\n"
        "template <typename... Ts> __global__ void all(int n, Ts... p) {}\n"
        "template <typename T> __global__ void value(T p) {}\n";
    const auto templates = [&](const std::string& statements) {
        Texts all;
        for (const HostLaunch& launch : main_with(statements, map).launches)
            all.insert(all.end(), launch.templates.begin(), launch.templates.end());
        return all;
    };
    EXPECT_EQ(templates("Map<int, double> m; two<<<1, 1>>>(m, 1.0);"), (Texts{"int", "double"}));
    EXPECT_EQ(templates("Map<Map<int, char>, double> m; two<<<1, 1>>>(m, 1.0);"),
              (Texts{"Map<int,char>", "double"}));
    EXPECT_EQ(templates("using Table = Map<int, float>; Table m; two<<<1, 1>>>(m, 1);"),
              (Texts{"int", "float"}));
    EXPECT_EQ(templates("Map<int, unsigned> m; one<<<1, 1>>>(m.span());"), Texts{"unsigned"});
    EXPECT_EQ(templates("Map<int, unsigned> m; auto s = m.span(); one<<<1, 1>>>(s);"),
              Texts{"unsigned"});
    EXPECT_EQ(templates("one<<<1, 1>>>(Span<float2>{p, 3});"), Texts{"float2"});
    EXPECT_EQ(templates("float* p; double d; all<<<1, 1>>>(4, p, d, 1u, true);"),
              (Texts{"float*", "double", "unsigned", "bool"}));
    EXPECT_EQ(templates("float** p; value<<<1, 1>>>(p);"), Texts{"float**"});
    EXPECT_EQ(templates("Span<int> s; two<<<1, 1>>>(s, 1.0f);"), Texts()) << "I does not follow";
}

TEST(HostPrograms, TheOtherCasesOfAnUnknownSwitchAreNamed) {
    const auto with = [](const std::string& value) {
        return main_with("switch (" + value +
                         ") { case 1: a<<<1, 1>>>(); break; case 2: b<<<1, 2>>>(); break;\n"
                         "default: c<<<1, 3>>>(); }");
    };
    const HostProgram unknown = with("mode()");
    EXPECT_EQ(launches_of(unknown), "c 3;");
    EXPECT_EQ(unknown.launches[0].assumed,
              (std::set<std::string>{"the case of switch (mode ( ))"}));
    EXPECT_EQ(unknown.left_out, (std::set<std::string>{"the other cases of switch (mode ( ))"}));
    for (const std::string known : {"2", "7"}) {
        const HostProgram program = with(known);
        EXPECT_EQ(launches_of(program), known == "2" ? "b 2;" : "c 3;");
        EXPECT_TRUE(program.launches[0].assumed.empty()) << known;
        EXPECT_TRUE(program.left_out.empty()) << known;
    }
}

}  // namespace
}  // namespace warpscope::experiments
