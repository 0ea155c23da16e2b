#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <span>

#include "experiments/lessons/lesson.h"
#include "ui/view_fixture.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Names may end in "…", with a tooltip that has all of them, and words about a kernel or a file.
bool may_be_cut(const std::string& words) {
    static const std::regex name(R"([\w.:\[\]]*([A-Z_.:\[]|cuda)[\w.:\[\]]*)");
    return std::regex_match(words, name) || words.find(".cu") != std::string::npos ||
           words.find("kernel") != std::string::npos;
}

/// A walk through all panels in every language. It collects the words that have too little room.
class Fitting : public ViewFixture {
  protected:
    ~Fitting() override { set_language(Language::english); }

    void draw_in(Language language, int percent) {
        set_language(language);
        Ui& ui = view_->ui();
        ui.scale = float(percent) / 100;
        ui.language = language;
        ui.fonts = apply_theme(ui.scale, 1);
        gui_.fonts_changed();
        view_->options().percent = percent;
        where_ = fmt::format("{}, {} %", name_of(language).english, percent);
    }
    std::set<std::string> cut_in_this_frame() {
        std::vector<std::string> drawn;
        collect_cut_words(&drawn);
        frames();
        collect_cut_words(nullptr);
        std::set<std::string> cut = cut_letters();
        for (const std::string& words : drawn)
            if (!may_be_cut(words) && words != value("message")) cut.insert(words);
        return cut;
    }
    /// A panel that has just got more words has its scrollbar in the next frame.
    void look(const std::string& at) {
        frames(3);
        const std::set<std::string> before = cut_in_this_frame(), now = cut_in_this_frame();
        for (const std::string& words : now)
            if (before.contains(words)) cut_.insert(where_ + ", " + at + ": " + words);
    }
    /// Letters that are drawn over the left or right edge of what may be drawn in. Code may be cut:
    /// it scrolls.
    std::set<std::string> cut_letters() {
        std::set<std::string> found;
#if IMGUI_VERSION_NUM < 19200
        std::map<std::pair<float, float>, ImWchar> letters;
        const Fonts& fonts = view_->ui().fonts;
        for (const ImFont* font : {fonts.body, fonts.small, fonts.strong, fonts.value})
            for (const ImFontGlyph& glyph : font->Glyphs)
                if (glyph.Visible) letters[{glyph.U0, glyph.V0}] = ImWchar(glyph.Codepoint);
        const ImDrawData& data = *ImGui::GetDrawData();
        for (const ImDrawList* list : std::span(data.CmdLists, std::size_t(data.CmdListsCount)))
            for (const ImDrawCmd& part : list->CmdBuffer)
                for (unsigned i = 0; i + 6 <= part.ElemCount; i += 3) {
                    const auto corner = [&](unsigned k) {
                        return list->VtxBuffer[int(part.VtxOffset) +
                                               list->IdxBuffer[int(part.IdxOffset + i + k)]];
                    };
                    const ImDrawVert a = corner(0), c = corner(2);
                    const auto letter = letters.find({a.uv.x, a.uv.y});
                    const float middle = (a.pos.y + c.pos.y) / 2;
                    if (letter != letters.end() && middle > part.ClipRect.y &&
                        middle < part.ClipRect.w &&
                        (c.pos.x > part.ClipRect.z + 1 || a.pos.x < part.ClipRect.x - 1))
                        found.insert(fmt::format("the letter {:#x} at {:.0f}, {:.0f}",
                                                 unsigned(letter->second), a.pos.x, a.pos.y));
                }
#endif
        return found;
    }
    void look_at_tabs(std::string ViewOptions::*chosen, const std::string& at) {
        std::vector<std::string> tabs;
        for (const Widget& widget : view_->widgets().widgets())
            if (widget.id.starts_with("dock.") && widget.id != "dock.fold")
                tabs.push_back(widget.id.substr(5));
        for (const std::string& tab : tabs) {
            view_->options().*chosen = tab;
            look(at + ", " + tab);
        }
    }
    void walk() {
        ViewOptions& options = view_->options();
        look("at first");
        options.dock_folded = false;
        look_at_tabs(&ViewOptions::dock, "open dock");
        options.dock_folded = true;
        for (const Drawer drawer : {Drawer::controls, Drawer::results}) {
            options.drawer = drawer;
            look("drawer");
        }
        options.drawer = Drawer::none;
        options.editor = true;
        look("editor");
        options.lessons = true;
        look("editor and lessons");
        options.editor = false;
        look("lessons");
        options.lessons = false;
        options.presentation = true;
        look("presentation");
        options.presentation = false;
        view_->open_microscope(*read_place("0,0"));
        do frames();
        while (view_->microscope().waits());
        options.dock_folded = false;
        frames(2);
        look_at_tabs(&ViewOptions::dock_open, "microscope");
        view_->press('P', 0);
        look("microscope with PTX");
        view_->press('P', 0);
        view_->press('M', 0);
        options.dock_folded = true;
        frames(2);
    }
    void press_and_look(int key, int modifiers, const std::string& at) {
        view_->press(key, modifiers);
        look(at);
        press_key(ImGuiKey_Escape);
        view_->press(256, 0);  // Escape, for what is no popup
        frames(2);
    }
    /// What lies over the panels, and the lessons.
    void walk_overlays() {
        constexpr int control = 2, shift = 1, f2 = 291;
        press_and_look('P', control | shift, "palette");
        press_and_look('H', 0, "keys");
        press_and_look(f2, 0, "words");
        press_and_look('O', control, "open");
        view_->tour().start();
        for (int step = 1; view_->tour().shows(); ++step) {
            look(fmt::format("tour, step {}", step));
            click("tour.next");
        }
    }
    void walk_lessons() {
        const auto folder = std::filesystem::path(README).parent_path() / "lessons";
        for (const std::filesystem::path& file : experiments::lesson_files(folder)) {
            view_->lessons().open(file);
            settle();
            look(file.stem().string());
        }
    }
    void walk_everything(const std::string& experiment,
                         std::vector<experiments::Assignment> assignments) {
        show(experiment, std::move(assignments));
        for (const LanguageName& one : languages)
            for (const int percent : {100, 200}) {
                draw_in(one.language, percent);
                walk();
                if (experiment == "ripple") walk_overlays();
            }
        EXPECT_TRUE(cut_.empty()) << fmt::format("{}", fmt::join(cut_, "\n"));
    }

    std::set<std::string> cut_;
    std::string where_;
};

TEST_F(Fitting, WordsOfTheRipple) {
    walk_everything("ripple", {{"size", "64"}, {"sync", "off"}});
}

TEST_F(Fitting, WordsOfTheLessons) {
    show("ripple", {{"size", "64"}});
    for (const LanguageName& one : languages)
        for (const int percent : {100, 200}) {
            draw_in(one.language, percent);
            walk_lessons();
        }
    EXPECT_TRUE(cut_.empty()) << fmt::format("{}", fmt::join(cut_, "\n"));
}

TEST_F(Fitting, WordsOfTheBodies) {
    walk_everything("nbody", {{"bodies", "256"}});
}

TEST_F(Fitting, WordsOfTheDotProduct) {
    walk_everything("dot", {{"n", "4096"}});
}

TEST_F(Fitting, WordsOfTheReduction) {
    walk_everything("reduction", {{"n", "4096"}});
}

TEST_F(Fitting, WordsOfThePipeline) {
    walk_everything("pipeline", {{"size", "256"}});
}

TEST_F(Fitting, WordsOfAKernelOfOnesOwn) {
    walk_everything("launch", {});
}

}  // namespace
}  // namespace warpscope::ui
