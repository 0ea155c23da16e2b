#include <gtest/gtest.h>

#include "host_main.h"

namespace warpscope::experiments {
namespace {

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

TEST(HostPrograms, ALiteralHasItsLengthAndItsLetters) {
    const HostProgram program = main_with(
        "const char* text = \"acgt\"; char s[] = \"gatta\\n\"; char* d; int n = strlen(text);\n"
        "cudaMalloc(&d, std::strlen(s) + 1); cudaMemcpy(d, s, sizeof(s), cudaMemcpyHostToDevice);\n"
        "k<<<1, n>>>(d); k<<<strlen(\"a \\\"b\\\"\"), strlen(argv[0])>>>(d);");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(values(program, program.launches[0].block), Texts{"4"});
    EXPECT_EQ(values(program, program.launches[1].grid), Texts{"5"});
    EXPECT_EQ(values(program, program.launches[1].block), Texts{"?"});
    EXPECT_EQ(value(program, "sizeof ( s )"), "7");
    EXPECT_EQ(value(program, "strlen ( \"\\x41b\" )"), "?") << "x41b may be one character";
    HostValues known(program);
    EXPECT_EQ(known.elements(find_array(program, "d")->bytes, 1)->text(), "7");
    known.is_scalar("$i", "i");
    const auto fill = known.expression(find_array(program, "d")->fill);
    ASSERT_TRUE(fill);
    EXPECT_EQ(fill->value(Names{{"i", 1L}}), Number(std::int64_t('a')));
    EXPECT_EQ(fill->value(Names{{"i", 5L}}), Number(std::int64_t('\n')));
    EXPECT_EQ(fill->value(Names{{"i", 6L}}), Number(0L));
}

TEST(HostPrograms, ALambdaIsReadWhereItIsCalled) {
    const HostProgram program = main_with(
        "int n = 64, m = 3; float h[64], g[64], *d, *e;\n"
        "auto fill = [&](float* p, int last, float v) -> void {\n"
        "  for (int i = 0; i < last; ++i) p[i] = v * i; };\n"
        "auto blocks = [n](int threads) { return (n + threads - 1) / threads; };\n"
        "const auto on_device = [&](float*& p, const float* from) {\n"
        "  cudaMalloc(&p, n * sizeof(float)); m = 4;\n"
        "  cudaMemcpy(p, from, n * sizeof(float), cudaMemcpyHostToDevice); };\n"
        "auto start = [=]() { k<<<blocks(32), 32>>>(d, e); };\n"
        "fill(h, n, 2); fill(g, n, 5); on_device(d, h); on_device(e, g); start(); k<<<m, 1>>>(d);");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(values(program, program.launches[0].grid), Texts{"2"});
    EXPECT_EQ(values(program, program.launches[1].grid), Texts{"?"}) << "a lambda has changed it";
    HostValues known(program);
    known.is_scalar("$i", "i");
    for (const auto& [argument, times] : {std::pair(0, 2L), std::pair(1, 5L)}) {
        const std::string array =
            place_of(program, program.launches[0].arguments.at(std::size_t(argument))).array;
        ASSERT_TRUE(find_array(program, array)) << array;
        EXPECT_EQ(known.elements(find_array(program, array)->bytes, 4)->text(), "64");
        const auto fill = known.expression(find_array(program, array)->fill);
        ASSERT_TRUE(fill) << find_array(program, array)->fill;
        EXPECT_EQ(real(fill->value(Names{{"i", 3L}})), double(3 * times));
    }
}

TEST(HostPrograms, AFunctionOfTheProgramMaySwapAsTheOneOfTheLibraryDoes) {
    const HostProgram program =
        main_with("float *a, *b; cudaMalloc(&a, 4); cudaMalloc(&b, 8); swap(a, b); k<<<1, 1>>>(a);",
                  "void swap(float*& a, float*& b) { float* c = a; a = b; b = c; }");
    const HostPlace place = place_of(program, program.launches.at(0).arguments.at(0));
    ASSERT_TRUE(find_array(program, place.array)) << place.array;
    EXPECT_EQ(find_array(program, place.array)->bytes, "8");
}

TEST(HostPrograms, ALambdaThatNobodyCallsIsReadOnce) {
    const HostProgram program =
        main_with("k<<<1, 8>>>(); auto other = [](int n) { k<<<2, n>>>(); };");
    ASSERT_EQ(program.launches.size(), 2U);
    EXPECT_EQ(values(program, program.launches[1].block), Texts{"?"});
}

TEST(HostPrograms, ElementsOfMemberArraysHaveMembers) {
    const HostProgram program = main_with(
        "Net net; float* w; cudaMalloc(&w, 40); net.layers[0].w = w; net.layers[0].n = 10;\n"
        "cudaMalloc(&net.layers[1].w, 80); net.layers[1].n = 2 * net.layers[0].n;\n"
        "net.in.first.rate = 3; net.taps[2] = 7; Net copy = net; Net* p = &net; p->in.n = 4;\n"
        "k<<<1, 1>>>(copy);",
        "struct Layer { float* w; int n; }; struct Net { Layer layers[2]; int taps[4]; };");
    EXPECT_EQ(values(program, {"net$layers$at1$n", "net$in$first$rate", "net$taps$at2",
                               "copy$layers$at0$n", "net$in$n"}),
              (Texts{"20", "3", "7", "10", "4"}));
    for (const auto& [member, bytes] :
         {std::pair("copy$layers$at0$w", "40"), std::pair("copy$layers$at1$w", "80")}) {
        const HostPlace place = place_of(program, member);
        ASSERT_TRUE(find_array(program, place.array)) << place.array;
        EXPECT_EQ(find_array(program, place.array)->bytes, bytes);
    }
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

TEST(HostPrograms, SizeofKnowsTheVariablesOfTheProgram) {
    const HostProgram program = main_with(
        "  int h[N][3], few[] = {7, 8}, *p = few; unsigned char bytes[N];\n"
        "  std::array<double, 6> six; std::vector<float> v(N, 1), w; w.resize(2 * N); n = f(h);\n"
        "  k<<<1, 1>>>(sizeof h, sizeof(h[0]), sizeof h[0][0], sizeof(few) / sizeof *few, "
        "sizeof(p),\n"
        "              sizeof *p, sizeof(bytes), sizeof(six), six.size(), v.size() * "
        "sizeof(v[0]),\n"
        "              w.size(), sizeof(table));",
        "#define N 10\nshort table[4];\nint f(int (*p)[3]) { cudaMalloc(&q, 1); return 1; }");
    ASSERT_EQ(program.launches.size(), 1U);
    EXPECT_EQ(values(program, program.launches[0].arguments),
              (Texts{"120", "12", "4", "2", "8", "4", "10", "48", "6", "40", "20", "8"}));
}

TEST(HostPrograms, AnArrayThatIsAParameterIsAPointer) {
    const HostProgram program = main_with("int h[64]; f(h, h);",
                                          "void f(int a[64], int *b) { cudaMalloc(&p, sizeof(a)); "
                                          "k<<<1, 1>>>(sizeof(a), sizeof(b), sizeof *a); }");
    ASSERT_EQ(program.launches.size(), 1U);
    EXPECT_EQ(values(program, program.launches[0].arguments), (Texts{"8", "8", "4"}));
}

TEST(HostPrograms, CallsOfTheRuntimeLaunch) {
    const HostProgram program = main_with(
        "int n = 40; float *a; cudaMalloc(&a, 4 * n); void *all[2] = {&a, (void *)&n};\n"
        "cudaLaunchKernel((const void *)lib::scale<float, 2>, dim3(5), dim3(n, 2), all, n * 4, "
        "0);\n"
        "auto f = reinterpret_cast<void *>(&other); all[1] = &a;\n"
        "CHECK(cudaLaunchCooperativeKernel(f, 3, n, all));");
    ASSERT_EQ(program.launches.size(), 2U);
    const HostLaunch& first = program.launches[0];
    EXPECT_EQ(first.kernel, "scale");
    EXPECT_EQ(first.templates, (Texts{"float", "2"}));
    EXPECT_EQ(values(program, first.grid), Texts{"5"});
    EXPECT_EQ(values(program, first.block), (Texts{"40", "2"}));
    EXPECT_EQ(value(program, first.shared), "160");
    ASSERT_EQ(first.arguments.size(), 2U);
    EXPECT_EQ(place_of(program, first.arguments[0]).array, "a");
    EXPECT_EQ(value(program, first.arguments[1]), "40");
    EXPECT_EQ(program.launches[1].kernel, "other");
    EXPECT_EQ(values(program, program.launches[1].block), Texts{"40"});
    EXPECT_EQ(program.launches[1].arguments, (Texts{"a", "a"}));
}

TEST(HostPrograms, MembersOfAStructAreFollowedThroughCopiesPointersAndReferences) {
    const HostProgram program = main_with(
        "Grid g{30, 20}; g.h = 25; Grid copy = g; copy.w = 31; fill(&g); use(copy, g);",
        "struct Grid { int w, h; float *data; int steps = 3; };\n"
        "void fill(Grid *g) { cudaMalloc(&g->data, g->w * g->h); }\n"
        "void use(Grid c, const Grid &r) { k<<<c.w, r.h>>>(c.h, c.steps, r.w, r.data, c); }");
    ASSERT_EQ(program.launches.size(), 1U);
    const HostLaunch& launch = program.launches[0];
    EXPECT_EQ(values(program, launch.grid), Texts{"31"});
    EXPECT_EQ(values(program, launch.block), Texts{"25"});
    EXPECT_EQ(value(program, launch.arguments[0]), "25");
    EXPECT_EQ(value(program, launch.arguments[1]), "3");
    EXPECT_EQ(value(program, launch.arguments[2]), "30");
    const std::string array = place_of(program, launch.arguments[3]).array;
    EXPECT_EQ(array, "g$data");
    EXPECT_EQ(value(program, find_array(program, array)->bytes), "750");
}

TEST(HostPrograms, ConstructorsAndMethodsAreFollowed) {
    const HostProgram program =
        main_with("Pair<short> two(50); two.grow(3); two.run(9);",
                  "template <class T> struct Array {\n"
                  "  explicit Array(int n = 1) : count{n} { cudaMalloc(&p, bytes()); }\n"
                  "  virtual ~Array() { cudaFree(p); }\n"
                  "  int bytes() const { return count * sizeof(T); }\n"
                  "  T *get() { return p; }\n"
                  "  operator T *() { return p; }\n"
                  " private: int count; T *p = nullptr; };\n"
                  "template <class T> class Pair {\n"
                  "  Array<T> a, b; int n; dim3 block{8, 2};\n"
                  " public: Pair(int n) : a(n), b(n + 1), n(n) {}\n"
                  "  void grow(int times) { n *= 1; scale = times; }\n"
                  "  void run(int m) { k<<<n, block>>>(a, b.get(), m, scale); }\n"
                  "  int scale = 0; };");
    ASSERT_EQ(program.launches.size(), 1U);
    const HostLaunch& launch = program.launches[0];
    EXPECT_EQ(values(program, launch.block), (Texts{"8", "2"}));
    EXPECT_EQ(value(program, launch.arguments[2]), "9");
    EXPECT_EQ(value(program, launch.arguments[3]), "3");
    const auto bytes = [&](std::size_t argument) {
        const std::string array = place_of(program, launch.arguments[argument]).array;
        const HostArray* const found = find_array(program, array);
        return found ? value(program, found->bytes) : "none";
    };
    EXPECT_EQ(bytes(0), "100");
    EXPECT_EQ(bytes(1), "102");
}

TEST(HostPrograms, MethodsMayStandBehindTheirClass) {
    const HostProgram program =
        main_with("lib::Grid g(6, 5); g.step(2);",
                  "namespace lib { class Grid { public: Grid(int x, int y); void step(int times);\n"
                  " private: void make() { cudaMalloc(&u, x * y); } int x, y; char *u; };\n"
                  "Grid::Grid(int w, int h) : x(w), y(h) { make(); }\n"
                  "void Grid::step(int times) { k<<<x, times>>>(u); } }");
    ASSERT_EQ(program.launches.size(), 1U);
    const HostLaunch& launch = program.launches[0];
    EXPECT_EQ(values(program, launch.grid), Texts{"6"});
    EXPECT_EQ(values(program, launch.block), Texts{"2"});
    const std::string array = place_of(program, launch.arguments[0]).array;
    ASSERT_TRUE(find_array(program, array));
    EXPECT_EQ(value(program, find_array(program, array)->bytes), "30");
}

TEST(HostPrograms, AFunctionReturnsWhatItAllocates) {
    const HostProgram program = main_with(
        "float *a = made<float>(6), *b = made<float>(7); auto c = owned(8); k<<<1, 1>>>(a, b, "
        "c.get());",
        "template <class T> T *made(int n) { T *p; cudaMalloc(&p, n * sizeof(T)); return p; }\n"
        "Owner<int> owned(int n) { int *p; cudaMalloc(&p, n); return Owner<int>(p); }");
    ASSERT_EQ(program.launches.size(), 1U);
    Texts bytes;
    for (const std::string& argument : program.launches[0].arguments)
        bytes.push_back(
            value(program, find_array(program, place_of(program, argument).array)->bytes));
    EXPECT_EQ(bytes, (Texts{"24", "28", "8"}));
}

TEST(HostPrograms, QuestionsAboutTheDeviceHaveTheAnswersOfTheEmulator) {
    const HostProgram program = main_with(
        "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int sms, least, threads;\n"
        "cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);\n"
        "cudaOccupancyMaxPotentialBlockSize(&least, &threads, f, 0, 0);\n"
        "f<<<2 * p.multiProcessorCount, p.warpSize>>>(sms, threads, p.clockRate);");
    ASSERT_EQ(program.launches.size(), 1U);
    const HostLaunch& launch = program.launches[0];
    EXPECT_EQ(values(program, launch.grid), Texts{"58"});
    EXPECT_EQ(values(program, launch.block), Texts{"32"});
    EXPECT_EQ(values(program, launch.arguments), (Texts{"29", "1024", "?"}));
}

}  // namespace
}  // namespace warpscope::experiments
