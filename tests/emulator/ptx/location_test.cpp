#include <fmt/format.h>

#include <set>

#include "emulator/observe/findings.h"
#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

constexpr const char* files =
    ".file 1 \"kernels/mine.cu\"\n.file 2 \"tile.h\"\n.file 3 \"cuda/block_reduce.cuh\"\n"
    ".file 4 \"cuda/device_atomic_functions.hpp\"\n.file 5 \"sub/deep.h\"\n";

/// Where the instructions of a kernel are, of which each line of `locations` begins one.
std::vector<std::string> places(const std::vector<std::string>& locations,
                                const std::string& files_text = files) {
    std::string body = ".reg .b32 %r1;\n";
    for (const std::string& location : locations) body += location + "\nmov.b32 %r1, %tid.x;\n";
    const auto m =
        Module::parse(".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n" +
                          body + "ret;\n}\n" + files_text,
                      "t");
    const Kernel& k = *m->find("k");
    std::vector<std::string> found;
    for (std::size_t i = 0; i < locations.size(); ++i) found.push_back(k.where(std::uint32_t(i)));
    return found;
}

using Places = std::vector<std::string>;

TEST(Location, ALineOfAHeaderComesWithTheLineThatCallsIt) {
    EXPECT_EQ(places({".loc 1 10 1", ".loc 2 14 5, function_name $L__info0, inlined_at 1 11 4",
                      ".loc 1 12 1"}),
              (Places{"kernels/mine.cu:10", "tile.h:14 (called at kernels/mine.cu:11)",
                      "kernels/mine.cu:12"}));
}

TEST(Location, AHeaderOfTheToolkitIsNamedBehindTheUsersLine) {
    EXPECT_EQ(
        places({".loc 1 10 1", ".loc 3 120 5, function_name $L__info0, inlined_at 1 11 4",
                ".loc 2 14 5, function_name $L__info0, inlined_at 1 11 4\n"
                ".loc 3 130 5, function_name $L__info0 + 7, inlined_at 2 14 5"}),
        (Places{"kernels/mine.cu:10", "kernels/mine.cu:11 (in the toolkit's block_reduce.cuh:120)",
                "tile.h:14 (in the toolkit's block_reduce.cuh:130, called at "
                "kernels/mine.cu:11)"}));
}

TEST(Location, AnIntrinsicStandsInTheLineThatCallsIt) {
    EXPECT_EQ(places({".loc 1 10 1", ".loc 4 76 3, function_name $L__info0, inlined_at 1 11 4",
                      ".loc 2 14 5, function_name $L__info0, inlined_at 1 12 4\n"
                      ".loc 4 76 3, function_name $L__info0, inlined_at 2 14 5"}),
              (Places{"kernels/mine.cu:10", "kernels/mine.cu:11",
                      "tile.h:14 (called at kernels/mine.cu:12)"}));
}

TEST(Location, AFunctionOfTheKernelsFileHasItsOwnLine) {
    EXPECT_EQ(places({".loc 1 10 1", ".loc 1 5 1, function_name $L__info0, inlined_at 1 11 4",
                      ".loc 2 14 5, function_name $L__info0, inlined_at 1 5 1"}),
              (Places{"kernels/mine.cu:10", "kernels/mine.cu:5",
                      "tile.h:14 (called at kernels/mine.cu:5)"}));
}

// A .loc before says where the caller was inlined, the newest one where there are several.
TEST(Location, CallersThatWereInlinedLeadToTheKernelsLine) {
    const std::string first = ".loc 2 8 5, function_name $L__info0, inlined_at 1 11 4\n",
                      second = ".loc 2 8 5, function_name $L__info0, inlined_at 1 13 4\n",
                      deep = ".loc 5 3 5, function_name $L__info1, inlined_at 2 8 5";
    EXPECT_EQ(places({".loc 1 10 1", first + deep, ".loc 1 12 1", deep, second + deep}),
              (Places{"kernels/mine.cu:10", "sub/deep.h:3 (called at kernels/mine.cu:11)",
                      "kernels/mine.cu:12", "sub/deep.h:3 (called at kernels/mine.cu:11)",
                      "sub/deep.h:3 (called at kernels/mine.cu:13)"}));
}

TEST(Location, AnUnknownCallerLeavesTheLineOfTheStatementBefore) {
    EXPECT_EQ(places({".loc 1 10 1", ".loc 5 3 5, function_name $L__info1, inlined_at 2 8 5",
                      ".loc 2 14 5", ".loc 2 0 5"}),
              (Places{"kernels/mine.cu:10", "sub/deep.h:3 (called at kernels/mine.cu:10)",
                      "tile.h:14 (called at kernels/mine.cu:10)",
                      "tile.h:14 (called at kernels/mine.cu:10)"}));
}

TEST(Location, CodeWithoutALineStandsInItsCaller) {
    EXPECT_EQ(places({".loc 1 10 1", ".loc 2 0 0, function_name $L__info0, inlined_at 1 11 4",
                      ".loc 3 0 0, function_name $L__info0, inlined_at 1 0 0",
                      ".loc 2 14 5, function_name $L__info0, inlined_at 1 12 4", ".loc 1 0 0"}),
              (Places{"kernels/mine.cu:10", "kernels/mine.cu:11", "kernels/mine.cu:11",
                      "tile.h:14 (called at kernels/mine.cu:12)",
                      "tile.h:14 (called at kernels/mine.cu:12)"}));
}

TEST(Location, AFunctionThatIsInlinedIntoItselfHasAnEnd) {
    std::string recursion = ".loc 2 14 5, function_name $L__info0, inlined_at 1 11 4\n";
    for (int i = 0; i < 1000; ++i)
        recursion += ".loc 2 14 5, function_name $L__info0, inlined_at 2 14 5\n";
    const auto m = Module::parse(
        ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n.loc 1 10 1\n" +
            recursion + "ret;\n}\n" + files,
        "t");
    const SourceLine& source = m->find("k")->lines[0].source;
    EXPECT_EQ(source.line, 11);
    ASSERT_TRUE(source.inlined);
    EXPECT_EQ(source.inlined->size(), most_inlined);
    std::size_t calls = 0;
    for (const SourceCall* call = source.call.get(); call; call = call->caller.get()) ++calls;
    EXPECT_LE(calls, most_inlined);
}

TEST(Location, FilesWithoutANameAreLeftOut) {
    EXPECT_EQ(places({".loc 1 10 1", ".loc 9 14 5, function_name $L__info0, inlined_at 1 11 4",
                      ".loc -3 14 5, function_name $L__info0, inlined_at 1 12 4"},
                     ".file 1 \"mine.cu\"\n"),
              (Places{"mine.cu:10", "mine.cu:11", "mine.cu:12"}));
}

TEST(Location, AFunctionOfAHeaderThatIsCalledCountsAsInlined) {
    const auto m = Module::parse(
        ".version 9.0\n.target sm_75\n.address_size 64\n"
        ".func twice() {\n.reg .b32 %r1;\n.loc 2 20 1\nmov.b32 %r1, %tid.x;\n"
        ".loc 5 3 5, function_name $L__info1, inlined_at 2 21 5\nmov.b32 %r1, %tid.y;\nret;\n}\n"
        ".visible .entry k() {\n.loc 1 10 1\ncall twice, ();\n.loc 1 12 1\nret;\n}\n" +
            std::string(files),
        "t");
    const Kernel& k = *m->find("k");
    ASSERT_EQ(k.lines[0].text, "mov.b32 %r1, %tid.x");
    EXPECT_EQ(k.where(0), "tile.h:20 (called at kernels/mine.cu:10)");
    EXPECT_EQ(k.own_line(0), "kernels/mine.cu:10");
    ASSERT_EQ(k.lines[1].text, "mov.b32 %r1, %tid.y");
    EXPECT_EQ(k.where(1), "sub/deep.h:3 (called at kernels/mine.cu:10)");
    const auto headers = header_lines(k.lines[1].source, m->files());
    ASSERT_EQ(headers.size(), 2u);
    EXPECT_EQ(headers[1].file, "tile.h");
    EXPECT_EQ(headers[1].line, 21);
    EXPECT_EQ(k.where(std::uint32_t(k.code.size()) - 1), "kernels/mine.cu:12");
}

/// The line of an instruction and the calls around it: "5 in twice from 11 in $L__info0 from 12".
std::string calls_around(const SourceLine& source) {
    std::string words = std::to_string(source.own.line);
    for (const SourceCall* call = source.call.get(); call; call = call->caller.get())
        words += fmt::format(" in {} from {}", call->function, call->site.line);
    return words;
}

TEST(Location, EachInstructionKnowsTheCallsAroundIt) {
    const auto m = Module::parse(
        ".version 9.0\n.target sm_75\n.address_size 64\n"
        ".func twice() {\n.reg .b32 %r1;\n.loc 1 5 1\nmov.b32 %r1, %tid.x;\n"
        ".loc 2 3 5, function_name $L__info1, inlined_at 1 6 5\nmov.b32 %r1, %tid.y;\nret;\n}\n"
        ".visible .entry k() {\n.reg .b32 %r1;\n.loc 1 10 1\nmov.b32 %r1, %tid.x;\n"
        ".loc 1 8 1, function_name $L__info0, inlined_at 1 11 4\nmov.b32 %r1, 1;\ncall twice, "
        "();\n.loc 1 12 1\ncall twice, ();\nret;\n}\n" +
            std::string(files),
        "t");
    const Kernel& k = *m->find("k");
    Places found;
    std::set<std::uint32_t> instances;
    for (const InstructionInfo& info : k.lines) {
        if (!info.text.starts_with("mov")) continue;
        found.push_back(calls_around(info.source));
        instances.insert(info.source.call ? info.source.call->instance : 0);
    }
    EXPECT_EQ(found,
              (Places{"10", "8 in $L__info0 from 11", "5 in twice from 8 in $L__info0 from 11",
                      "3 in $L__info1 from 6 in twice from 8 in $L__info0 from 11",
                      "5 in twice from 12", "3 in $L__info1 from 6 in twice from 12"}));
    EXPECT_EQ(instances, (std::set<std::uint32_t>{0, 1, 2}));
    for (const RegisterInfo& reg : k.registers)
        EXPECT_EQ(reg.instance > 0, reg.name == "%r1 in twice") << reg.name;
}

ThreadAtLine at(int line, std::vector<HeaderLine> inlined = {}) {
    return {"mine.cu", line, {}, {}, std::move(inlined)};
}

TEST(Location, SomethingIsMissingBetweenTheOutermostLinesThatDiffer) {
    using Lines = std::pair<std::string, std::string>;
    const std::vector<HeaderLine> get{{"deep.h", 3, false}, {"tile.h", 8, false}};
    EXPECT_EQ(lines_between(at(6), at(7)), (Lines{"mine.cu:6", "mine.cu:7"}));
    EXPECT_EQ(lines_between(at(6, {{"tile.h", 4, false}}), at(7, get)),
              (Lines{"mine.cu:6", "mine.cu:7"}));
    EXPECT_EQ(lines_between(at(6, {{"tile.h", 4, false}}), at(6, get)),
              (Lines{"tile.h:4", "tile.h:8"}));
    EXPECT_EQ(lines_between(at(6), at(6, get)),
              (Lines{"mine.cu:6", "deep.h:3 (called at mine.cu:6)"}));
    const auto [from, to] = lines_between(at(6, {{"cuda/x.cuh", 1, true}, {"tile.h", 8, false}}),
                                          at(6, {{"tile.h", 8, false}}));
    EXPECT_EQ(from, to);
}

}  // namespace
}  // namespace warpscope::emulator
