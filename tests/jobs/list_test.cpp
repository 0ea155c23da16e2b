#include "jobs/list.h"

#include <gtest/gtest.h>

#include <sstream>

#include "experiments/framework/experiment.h"

namespace warpscope::jobs {
namespace {

std::size_t columns(const std::string& line) {
    std::size_t n = 0;
    for (unsigned char c : line) n += (c & 0xC0) != 0x80;
    return n;
}

TEST(List, NamesEveryParameterWithTypeRangeDefaultAndHelp) {
    const std::string text = list_text();
    const Json json = list_json();
    const auto registry = experiments::registry();
    ASSERT_EQ(json["experiments"].size(), registry.size());
    for (std::size_t e = 0; e < registry.size(); ++e) {
        const auto parameters = registry[e].make_parameters();
        const auto& all = parameters->all();
        const Json& listed = json["experiments"][e]["parameters"];
        ASSERT_EQ(listed.size(), all.size());
        for (std::size_t p = 0; p < all.size(); ++p) {
            const std::string id = registry[e].id + "." + all[p]->id();
            EXPECT_NE(text.find("  " + id + " "), std::string::npos) << id;
            EXPECT_EQ(listed[p]["id"], id);
            EXPECT_EQ(listed[p]["type"], all[p]->type());
            EXPECT_EQ(listed[p]["range"], all[p]->range());
            EXPECT_EQ(listed[p]["help"], all[p]->help());
            EXPECT_EQ(listed[p]["default"].is_number(),
                      all[p]->type() == "integer" || all[p]->type() == "real");
            EXPECT_FALSE(all[p]->help().empty()) << id;
        }
    }
}

TEST(List, HasTheIdsThatScriptsRelyOn) {
    const std::string text = list_text();
    for (const char* id :
         {"ripple.sync", "ripple.pattern", "ripple.layout", "ripple.size", "nbody.kernel",
          "nbody.bodies", "nbody.block", "nbody.start", "dot.kernel", "dot.n", "reduction.kernel",
          "reduction.n", "reduction.block"}) {
        EXPECT_NE(text.find("  " + std::string(id) + " "), std::string::npos) << id;
    }
}

TEST(List, LinesHaveAtMostAHundredColumns) {
    std::istringstream text(list_text());
    for (std::string line; std::getline(text, line);) EXPECT_LE(columns(line), 100u) << line;
}

}  // namespace
}  // namespace warpscope::jobs
