#include "ui/commands/copies.h"

#include <nlohmann/json.hpp>

#include "experiments/export/trace.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

constexpr int ctrl = 2;

class Copies : public ViewFixture {
  protected:
    std::string copied(Command command) {
        ImGui::SetClipboardText("");
        view_->ui().ask(command);
        frames(2);
        return ImGui::GetClipboardText();
    }
};

TEST(ValueUnder, IsThatOfTheSmallestWidget) {
    WidgetMap map;
    map.add({"panel", 0, 0, 100, 100, "all"});
    map.add({"number", 10, 10, 20, 10, "44.1 %"});
    map.add({"frame", 12, 12, 2, 2, ""});
    map.add({"hidden", 10, 10, 1, 1, "x", true, false});
    EXPECT_EQ(value_under(map, {13, 13})->id, "number");
    EXPECT_EQ(value_under(map, {50, 50})->id, "panel");
    EXPECT_EQ(value_under(map, {150, 50}), nullptr);
}

TEST_F(Copies, TheValueUnderTheMouse) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const Widget* const wrong = view_->widgets().find("result.wrong_pixels");
    ASSERT_NE(wrong, nullptr);
    const std::string percent = wrong->value;
    point(float(wrong->x + 3), float(wrong->y + 3));
    ImGui::SetClipboardText("");
    view_->press(0x43, ctrl);
    frames(2);
    EXPECT_EQ(std::string(ImGui::GetClipboardText()), percent);
    EXPECT_EQ(value("message"), "Copied " + percent + ".");
}

TEST_F(Copies, TheFindingsHaveFileAndLine) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const std::string text = copied(Command::copy_findings);
    EXPECT_NE(text.find("kernels/ripple.cu:54: error: race"), std::string::npos) << text;
}

TEST_F(Copies, TheTableIsThatOfTheOpenTab) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    EXPECT_EQ(copied(Command::copy_csv).substr(0, 12), "result,value");
    view_->options().dock_folded = false;
    view_->options().dock = "findings";
    frames(2);
    const auto json = nlohmann::json::parse(copied(Command::copy_json));
    ASSERT_FALSE(json.empty());
    EXPECT_EQ(json[0].at("place"), "kernels/ripple.cu:54");
    view_->options().dock = "counters";
    frames(2);
    EXPECT_EQ(copied(Command::copy_markdown).substr(0, 10), "| kernel |");
}

TEST_F(Copies, TheCommandLineMakesThePictureAgain) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const std::string line = copied(Command::copy_command);
    EXPECT_EQ(line.find("warpscope --headless --experiment ripple"), 0) << line;
    EXPECT_NE(line.find("--set ripple.sync=off"), std::string::npos) << line;
}

TEST_F(Copies, ThePageShowsTheLinesOfTheRace) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const std::string page = page_of(*stage_, {});
    EXPECT_NE(page.find("<mark>   50  "), std::string::npos);
    EXPECT_NE(page.find("<mark>   54  "), std::string::npos);
    EXPECT_NE(page.find("<h2>Counters of a block</h2>"), std::string::npos);
}

TEST_F(Copies, TheTraceHasEveryStepOfTheBlock) {
    show("ripple", {{"size", "64"}});
    EXPECT_FALSE(view_->timeline());
    view_->press('M', 0);
    settle();
    ASSERT_TRUE(view_->microscope().ready());
    const auto timeline = view_->timeline();
    ASSERT_TRUE(timeline);
    EXPECT_EQ(timeline->warps, 8);
    double steps = 0;
    bool waits = false;
    for (const auto& span : timeline->spans) {
        EXPECT_LT(span.begin, span.end);
        EXPECT_LE(span.end, timeline->end);
        if (span.activity == experiments::Timeline::Activity::waiting)
            waits = true;
        else
            steps += span.end - span.begin;
    }
    EXPECT_EQ(steps, timeline->end) << "each step belongs to one span";
    EXPECT_TRUE(waits);
    EXPECT_TRUE(nlohmann::json::accept(experiments::to_trace(*timeline)));
}

}  // namespace
}  // namespace warpscope::ui
