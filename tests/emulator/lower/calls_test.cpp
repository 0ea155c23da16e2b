#include <fmt/format.h>

#include "emulator/ptx_fixture.h"
#include "emulator/races/race_detector.h"

// Calls as nvcc and NVRTC write them, with parameters in .param variables.
namespace warpscope::emulator {
namespace {

// (a, b) -> a + 3 b
const std::string add3 =
    ".func (.param .b32 func_retval0) add3(.param .b32 add3_param_0, .param .b32 add3_param_1)\n"
    "{\n.reg .b32 %r<5>;\nld.param.u32 %r1, [add3_param_0];\nld.param.u32 %r2, [add3_param_1];\n"
    "mad.lo.s32 %r3, %r2, 3, %r1;\nst.param.b32 [func_retval0+0], %r3;\nret;\n}\n";

// %r`d` = name(%r`a`[, %r`b`])
std::string call(const std::string& name, int d, int a, int b = -1) {
    std::string text = fmt::format(
        "{{ // callseq\n.reg .b32 temp_param_reg;\n.param .b32 param0;\n"
        "st.param.b32 [param0+0], %r{};\n",
        a);
    if (b >= 0) text += fmt::format(".param .b32 param1;\nst.param.b32 [param1+0], %r{};\n", b);
    return text + fmt::format(
                      ".param .b32 retval0;\ncall.uni (retval0),\n{},\n(\nparam0{}\n);\n"
                      "ld.param.b32 %r{}, [retval0+0];\n}} // callseq\n",
                      name, b >= 0 ? ",\nparam1" : "", d);
}

std::vector<std::uint32_t> run(const std::string& body, const std::string& before,
                               std::uint32_t n = 0, std::uint32_t threads = 64) {
    return Runner(kernel_text(body, before)).run(one_block(threads), n);
}

const std::string store = "st.global.u32 [%rd1], %r2;\n";

TEST(Calls, TwoCallsOfOneFunctionGiveTheirOwnResults) {
    const auto out = run(call("add3", 2, 1, 0) + call("add3", 2, 2, 1) + store, add3, 100);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t + 300 + 3 * t);
}

TEST(Calls, FunctionMayBeDefinedBehindTheKernel) {
    Runner r(kernel_text(call("add3", 2, 1, 0) + store,
                         ".func (.param .b32 r) add3(.param .b32 a, .param .b32 b);\n") +
             add3);
    EXPECT_EQ(r.run(one_block(2), 7), (std::vector<std::uint32_t>{21, 22}));
}

TEST(Calls, OfADivergentBranchRunForItsLanesOnly) {
    const auto out =
        run("and.b32 %r3, %r1, 3;\nsetp.ne.s32 %p1, %r3, 0;\nmov.u32 %r2, %r1;\n"
            "@%p1 bra SKIP;\n" +
                call("add3", 2, 1, 1) + "SKIP:\n" + store,
            add3);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 4 ? t : 4 * t);
}

TEST(Calls, WithAGuardRunForItsLanesOnly) {
    const auto out =
        run("setp.lt.u32 %p1, %r1, 5;\nmov.u32 %r2, 1;\n.param .b32 a;\n.param .b32 b;\n"
            ".param .b32 c;\nst.param.b32 [a], %r1;\nst.param.b32 [b], 2;\n"
            "st.param.b32 [c], 9;\n@%p1 call (c), add3, (a, b);\n"
            "ld.param.b32 %r2, [c];\n" +
                store,
            add3);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 5 ? t + 6 : 9);
}

TEST(Calls, FunctionsMayCallFunctions) {
    const std::string twice =
        ".func (.param .b32 twice_r) twice(.param .b32 twice_a)\n{\n.reg .b32 %r<4>;\n"
        "ld.param.u32 %r1, [twice_a];\n" +
        call("add3", 2, 1, 1) + call("add3", 3, 2, 1) + "st.param.b32 [twice_r+0], %r3;\nret;\n}\n";
    const auto out = run(call("twice", 2, 1) + store, add3 + twice);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 7 * t);
}

// Several ways out, one of them from within a loop; and exit, which ends the thread.
TEST(Calls, LanesMayReturnEarly) {
    const std::string steps =
        ".func (.param .b32 r) steps(.param .b32 a)\n{\n.reg .b32 %r<4>;\n.reg .pred %p<4>;\n"
        "ld.param.u32 %r1, [a];\nsetp.eq.s32 %p1, %r1, 5;\n@%p1 exit;\nmov.u32 %r2, 0;\n"
        "LOOP: setp.ge.u32 %p2, %r2, %r1;\nst.param.b32 [r], %r2;\n@%p2 ret;\n"
        "add.s32 %r2, %r2, 2;\nsetp.lt.u32 %p3, %r2, 20;\n@%p3 bra LOOP;\n"
        "st.param.b32 [r], 1000;\nret;\n}\n";
    const auto out = run(call("steps", 2, 1) + store, steps);
    for (std::uint32_t t = 0; t < 64; ++t)
        EXPECT_EQ(out[t], t == 5 ? 0 : t > 18 ? 1000 : (t + 1) / 2 * 2) << t;
}

// A struct by value, stored as words and loaded as something else.
TEST(Calls, ParametersWithOverlappingAccessesKeepTheirBytes) {
    const std::string mix =
        ".func (.param .b32 r) mix(.param .align 8 .b8 s[16])\n{\n.reg .b32 %r<6>;\n"
        ".reg .b64 %rd<3>;\nld.param.u8 %r1, [s+1];\nld.param.v2.u32 {%r2, %r3}, [s+8];\n"
        "ld.param.u64 %rd1, [s];\nshr.u64 %rd1, %rd1, 32;\ncvt.u32.u64 %r4, %rd1;\n"
        "add.s32 %r1, %r1, %r2;\nadd.s32 %r1, %r1, %r3;\nadd.s32 %r1, %r1, %r4;\n"
        "st.param.b32 [r+0], %r1;\nret;\n}\n";
    const auto out =
        run(".param .align 8 .b8 param0[16];\nst.param.b32 [param0+0], 0x4200;\n"
            "st.param.b32 [param0+4], %r1;\nst.param.v2.b32 [param0+8], {%r0, %r1};\n"
            ".param .b32 retval0;\ncall.uni (retval0), mix, (param0);\n"
            "ld.param.b32 %r2, [retval0+0];\n" +
                store,
            mix, 1000);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 0x42 + 1000 + 2 * t);
}

// char and short come in words.
TEST(Calls, NarrowParametersAreExtended) {
    const std::string narrow =
        ".func (.param .b32 r) narrow(.param .b32 a, .param .b32 b)\n{\n.reg .b16 %rs<3>;\n"
        ".reg .b32 %r<4>;\nld.param.s8 %rs1, [a];\nld.param.u16 %r1, [b];\n"
        "cvt.s32.s16 %r2, %rs1;\nadd.s32 %r3, %r1, %r2;\nst.param.b32 [r+0], %r3;\nret;\n}\n";
    const auto out = run(
        "add.s32 %r3, %r1, 0x1F0;\nadd.s32 %r4, %r1, 0x50000;\n" + call("narrow", 2, 3, 4) + store,
        narrow);
    for (std::uint32_t t = 0; t < 64; ++t)
        EXPECT_EQ(std::int32_t(out[t]), std::int8_t(0xF0 + t) + std::int32_t(t)) << t;
}

TEST(Calls, FunctionsMayHaveBarriersAndSharedVariables) {
    const std::string turn =
        ".func (.param .b32 r) turn(.param .b32 a)\n{\n.reg .b32 %r<8>;\n"
        ".shared .align 4 .b8 tile[256];\nld.param.u32 %r1, [a];\nmov.u32 %r2, %tid.x;\n"
        "mov.u32 %r3, tile;\nmad.lo.s32 %r4, %r2, 4, %r3;\nst.shared.u32 [%r4], %r1;\n"
        "bar.sync 0;\nsub.s32 %r5, 63, %r2;\nmad.lo.s32 %r4, %r5, 4, %r3;\n"
        "ld.shared.u32 %r6, [%r4];\nbar.sync 0;\nst.param.b32 [r], %r6;\nret;\n}\n";
    Runner r(kernel_text("add.s32 %r3, %r1, 10;\n" + call("turn", 2, 3) +
                             "add.s32 %r2, %r2, %r1;\n" + call("turn", 2, 2) + store,
                         turn));
    RaceDetector detector;
    r.observer = &detector;
    const auto out = r.run(one_block(64));
    // 10 + (63 - t), plus t: the same for all.
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 73u);
    EXPECT_TRUE(detector.findings().empty());
    EXPECT_EQ(r.module->kernels()[0]->shared_bytes, 256u);
}

TEST(Calls, RuntimeErrorNamesTheLineInTheFunction) {
    const std::string wild =
        ".func wild(.param .b64 a)\n{\n.reg .b64 %rd<2>;\n.loc 1 31 2\nld.param.u64 %rd1, [a];\n"
        "st.global.u32 [%rd1], 1;\nret;\n}\n";
    Runner r(kernel_text(".loc 1 50 1\n.param .b64 param0;\nst.param.b64 [param0], 64;\n"
                         "call.uni wild, (param0);\n",
                         wild) +
             ".file 1 \"kernels/x.cu\"\n");
    expect_contains(error_of([&] { r.run(one_block(1)); }),
                    "kernel k, kernels/x.cu:31: thread (0,0,0) of block (0,0,0): 4 bytes at global "
                    "memory address 0x40");
}

const std::string fib =
    ".func (.param .b32 func_retval0) fib(.param .b32 fib_param_0)\n{\n.reg .pred %p<2>;\n"
    ".reg .b32 %r<9>;\nld.param.u32 %r8, [fib_param_0];\nsetp.lt.s32 %p1, %r8, 2;\n"
    "@%p1 bra DONE;\nadd.s32 %r4, %r8, -1;\n" +
    call("fib", 5, 4) + "add.s32 %r6, %r8, -2;\n" + call("fib", 7, 6) +
    "add.s32 %r8, %r7, %r5;\nDONE:\nst.param.b32 [func_retval0+0], %r8;\nret;\n}\n";

TEST(Recursion, LanesMayRecurseToDifferentDepths) {
    const auto out = run("rem.u32 %r3, %r1, 12;\n" + call("fib", 2, 3) + store, fib);
    const std::uint32_t expected[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], expected[t % 12]) << t;
}

TEST(Recursion, GivesOneResultUnderEveryScheduleAndBarrierPolicy) {
    for (const Schedule schedule : {Schedule::run_to_barrier, Schedule::reverse, Schedule::random})
        for (const BarrierPolicy policy : {BarrierPolicy::volta, BarrierPolicy::before_volta}) {
            Runner r(kernel_text("and.b32 %r3, %r1, 7;\n" + call("fib", 4, 3) + call("fib", 5, 4) +
                                     "add.s32 %r2, %r4, %r5;\n" + store,
                                 fib));
            r.settings.schedule = schedule;
            r.settings.barriers = policy;
            const auto out = r.run(one_block(70));
            const std::uint32_t expected[] = {0, 2, 2, 3, 5, 10, 29, 246};
            for (std::uint32_t t = 0; t < 70; ++t) EXPECT_EQ(out[t], expected[t % 8]) << t;
        }
}

// Two functions that call each other; each has an array, whose address it hands on.
TEST(Recursion, OfTwoFunctionsKeepsTheArraysOfEveryFrame) {
    const auto function = [](const std::string& name, const std::string& other, int weight) {
        return ".func (.param .b32 r) " + name +
               "(.param .b64 from, .param .b32 n)\n{\n.local .align 8 .b8 depot_" + name +
               "[16];\n.reg .b64 %SP;\n.reg .b64 %SPL;\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n"
               ".reg .b64 %rd<4>;\nmov.u64 %SPL, depot_" +
               name +
               ";\ncvta.local.u64 %SP, %SPL;\nld.param.u64 %rd1, [from];\nld.param.u32 %r1, [n];\n"
               "ld.u32 %r2, [%rd1];\nadd.s32 %r3, %r2, %r1;\nst.local.u32 [%SPL+8], %r3;\n"
               "add.u64 %rd2, %SP, 8;\nmov.u32 %r5, 0;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra DONE;\n"
               "add.s32 %r4, %r1, -1;\n{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd2;\n"
               ".param .b32 param1;\nst.param.b32 [param1+0], %r4;\n.param .b32 retval0;\n"
               "call.uni (retval0), " +
               other +
               ", (param0, param1);\nld.param.b32 %r5, [retval0+0];\n}\nDONE:\n"
               "ld.local.u32 %r6, [%SPL+8];\n" +
               fmt::format("mad.lo.s32 %r7, %r6, {}, %r5;\n", weight) +
               "st.param.b32 [r+0], %r7;\nret;\n}\n";
    };
    const auto out =
        run("and.b32 %r3, %r1, 15;\n.param .b64 param0;\nst.param.b64 [param0+0], %rd1;\n"
            ".param .b32 param1;\nst.param.b32 [param1+0], %r3;\n.param .b32 retval0;\n"
            "st.global.u32 [%rd1], %r1;\ncall.uni (retval0), even, (param0, param1);\n"
            "ld.param.b32 %r2, [retval0+0];\n" +
                store,
            ".func (.param .b32 r) odd(.param .b64 f, .param .b32 n);\n" +
                function("even", "odd", 1) + function("odd", "even", 100));
    for (std::uint32_t t = 0; t < 64; ++t) {
        std::uint32_t expected = 0, value = t;
        for (std::uint32_t n = t % 16, depth = 0;; --n, ++depth) {
            value += n;
            expected += value * (depth % 2 ? 100 : 1);
            if (n == 0) break;
        }
        EXPECT_EQ(out[t], expected) << t;
    }
}

TEST(Recursion, BeyondTheStackFailsAndNamesItsSize) {
    const std::string down =
        ".func (.param .b32 r) down(.param .b32 a)\n{\n.reg .b32 %r<4>;\n.loc 1 8 1\n"
        "ld.param.u32 %r1, [a];\nadd.s32 %r2, %r1, 1;\n" +
        call("down", 3, 2) + "st.param.b32 [r+0], %r3;\nret;\n}\n";
    Runner r(kernel_text(call("down", 2, 1) + store, down) + ".file 1 \"kernels/x.cu\"\n");
    const std::string text = error_of([&] { r.run(one_block(33)); });
    expect_contains(text, "kernel k, kernels/x.cu:8: thread (");
    expect_contains(text, "need more than the 16384 bytes of stack");
}

const std::string two =
    ".func (.param .b32 r) plus(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "add.s32 %r2, %r1, 1;\nst.param.b32 [r+0], %r2;\nret;\n}\n"
    ".func (.param .b32 r) times(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "mul.lo.s32 %r2, %r1, 10;\nst.param.b32 [r+0], %r2;\nret;\n}\n";

const std::string by_pointer =
    "{\n.param .b32 param0;\nst.param.b32 [param0+0], %r1;\n.param .b32 retval0;\n"
    "prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "call (retval0),\n%rd5,\n(\nparam0\n)\n, prototype_1;\nld.param.b32 %r2, [retval0+0];\n}\n";

TEST(FunctionPointers, LanesMayCallDifferentFunctions) {
    const auto out =
        run("mov.u64 %rd3, plus;\nmov.u64 %rd4, times;\nsetp.lt.u32 %p1, %r1, 9;\n"
            "selp.b64 %rd5, %rd3, %rd4, %p1;\n" +
                by_pointer + store,
            two);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 9 ? t + 1 : 10 * t);
}

TEST(FunctionPointers, LoadedFromATableCallTheirFunctions) {
    const auto out =
        run("and.b32 %r3, %r1, 1;\nmul.wide.u32 %rd3, %r3, 8;\nmov.u64 %rd4, table;\n"
            "add.s64 %rd3, %rd3, %rd4;\nld.global.u64 %rd5, [%rd3+8];\n" +
                by_pointer + store,
            two + ".global .align 8 .u64 table[3] = {0, plus, generic(times)};\n");
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 2 ? 10 * t : t + 1);
}

TEST(FunctionPointers, CallThroughAPointerThatIsNotAFunctionFails) {
    Runner r(kernel_text("mov.u64 %rd5, plus;\nadd.s64 %rd5, %rd5, 1;\n" + by_pointer, two));
    expect_contains(error_of([&] { r.run(one_block(1)); }), "is not a function's address");
}

TEST(Variables, InitialValueMayBeTheAddressOfAnotherVariable) {
    const auto out = run("ld.global.u64 %rd3, [pointer];\nld.global.u32 %r2, [%rd3];\n" + store,
                         ".global .align 4 .u32 numbers[3] = {5, 6, 7};\n"
                         ".global .align 8 .u64 pointer = generic(numbers)+8;\n");
    EXPECT_EQ(out[0], 7u);
}

TEST(BranchByIndex, JumpsToTheTargetOfItsIndex) {
    const std::string body =
        "mov.u32 %r2, 0;\nsetp.ge.u32 %p1, %r1, %r0;\n@%p1 bra OUT;\n"
        "ts: .branchtargets A, B, OUT, A;\nbrx.idx %r1, ts;\n"
        "A: add.s32 %r2, %r2, 1;\nB: add.s32 %r2, %r2, 10;\nOUT:\n" +
        store;
    EXPECT_EQ(run(body, "", 4, 6), (std::vector<std::uint32_t>{11, 10, 0, 11, 0, 0}));
    Runner r(kernel_text(body));
    expect_contains(error_of([&] { r.run(one_block(6), 5); }), "beyond its list of targets");
}

TEST(CallErrors, NameTheCudaLine) {
    const std::string file = ".file 1 \"kernels/x.cu\"\n";
    expect_contains(load_error(kernel_text(".loc 1 7 1\n" + call("nowhere", 2, 1)) + file),
                    "kernels/x.cu:7, PTX line ");
    expect_contains(load_error(kernel_text(".loc 1 7 1\n" + call("malloc", 2, 1)) + file),
                    "heap is not emulated");
    expect_contains(load_error(kernel_text(call("add3", 2, 1), add3)),
                    "called with 1 results and 1 arguments, and has 1 and 2");
    expect_contains(load_error(kernel_text("call.uni (%r1), add3, (%r2, %r3);", add3)),
                    "is not a .param variable");
    expect_contains(load_error(kernel_text("brx.idx %r1, nowhere;")), "targets");
    // %r1 is the index of the thread, which needs no register of its own.
    expect_contains(
        load_error(kernel_text(".param .b32 a;\nst.param.u64 [a], %r1;\n.param .b32 v;\n"
                               "call.uni (v), twice, (a);\nld.param.b32 %r2, [v];",
                               ".func (.param .b32 r) twice(.param .b32 a)\n{\n"
                               ".reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
                               "st.param.b32 [r], %r1;\nret;\n}\n")),
        "%r1 has 32 bits, and 64 are needed");
    expect_contains(load_error(".func f(.reg .b32 a) {\nret;\n}\n"), "parameters in registers");
}

TEST(CallErrors, KernelTooLargeWithItsFunctionsIsRejected) {
    std::string functions = ".func f0()\n{\nbar.sync 0;\nret;\n}\n";
    for (int k = 1; k <= 40; ++k)
        functions += fmt::format(
            ".func f{}()\n{{\ncall.uni f{}, ();\ncall.uni f{}, ();\nret;\n}}\n", k, k - 1, k - 1);
    expect_contains(load_error(kernel_text("call.uni f40, ();", functions)), "too large");
}

}  // namespace
}  // namespace warpscope::emulator
