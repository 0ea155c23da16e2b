#include "jobs/headless/headless.h"

#include <gtest/gtest.h>

#include "jobs/output/json.h"

namespace warpscope::jobs {
namespace {

using experiments::Comparison;
using experiments::Verdict;

Comparison comparison() {
    return {"Kernels",
            "B/s",
            "pixel",
            "",
            {{"a", "rows", 4.2, 1e9, 0, Verdict::pass, ""},
             {"b", "tiles", 2.1, 2e9, 0, Verdict::pass, ""}}};
}

TEST(ComparisonText, OfAGpuIsAboutTimes) {
    Comparison timed = comparison();
    EXPECT_NE(comparison_text(timed).find("rows      4.20 ms                 1.00 GB/s ×1"),
              std::string::npos)
        << comparison_text(timed);
    EXPECT_NE(comparison_text(timed).find("tiles     2.10 ms                 2.00 GB/s ×2"),
              std::string::npos);
    EXPECT_EQ(comparison_text(timed).find("published"), std::string::npos);
    timed.published_title = "time in a tutorial";
    timed.rows[1].published = "3198.6 ms";
    EXPECT_NE(comparison_text(timed).find("  published: time in a tutorial:\n  tiles  3198.6 ms\n"),
              std::string::npos);
    EXPECT_TRUE(to_json(timed)["rows"][0]["counts"].is_null());
}

TEST(ComparisonText, OfTheEmulatorIsAboutCounts) {
    Comparison counted = comparison();
    counted.rows[0].counts = {4096, 0, 0, 12.5};
    counted.rows[1].counts = {1024, 512, 8, 15};
    const std::string text = comparison_text(counted);
    EXPECT_NE(text.find("instructions/pixel"), std::string::npos) << text;
    EXPECT_NE(text.find("   1 024 ×0.25 "), std::string::npos) << text;
    EXPECT_NE(text.find("      15 ×1.2 "), std::string::npos) << text;
    EXPECT_NE(text.find("(emulated in 4.20 ms)"), std::string::npos) << text;
    EXPECT_EQ(text.find("GB/s"), std::string::npos) << "a rate of the emulator teaches nothing";
    EXPECT_EQ(to_json(counted)["rows"][1]["counts"], (Json{{"sectors", 1024.0},
                                                           {"bank_passes", 512.0},
                                                           {"barriers", 8.0},
                                                           {"instructions_per_element", 15.0}}));
}

TEST(ComparisonText, EndsWithTheSpeedOfAllRanks) {
    Comparison scaled = comparison();
    EXPECT_EQ(to_json(scaled)["scaling"], "");
    scaled.scaling = "tiles: 2 ranks are 1.90x as fast.";
    EXPECT_TRUE(comparison_text(scaled).ends_with("\n  tiles: 2 ranks are 1.90x as fast.\n"))
        << comparison_text(scaled);
    EXPECT_EQ(to_json(scaled)["scaling"], scaled.scaling);
}

}  // namespace
}  // namespace warpscope::jobs
