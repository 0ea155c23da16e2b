#include "ui/bars/button_bars.h"

#include <set>
#include <string>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

TEST(RecordLabel, SaysHowManyFramesWereDropped) {
    ViewOptions options;
    EXPECT_EQ(record_label(options), "Record");
    options.records = Recorded::window;
    options.recorded_seconds = 12;
    options.recorded_bytes = 3'450'000;
    EXPECT_EQ(record_label(options), "Stop, 12 s, 3.5 MB");
    options.dropped_frames = 1;
    EXPECT_EQ(record_label(options), "Stop, 12 s, 3.5 MB, 1 frame dropped");
    options.dropped_frames = 3;
    options.record_seconds = 20;
    EXPECT_EQ(record_label(options), "Stop, 8 s left, 3.5 MB, 3 frames dropped");
}

/// The bar in a window in which it is as narrow as in one of 1280 pixels, at a larger scale.
class TopBarTest : public ViewFixture {
  protected:
    ~TopBarTest() override { set_language(Language::english); }

    void draw_in(Language language, float scale) {
        set_language(language);
        Ui& ui = view_->ui();
        ui.language = language;
        ui.scale = scale;
        ui.fonts = apply_theme(scale, 1);
        gui_.fonts_changed();
        frames(3);
    }
    bool is_in_sight(const std::string& id) {
        const Widget* const widget = view_->widgets().find(id);
        return widget && widget->visible && widget->x + widget->w <= width &&
               widget->y + widget->h <= height;
    }
};

TEST_F(TopBarTest, EveryButtonIsInTheBarOrInItsMenu) {
    show("ripple", {{"size", "64"}});
    for (const LanguageName& one : languages)
        for (const float scale : {1.F, 2.F, 2.5F}) {
            draw_in(one.language, scale);
            std::set<std::string> seen;
            const auto look = [&] {
                for (const char* id : {"open", "lessons.button", "screenshot.picture",
                                       "screenshot.window", "copy.picture", "record"})
                    if (is_in_sight(id)) seen.insert(id);
            };
            EXPECT_TRUE(is_in_sight("language"));
            EXPECT_TRUE(is_in_sight("keys"));
            look();
            click("save");
            look();
            press_key(ImGuiKey_Escape);
            EXPECT_EQ(seen.size(), 6U) << one.english << " " << scale;
        }
}

TEST_F(TopBarTest, AButtonOfTheMenuIsCarriedOut) {
    show("ripple", {{"size", "64"}});
    draw_in(Language::russian, 2.5F);
    ASSERT_FALSE(view_->options().lessons);
    click("save");
    click("lessons.button");
    EXPECT_TRUE(view_->options().lessons);
    EXPECT_EQ(view_->widgets().find("copy.picture"), nullptr) << "the menu is closed";
}

TEST_F(TopBarTest, TheChipOfTheChecksHasWordsWhereverItIs) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    EXPECT_EQ(value("race.words"), "Race") << "the card, with the count in its sentence";
    EXPECT_EQ(value("race"), "Race: 256 hazards a block");
    view_->options().hide_results = true;
    frames(3);
    EXPECT_EQ(value("race.words"), "Race: 256 hazards a block") << "the short form in the dock";
    view_->options().lessons = true;
    draw_in(Language::english, 2.F);
    EXPECT_EQ(value("race.words"), "Race");
    EXPECT_EQ(value("race"), "Race: 256 hazards a block");
}

}  // namespace
}  // namespace warpscope::ui
