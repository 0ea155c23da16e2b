#include "jobs/output/verdict.h"

#include <gtest/gtest.h>

namespace warpscope::jobs {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;

Finding race(Hazard hazard) {
    Finding f;
    f.kind = FindingKind::race;
    f.hazard = hazard;
    f.kernel = "blur";
    f.first = {"my kernels/blur.cu", 7, {}, {}};
    f.second = {"/usr/include/tile.cuh", 9, {}, {}};
    f.count = 64;
    f.sentence = "Thread 1 reads what thread 2 wrote.";
    return f;
}

/// What SARIF 2.1.0 demands of the properties that the log uses (sections 3.13 to 3.59).
void expect_valid(const Json& log) {
    EXPECT_EQ(log.at("version"), "2.1.0");
    EXPECT_TRUE(log.at("$schema").is_string());
    ASSERT_EQ(log.at("runs").size(), 1u);
    const Json& run = log["runs"][0];
    const Json& driver = run.at("tool").at("driver");
    EXPECT_EQ(driver.at("name"), "warpscope");
    for (const Json& rule : driver.at("rules")) {
        EXPECT_TRUE(rule.at("id").is_string());
        EXPECT_FALSE(rule.at("shortDescription").at("text").get<std::string>().empty());
    }
    for (const Json& result : run.at("results")) {
        EXPECT_EQ(driver["rules"].at(result.at("ruleIndex").get<std::size_t>()).at("id"),
                  result.at("ruleId"));
        EXPECT_TRUE(result.at("level") == "error" || result["level"] == "warning");
        EXPECT_FALSE(result.at("message").at("text").get<std::string>().empty());
        ASSERT_TRUE(result.at("locations").is_array());
        for (const char* list : {"locations", "relatedLocations"})
            for (const Json& l : result.value(list, Json::array())) {
                ASSERT_TRUE(l.at("logicalLocations").is_array());
                EXPECT_TRUE(l["logicalLocations"][0].at("name").is_string());
                if (!l.contains("physicalLocation")) continue;
                const Json& physical = l["physicalLocation"];
                const auto uri = physical.at("artifactLocation").at("uri").get<std::string>();
                EXPECT_EQ(uri.find(' '), std::string::npos) << uri;
                EXPECT_GE(physical.at("region").at("startLine").get<int>(), 1);
            }
    }
}

const Json& place(const Json& location) {
    return location.at("physicalLocation");
}

TEST(Sarif, ARaceHasAPlaceAndARelatedOne) {
    const Json log = Json::parse(dump(sarif({.findings = {race(Hazard::read_after_write)}}, true)));
    expect_valid(log);
    ASSERT_EQ(log["runs"][0]["results"].size(), 1u);
    const Json& result = log["runs"][0]["results"][0];
    EXPECT_EQ(result["ruleId"], "race");
    EXPECT_EQ(result["level"], "error");
    EXPECT_EQ(result["message"]["text"], "Thread 1 reads what thread 2 wrote.");
    EXPECT_EQ(result["properties"], (Json{{"kernel", "blur"}, {"count", 64}}));
    // The read is the later access.
    ASSERT_EQ(result["locations"].size(), 1u);
    EXPECT_EQ(place(result["locations"][0])["artifactLocation"]["uri"],
              "file:///usr/include/tile.cuh");
    EXPECT_EQ(place(result["locations"][0])["region"]["startLine"], 9);
    ASSERT_EQ(result["relatedLocations"].size(), 1u);
    EXPECT_EQ(place(result["relatedLocations"][0])["artifactLocation"]["uri"],
              "my%20kernels/blur.cu");
    EXPECT_EQ(place(result["relatedLocations"][0])["region"]["startLine"], 7);
}

TEST(Sarif, TheReadOfARaceIsItsPlace) {
    const Json log = sarif({.findings = {race(Hazard::write_after_read)}}, true);
    EXPECT_EQ(place(log["runs"][0]["results"][0]["locations"][0])["region"]["startLine"], 7);
}

TEST(Sarif, CodeOfTheUsersHeadersHasItsPlaceThereAndItsCallersAreRelated) {
    Finding f = race(Hazard::read_after_write);
    f.first = {"mine.cu", 6, {}, {}, {{"tile.h", 4, false}}};
    f.second = {"mine.cu",
                7,
                {},
                {},
                {{"cuda/x.cuh", 1, true}, {"sub/deep.h", 3, false}, {"tile.h", 8, false}}};
    const Json log = sarif({.findings = {f}}, true);
    expect_valid(log);
    const Json& result = log["runs"][0]["results"][0];
    const auto line = [](const Json& l) {
        return place(l)["artifactLocation"]["uri"].get<std::string>() + ":" +
               std::to_string(place(l)["region"]["startLine"].get<int>());
    };
    ASSERT_EQ(result["locations"].size(), 1u);
    EXPECT_EQ(line(result["locations"][0]), "sub/deep.h:3");
    std::vector<std::string> related;
    for (const Json& l : result["relatedLocations"])
        related.push_back(l["message"]["text"].get<std::string>() + " " + line(l));
    EXPECT_EQ(related, (std::vector<std::string>{"Called here tile.h:8", "Called here mine.cu:7",
                                                 "The other access tile.h:4",
                                                 "The other access is called here mine.cu:6"}));
}

TEST(Sarif, CodeOfTheToolkitHasItsPlaceInTheKernel) {
    Finding f = race(Hazard::read_after_write);
    f.second = {"mine.cu", 14, {}, {}, {{"cuda/x.cuh", 1, true}, {"cuda/y.cuh", 3, true}}};
    const Json log = sarif({.findings = {f}}, true);
    expect_valid(log);
    const Json& result = log["runs"][0]["results"][0];
    EXPECT_EQ(place(result["locations"][0])["artifactLocation"]["uri"], "mine.cu");
    EXPECT_EQ(place(result["locations"][0])["region"]["startLine"], 14);
    EXPECT_EQ(result["relatedLocations"].size(), 1u) << "the other access";
}

TEST(Sarif, EachKindOfFindingHasItsRule) {
    std::vector<Finding> findings;
    for (const FindingKind kind :
         {FindingKind::memory, FindingKind::barrier, FindingKind::uninitialized, FindingKind::race,
          FindingKind::call, FindingKind::leak, FindingKind::unread, FindingKind::failure,
          FindingKind::needed}) {
        Finding f = race(Hazard::write_after_write);
        f.kind = kind;
        f.severity = Severity::warning;
        if (kind != FindingKind::race) f.second.reset();
        findings.push_back(f);
    }
    const Json log = sarif({.findings = findings}, true);
    expect_valid(log);
    const Json& run = log["runs"][0];
    EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 11u);
    ASSERT_EQ(run["results"].size(), 9u);
    for (const Json& result : run["results"])
        EXPECT_EQ(result["ruleId"],
                  run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"]);
    EXPECT_EQ(run["results"][0]["ruleId"], "memory");
    EXPECT_EQ(run["results"][6]["ruleId"], "unread");
    EXPECT_EQ(run["results"][1]["ruleId"], "barrier");
    EXPECT_EQ(run["results"][1]["level"], "warning");
    EXPECT_FALSE(run["results"][1].contains("relatedLocations"));
}

TEST(Sarif, ACallAtAnAddressHasOnlyItsFunction) {
    Finding f{.kind = FindingKind::call, .kernel = "main", .by_host = true};
    f.first = {.file = "app+0x12f4"};
    f.sentence = "cudaFree() failed.";
    const Json log = sarif({.findings = {f}}, true);
    expect_valid(log);
    const Json location = log["runs"][0]["results"][0]["locations"][0];
    EXPECT_FALSE(location.contains("physicalLocation"));
    EXPECT_EQ(location["logicalLocations"][0]["name"], "main");
}

TEST(Sarif, WithoutFindingsTheResultsAreEmpty) {
    const Json log = sarif({.findings = {}}, false);
    expect_valid(log);
    const Json& run = log["runs"][0];
    EXPECT_EQ(run["results"], Json::array());
    EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 11u);
    EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
}

TEST(Sarif, AFindingWithoutLineInformationHasOnlyItsKernel) {
    Finding f = race(Hazard::read_after_write);
    f.second->file.clear();
    const Json log = sarif({.findings = {f}}, true);
    expect_valid(log);
    const Json& location = log["runs"][0]["results"][0]["locations"][0];
    EXPECT_FALSE(location.contains("physicalLocation"));
    EXPECT_EQ(location["logicalLocations"][0]["name"], "blur");
}

}  // namespace
}  // namespace warpscope::jobs
