#include <gtest/gtest.h>

#include "experiments/host/preprocessor/preprocessor.h"
#include "host_main.h"

// Numbers that other code changes, names of blocks, and branches that the compiler leaves out.
namespace warpscope::experiments {
namespace {

/// The value of n behind the statements.
std::string n_after(const std::string& statements, const std::string& before = "") {
    const HostProgram program =
        main_with("int n = 100; " + statements + " k<<<1, 1>>>(n);", before);
    return program.launches.empty() ? "no launch"
                                    : value(program, program.launches[0].arguments[0]);
}

TEST(HostPrograms, NumbersThatOtherCodeMayChangeAreUnknown) {
    EXPECT_EQ(n_after("scanf(\"%d\", &n);"), "?");
    EXPECT_EQ(n_after("std::cin >> n;"), "?");
    EXPECT_EQ(n_after("std::ifstream in(\"x\"); in >> m >> n;"), "?");
    EXPECT_EQ(n_after("std::tie(n, m) = sizes();"), "?");
    EXPECT_EQ(n_after("int& m = n; m = 5;"), "?");
    EXPECT_EQ(n_after("int* m = &n; *m = 5;"), "?");
    EXPECT_EQ(n_after("cudaMemcpy(&n, d, sizeof(int), cudaMemcpyDeviceToHost);"), "?");
    EXPECT_EQ(n_after("ADD(n, 2);", "#define ADD(x, y) x += y\n"), "?");
    EXPECT_EQ(n_after("again: n += 9; if (more()) goto again;"), "?");
    EXPECT_EQ(n_after("get(&n);", "void get(int* x) { *x = 5; }"), "?");
    // These only read it.
    EXPECT_EQ(n_after("printf(\"%d %p\", n, &n); use(n); const int& m = n;"), "100");
    EXPECT_EQ(n_after("void* all[] = {&n}; show(all);"), "100");
    EXPECT_EQ(n_after("read(n);", "void read(const int& x) { cudaFree(0); }"), "100");
    EXPECT_EQ(n_after("CHECK(n);", "#define CHECK(x) if (x != 0) throw 1\n"), "100");
}

TEST(HostPrograms, ACallChangesWhatItGetsByReference) {
    EXPECT_EQ(n_after("twice(n);", "void twice(int& x) { cudaFree(0); x *= 2; }"), "200");
    EXPECT_EQ(n_after("twice(n); twice(n);", "void twice(int& x) { cudaFree(0); x *= 2; }"), "400");
    EXPECT_EQ(n_after("twice(n);", "void twice(int& x) { x *= 2; }"), "?") << "it is not followed";
    EXPECT_EQ(n_after("twice(n);", "void twice(int x) { cudaFree(0); x *= 2; }"), "100");
    EXPECT_EQ(n_after("auto add = [&] { n += 5; }; add();"), "?");
}

TEST(HostPrograms, FunctionsChangeGlobals) {
    const HostProgram program = read_host_program(
        "int n = 1;\nvoid grow() { n *= 3; }\nvoid launch() { k<<<1, 1>>>(n); }\n"
        "int main() { launch(); grow(); launch(); grow(); k<<<1, 1>>>(n); }");
    ASSERT_EQ(program.launches.size(), 3U);
    EXPECT_EQ(value(program, program.launches[0].arguments[0]), "1");
    EXPECT_EQ(value(program, program.launches[1].arguments[0]), "3");
    EXPECT_EQ(value(program, program.launches[2].arguments[0]), "9");
}

TEST(HostPrograms, MembersCount) {
    const std::string list =
        "struct List { int size; int items[9]; void add(int x) { items[size++] = x; } };";
    EXPECT_EQ(n_after("List l; l.size = 4; l.size += 2; l.size++; n = l.size;", list), "7");
    EXPECT_EQ(n_after("List l; l.size = 0; l.add(3); l.add(5); n = l.size;", list), "2");
    EXPECT_EQ(
        n_after("List l; l.size = 0; for (int i = 0; i < 9; ++i) l.add(i); n = l.size;", list),
        "?");
    EXPECT_EQ(n_after("List l; l.size = 0; for (int i = 0; i < 9; ++i) if (i % 2) "
                      "l.items[l.size++] = i; n = l.size;",
                      list),
              "?");
}

TEST(HostPrograms, VectorsThatGrowHaveNoKnownSize) {
    const std::string v = "std::vector<int> v(8); ";
    EXPECT_EQ(n_after(v + "n = v.size();"), "8");
    EXPECT_EQ(n_after(v + "v.insert(v.end(), 3); n = v.size();"), "?");
    EXPECT_EQ(n_after(v + "load(v); n = v.size();"), "?");
    EXPECT_EQ(n_after(v + "load(v.data()); n = v.size();"), "8");
    EXPECT_EQ(
        n_after(v + "add(v); n = v.size();", "void add(std::vector<int>& w) { w.push_back(1); }"),
        "?");
}

TEST(HostPrograms, BlocksHaveNamesOfTheirOwn) {
    EXPECT_EQ(n_after("{ int n = 5; n++; }"), "100");
    EXPECT_EQ(n_after("{ n = 5; }"), "5");
    EXPECT_EQ(n_after("for (int n = 0; n < 3; ++n) use(n);"), "100");
    EXPECT_EQ(n_after("if (int n = 3) n++;"), "100");
    EXPECT_EQ(n_after("use(n);", "void use(int m) { int n = m + 1; cudaFree(0); }"), "100");
}

TEST(HostPrograms, ANumberOfAnUnknownBranchIsAssumed) {
    const HostProgram program =
        main_with("int n = 100; k<<<1, 1>>>(n); if (fast()) n = 50; k<<<1, 1>>>(n);");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_TRUE(program.launches[0].assumed.empty());
    EXPECT_EQ(program.launches[1].assumed, (std::set<std::string>{"the branch of if (fast ( ))"}));
}

TEST(HostPrograms, IntegersOfRealNumbersAreCutOff) {
    EXPECT_EQ(n_after("n = int(1024 / 128.f + 0.5f);"), "8");
    EXPECT_EQ(n_after("n = (int)(10 / 4.0);"), "2");
    EXPECT_EQ(n_after("n = static_cast<int>(7 * 0.5);"), "3");
    EXPECT_EQ(n_after("n = (int)(9 + 2) / 2;"), "5");
}

TEST(HostPrograms, BranchesThatTheCompilerLeavesOutAreNotRead) {
    EXPECT_EQ(n_after("\n#ifdef FAST\nn = 1;\n#else\nn = 2;\n#endif\n"), "2");
    EXPECT_EQ(n_after("\n#ifdef FAST\nn = 1;\n#else\nn = 2;\n#endif\n", "#define FAST\n"), "1");
    EXPECT_EQ(n_after("\n#if 0\nn = 1;\n#endif\n"), "100");
    EXPECT_EQ(n_after("\n#ifndef SIZE\n#define SIZE 64\n#endif\nn = SIZE;\n"), "64");
    EXPECT_EQ(
        n_after("\n#if SIZE > 32 && !defined(SMALL)\nn = 1;\n#elif SIZE == 32\nn = 2;\n#else\n"
                "n = 3;\n#endif\n",
                "#define SIZE (8 * 4)\n"),
        "2");
    EXPECT_EQ(n_after("\n#if 1\n#if 0\nn = 1;\n#else\nn = 2;\n#endif\n#else\nn = 3;\n#endif\n"),
              "2");
    EXPECT_EQ(n_after("\n#undef FAST\n#ifdef FAST\nn = 1;\n#endif\n", "#define FAST\n"), "100");
}

TEST(HostPrograms, BranchesOfAnUnknownConditionAreAllRead) {
    const std::string source = "#if __has_include(<x>)\nint a;\n#else\nint b;\n#endif\n";
    EXPECT_EQ(without_inactive_branches(source), source);
    EXPECT_EQ(without_inactive_branches("#if 0\nint a;\n#endif\nint b;\n"),
              "#if 0\n      \n#endif\nint b;\n")
        << "lines keep their numbers";
}

TEST(HostPrograms, FurtherPassesMayWriteWhatTheFirstOneDoesNot) {
    const auto written = [](const std::string& launch) {
        const HostProgram program =
            main_with("float* d; cudaMalloc(&d, 400); for (int i = 0; i < 100; i += 10) " + launch +
                      " k<<<1, 1>>>(d);");
        return find_array(program, "d")->written;
    };
    EXPECT_EQ(written("fill<<<1, 10>>>(d, 10);"), "0") << "each pass writes one place";
    EXPECT_EQ(written("fill<<<1, 10>>>(d + i, 10);"), "");
    EXPECT_EQ(written("{ const int first = i; fill<<<1, 10>>>(d, first); }"), "");
}

TEST(HostPrograms, ProgramsThatCannotBeCompiledAreReadToTheirEnd) {
    const std::string member = "struct P { int n; };";
    EXPECT_EQ(
        n_after("P& p = p; p.n = 3; P &q = r, &r = q; q.n++; auto a = b; auto b = a;", member),
        "100");
    const auto launches_within = [](std::size_t blocks) {
        return main_with(std::string(blocks, '{') + "k<<<1, 1>>>(1);" + std::string(blocks, '}'))
            .launches.size();
    };
    EXPECT_EQ(launches_within(100), 1U);
    EXPECT_EQ(launches_within(50'000), 0U) << "these blocks are too deep";
    const std::string condition = "#if " + std::string(20'000, '(') + "1\nint a;\n#endif\n";
    EXPECT_EQ(without_inactive_branches(condition), condition) << "it is not known";
    EXPECT_TRUE(main_with("void (*kernels[").launches.empty());
}

}  // namespace
}  // namespace warpscope::experiments
