#include <fmt/format.h>

#include <random>
#include <sstream>

#include "emulator/ptx_fixture.h"

// Malicious or broken PTX texts end in an Error, without a crash and without using gigabytes.
namespace warpscope::emulator {
namespace {

TEST(HostileText, SizesBeyondEveryLimitAreRejected) {
    const auto before = [](const std::string& text) { return load_error(kernel_text("", text)); };
    expect_contains(before(".global .align 4 .b8 x[99999999999];"), "too large");
    expect_contains(before(".global .align 4 .b8 x[-1];"), "too large");
    expect_contains(before(".global .align 4 .b8 x[1000000][1000000];"), "too large");
    expect_contains(before(".global .align 4 .b8 x[500000000];\n.global .align 4 .b8 "
                           "y[500000000];"),
                    "more than 512 MiB");
    expect_contains(before(".global .align 0 .b8 x[4];"), "alignment");
    expect_contains(before(".global .align 3 .b8 x[4];"), "alignment");
    expect_contains(before(".global .align 4 .b8 x[2] = {1, 2, 3};"), "more initial values");
    expect_contains(before(".global .align 4 .b32 x[2] = {nothing};"), "64 bits");
    expect_contains(before(".global .align 8 .b64 x[2] = {nothing};"), "not known");
    expect_contains(load_error(kernel_text(".local .align 4 .b8 x[1000000];")), "local memory");
    expect_contains(load_error(kernel_text(".shared .align 4 .b8 x[1073741823];\n"
                                           ".shared .align 4 .b8 y[1073741823];")),
                    "shared memory");
    expect_contains(load_error(kernel_text(".reg .b32 %q<999999999>;")), "registers");
    expect_contains(load_error(kernel_text(".reg .b32 %q<-5>;")), "registers");
    expect_contains(load_error(".file -1 \"x\"\n"), "no file");
    expect_contains(load_error(".file 4000000000 \"x\"\n"), "no file");
    expect_contains(load_error(".visible .entry k(.param .align 4 .b8 p[4294967297])\n{ret;}\n"),
                    "too large");
}

TEST(HostileText, MemoryBeyondTheLaunchLimitsIsRejected) {
    Runner r(kernel_text(".shared .align 4 .b8 x[300000];\nst.shared.u32 [x], %r1;"));
    expect_contains(error_of([&] { r.run(one_block(1)); }), "shared memory are more than");
    Runner local(kernel_text(".local .align 4 .b8 x[524288];\nst.local.u32 [x+524284], %r1;"));
    EXPECT_EQ(error_of([&] { local.run(one_block(32)); }), "");
    Runner beyond(kernel_text(".local .align 4 .b8 x[524288];\nst.local.u32 [x+-4], %r1;"));
    expect_contains(error_of([&] { beyond.run(one_block(32)); }), "local memory address");
}

TEST(HostileText, DeepNestingIsRejected) {
    const std::string many(100'000, '{'), marks(100'000, '!');
    EXPECT_NE(load_error(kernel_text(many)), "");
    EXPECT_NE(load_error(kernel_text("add.s32 " + many + "%r1")), "");
    EXPECT_NE(load_error(kernel_text("selp.b32 %r1, %r1, %r1, " + marks + "%p1;")), "");
}

// Functions that are called as text that no compiler writes would have it.
TEST(HostileText, ManyOrDeepCallsAreRejected) {
    const auto chain = [](unsigned functions, const std::string& body) {
        std::string text;
        for (unsigned k = 0; k < functions; ++k) {
            text += fmt::format(".func f{}()\n{{\n", k);
            if (k > 0) text += fmt::format(fmt::runtime(body), k - 1);
            text += "}\n";
        }
        return load_error(kernel_text(fmt::format("call f{}, ();", functions - 1), text));
    };
    EXPECT_EQ(chain(100, "call f{0}, ();\nret;\n"), "");
    expect_contains(chain(20'000, "call f{0}, ();\nret;\n"), "more than 200 deep");
    // Nothing is left of a call of a function without statements; there are 2^60 of them.
    expect_contains(chain(60, "call f{0}, ();\ncall f{0}, ();\n"), "too large");
    expect_contains(chain(8, ".reg .b32 %q<190000>;\ncall f{0}, ();\n"), "too large");
}

// A register narrower than what goes into it or comes from it would reach into its neighbours.
TEST(HostileText, RegistersOfTheWrongWidthAreRejected) {
    for (const char* statement : {"add.s64 %rd2, %rd2, %r2;",
                                  "add.s64 %r2, %rd2, %rd2;",
                                  "mov.b64 %r2, %rd2;",
                                  "mul.wide.u32 %r2, %r1, %r1;",
                                  "mad.wide.u32 %rd2, %r1, %r1, %r2;",
                                  "ld.global.u64 %r2, [%rd1];",
                                  "ld.global.v2.u32 {%r2, %rd2}, [%rd1];",
                                  "st.global.u64 [%rd1], %r2;",
                                  "atom.global.add.u64 %r2, [%rd1], %rd2;",
                                  "atom.global.exch.b64 %rd2, [%rd1], %r2;",
                                  "mov.u64 %r2, %clock64;",
                                  "cvt.u64.u32 %r2, %r1;",
                                  "cvt.u32.u64 %r2, %r1;",
                                  "add.f64 %f1, %fd1, %fd1;",
                                  "selp.b64 %rd2, %rd1, %r1, %p1;",
                                  "setp.eq.s64 %p1, %rd1, %r1;",
                                  "add.s32 %r2, %p1, %r1;",
                                  "add.s32 %p1, %r1, %r1;",
                                  "add.s32 _, %r1, %r1;",
                                  "@%r1 add.s32 %r2, %r1, %r1;",
                                  "bfi.b64 %rd2, %rd1, %r1, 0, 8;",
                                  "mov.b64 %rd2, {%r1, %r1, %r1};"}) {
        // The stores read the results, so that no statement is dropped.
        EXPECT_NE(load_error(kernel_text(std::string(statement) + "\nst.global.u32 [%rd1], %r2;\n"
                                                                  "st.global.u64 [%rd0], %rd2;")),
                  "")
            << statement;
    }
}

// Each statement of a kernel left out, doubled, cut: what still loads runs, or fails with an Error.
TEST(HostileText, MutatedKernelsRunOrFailWithAnError) {
    const std::string text = kernel_text(
        ".local .align 8 .b8 d[16];\nmov.u32 %r4, s;\nmad.lo.u32 %r4, %r1, 4, %r4;\nst.shared.u32 "
        "[%r4], %r1;\nbar.sync 0;\n"
        "xor.b32 %r5, %r4, 4;\nld.shared.u32 %r6, [%r5];\nsetp.lt.u32 %p1, %r6, 7;\n"
        "LOOP:\nadd.s32 %r6, %r6, 5;\n@%p1 bra LEAVE;\nsetp.lt.u32 %p2, %r6, 100;\n"
        "@%p2 bra LOOP;\nshfl.sync.down.b32 %r7|%p3, %r6, 1, 31, -1;\nLEAVE:\n"
        "atom.global.add.u32 %r8, [%rd1], %r6;\nst.local.v2.u32 [d+8], {%r6, %r7};\n"
        "ld.local.u64 %rd5, [d+8];\nst.global.u32 [%rd1], %r6;",
        ".shared .align 4 .b8 s[256];\n.file 1 \"x.cu\"\n");
    std::vector<std::string> lines;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::mt19937_64 random(1);
    std::size_t ran = 0;
    for (int round = 0; round < 600; ++round) {
        std::vector<std::string> mutated = lines;
        std::string& line = mutated[random() % mutated.size()];
        const std::string& other = lines[random() % lines.size()];
        switch (random() % 4) {
            case 0:
                line.clear();
                break;
            case 1:
                line += "\n" + other;
                break;
            case 2:
                line.resize(random() % (line.size() + 1));
                break;
            default:
                std::swap(line, mutated[random() % mutated.size()]);
        }
        std::string joined;
        for (const std::string& l : mutated) joined += l + "\n";
        const std::string error = error_of([&] {
            Runner r(joined);
            r.settings.instruction_budget = 20'000;
            ++ran;
            r.run(one_block(64));
        });
        (void)error;
    }
    EXPECT_GT(ran, 100u);
}

}  // namespace
}  // namespace warpscope::emulator
