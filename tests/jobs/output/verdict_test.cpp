#include "jobs/output/verdict.h"

#include <gtest/gtest.h>

namespace warpscope::jobs {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;

Finding finding(FindingKind kind, Severity severity) {
    Finding f{.kind = kind, .severity = severity, .kernel = "blur<2>"};
    f.first = {"blur.cu", 7, {}, {}};
    f.sentence = "A \"sentence\" & more.";
    return f;
}

const emulator::CheckChoice checks{.race = true, .memory = true};

/// An error, a warning and a note, of which the first two are suppressed and known.
struct Three {
    emulator::Verdict verdict{.findings = {finding(FindingKind::race, Severity::error),
                                           finding(FindingKind::memory, Severity::warning),
                                           finding(FindingKind::race, Severity::note)}};
    Known known{.reviews = {{Standing::suppressed, "It is meant so", true, "race: a"},
                            {Standing::known, "", false, "memory: b"},
                            {Standing::fresh, "", false, "race: c"}},
                .unmatched = {"x:1 matches nothing"},
                .has_baseline = true};

    Three() {
        verdict.findings[0].second = verdict.findings[0].first;
        verdict.findings[2].second = verdict.findings[2].first;
    }
};

TEST(Verdict, KnownAndSuppressedFindingsDoNotFail) {
    const Three three;
    EXPECT_EQ(exit_status(three.verdict, Severity::warning, three.known), 0);
    EXPECT_EQ(exit_status(three.verdict, Severity::warning, {}), 1);
    Known other = three.known;
    other.reviews[1].standing = Standing::fresh;
    EXPECT_EQ(exit_status(three.verdict, Severity::warning, other), 1);
    EXPECT_EQ(exit_status(three.verdict, Severity::error, other), 0);
}

TEST(Verdict, ALaunchThatEndsByAKnownFindingIsKnown) {
    emulator::Verdict verdict{.findings = {finding(FindingKind::failure, Severity::error)},
                              .error = "It failed."};
    const Known known{.reviews = {{Standing::known}}};
    EXPECT_EQ(exit_status(verdict, Severity::warning, known), 0);
    verdict.timed_out = true;
    EXPECT_EQ(exit_status(verdict, Severity::warning, known), no_verdict);
    verdict = {.findings = {finding(FindingKind::race, Severity::error)}, .error = "It failed."};
    EXPECT_EQ(exit_status(verdict, Severity::warning, known), 1) << "a race ends no launch";
}

TEST(Verdict, TheTextCountsWhatIsKnownAndTellsReasons) {
    const Three three;
    const std::string text = verdict_text(three.verdict, checks, three.known);
    EXPECT_NE(text.find("CHECK SUMMARY (race, memory): 1 finding (0 errors, 0 warnings, 1 note); "
                        "1 known, 1 suppressed\n"
                        "========= Suppressed: It is meant so [1]\n"
                        "========= x:1 matches nothing\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("Error:"), std::string::npos) << text;
    EXPECT_EQ(text.find("Warning:"), std::string::npos) << text;
}

TEST(Verdict, TheTextNamesWhatIsNotKnownOfAGroup) {
    emulator::Verdict verdict{.findings = {finding(FindingKind::memory, Severity::error)}};
    verdict.findings[0].repaired_too = {finding(FindingKind::barrier, Severity::error)};
    const Known known{.reviews = {{.open = {"barrier: b"}}}};
    const std::string text = verdict_text(verdict, checks, known);
    EXPECT_NE(text.find("Not known of these: barrier: b\n"), std::string::npos) << text;
}

TEST(Verdict, JsonSaysWhereFindingsStand) {
    const Three three;
    Json json;
    add_verdict(json, three.verdict, checks, three.known);
    EXPECT_EQ(json["findings"][0]["standing"], "suppressed");
    EXPECT_EQ(json["findings"][0]["reason"], "It is meant so");
    EXPECT_EQ(json["findings"][1]["standing"], "known");
    EXPECT_EQ(json["findings"][1]["reason"], nullptr);
    EXPECT_EQ(json["findings"][2]["standing"], "new");
    EXPECT_EQ(json["unmatched"], Json::array({"x:1 matches nothing"}));
}

TEST(Verdict, SarifHasSuppressionsAndTheStateOfTheBaseline) {
    Three three;
    const Json results = sarif(three.verdict, true, three.known)["runs"][0]["results"];
    const Json suppression = {{"kind", "inSource"}, {"justification", "It is meant so"}};
    EXPECT_EQ(results[0]["suppressions"], Json::array({suppression}));
    EXPECT_EQ(results[1]["baselineState"], "unchanged");
    EXPECT_FALSE(results[1].contains("suppressions"));
    EXPECT_EQ(results[2]["baselineState"], "new");
    three.known.has_baseline = false;
    const Json without = sarif(three.verdict, true, three.known)["runs"][0]["results"];
    for (const Json& result : without)
        EXPECT_FALSE(result.contains("baselineState"));
}

TEST(Verdict, JunitHasACaseForTheRunAndOneForEachFinding) {
    Three three;
    three.known.reviews[2].name = "race: c < \"d\"";
    std::string xml = junit(three.verdict, checks, Severity::warning, three.known);
    EXPECT_NE(xml.find("tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"2\""), std::string::npos)
        << xml;
    EXPECT_NE(xml.find("classname=\"warpscope\" name=\"race, memory\"></testcase>"),
              std::string::npos);
    EXPECT_NE(xml.find("name=\"race: a\" file=\"blur.cu\"><skipped message=\"suppressed: It is "
                       "meant so\"/>"),
              std::string::npos);
    EXPECT_NE(xml.find("classname=\"blur&lt;2&gt;\" name=\"race: c &lt; &quot;d&quot;\""),
              std::string::npos);

    three.verdict.error = "It \x1b failed.";
    xml = junit(three.verdict, checks, Severity::warning, {});
    EXPECT_NE(xml.find("failures=\"2\" errors=\"1\" skipped=\"0\""), std::string::npos) << xml;
    EXPECT_NE(xml.find("<error message=\"It \\x1b failed.\"/>"), std::string::npos);
    EXPECT_NE(xml.find("A &quot;sentence&quot; &amp; more.\n=========\n</failure>"),
              std::string::npos);

    xml = junit(three.verdict, checks, {}, {});
    EXPECT_NE(xml.find("failures=\"0\" errors=\"0\" skipped=\"0\""), std::string::npos)
        << "what is found in a guessed launch does not fail";
}

}  // namespace
}  // namespace warpscope::jobs
