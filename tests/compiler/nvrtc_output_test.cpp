#include "compiler/nvrtc_output.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::compiler {
namespace {

const Request four_lines{"kernels/ripple.cu", "one\ntwo\nthree\nfour\n"};

TEST(Log, ReadsErrorsWithTheirColumns) {
    const auto found = read_log(
        "kernels/ripple.cu(3): error: identifier \"b\" is undefined\n"
        "      int a = b;\n"
        "              ^\n"
        "\n"
        "kernels/ripple.cu(4): warning #177-D: variable \"a\" was declared but never referenced\n"
        "  \tint a;\n"
        "  \t    ^\n"
        "\n"
        "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
        "\n"
        "1 error detected in the compilation of \"kernels/ripple.cu\".\n",
        four_lines);
    EXPECT_EQ(found, (std::vector<Diagnostic>{
                         {3, 13, Severity::error, "identifier \"b\" is undefined"},
                         {4, 6, Severity::warning,
                          "#177-D: variable \"a\" was declared but never referenced"}}));
}

TEST(Log, AMacroThatAHeaderOfTheToolkitDefinesAgainIsNoWarning) {
    const auto found = read_log(
        "/usr/cuda/include/cmath(356): warning #47-D: incompatible redefinition of macro "
        "\"INFINITY\" (declared at line 59 of implied.h)\n"
        "  #  define INFINITY 1\n"
        "             ^\n"
        "\n"
        "kernels/ripple.cu(2): warning #47-D: incompatible redefinition of macro \"N\" (declared "
        "at "
        "line 1)\n",
        four_lines);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].line, 2);
}

TEST(Log, ContinuationLinesBelongToTheirMessage) {
    const auto found = read_log(
        "kernels/ripple.cu(2): error: no instance of function \"f\" matches the argument list\n"
        "            argument types are: (const char [6])\n"
        "      f(\"hello\");\n"
        "      ^\n"
        "kernels/ripple.cu(1): note #3326-D: function \"f(int)\" does not match\n"
        "  __device__ void f(int);\n"
        "                  ^\n"
        "kernels/ripple.cu(1): error: expression must have class type\n"
        "  x.nothing\n"
        "  ^\n"
        "          detected during:\n"
        "            instantiation of \"T twice(T)\" at line 4\n"
        "            instantiation of \"T thrice(T)\" at line 7\n"
        "\n"
        "3 errors detected in the compilation of \"kernels/ripple.cu\".\n",
        four_lines);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].text,
              "no instance of function \"f\" matches the argument list; argument types are: "
              "(const char [6])");
    EXPECT_EQ(found[0].column, 5);
    EXPECT_EQ(found[1].severity, Severity::note);
    EXPECT_EQ(found[2].text,
              "expression must have class type; detected during: instantiation of \"T twice(T)\" "
              "at line 4; instantiation of \"T thrice(T)\" at line 7");
    EXPECT_EQ(found[2].column, 1);
}

TEST(Log, MessagesAboutOtherPlacesHaveNoLine) {
    const auto found = read_log(
        "At end of source: error: expected a \"}\"\n"
        "\n"
        "/usr/include/cuda_fp16.h(167): catastrophic error: cannot open source file \"x: error: "
        "\"\n"
        "  #  include <x>\n"
        "                ^\n"
        "\n"
        "error: the compiler itself is at a loss\n",
        four_lines);
    EXPECT_EQ(found, (std::vector<Diagnostic>{
                         {4, 0, Severity::error, "expected a \"}\""},
                         {0, 0, Severity::error,
                          "/usr/include/cuda_fp16.h(167): cannot open source file \"x: error: \""},
                         {0, 0, Severity::error, "the compiler itself is at a loss"}}));
}

TEST(Log, SourceLinesThatLookLikeMessagesAreIgnored) {
    const auto found = read_log(
        "kernels/ripple.cu(1): warning #1105-D: #warning directive: error: all is well\n"
        "  kernels/ripple.cu(1): error: not this\n"
        "   ^\n"
        "\n"
        "kernels/ripple.cu(2): error: unrecognized token\n"
        "  ^\n"
        "  ^\n",
        four_lines);
    EXPECT_EQ(found, (std::vector<Diagnostic>{{1, 2, Severity::warning,
                                               "#1105-D: #warning directive: error: all is well"},
                                              {2, 1, Severity::error, "unrecognized token"}}));
}

TEST(Log, InvalidUtf8IsReplaced) {
    EXPECT_EQ(clean("ü → 𝄞"), "ü → 𝄞");
    EXPECT_EQ(clean("a\tb\nc\x1b[31m"), "a b c [31m");
    EXPECT_EQ(clean("a\u009b31m"), "a 31m") << "U+009B begins an escape sequence too";
    for (const char* bad : {"\x80", "\xC0", "\xF8", "\xE2"})
        EXPECT_EQ(clean(std::string("<") + bad + ">"), "<\uFFFD>");
    EXPECT_EQ(clean("\xC0\xAF"), "\uFFFD\uFFFD") << "an overlong encoding of a slash";
    EXPECT_EQ(clean("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "half of a surrogate pair";
    EXPECT_EQ(clean("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond U+10FFFF";
    EXPECT_EQ(clean("\xE2\x82"), "\uFFFD\uFFFD") << "cut off";
}

TEST(Log, LongTextsAreCutBetweenCharacters) {
    std::string umlauts;
    for (int i = 0; i < 10000; ++i) umlauts += "ü";
    const std::string cut = clean("x" + umlauts);
    EXPECT_LT(cut.size(), 500u);
    EXPECT_TRUE(cut.ends_with("ü…"));
}

TEST(Log, MessagesBeyondTheLimitAreCounted) {
    std::string log;
    for (int i = 1; i <= 1500; ++i)
        log += "kernels/ripple.cu(" + std::to_string(i) + "): warning #1-D: again\n  x\n  ^\n\n";
    const auto found = read_log(log, four_lines);
    ASSERT_EQ(found.size(), 501u);
    EXPECT_EQ(found[499], (Diagnostic{500, 1, Severity::warning, "#1-D: again"}));
    EXPECT_EQ(found[500], (Diagnostic{0, 0, Severity::note, "1000 more messages"}));
}

TEST(PortablePtx, FileDirectivesDoNotDependOnTheMachine) {
    const std::string ptx =
        "\t.loc\t1 3 5\n// .file 9 \"/a/kernels/gallery/life.cu\"\n"
        "\t.file\t1 \"/home/me/kernels/gallery/life.cu\", 1700000000, 512\n"
        "\t.file\t2 \"/usr/local/cuda/include/crt/sm_32_intrinsics.hpp\"\n"
        "\t.file\t3 \"/home/me/other.cu\"\n"
        "\t.file\t4 \"kernels/gallery/life.cu\"\n"
        "\t.file\t5 \"/home/my-kernels/gallery/life.cu\"";
    EXPECT_EQ(portable_ptx(ptx, {"kernels/gallery/life.cu", ""}, "/home/me"),
              "\t.loc\t1 3 5\n// .file 9 \"/a/kernels/gallery/life.cu\"\n"
              "\t.file\t1 \"kernels/gallery/life.cu\"\n"
              "\t.file\t2 \"cuda/sm_32_intrinsics.hpp\"\n"
              "\t.file\t3 \"kernels/other.cu\"\n"
              "\t.file\t4 \"kernels/gallery/life.cu\"\n"
              "\t.file\t5 \"kernels/life.cu\"");
}

TEST(PortablePtx, HeadersOfTheRequestKeepTheNamesOfTheirDirectives) {
    const Request request{.file = "kernels/launch/mine.cu",
                          .headers = {{"tile.h", ""}, {"../common/x.h", ""}, {"/abs/y.h", ""}}};
    // The toolkit has a header tile.h too.
    const std::string ptx =
        ".file 1 \"/home/me/kernels/launch/mine.cu\"\n.file 2 \"/home/me/tile.h\"\n"
        ".file 3 \"/home/me/../common/x.h\"\n.file 4 \"/abs/y.h\"\n"
        ".file 5 \"/usr/local/cuda/include/tile.h\"\n.file 6 \"/home/me/z.h\"\n";
    EXPECT_EQ(portable_ptx(ptx, request, "/home/me"),
              ".file 1 \"kernels/launch/mine.cu\"\n.file 2 \"<tile.h>\"\n"
              ".file 3 \"<../common/x.h>\"\n.file 4 \"</abs/y.h>\"\n"
              ".file 5 \"cuda/tile.h\"\n.file 6 \"cuda/z.h\"\n");
}

}  // namespace
}  // namespace warpscope::compiler
