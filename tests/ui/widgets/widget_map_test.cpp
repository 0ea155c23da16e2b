#include "ui/widgets/widget_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace warpscope::ui {
namespace {

TEST(WidgetMapTest, JsonHoldsEveryField) {
    WidgetMap map;
    map.add({"ripple.sync", 10, 20.5, 30, 40, "on", true, true});
    map.add({"compare", 0, 0, 0, 0, "\xff", false, false});
    const auto json = nlohmann::json::parse(map.json());
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[0], (nlohmann::json{{"id", "ripple.sync"},
                                       {"x", 10.0},
                                       {"y", 20.5},
                                       {"w", 30.0},
                                       {"h", 40.0},
                                       {"value", "on"},
                                       {"enabled", true},
                                       {"visible", true}}));
    EXPECT_EQ(json[1]["enabled"], false);
    EXPECT_EQ(json[1]["visible"], false);
}

TEST(WidgetMapTest, FileIsWrittenOnlyAfterAChange) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("warpscope-map-" + std::to_string(::getpid()) + ".json");
    WidgetMap map;
    map.add({"a", 1, 2, 3, 4, "on", true, true});
    map.write_if_changed(file);
    EXPECT_TRUE(std::filesystem::remove(file));
    map.write_if_changed(file);
    EXPECT_FALSE(std::filesystem::exists(file));
    map.begin_frame();
    map.add({"a", 1, 2, 3, 4, "off", true, true});
    map.write_if_changed(file);
    std::ifstream in(file);
    EXPECT_EQ(nlohmann::json::parse(in)[0]["value"], "off");
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace warpscope::ui
