#include "ui/commands/command_palette.h"

#include <algorithm>
#include <set>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

constexpr int key_p = 'P', key_f11 = 300, control = 2, shift = 1;

TEST(Palette, FindsRowsByTheBeginningsOfTheirWords) {
    const std::vector<PaletteRow> rows{{"a", "fit the picture", "F", {}},
                                       {"b", "save the picture alone as PNG", "Shift+F12", {}},
                                       {"c", "show the experiment N-body", "2", {}}};
    const auto ids = [&](const std::string& typed) {
        std::string found;
        for (const PaletteRow* row : matching(rows, typed)) found += row->id;
        return found;
    };
    EXPECT_EQ(ids(""), "abc");
    EXPECT_EQ(ids("pic"), "ab");
    EXPECT_EQ(ids("PNG save"), "b");
    EXPECT_EQ(ids("n-body"), "c");
    EXPECT_EQ(ids("ixture"), "") << "no word begins so";
}

class PaletteView : public ViewFixture {};

TEST_F(PaletteView, HasEveryCommandWithItsKeyAndCarriesItOut) {
    show("ripple", {{"size", "64"}});
    view_->press(key_p, control | shift);
    frames(3);
    EXPECT_EQ(value("palette:fit the picture"), "F");
    EXPECT_EQ(value("palette:begin or end the presentation: picture, barrier and one sentence"),
              "F11");
    EXPECT_EQ(value("palette:nbody"), "2");
    EXPECT_EQ(value("palette:step one instruction"), "(no such widget)");
    std::set<Command> commands;
    for (const KeyRow& row : key_table())
        if (row.scope == KeyScope::general)
            for (const Shortcut& one : row.shortcuts) commands.insert(one.command);
    const auto rows = std::ranges::count_if(view_->widgets().widgets(), [](const Widget& one) {
        return one.id.starts_with("palette:");
    });
    // All commands but that of the number keys; six experiments; the lessons; three languages.
    EXPECT_EQ(std::size_t(rows), commands.size() - 1 + 6 + view_->lessons().lessons().size() + 3);

    for (const char c : std::string("larger")) ImGui::GetIO().AddInputCharacter(unsigned(c));
    frames(8);
    EXPECT_EQ(value("palette"), "larger");
    press_enter();
    EXPECT_EQ(view_->options().percent, 110);
    EXPECT_EQ(value("palette"), "(no such widget)");
}

TEST_F(PaletteView, TheRowOfUndoNamesTheChangeThatItTakesBack) {
    show("ripple", {{"size", "64"}});
    const auto rows_of = [&](const std::string& typed) {
        view_->press(key_p, control | shift);
        frames(3);
        for (const char c : typed) ImGui::GetIO().AddInputCharacter(unsigned(c));
        frames(8);
        std::string rows;
        for (const Widget& one : view_->widgets().widgets())
            if (one.id.starts_with("palette:")) rows += one.id.substr(8) + "\n";
        press_key(ImGuiKey_Escape);
        return rows;
    };
    EXPECT_EQ(rows_of("undo 64"), "");
    set("size", "96");
    EXPECT_EQ(rows_of("undo size 96 64"), "undo a change of parameters\n");
    stage_->undo();
    settle();
    EXPECT_EQ(rows_of("undo 64"), "");
    EXPECT_EQ(rows_of("redo size 64 96"), "redo a change of parameters\n");
}

TEST_F(PaletteView, AWordThatIsTypedAtOnceIsNoShortcut) {
    show("ripple", {{"size", "64"}});
    view_->press(key_p, control | shift);
    view_->press('S', 0);  // of "show", before the palette is drawn
    frames(8);
    EXPECT_EQ(value("palette"), "");
    EXPECT_EQ(value("ripple.sync"), "on");
}

TEST_F(PaletteView, TheSizesHaveEnds) {
    show("ripple", {{"size", "64"}});
    const auto press = [&](int key, int times) {
        for (int i = 0; i < times; ++i) view_->press(key, control);
        frames(2);
    };
    press('=', 20);
    EXPECT_EQ(view_->options().percent, 250);
    press('-', 20);
    EXPECT_EQ(view_->options().percent, 75);
    EXPECT_FLOAT_EQ(view_->enlargement(720), 0.75F);
    press('0', 1);
    EXPECT_EQ(view_->options().percent, 100);
    EXPECT_EQ(value("message"), "Everything is drawn at 100 %.");
    view_->speak(Language::english);
    frames(2);
    EXPECT_EQ(value("message").find("Everything"), std::string::npos)
        << "it may be in another language than the window";
    view_->press(key_f11, 0);
    frames(2);
    EXPECT_FLOAT_EQ(view_->enlargement(720), 1.5F);
    EXPECT_FLOAT_EQ(view_->enlargement(1080), 2.25F);
    EXPECT_FLOAT_EQ(view_->enlargement(1100), 2.25F);
    EXPECT_FLOAT_EQ(view_->enlargement(300), 1.5F);
    view_->options().percent = 200;
    EXPECT_FLOAT_EQ(view_->enlargement(720), 2.25F);
}

TEST_F(PaletteView, APresentationHasALargeBarrierAndASentence) {
    show("ripple", {{"size", "64"}});
    view_->press(key_f11, 0);
    settle();
    EXPECT_EQ(value("caption.barrier"), "on");
    EXPECT_EQ(value("caption.race"), "No race found");
    EXPECT_EQ(value("ripple.size"), "(no such widget)");
    EXPECT_EQ(value("message"), "(no such widget)");
    click("caption.barrier");
    settle();
    EXPECT_EQ(value("caption.barrier"), "off");
    EXPECT_EQ(value("caption.race"), "Race: 256 hazards a block");
    const std::string verdict = value("caption");
    EXPECT_NE(verdict.find("were read before"), std::string::npos) << verdict;
    stage_->say("Everything is drawn at 125 %.");
    frames(2);
    EXPECT_EQ(value("caption"), verdict) << "the picture's sentence stays";
    stage_->say("The kernel has failed.", Tone::error);
    frames(2);
    EXPECT_EQ(value("caption"), "The kernel has failed.");
    view_->press(256, 0);  // Esc
    frames(2);
    EXPECT_EQ(value("caption.barrier"), "(no such widget)");
    EXPECT_EQ(value("ripple.size"), "64");
}

}  // namespace
}  // namespace warpscope::ui
