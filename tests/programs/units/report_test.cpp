#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "programs/report/program_report.h"
#include "programs/report/program_settings.h"

namespace warpscope::programs {
namespace {

TEST(ProgramReport, IsReadAsItWasWritten) {
    const auto file = std::filesystem::path(testing::TempDir()) / "report.json";
    ProgramReport report{.command = "./app 3", .errors = {"e"}, .notes = {"n"}};
    report.kernels["k"] = {7, 0.5};
    emulator::Finding finding{
        .kind = emulator::FindingKind::barrier,
        .severity = emulator::Severity::warning,
        .kernel = "k",
        .by_host = true,
        .first = {"a.cu", 3, {1, 2, 3}, {4, 5, 6}},
        .byte = 12,
        .count = 9,
        .sentence = files::sentence("warp {} reads {}", 3, files::sentence("word {}", 7)),
        .barrier = emulator::Finding::BarrierPlace{2, 5}};
    finding.repaired_too.push_back(finding);
    finding.second = emulator::ThreadAtLine{"b.cu", 4, {}, {}, {{"h.h", 1, true}}};
    report.findings.push_back(finding);
    report.counters.push_back({});
    report.counters[0].kernel = "k";
    report.counters[0].shared_loads.wavefronts = 11;
    write_report(report, file);
    const ProgramReport read = read_report(file);
    EXPECT_EQ(read.command, "./app 3");
    EXPECT_EQ(read.kernels.at("k").launches, 7u);
    ASSERT_EQ(read.findings.size(), 1u);
    const emulator::Finding& f = read.findings[0];
    EXPECT_EQ(f.kind, emulator::FindingKind::barrier);
    EXPECT_EQ(f.severity, emulator::Severity::warning);
    EXPECT_EQ(f.first.block, (emulator::Dim3{4, 5, 6}));
    EXPECT_EQ(f.byte, 12u);
    EXPECT_EQ(f.sentence, "warp 3 reads word 7");
    EXPECT_EQ(f.sentence.words(), "warp {} reads {}");
    EXPECT_EQ(f.sentence.values()[1].words(), "word {}");
    EXPECT_TRUE(f.by_host);
    EXPECT_EQ(f.barrier->to, 5);
    EXPECT_EQ(f.second->inlined[0].file, "h.h");
    EXPECT_FALSE(f.repaired_too[0].second);
    EXPECT_EQ(read.counters, report.counters);
}

TEST(ProgramReport, OtherFilesAreRefused) {
    const auto file = std::filesystem::path(testing::TempDir()) / "other.json";
    for (const char* text : {"", "{}", "[1]", "{\"command\": 3}"}) {
        std::ofstream(file) << text;
        EXPECT_THROW(read_report(file), std::runtime_error) << text;
    }
    ProgramReport forged;
    forged.findings.push_back({.sentence = files::Sentence("{} and {}", {"a"})});
    EXPECT_NO_THROW(write_report({}, file));
    EXPECT_NO_THROW(read_report(file));
    write_report(forged, file);
    EXPECT_THROW(read_report(file), std::runtime_error) << "a value is missing";
    EXPECT_THROW(write_report({}, "/no/such/folder/x.json"), std::runtime_error);
}

TEST(ProgramSettings, GoThroughTheEnvironment) {
    const ProgramSettings settings{
        .checks = {.race = true, .memory = true, .leaks = true, .counters = true},
        .schedule = emulator::Schedule::reverse,
        .barriers = emulator::BarrierPolicy::strict,
        .seed = 18446744073709551615u,
        .reports = "/a b",
        .app = "/bin/app"};
    for (const auto& [name, value] : settings.to_environment())
        setenv(name.c_str(), value.c_str(), 1);
    const ProgramSettings read = ProgramSettings::from_environment();
    EXPECT_TRUE(read.checks.race);
    EXPECT_FALSE(read.checks.barrier);
    EXPECT_TRUE(read.checks.memory);
    EXPECT_TRUE(read.checks.leaks);
    EXPECT_TRUE(read.checks.counters);
    EXPECT_EQ(read.schedule, emulator::Schedule::reverse);
    EXPECT_EQ(read.barriers, emulator::BarrierPolicy::strict);
    EXPECT_EQ(read.seed, 18446744073709551615u);
    EXPECT_EQ(read.reports, "/a b");
    for (const auto& [name, value] : settings.to_environment()) unsetenv(name.c_str());
}

TEST(ProgramReport, FindingsOfKernelsSayWhatTheHostDidBefore) {
    HostReport report;
    report.before["A kernel reads."] = "This memory was freed at " + mark(1) + ".";
    report.sites[1] = {{.file = "/home/ann/free.py", .line = 7},
                       {.file = "/home/ann/main.py", .line = 3}};
    const auto findings = findings_of(
        report, {{.kind = emulator::FindingKind::memory, .sentence = "A kernel reads."},
                 {.kind = emulator::FindingKind::memory, .sentence = "Another one reads."}});
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].sentence,
              "A kernel reads. This memory was freed at /home/ann/free.py:7 (called at "
              "/home/ann/main.py:3).");
    EXPECT_EQ(findings[1].sentence, "Another one reads.");
}

}  // namespace
}  // namespace warpscope::programs
