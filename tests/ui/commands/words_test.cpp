#include <imgui.h>
#include <imgui_internal.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "experiments/framework/experiment.h"
#include "ui/view_fixture.h"
#include "ui/widgets/glossary.h"
#include "ui/window/screenshot.h"

namespace warpscope::ui {
namespace {

constexpr int key_escape = 256, key_page_up = 266, key_page_down = 267, key_f2 = 291, key_f12 = 301;

class Words : public ViewFixture {
  protected:
    void key(int number) {
        view_->press(number, 0);
        frames(3);
    }
};

TEST(Vocabulary, HasTheRowsOfThePage) {
    std::set<std::string> words;
    for (const VocabularyWord& row : vocabulary()) {
        EXPECT_TRUE(words.insert(row.word).second) << row.word;
        EXPECT_EQ(row.meaning.find('`'), std::string::npos) << row.word;
        EXPECT_TRUE(row.meaning.ends_with('.') || row.meaning.ends_with(')')) << row.word;
    }
    for (const char* word : {"kernel", "barrier", "warp", "mbarrier", "helper process"})
        EXPECT_TRUE(words.contains(word)) << word;
    EXPECT_EQ(explaining_word("conflicts"), "bank");
    EXPECT_EQ(explaining_word("frame"), "");
}

TEST_F(Words, TheListOpensAtTheWordUnderTheMouse) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    key(key_f2);
    EXPECT_EQ(value("words:barrier"), "off");
    key(key_escape);
    EXPECT_EQ(value("words:barrier"), "(no such widget)");
    click("race");
    const Widget* const summary = view_->widgets().find("findings.summary");
    ASSERT_NE(summary, nullptr);
    point(float(summary->x + summary->w * 0.1), float(summary->y + summary->h / 2));
    frames(3);
    key(key_f2);
    EXPECT_EQ(value("words:hazard"), "on") << value("findings.summary");
    EXPECT_TRUE(view_->widgets().find("words:hazard")->visible) << "the list begins there";
    EXPECT_FALSE(view_->widgets().find("words:kernel")->visible);
}

TEST_F(Words, ASwitchOfTheBarrierExplainsTheBarrier) {
    show("ripple", {{"size", "64"}});
    const Widget* const sync = view_->widgets().find("ripple.sync");
    point(float(sync->x + 5), float(sync->y + 5));
    frames(60);
    EXPECT_NE(value("tooltip").find(meaning_of("barrier")), std::string::npos) << value("tooltip");
}

TEST_F(Words, PreparedStatesAreThePngsOfAFolder) {
    namespace fs = std::filesystem;
    show("ripple", {{"size", "64"}});
    key(key_page_down);
    EXPECT_NE(value("message").find("Open a PNG"), std::string::npos);
    const fs::path folder =
        fs::temp_directory_path() / ("warpscope-states-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    for (const char* size : {"64", "96", "128"}) {
        set("size", size);
        save_screenshot(*stage_, {{64, 64}, true, {}}, folder / ("a" + std::string(size) + ".png"));
    }
    const auto wait_for_size = [&](const char* size) {
        do frames();
        while (view_->moves());
        settle();
        EXPECT_EQ(stage_->parameters().find("size").text(), size);
    };
    // In the order of names: a128, a64, a96.
    view_->open_file((folder / "a128.png").string());
    wait_for_size("128");
    key(key_page_down);
    wait_for_size("64");
    key(key_page_down);
    wait_for_size("96");
    key(key_page_down);
    EXPECT_EQ(value("message"), "This is the last picture of its folder.");
    key(key_page_up);
    wait_for_size("64");
    fs::remove_all(folder);
}

TEST_F(Words, TheKeysThatWerePressedAreShownIfWanted) {
    show("ripple", {{"size", "64"}});
    key('G');
    EXPECT_EQ(value("speaker.key"), "(no such widget)");
    view_->options().marks = true;
    key('G');
    EXPECT_EQ(value("speaker.key"), "G");
    for (const ImGuiWindow* const window : ImGui::GetCurrentContext()->Windows)
        EXPECT_FALSE(window->Active && window->Name == std::string("Debug##Default"))
            << "drawn outside of a window";
    view_->press(key_f12, 1);
    frames(2);
    EXPECT_EQ(value("speaker.key"), "Shift+F12");
}

}  // namespace
}  // namespace warpscope::ui
