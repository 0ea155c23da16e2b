#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <span>

#include "experiments/lessons/lesson.h"
#include "ui/results/results_panel.h"
#include "ui/view_fixture.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Names may end in "…", with a tooltip that has all of them, and words about a kernel or a file.
/// (So may what the first warp does, at which the microscope opens.)
bool may_be_cut(const std::string& words) {
    static const std::regex name(R"([\w.:\[\]]*([A-Z_.:\[]|cuda)[\w.:\[\]]*)");
    return std::regex_match(words, name) || words.find(".cu") != std::string::npos ||
           words.find("kernel") != std::string::npos || words.find("ядро") != std::string::npos ||
           words.find("核函数") != std::string::npos;
}

/// A letter on the screen, with the corners of its quad and of what may be drawn in.
struct Letter {
    ImWchar character = 0;
    ImVec2 low{}, high{};
    ImVec4 clip{};
    const ImDrawList* list = nullptr;  ///< of its window
    const ImFont* font = nullptr;
};

/// The letters of the newest frame in these fonts, in the order in which they were drawn.
std::vector<Letter> letters_of([[maybe_unused]] std::initializer_list<const ImFont*> fonts) {
    std::vector<Letter> found;
#if IMGUI_VERSION_NUM < 19200
    std::map<std::pair<float, float>, std::pair<ImWchar, const ImFont*>> glyphs;
    for (const ImFont* font : fonts)
        for (const ImFontGlyph& glyph : font->Glyphs)
            if (glyph.Visible) glyphs[{glyph.U0, glyph.V0}] = {ImWchar(glyph.Codepoint), font};
    const ImDrawData& data = *ImGui::GetDrawData();
    for (const ImDrawList* list : std::span(data.CmdLists, std::size_t(data.CmdListsCount)))
        for (const ImDrawCmd& part : list->CmdBuffer)
            for (unsigned i = 0; i + 6 <= part.ElemCount; i += 3) {
                const auto corner = [&](unsigned k) {
                    return list->VtxBuffer[int(part.VtxOffset) +
                                           list->IdxBuffer[int(part.IdxOffset + i + k)]];
                };
                const ImDrawVert a = corner(0), c = corner(2);
                if (c.pos.x <= a.pos.x)
                    continue;  // the second triangle of a quad begins there, too
                const auto glyph = glyphs.find({a.uv.x, a.uv.y});
                if (glyph == glyphs.end()) continue;
                const auto [character, font] = glyph->second;
                found.push_back({character, a.pos, c.pos, part.ClipRect, list, font});
            }
#endif
    return found;
}

/// Letters that lie over others of their window.
std::vector<std::string> overlapping(std::vector<Letter> letters) {
    std::vector<std::string> found;
    // Sorted by their left edges, a letter meets only those that begin before its right edge.
    std::stable_sort(letters.begin(), letters.end(),
                     [](const Letter& a, const Letter& b) { return a.low.x < b.low.x; });
    for (std::size_t i = 0; i < letters.size(); ++i)
        for (std::size_t k = i + 1; k < letters.size(); ++k) {
            const Letter &a = letters[i], &b = letters[k];
            if (b.low.x >= a.high.x) break;
            if (a.list != b.list || b.low.y >= a.high.y || a.low.y >= b.high.y) continue;
            const float across = std::min({a.high.x, b.high.x, a.clip.z, b.clip.z}) -
                                 std::max({a.low.x, b.low.x, a.clip.x, b.clip.x});
            const float down = std::min({a.high.y, b.high.y, a.clip.w, b.clip.w}) -
                               std::max({a.low.y, b.low.y, a.clip.y, b.clip.y});
            if (across > 2 && down > 2)
                found.push_back(fmt::format("{:#x} and {:#x} at {:.0f}, {:.0f}",
                                            unsigned(a.character), unsigned(b.character), b.low.x,
                                            b.low.y));
        }
    return found;
}

/// The lines that the letters form, with blanks where there is a gap between them.
std::vector<std::string> lines_of(const std::vector<Letter>& letters) {
    std::vector<std::string> lines;
    const Letter* before = nullptr;
    float tallest = 0;  // of the line's letters
    for (const Letter& letter : letters) {
        const float gap = before ? letter.low.x - before->high.x : 0;
        const bool goes_on =
            before && gap > -2 && gap < 20 && std::abs(letter.high.y - before->high.y) < 10;
        if (!goes_on) lines.emplace_back();
        tallest = std::max(goes_on ? tallest : 0, letter.high.y - letter.low.y);
        if (goes_on && gap > 0.25F * std::max(tallest, 10.F)) lines.back() += ' ';
        lines.back() += letter.character < 128 ? char(letter.character) : '?';
        before = &letter;
    }
    return lines;
}

/// Lines with two English words in a row. Names of files, of code and of settings are none.
bool is_english(const std::string& line) {
    static const std::regex words("(^| )[A-Z]?[a-z]+ [a-z]{2,}($|[ .,:;])");
    return std::regex_search(line, words) && line.find("//") == line.npos;
}

/// A walk through all panels in every language. It collects the words that have too little room,
/// and in Chinese those that are English.
class Fitting : public ViewFixture {
  protected:
    ~Fitting() override { set_language(Language::english); }

    void draw_in(Language language, int percent) {
        set_language(language);
        view_->ui().language = language;
        view_->options().percent = percent;
        enlarge();
        where_ = fmt::format("{}, {} %", name_of(language).english, percent);
    }
    /// As the window does where the size of everything has changed.
    void enlarge() {
        Ui& ui = view_->ui();
        ui.scale = view_->enlargement(height);
        ui.fonts = bare_ ? apply_theme(ui.scale, 1, {}) : apply_theme(ui.scale, 1);
        gui_.fonts_changed();
    }
    std::set<std::string> cut_in_this_frame() {
        std::vector<std::string> drawn;
        collect_cut_words(&drawn);
        frames();
        collect_cut_words(nullptr);
        const std::vector<Letter> letters = letters_of_frame();
        std::set<std::string> cut = cut_letters(letters);
        for (const std::string& words : overlapping(letters)) cut.insert(words);
        for (const std::string& words : drawn)
            if (!may_be_cut(words) && words != value("message") && words != value("warp.0"))
                cut.insert(words);
        return cut;
    }
    /// A panel that has just got more words has its scrollbar in the next frame.
    void look(const std::string& at) {
        frames(3);
        const std::set<std::string> before = cut_in_this_frame(), now = cut_in_this_frame();
        for (const std::string& words : now)
            if (before.contains(words)) cut_.insert(where_ + ", " + at + ": " + words);
        note_english(at);
    }
    std::vector<Letter> letters_of_frame() {
        const Fonts& fonts = view_->ui().fonts;
        return letters_of(
            {fonts.body, fonts.small, fonts.strong, fonts.value, fonts.mono, fonts.mono_small});
    }
    /// Letters that are drawn over the left or right edge of what may be drawn in. Code may be cut:
    /// it scrolls.
    std::set<std::string> cut_letters(const std::vector<Letter>& letters) {
        std::set<std::string> found;
        const Fonts& fonts = view_->ui().fonts;
        for (const Letter& one : letters) {
            if (one.font == fonts.mono || one.font == fonts.mono_small) continue;
            const float middle = (one.low.y + one.high.y) / 2;
            const ImGuiWindow* const window = ImGui::FindWindowByName(one.list->_OwnerName);
            const bool scrolls = window && window->ScrollMax.x > 0;
            if (!scrolls && middle > one.clip.y && middle < one.clip.w &&
                (one.high.x > one.clip.z + 1 || one.low.x < one.clip.x - 1))
                found.insert(fmt::format("the letter {:#x} at {:.0f}, {:.0f}",
                                         unsigned(one.character), one.low.x, one.low.y));
        }
        return found;
    }
    /// Letters of the strip of results that are drawn over its upper or lower edge.
    void look_at_strip() {
        const Box& strip = view_->layout().strip;
        const Fonts& fonts = view_->ui().fonts;
        for (const Letter& one : letters_of({fonts.small, fonts.strong, fonts.value})) {
            const bool inside = one.clip.y >= strip.y && one.clip.w <= strip.y + strip.height + 1;
            if (strip.height > 0 && inside &&
                (one.high.y > one.clip.w + 1 || one.low.y < one.clip.y - 1))
                cut_.insert(where_ + ": letters of the strip are too high");
        }
    }
    /// What is drawn in a column of this width, all of it in sight.
    template <class Draw>
    void look_at_alone(float width, Draw&& draw) {
        constexpr float high = 6000;
        std::vector<std::string> drawn;
        gui_.begin_frame(int(width), int(high));
        view_->ui().widgets.begin_frame();
        ImGui::PushFont(view_->ui().fonts.body);
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({width, high});
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
        ImGui::Begin("alone", nullptr, ImGuiWindowFlags_NoDecoration);
        collect_cut_words(&drawn);
        draw();
        collect_cut_words(nullptr);
        ImGui::End();
        ImGui::PopStyleVar();
        ImGui::PopFont();
        framebuffer_.bind();
        gui_.render(int(width), int(high));
        for (const std::string& words : drawn) cut_.insert(where_ + ": " + words);
        const std::vector<Letter> letters = letters_of_frame();
        for (const std::string& words : cut_letters(letters)) cut_.insert(where_ + ": " + words);
        for (const std::string& words : overlapping(letters)) cut_.insert(where_ + ": " + words);
    }
    void note_english(const std::string& at) {
        // The list of words has their English names, too. Parts of large words look like words.
        if (language() != Language::chinese || at == "words" || view_->options().percent > 100)
            return;
        const Fonts& fonts = view_->ui().fonts;
        for (const std::string& line :
             lines_of(letters_of({fonts.body, fonts.small, fonts.strong, fonts.value})))
            if (is_english(line)) english_.insert(at + ": " + line);
    }
    void look_at_tabs(std::string ViewOptions::*chosen, const std::string& at) {
        // Where tabs have no room they are a list, which is closed.
        std::set<std::string>& tabs = tabs_[at];
        for (const Widget& widget : view_->widgets().widgets())
            if (widget.id.starts_with("dock.") && widget.id != "dock.fold")
                tabs.insert(widget.id.substr(5));
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
        view_->press('F', control);
        look("editor, search");
        view_->press(escape, 0);
        frames(2);
        for (const char* button : {"editor.diff", "editor.save_as"}) {
            if (!is_there(button)) continue;
            click(button);
            look(button);
            button == std::string("editor.diff") ? click(button) : press_key(ImGuiKey_Escape);
        }
        options.lessons = true;
        look("editor and lessons");
        options.editor = false;
        look("lessons");
        options.lessons = false;
        options.presentation = true;
        enlarge();
        look("presentation");
        for (const Letter& one : letters_of({view_->ui().fonts.body, view_->ui().fonts.small}))
            if (one.high.y > height + 1)
                cut_.insert(where_ + ": words of the caption are too high");
        options.editor = true;
        look("presentation with its source");
        options.editor = options.presentation = false;
        enlarge();
        view_->open_microscope(*read_place("0,0"));
        do frames();
        while (view_->microscope().waits());
        options.dock_folded = false;
        frames(2);
        look_at_tabs(&ViewOptions::dock_open, "microscope");
        view_->press('P', 0);
        look("microscope with PTX");
        view_->press('P', 0);
        options.lessons = true;
        look("microscope and lessons");
        options.lessons = false;
        view_->press('M', 0);
        options.dock_folded = true;
        frames(2);
    }
    bool is_there(const std::string& id) {
        const Widget* const widget = view_->widgets().find(id);
        return widget && widget->visible && widget->enabled;
    }
    void press_and_look(int key, int modifiers, const std::string& at) {
        view_->press(key, modifiers);
        look(at);
        press_key(ImGuiKey_Escape);
        view_->press(escape, 0);  // for what is no popup
        frames(2);
    }
    /// What lies over the panels, and the lessons.
    void walk_overlays() {
        press_and_look('P', control | shift, "palette");
        press_and_look('H', 0, "keys");
        press_and_look(f2, 0, "words");
        press_and_look('O', control, "open");
        view_->ui().ask(Command::show_book);
        look("book");
        while (enabled("book.next")) {
            click("book.next");
            look("book");
        }
        view_->press(escape, 0);
        frames(2);
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
        stage_->compare();
        settle();
        stage_->say("");  // that there is nothing to compare, in English
        for (const LanguageName& one : languages)
            for (const int percent : {100, 200, 250}) {
                draw_in(one.language, percent);
                walk();
                if (experiment == "ripple") walk_overlays();
            }
        expect_none();
    }
    void expect_none() {
        EXPECT_TRUE(cut_.empty()) << fmt::format("{}", fmt::join(cut_, "\n"));
        EXPECT_TRUE(english_.empty()) << fmt::format("{}", fmt::join(english_, "\n"));
    }

    static constexpr int shift = 1, control = 2, escape = 256, f2 = 291;
    bool bare_ = false;  ///< no file of a font is there
    std::set<std::string> cut_, english_;
    std::map<std::string, std::set<std::string>> tabs_;
    std::string where_;
};

TEST_F(Fitting, WordsOfTheRipple) {
    walk_everything("ripple", {{"size", "64"}, {"sync", "off"}});
}

TEST_F(Fitting, WordsWithoutAnyFontFile) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    for (int frame = 0; frame < 3; ++frame) stage_->step_once(), frames(2);
    settle();
    bare_ = true;
    draw_in(Language::english, 100);
    look("at first");
    view_->options().lessons = true;
    look("lessons");
    expect_none();
}

TEST_F(Fitting, TheBarAndTheResultsAtTheLargestSize) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    for (int frame = 0; frame < 3; ++frame) stage_->step_once(), frames(2);
    settle();
    for (const LanguageName& one : languages)
        for (const int percent : {200, 250}) {
            draw_in(one.language, percent);
            look("at first");
            look_at_strip();
            click("save");
            look("the menu");
            press_key(ImGuiKey_Escape);
            view_->options().drawer = Drawer::results;
            look("results");
            view_->options().drawer = Drawer::none;
        }
    expect_none();
}

/// The kernels of the n-body with numbers as long as they get.
experiments::Comparison comparison(const experiments::Parameter& kernel, bool counted) {
    experiments::Comparison table{"Kernels of the n-body, 262144 bodies", "interactions/s",
                                  "interaction", "the time in the notebook"};
    for (const auto& word : dynamic_cast<const experiments::Choice&>(kernel).words()) {
        experiments::Comparison::Row row{word.id, word.label, 12345.6, 2.137e12, 1.25e-7};
        row.published = table.rows.empty() ? "3198.6 ms" : "";
        if (counted) row.counts = {1.234e12, 987.6e9, 123.4e6, 1234.5};
        table.rows.push_back(row);
    }
    return table;
}

TEST_F(Fitting, TheTableOfAComparison) {
    show("nbody", {{"bodies", "256"}});
    for (const LanguageName& one : languages)
        for (const int percent : {100, 200, 250})
            for (const bool counted : {false, true}) {
                draw_in(one.language, percent);
                view_->options().drawer = Drawer::results;
                frames(2);
                const float panel = view_->layout().results.width;
                const auto table = comparison(stage_->parameters().find("kernel"), counted);
                look_at_alone(panel - view_->ui().px(40),
                              [&] { draw_comparison_table(view_->ui(), table); });
            }
    expect_none();
}

TEST_F(Fitting, WordsOfTheLessons) {
    show("ripple", {{"size", "64"}});
    for (const LanguageName& one : languages)
        for (const int percent : {100, 200}) {
            draw_in(one.language, percent);
            walk_lessons();
        }
    expect_none();
}

TEST_F(Fitting, WordsOfTheBodies) {
    walk_everything("nbody", {{"bodies", "256"}, {"reuse_barrier", "off"}});
}

TEST_F(Fitting, WordsOfTheDotProduct) {
    walk_everything("dot", {{"n", "4096"}, {"kernel", "no_barriers"}});
}

TEST_F(Fitting, WordsOfTheReduction) {
    walk_everything("reduction", {{"n", "4096"}});
}

TEST_F(Fitting, WordsOfThePipeline) {
    walk_everything("pipeline", {{"size", "256"}, {"wait", "off"}});
}

TEST_F(Fitting, WordsOfAKernelOfOnesOwn) {
    walk_everything("launch", {});
}

}  // namespace
}  // namespace warpscope::ui
