#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

/// Words that may end in "…", with a tooltip that has all of them: names of kernels, files and
/// devices, and messages about them.
bool may_be_cut(const std::string& words) {
    return words.find(".cu") != std::string::npos || words.find("kernels/") != std::string::npos;
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
    void look(const std::string& at) {
        frames(3);
        take_cut_words();
        frames();
        for (const std::string& words : take_cut_words())
            if (!may_be_cut(words)) cut_.insert(where_ + ", " + at + ": " + words);
        for (const std::string& place : cut_glyphs())
            cut_.insert(where_ + ", " + at + ": letters at " + place);
    }
    /// Where letters are drawn over the left or right edge of what may be drawn in.
    static std::set<std::string> cut_glyphs() {
        std::set<std::string> places;
        const ImDrawData& data = *ImGui::GetDrawData();
        const ImVec2 white = ImGui::GetIO().Fonts->TexUvWhitePixel;
        for (const ImDrawList* list : std::span(data.CmdLists, std::size_t(data.CmdListsCount)))
            for (const ImDrawCmd& part : list->CmdBuffer)
                for (unsigned i = 0; i + 6 <= part.ElemCount; i += 3) {
                    const auto corner = [&](unsigned k) {
                        return list->VtxBuffer[int(part.VtxOffset) +
                                               list->IdxBuffer[int(part.IdxOffset + i + k)]];
                    };
                    const ImDrawVert a = corner(0), c = corner(2);
                    const bool is_letter = part.TextureId == ImGui::GetIO().Fonts->TexID &&
                                           a.uv.x != c.uv.x && a.uv.y != c.uv.y &&
                                           a.uv.x != white.x && a.pos.x < c.pos.x;
                    const float middle = (a.pos.y + c.pos.y) / 2;
                    const bool in_sight = middle > part.ClipRect.y && middle < part.ClipRect.w;
                    if (is_letter && in_sight &&
                        (c.pos.x > part.ClipRect.z + 1 || a.pos.x < part.ClipRect.x - 1))
                        places.insert(fmt::format("{:.0f},{:.0f}", a.pos.x, a.pos.y));
                }
        return places;
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
    void walk_everything(const std::string& experiment,
                         std::vector<experiments::Assignment> assignments) {
        show(experiment, std::move(assignments));
        for (const LanguageName& one : languages)
            for (const int percent : {100, 200}) {
                draw_in(one.language, percent);
                walk();
            }
        EXPECT_EQ(cut_, std::set<std::string>()) << experiment;
    }

    std::set<std::string> cut_;
    std::string where_;
};

TEST_F(Fitting, WordsOfTheRipple) {
    walk_everything("ripple", {{"size", "64"}, {"sync", "off"}});
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
    walk_everything("pipeline", {{"size", "64"}});
}

TEST_F(Fitting, WordsOfAKernelOfOnesOwn) {
    walk_everything("launch", {});
}

}  // namespace
}  // namespace warpscope::ui
