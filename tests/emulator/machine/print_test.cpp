#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "emulator/ptx_fixture.h"
#include "emulator/stepper/stepper.h"
#include "emulator/warp/print.h"

namespace warpscope::emulator {
namespace {

// The arguments of a printf() call, as a kernel packs them.
struct Packed {
    std::vector<std::uint64_t> values;
    std::size_t next = 0;
    PrintedText print(std::string_view format) {
        next = 0;
        PrintSource source;
        source.argument = [&](unsigned bytes) {
            const std::uint64_t value = next < values.size() ? values[next] : 0;
            ++next;
            return bytes == 4 ? std::uint32_t(value) : value;
        };
        source.string = [&](std::uint64_t address) { return address ? "string" : "null"; };
        return print_text(format, source);
    }
};

std::string printed(std::string_view format, std::vector<std::uint64_t> values) {
    return Packed{std::move(values)}.print(format).text;
}
std::string printed_float(std::string_view format, double value) {
    return printed(format, std::vector<std::uint64_t>{std::bit_cast<std::uint64_t>(value)});
}

// The expected texts are those of printf() in C.
TEST(PrintText, FormatsIntegersAsCDoes) {
    EXPECT_EQ(
        printed("%d|%5d|%-5d|%05d|%+d|% d", {std::uint64_t(-7), 42, 42, std::uint64_t(-42), 3, 3}),
        "-7|   42|42   |-0042|+3| 3");
    EXPECT_EQ(printed("%u %x %X %#x %o %#o", {4294967295, 48879, 48879, 255, 8, 8}),
              "4294967295 beef BEEF 0xff 10 010");
    EXPECT_EQ(printed("%lld %llu %ld %zu", {1ull << 40, ~0ull, std::uint64_t(-5), 7}),
              "1099511627776 18446744073709551615 -5 7");
    EXPECT_EQ(printed("%hhd %hd %hhu", {0x1FF, 0x18000, 0x1FF}), "-1 -32768 255");
    EXPECT_EQ(printed("%.3d|%6.3d|%.0d|%06.3d", {5, 5, 0, 5}), "005|   005||   005");
    EXPECT_EQ(printed("%*d|%-*d|%.*d", {4, 7, 4, 7, 3, 7}), "   7|7   |007");
    EXPECT_EQ(printed("%d", {1ull << 31}), "-2147483648");
}

TEST(PrintText, FormatsFloatsAsCDoes) {
    EXPECT_EQ(printed_float("%f", 1.5), "1.500000");
    EXPECT_EQ(printed_float("%8.2f|", -3.14159), "   -3.14|");
    EXPECT_EQ(printed_float("%08.2f", -3.14159), "-0003.14");
    EXPECT_EQ(printed_float("%e", 12345.678), "1.234568e+04");
    EXPECT_EQ(printed_float("%g", 0.0001), "0.0001");
    EXPECT_EQ(printed_float("%G", 1e20), "1E+20");
    EXPECT_EQ(printed_float("%.0f", 2.5), "2");
    EXPECT_EQ(printed_float("%+f", -0.0), "-0.000000");
    EXPECT_EQ(printed_float("%f", std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(printed_float("%5f", std::numeric_limits<double>::quiet_NaN()), "  nan");
}

TEST(PrintText, FormatsTextAndKeepsUnknownConversions) {
    EXPECT_EQ(printed("%c%s|%8s|%-8s|%.3s", {'x', 1, 1, 1, 1}), "xstring|  string|string  |str");
    EXPECT_EQ(printed("100%% %p", {0xABC}), "100% 0xabc");
    EXPECT_EQ(printed("%", {}), "%");
    EXPECT_EQ(printed("%q %n %y", {}), "%q %n %y");
    EXPECT_EQ(printed("%5", {}), "%5");
    EXPECT_EQ((Packed{{1, 2}}.print("%d of %d").arguments), 2);
    EXPECT_EQ(printed("%99999999d", {1}).size(), 1024u);
    EXPECT_LE(printed_float("%.99999999f", 0.5).size(), 1026u);
}

const std::string strings =
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".global .align 1 .b8 $str[16] = {116, 32, 37, 100, 32, 37, 102, 10};\n"  // "t %d %f\n"
    ".global .align 1 .b8 $plain[16] = {104, 105, 10};\n";                    // "hi\n"

// printf("t %d %f\n", %r1, %r1 / 2)
const std::string print =
    ".local .align 8 .b8 depot[16];\nmov.u64 %rd2, depot;\ncvta.local.u64 %rd3, %rd2;\n"
    "st.local.u32 [%rd2], %r1;\ncvt.rn.f64.u32 %fd1, %r1;\nmul.f64 %fd1, %fd1, "
    "0d3FE0000000000000;\n"
    "st.local.f64 [%rd2+8], %fd1;\nmov.u64 %rd4, $str;\ncvta.global.u64 %rd4, %rd4;\n"
    "{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd4;\n.param .b64 param1;\n"
    "st.param.b64 [param1+0], %rd3;\n.param .b32 retval0;\ncall.uni (retval0), vprintf, (param0, "
    "param1);\nld.param.b32 %r9, [retval0+0];\n}\n";

TEST(Print, PrintsLanesInOrderAndReturnsTheArgumentCount) {
    Runner r(kernel_text(
        "setp.ge.u32 %p1, %r1, 3;\n@%p1 bra END;\n" + print + "st.global.u32 [%rd1], %r9;\nEND:\n",
        strings));
    EXPECT_EQ(r.run(one_block(32))[2], 2u);
    EXPECT_EQ(r.machine.take_output(), "t 0 0.000000\nt 1 0.500000\nt 2 1.000000\n");
    EXPECT_EQ(r.machine.take_output(), "");
}

TEST(Print, PrintsBlocksInOrderOnAnyNumberOfThreads) {
    for (const unsigned threads : {1u, 5u}) {
        Runner r(kernel_text("mov.u32 %r1, %ctaid.x;\n" + print, strings));
        r.settings.threads = threads;
        r.run({{200, 1, 1}, {1, 1, 1}});
        std::string expected;
        for (int b = 0; b < 200; ++b) expected += fmt::format("t {} {:.6f}\n", b, double(b) / 2);
        EXPECT_EQ(r.machine.take_output(), expected);
    }
}

TEST(Print, KeepsTheFirstLinesAndSaysThatTheOutputIsCut) {
    std::string first;
    for (const unsigned threads : {1u, 5u}) {
        Runner r(kernel_text("mov.u32 %r1, %ctaid.x;\n" + print, strings));
        r.settings.threads = threads;
        r.run({{9000, 1, 1}, {1, 1, 1}});
        const std::string text = r.machine.take_output();
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4097);
        expect_contains(text, "t 4095 2047.500000\n(the output is cut after 4096 lines)");
        if (threads == 1) first = text;
        EXPECT_EQ(text, first);
    }
}

TEST(Print, DoesNotReadStringsThatExceedTheLimit) {
    // From the 4097th line on, the string is at an invalid address.
    Runner r(
        kernel_text("mov.u32 %r5, 0;\nmov.u64 %rd4, $plain;\nLOOP:\n"
                    ".param .b64 param0;\nst.param.b64 [param0], %rd4;\n"
                    ".param .b64 param1;\nst.param.b64 [param1], 0;\n.param .b32 retval0;\n"
                    "call.uni (retval0), vprintf, (param0, param1);\n"
                    "add.u32 %r5, %r5, 1;\nsetp.ge.u32 %p1, %r5, 4096;\n"
                    "selp.b64 %rd4, 77, %rd4, %p1;\nsetp.lt.u32 %p2, %r5, 5000;\n"
                    "@%p2 bra LOOP;",
                    strings));
    r.run(one_block(1));
    const std::string text = r.machine.take_output();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4097);
    expect_contains(text, "hi\n(the output is cut after 4096 lines)");
}

TEST(Print, KeepsTheTextPrintedBeforeAnError) {
    Runner r(
        kernel_text("mov.u64 %rd4, $plain;\n.param .b64 param0;\nst.param.b64 [param0], %rd4;\n"
                    ".param .b64 param1;\nst.param.b64 [param1], 0;\n.param .b32 retval0;\n"
                    "call.uni (retval0), vprintf, (param0, param1);\ntrap;",
                    strings));
    EXPECT_THROW(r.run({{3, 1, 1}, {2, 1, 1}}), Error);
    EXPECT_EQ(r.machine.take_output(), "hi\nhi\n");
}

TEST(Print, FailsForAStringAtAnInvalidAddress) {
    Runner r(kernel_text(".loc 1 5 1\n.param .b64 param0;\nst.param.b64 [param0], 77;\n"
                         ".param .b64 param1;\nst.param.b64 [param1], 0;\n.param .b32 retval0;\n"
                         "call.uni (retval0), vprintf, (param0, param1);\n",
                         strings) +
             ".file 1 \"kernels/x.cu\"\n");
    expect_contains(error_of([&] { r.run(one_block(1)); }),
                    "kernels/x.cu:5: thread (0,0,0) of block (0,0,0): 1 bytes at global memory "
                    "address 0x4d");
}

TEST(Print, SteppingBackRemovesThePrintedText) {
    const auto module = Module::parse(kernel_text(print + print, strings), "t");
    Machine machine;
    void* out = machine.memory().allocate(64);
    const std::uint32_t n = 0;
    const void* arguments[] = {&out, &n};
    Stepper s(machine, Machine::freeze(*module->find("k"), one_block(1), arguments, {}), 0);
    s.run();
    EXPECT_EQ(s.printed(), "t 0 0.000000\nt 0 0.000000\n");
    const std::uint64_t end = s.position();
    while (s.position() > 0 && s.printed().size() > 13) s.back();
    EXPECT_EQ(s.printed(), "t 0 0.000000\n");
    s.seek(0);
    EXPECT_EQ(s.printed(), "");
    s.seek(end);
    EXPECT_EQ(s.printed(), "t 0 0.000000\nt 0 0.000000\n");
}

TEST(Assert, NamesTheFailedExpressionItsLineAndThread) {
    Runner r(kernel_text(".loc 1 9 1\nsetp.ne.u32 %p1, %r1, 33;\n@%p1 bra GOOD;\n"
                         "mov.u64 %rd2, $text;\n.param .b64 p0;\nst.param.b64 [p0], %rd2;\n"
                         ".param .b64 p1;\nst.param.b64 [p1], %rd2;\n.param .b32 p2;\n"
                         "st.param.b32 [p2], 9;\n.param .b64 p3;\nst.param.b64 [p3], %rd2;\n"
                         ".param .b64 p4;\nst.param.b64 [p4], 1;\n"
                         "call.uni __assertfail, (p0, p1, p2, p3, p4);\nGOOD:\n",
                         ".global .align 1 .b8 $text[4] = {97, 98, 99};\n") +
             ".file 1 \"kernels/x.cu\"\n");
    expect_contains(error_of([&] { r.run(one_block(64)); }),
                    "kernel k, kernels/x.cu:9: thread (33,0,0) of block (0,0,0): assertion 'abc' "
                    "failed in abc, abc:9");
}

}  // namespace
}  // namespace warpscope::emulator
