#include "ui/commands/word_list.h"

#include <algorithm>
#include <utility>

#include "ui/commands/overlay_style.h"
#include "ui/language/language.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

void WordList::show(std::string word) {
    shown_ = scrolls_ = true;
    word_ = std::move(word);
    page_.close();
}

void WordList::show_book() {
    shown_ = true;
    page_.open_first();
}

void WordList::draw_words(Ui& ui) {
    heading(ui, tr("Words"));
    for (const auto& [word, meaning, page] : vocabulary()) {
        const bool wanted = word == word_;
        const bool same = tr(word) == word;
        if (page_.has(page)) ImGui::AlignTextToFramePadding();
        text(ui.fonts.strong, wanted ? colour::accent : colour::text,
             same ? word : fmt::format("{} · {}", tr(word), word));
        record(ui, "words:" + word, wanted ? "on" : "off");
        if (wanted && scrolls_) ImGui::SetScrollHereY(0.2F);
        if (page_.has(page)) {
            ImGui::SameLine(0, ui.px(10));
            if (flat_button(ui, "words.page:" + word, page_words(page).c_str()))
                ui.later([this, name = page] { page_.open(name); });
        }
        paragraph(ui.fonts.body, wanted ? colour::text : colour::dim, tr(meaning));
        ImGui::Dummy({0, ui.px(4)});
    }
    scrolls_ = false;
}

void WordList::draw(Ui& ui) {
    if (!shown_) return;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize(
        {std::min(ui.px(720), screen.x - ui.px(40)), std::min(ui.px(520), screen.y - ui.px(40))});
    const OverlayStyle style(ui);
    ImGui::Begin("##words", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings);
    page_.shown() ? page_.draw(ui) : draw_words(ui);
    ImGui::End();
}

}  // namespace warpscope::ui
