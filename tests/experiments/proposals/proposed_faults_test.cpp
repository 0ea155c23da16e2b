#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "experiments/proposals/propose_launch.h"
#include "support/add_kernel.h"

// Errors of host programs that are known before a kernel runs, and memory that they do not write.
namespace warpscope::experiments {
namespace {

using compiler::MemoryUse;
using compiler::Signature;

using Listed = std::vector<std::string>;
using Sentences = std::vector<std::string>;

constexpr MemoryUse reads{.reads = true}, nothing{};

/// The launches of add(n, a, x, y), which uses x so and writes y.
ProposedLaunches proposed_for(const std::string& host, const MemoryUse& use = reads) {
    Signature add = tests::add_signature();
    add.traits.memory = {{}, {}, use, {.writes = true}};
    const HostProgram program = read_host_program(host);
    const ProposedKernel one{&add, find_launch(program, add)};
    return propose_launches({.source = "add.cu"}, {&one, 1}, program);
}

Sentences faults_of(const std::string& host, const MemoryUse& use = reads) {
    Sentences all;
    for (const HostFault& fault : proposed_for(host, use).faults) all.push_back(fault.sentence);
    return all;
}

/// By buffer: the elements that the program writes, where these are not all.
std::map<std::string, std::string> written(const std::string& statements) {
    std::map<std::string, std::string> all;
    const auto made = proposed_for(
        "int main() { const int n = 100; float *x, *y, *h; cudaMalloc(&x, 400); cudaMalloc(&y, "
        "400);" +
        statements + "add<<<1, 100>>>(100, 2.0f, x, y); cudaFree(x); }");
    for (const auto& [name, elements] : made.written) all[name] = elements.text();
    return all;
}

TEST(ProposedLaunches, MemoryThatTheProgramNeverWritesIsUnwritten) {
    using Names = std::map<std::string, std::string>;
    EXPECT_EQ(written(""), (Names{{"x", "0"}, {"y", "0"}}));
    EXPECT_EQ(written("cudaMemcpy(h, y, 400, cudaMemcpyDeviceToHost);"),
              (Names{{"x", "0"}, {"y", "0"}}));
    EXPECT_EQ(written("cudaMemcpy(y, h, 400, cudaMemcpyHostToDevice);"), (Names{{"x", "0"}}));
    EXPECT_EQ(written("cudaMemset(x, 0, 400);"), (Names{{"y", "0"}}));
    EXPECT_EQ(written("load(x);"), (Names{{"y", "0"}}));
    EXPECT_EQ(written("float** p = &x; load(p);"), (Names{{"y", "0"}}));
    EXPECT_EQ(written("elsewhere<<<1, 1>>>(x);"), (Names{{"y", "0"}}));
}

TEST(ProposedLaunches, ACallMayWriteAPartOfAnArray) {
    using Names = std::map<std::string, std::string>;
    const std::string y = "cudaMemset(y, 0, 400);";
    EXPECT_EQ(written(y + "cudaMemset(x, 0, n);"), (Names{{"x", "25"}}));
    EXPECT_EQ(written(y + "cudaMemcpyAsync(x, h, 2 * n, cudaMemcpyHostToDevice, s);"),
              (Names{{"x", "50"}}));
    EXPECT_EQ(written(y + "cudaMemset(x, 0, n * sizeof(float));"), Names());
    EXPECT_EQ(written(y + "cudaMemset(x, 0, size());"), Names()) << "nobody knows how many bytes";
    // Others write the rest, or may write it.
    EXPECT_EQ(written(y + "cudaMemset(x, 0, 200); cudaMemset(x + 50, 0, 200);"), Names());
    EXPECT_EQ(written(y + "cudaMemset(x + 50, 0, 200); cudaMemset(x, 0, 200);"), Names());
    EXPECT_EQ(written(y + "cudaMemset(x, 0, 200); load(x + 50);"), Names());
    EXPECT_EQ(written(y + "if (late()) cudaMemset(x, 0, 200); else cudaMemset(x, 0, 400);"),
              Names());
}

TEST(ProposedLaunches, AKernelThatUsesFreedMemoryIsListed) {
    const auto freed = [&](const std::string& free, const MemoryUse& use) {
        return proposed_for("int main() {\nfloat *x, *y; cudaMalloc(&x, 400);\n" + free +
                                "\ncudaMalloc(&y, 400); add<<<1, 100>>>(100, 2.0f, x, y); }",
                            use);
    };
    const ProposedLaunches made = freed("cudaFree(x);", reads);
    ASSERT_EQ(made.faults.size(), 1U);
    EXPECT_EQ(made.faults[0].line, 4);
    EXPECT_EQ(made.faults[0].sentence,
              "The kernel add uses the memory of x, which cudaFree() frees on line 3, before this "
              "launch.");
    EXPECT_TRUE(freed("cudaFree(x);", nothing).faults.empty());
    EXPECT_TRUE(freed("cudaFree(x); cudaMalloc(&x, 800);", reads).faults.empty());
    EXPECT_TRUE(freed("if (broken()) { cudaFree(x); return 1; }", reads).faults.empty());
    EXPECT_TRUE(freed("auto release = [&] { cudaFree(x); };", reads).faults.empty());
    const ProposedLaunches perhaps = freed("if (late()) cudaFree(x);", reads);
    EXPECT_TRUE(perhaps.faults.empty());
    EXPECT_EQ(perhaps.guesses[0],
              Listed{"that x still has its memory, which cudaFree() frees on line 3"});
}

/// The faults of a launch of add(…, x, y) behind these statements.
Sentences faults_with(const std::string& statements, const MemoryUse& use = reads) {
    return faults_of("int main() { float* y; cudaMalloc(&y, 400);\n" + statements +
                         "\nadd<<<1, 100>>>(100, 2.0f, x, y); }",
                     use);
}

Sentences only_the_host_has(const std::string& owner) {
    return {"The kernel add uses x, which leads to memory of the host (" + owner +
            "), and a GPU has no access to it: copy it to memory of cudaMalloc(), or allocate it "
            "with cudaMallocManaged()."};
}

TEST(ProposedLaunches, MemoryOfTheHostIsNoMemoryOfAKernel) {
    EXPECT_EQ(faults_with("float* x = (float*)malloc(400);"), only_the_host_has("malloc()"));
    EXPECT_EQ(faults_with("auto x = static_cast<float*>(std::calloc(100, 4));"),
              only_the_host_has("calloc()"));
    EXPECT_EQ(faults_with("float* x = new float[100];"), only_the_host_has("new"));
    EXPECT_EQ(faults_with("float x[100];"), only_the_host_has("float[]"));
    const std::string vector =
        "int main() { std::vector<float> x(100); float* y;\n"
        "cudaMalloc(&y, 400); add<<<1, 100>>>(100, 2.0f, ";
    EXPECT_EQ(faults_of(vector + "x.data(), y); }"), only_the_host_has("std::vector"));
    EXPECT_EQ(faults_of(vector + "&x[0], y); }"), only_the_host_has("std::vector"));
    EXPECT_EQ(faults_with("float* x = (float*)malloc(400);", nothing), Sentences())
        << "the kernel does not use it";
}

TEST(ProposedLaunches, MemoryOfTheHostMayBeSharedWithTheDevice) {
    EXPECT_EQ(faults_with("float* x; cudaMallocManaged(&x, 400);"), Sentences());
    EXPECT_EQ(faults_with("float* x; cudaMallocHost(&x, 400);"), Sentences());
    EXPECT_EQ(faults_with("float* x = (float*)malloc(400); cudaHostRegister(x, 400, 0);"),
              Sentences());
    EXPECT_EQ(faults_with("float* x = (float*)malloc(400); x = y;"), Sentences());
    EXPECT_EQ(faults_with("float* rows[2]; cudaMalloc(&rows[0], 400); float* x = rows[0];"),
              Sentences());
    EXPECT_EQ(faults_with("std::vector<float, Pinned<float>> v(100); float* x = v.data();"),
              Sentences());
    EXPECT_EQ(faults_with("cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); float* x;\n"
                          "if (p.pageableMemoryAccess) x = (float*)malloc(400);\n"
                          "else cudaMallocManaged(&x, 400);"),
              Sentences());
    const auto made = proposed_for(
        "int main() { float *x, *y; cudaMalloc(&y, 400);\n"
        "if (late()) x = (float*)malloc(400);\nadd<<<1, 100>>>(100, 2.0f, x, y); }");
    EXPECT_TRUE(made.faults.empty());
    EXPECT_EQ(made.guesses[0],
              (Listed{"the size of x", "that x does not lead to memory of the host (malloc())"}));
}

TEST(ProposedLaunches, APointerWithoutAValueIsListed) {
    const Sentences none{
        "The kernel add uses the pointer x, which no statement gives a value before this launch."};
    EXPECT_EQ(faults_with("float* x;"), none);
    EXPECT_EQ(faults_with("float *a, *x, *b; cudaMalloc(&a, 400); a[0] = b[0];"), none);
    EXPECT_EQ(faults_with("float* x; cudaFree(x);"), none);
    EXPECT_EQ(faults_with("float* x; make(x);"), Sentences()) << "perhaps by reference";
    EXPECT_EQ(faults_with("float* x; float** p = &x; make(p);"), Sentences());
    EXPECT_EQ(faults_with("float* x; x = make();"), Sentences());
    EXPECT_EQ(faults_of("float* x; int main() { make(); add<<<1, 100>>>(100, 2.0f, x, x); }"),
              Sentences())
        << "a function of another file may give it a value";
}

TEST(ProposedLaunches, CallsThatCopyMoreThanAnArrayHasAreRefused) {
    const std::string enough = "const int n = 100; float* x; cudaMalloc(&x, n * sizeof(float));\n";
    EXPECT_EQ(faults_with(enough + "cudaMemset(x, 0, n * sizeof(double));"),
              (Sentences{"cudaMemset() fails: it is to copy 800 bytes, and x has 400 bytes."}));
    EXPECT_EQ(faults_with(enough + "cudaMemcpy(h, x, 404, cudaMemcpyDeviceToHost);"),
              (Sentences{"cudaMemcpy() fails: it is to copy 404 bytes, and x has 400 bytes."}));
    EXPECT_EQ(faults_with(enough + "cudaMemset(x, 0, 400);"), Sentences());
    EXPECT_EQ(faults_with(enough + "if (late()) cudaMemset(x, 0, 404);"), Sentences());
    EXPECT_EQ(faults_with("std::vector<float> h(100); load(h); float* x; cudaMalloc(&x, 800);\n"
                          "cudaMemcpy(h.data(), x, 800, cudaMemcpyDeviceToHost);"),
              Sentences())
        << "load() may make the vector longer";
}

TEST(ProposedLaunches, MuchSharedMemoryNeedsAnAttribute) {
    const auto with = [](const std::string& bytes, const std::string& before = "") {
        return faults_of("int main() { float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400);" +
                         before + "add<<<1, 100, " + bytes + ">>>(100, 2.0f, x, y); }");
    };
    EXPECT_EQ(with("49152"), Sentences());
    EXPECT_EQ(with("12289 * sizeof(float)"),
              (Sentences{"The launch of add fails: it asks for 49156 bytes of dynamic shared "
                         "memory, and more than 49152 need cudaFuncSetAttribute() with "
                         "cudaFuncAttributeMaxDynamicSharedMemorySize."}));
    EXPECT_EQ(with("65536", "cudaFuncSetAttribute(add, attribute, 65536);"), Sentences());
}

TEST(ProposedLaunches, SeveralStreamsAreNamed) {
    const auto remarks = [](const std::string& first, const std::string& second) {
        return proposed_for(
                   "int main() { float *x, *y; cudaMalloc(&x, 400); cudaMalloc(&y, 400);\n"
                   "for (int k = 0; k < 4; ++k) {\nadd<<<1, 100, 0, " +
                   first + ">>>(100, 2.0f, x, y);\nadd<<<1, 100, 0, " + second +
                   ">>>(100, 2.0f, x, y); } }")
            .remarks.size();
    };
    EXPECT_EQ(remarks("a", "a"), 0U);
    EXPECT_EQ(remarks("0", "cudaStreamLegacy"), 0U);
    EXPECT_EQ(remarks("a", "b"), 1U);
    EXPECT_EQ(remarks("a", "0"), 1U);
    EXPECT_EQ(remarks("all[k]", "all[k]"), 1U);
}

/// A class that owns memory; `more`: of its methods.
std::string owner(const std::string& more = "") {
    return "struct Owner { float* p; Owner(int n) { cudaMalloc(&p, n * sizeof(float)); }\n" + more +
           "~Owner() { cudaFree(p); } float* data() const { return p; } };\n";
}

/// The launches that get freed memory.
std::size_t freed_with(const std::string& source) {
    std::size_t count = 0;
    for (const HostLaunch& launch : read_host_program(source).launches)
        for (const HostBadPointer& bad : launch.bad_pointers)
            count += std::size_t(bad.memory == HostBadPointer::Memory::freed && bad.certain);
    return count;
}

TEST(ProposedLaunches, DestructorsFreeMemory) {
    const std::string main = "int main() { float *x, *y; cudaMalloc(&y, 400);\n";
    const std::string launch = "add<<<1, 100>>>(100, 2.0f, x, y);";
    const auto block = [&](const std::string& end) {
        return owner() + main + "{ Owner o(100); x = o.data(); " + end + " }";
    };
    EXPECT_EQ(freed_with(block("") + launch), 1U);
    EXPECT_EQ(freed_with(block(launch)), 0U);
    EXPECT_EQ(freed_with(block("keep(std::move(o));") + launch), 0U);
    const std::string use = "{ add<<<1, 100>>>(100, 2.0f, o.p, y); }\n";
    const auto passed = [&](const std::string& parameter, const std::string& more = "") {
        return owner(more) + "void use(" + parameter + ", float* y) " + use + main +
               "Owner o(100); use(o, y); use(o, y); }";
    };
    EXPECT_EQ(freed_with(passed("Owner o")), 1U);
    EXPECT_EQ(freed_with(passed("const Owner& o")), 0U);
    EXPECT_EQ(freed_with(passed("Owner o", "Owner(const Owner& o) { cudaMalloc(&p, 400); }")), 0U);
    const auto made = [&](const std::string& body) {
        return owner() + "Owner make(int n) {" + body + "}\n" + main + "Owner o = make(100);\n" +
               "add<<<1, 100>>>(100, 2.0f, o.p, y); }";
    };
    EXPECT_EQ(freed_with(made("Owner a(n); return a;")), 0U);
    EXPECT_EQ(freed_with(made("return Owner(n);")), 0U);
}

}  // namespace
}  // namespace warpscope::experiments
