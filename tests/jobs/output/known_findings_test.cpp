#include "jobs/output/known_findings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;

Finding race(int first, int second, const std::string& file = "blur.cu") {
    Finding f;
    f.kernel = "blur";
    f.first = {file, first, {}, {}};
    f.second = {file, second, {}, {}};
    return f;
}

Finding at(FindingKind kind, int line) {
    Finding f = race(line, line);
    f.kind = kind;
    f.second.reset();
    return f;
}

const std::string source =
    "__global__ void blur(float* x) {\n"
    "    tile[i] = x[i];\n"
    "    y[i] = tile[i + 1];\n"
    "    z[i] = tile[i + 2];\n"
    "    tile[i] = x[i];\n"
    "}\n";

class KnownFindings : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::path(testing::TempDir()) /
                  ("known-" + std::to_string(::getpid()) + "-" +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Known known(const std::vector<Finding>& findings, const std::string& text = source) const {
        const emulator::CheckChoice checks{.race = true, .barrier = true, .memory = true};
        return review(emulator::Verdict{.findings = findings}, checks, files_,
                      {[&](const std::string&) { return std::string_view(text); }, {"blur.cu"}});
    }
    std::vector<Standing> standings(const std::vector<Finding>& findings,
                                    const std::string& text = source) const {
        std::vector<Standing> all;
        for (const Review& one : known(findings, text).reviews) all.push_back(one.standing);
        return all;
    }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }
    void take_baseline(const std::vector<Finding>& findings) {
        files_.baseline = write("baseline", known(findings).baseline);
    }
    void suppress(const std::string& text) { files_.suppressions = write("supp", text); }
    std::string refusal() const {
        try {
            known({});
        } catch (const UsageError& error) {
            return error.what();
        }
        return "";
    }

    static constexpr auto fresh = Standing::fresh, old = Standing::known,
                          suppressed = Standing::suppressed;
    std::filesystem::path folder_;
    FindingFiles files_;
};

using Standings = std::vector<Standing>;

TEST_F(KnownFindings, WithoutFilesAndCommentsAllAreFresh) {
    EXPECT_EQ(standings({race(2, 3), race(2, 4)}), (Standings{fresh, fresh}));
    EXPECT_TRUE(known({race(2, 3)}).unmatched.empty());
}

TEST_F(KnownFindings, WhatIsWrittenWithoutABaselineIsKnown) {
    files_.write_baseline = folder_ / "new";
    EXPECT_EQ(standings({race(2, 3)}), Standings{old});
}

TEST_F(KnownFindings, ABaselineSurvivesMovedLinesBlanksCommentsAndAnotherFile) {
    take_baseline({race(2, 3)});
    const std::string moved =
        "// a comment\n\n"
        "__global__ void blur(float* x) {\n"
        "  tile[i]  =\tx[i];  // behind\n"
        "        y[i] = tile[i + 1];\n";
    EXPECT_EQ(standings({race(4, 5, "renamed.cu")}, moved), Standings{old});
    EXPECT_TRUE(known({race(4, 5)}, moved).unmatched.empty());
}

TEST_F(KnownFindings, AnotherOrderOfTheAccessesIsTheOldFinding) {
    take_baseline({race(2, 3)});
    EXPECT_EQ(standings({race(3, 2)}), Standings{old});
}

TEST_F(KnownFindings, AnotherKernelKindOrTextIsFresh) {
    take_baseline({race(2, 3)});
    Finding other_kernel = race(2, 3);
    other_kernel.kernel = "sharpen";
    Finding other_kind = race(2, 3);
    other_kind.kind = FindingKind::memory;
    EXPECT_EQ(standings({other_kernel, other_kind, race(2, 4), race(2, 3)}),
              (Standings{fresh, fresh, fresh, old}));
}

TEST_F(KnownFindings, AFindingThatIsMendedIsTold) {
    take_baseline({race(2, 3), race(2, 4)});
    const Known now = known({race(2, 4)});
    EXPECT_EQ(now.reviews[0].standing, old);
    ASSERT_EQ(now.unmatched.size(), 1u);
    EXPECT_NE(now.unmatched[0].find("matches nothing: race: tile[i] = x[i]; and y[i] = tile[i + 1];"
                                    ", in blur"),
              std::string::npos)
        << now.unmatched[0];
}

TEST_F(KnownFindings, ACheckThatDidNotRunLeavesItsFindingsAlone) {
    take_baseline({at(FindingKind::leak, 2)});
    EXPECT_TRUE(known({}).unmatched.empty());
}

TEST_F(KnownFindings, ASecondPlaceWithTheTextsOfAKnownOneIsFresh) {
    take_baseline({race(2, 3)});
    EXPECT_EQ(standings({race(2, 3), race(5, 3)}), (Standings{old, fresh}));
    take_baseline({race(2, 3), race(5, 3)});
    EXPECT_EQ(standings({race(5, 3), race(2, 3)}), (Standings{old, old}));
}

TEST_F(KnownFindings, TwoProcessesThatFindOneThingNeedItOnce) {
    take_baseline({race(2, 3)});
    EXPECT_EQ(standings({race(2, 3), race(2, 3)}), (Standings{old, old}));
}

TEST_F(KnownFindings, AKnownWarningThatBecomesAnErrorIsFresh) {
    Finding warning = race(2, 3);
    warning.severity = Severity::warning;
    take_baseline({warning});
    EXPECT_EQ(standings({warning}), Standings{old});
    EXPECT_EQ(standings({race(2, 3)}), Standings{fresh});
    // The worst ones get what knows them, in any order.
    take_baseline({warning, race(5, 3)});
    EXPECT_EQ(standings({warning, race(5, 3)}), (Standings{old, old}));
    EXPECT_EQ(standings({race(5, 3), warning}), (Standings{old, old}));
}

TEST_F(KnownFindings, OfFindingsThatOneBarrierRepairsEachMustBeKnown) {
    Finding group = race(2, 3);
    group.repaired_too = {race(2, 4)};
    take_baseline({group});
    EXPECT_EQ(standings({group}), Standings{old});
    Finding turned = race(2, 4);
    turned.repaired_too = {race(2, 3)};
    EXPECT_EQ(standings({turned}), Standings{old}) << "another pair stands for the group";
    EXPECT_EQ(standings({race(2, 3), race(2, 4)}), (Standings{old, old}));

    Finding larger = group;
    larger.repaired_too.push_back(at(FindingKind::uninitialized, 3));
    const Known now = known({larger});
    EXPECT_EQ(now.reviews[0].standing, fresh);
    EXPECT_EQ(now.reviews[0].open,
              (std::vector<std::string>{"uninitialized: y[i] = tile[i + 1];"}));
    larger.repaired_too.back().severity = Severity::note;
    EXPECT_EQ(standings({larger}), Standings{old}) << "a note does no harm";
}

TEST_F(KnownFindings, ALineOfAHeaderCountsWithTheLineThatCallsIt) {
    Finding inlined = race(2, 3);
    inlined.first.inlined = {{"cuda/x.cuh", 4, true}, {"tile.h", 4, false}};
    take_baseline({inlined});
    EXPECT_EQ(standings({inlined, race(2, 3)}), (Standings{old, fresh}));
}

TEST_F(KnownFindings, WithoutASourceThePlaceCounts) {
    Finding in_ptx = race(12, 13, "");
    files_.baseline = write("baseline", known({in_ptx}, "").baseline);
    EXPECT_EQ(standings({in_ptx, race(12, 14, "")}, ""), (Standings{old, fresh}));
}

TEST_F(KnownFindings, ACommentAtALineAllowsItsKindAndHasAReason) {
    const std::string allowed =
        "tile[i] = x[i]; // warpscope: allow race, memory: both write 0\n"
        "y[i] = tile[i + 1];\n";
    const Known now = known({race(1, 2), at(FindingKind::barrier, 1)}, allowed);
    EXPECT_EQ(now.reviews[0].standing, suppressed);
    EXPECT_EQ(now.reviews[0].reason, "both write 0");
    EXPECT_TRUE(now.reviews[0].in_source);
    EXPECT_EQ(now.reviews[1].standing, fresh);
    EXPECT_TRUE(now.unmatched.empty());
    EXPECT_EQ(now.count(suppressed), 1u);
    EXPECT_EQ(now.baseline.find("race"), now.baseline.npos) << "a baseline lacks it";
}

TEST_F(KnownFindings, ACommentAloneIsAboutTheNextLineWithCode) {
    const std::string allowed =
        "tile[i] = x[i];\n"
        "/* warpscope: allow race: a reason */\n"
        "// more words\n\n"
        "y[i] = tile[i + 1];\n";
    EXPECT_EQ(standings({race(1, 5), race(1, 1)}, allowed), (Standings{suppressed, fresh}));
}

TEST_F(KnownFindings, ACommentThatMatchesNothingOrCanNotBeReadIsTold) {
    const std::string text =
        "a; // warpscope: allow race: nobody\n"
        "b; // warpscope: allow race\n"
        "c; // warpscope: allow races: a reason\n"
        "d; // warpscope: allow leak: not looked for\n"
        "e; // see the page about warpscope: allow is no word here\n";
    const std::vector<std::string> told = known({}, text).unmatched;
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[0], "blur.cu:2: write // warpscope: allow KIND: REASON");
    EXPECT_EQ(told[1], "blur.cu:3: write // warpscope: allow KIND: REASON");
    EXPECT_EQ(told[2], "blur.cu:1 matches nothing: nobody");
}

TEST_F(KnownFindings, AGroupOfAFileSuppressesWhatAllItsLinesFit) {
    suppress(
        "# what we know\n"
        "{\n"
        "   Both write 0\n"
        "   race\n"
        "   kernel: bl*\n"
        "   line: tile[?] = x[*];\n"
        "   line: y*\n"
        "   file: *.cu\n"
        "}\n"
        "{\n   Never\n   *\n   kernel: sharpen\n}\n");
    const Known now = known({race(2, 3), race(2, 4), at(FindingKind::memory, 2)});
    EXPECT_EQ(now.reviews[0].standing, suppressed);
    EXPECT_EQ(now.reviews[0].reason, "Both write 0");
    EXPECT_FALSE(now.reviews[0].in_source);
    EXPECT_EQ(now.reviews[1].standing, fresh);
    EXPECT_EQ(now.reviews[2].standing, fresh);
    ASSERT_EQ(now.unmatched.size(), 1u);
    EXPECT_EQ(now.unmatched[0], files_.suppressions.string() + ":10 matches nothing: Never");
}

TEST_F(KnownFindings, AFileOfSuppressionsThatIsWrongIsRefusedWithItsLine) {
    const std::pair<const char*, const char*> table[] = {
        {"race\n", "line 1: write {"},
        {"{\n  reason\n  raec\n", "line 3: write a kind"},
        {"{\n  reason\n  race\n}\n", "line 4: a suppression needs"},
        {"{\n  reason\n  race\n  kernel:\n", "line 4: the pattern is empty"},
        {"{\n  reason\n  race\n  fun: a\n", "line 4: write kernel:, line: or file:"},
        {"{\n  reason\n  race\n  kernel: a\n", "line 4: the last } is missing"},
    };
    for (const auto& [text, words] : table) {
        suppress(text);
        EXPECT_NE(refusal().find(words), std::string::npos) << refusal();
        EXPECT_EQ(refusal().find("--suppressions " + files_.suppressions.string()), 0u);
    }
    files_.suppressions = folder_ / "nowhere";
    EXPECT_NE(refusal().find("nowhere"), std::string::npos);
}

TEST_F(KnownFindings, AFileThatIsNoBaselineIsRefused) {
    for (const char* text : {"", "[]", "{}", "{\"format\": \"warpscope baseline 2\"}"}) {
        files_.baseline = write("baseline", text);
        EXPECT_NE(refusal().find("this is no baseline, or it is damaged"), std::string::npos)
            << text;
    }
    files_.baseline =
        write("baseline",
              "{\"format\": \"warpscope baseline 1\", \"findings\": [{\"kind\": "
              "\"raec\", \"kernel\": \"a\", \"lines\": [], \"severity\": \"error\"}]}");
    EXPECT_NE(refusal().find("or it is damaged"), std::string::npos);
}

TEST_F(KnownFindings, TextsThatAreNoUtf8AreFoundAgain) {
    const std::string text = "a[\xff] = 1;\x01\nb\n";
    files_.baseline = write("baseline", known({race(1, 2)}, text).baseline);
    EXPECT_EQ(standings({race(1, 2)}, text), Standings{old});
}

}  // namespace
}  // namespace warpscope::jobs
