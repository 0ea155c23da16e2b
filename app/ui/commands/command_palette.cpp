#include "ui/commands/command_palette.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::string lower;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        lower += byte < 128 && !std::isalnum(byte) && c != '_' ? ' ' : char(std::tolower(byte));
    }
    std::istringstream stream(lower);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

}  // namespace

std::vector<const PaletteRow*> matching(const std::vector<PaletteRow>& rows,
                                        const std::string& typed) {
    const std::vector<std::string> wanted = words_of(typed);
    std::vector<const PaletteRow*> found;
    for (const PaletteRow& row : rows) {
        const std::vector<std::string> words = words_of(row.does + " " + row.id);
        // Chinese has no spaces between words.
        const auto is_there = [&](const std::string& begin) {
            return std::ranges::any_of(words, [&](const std::string& word) {
                const std::size_t at = word.find(begin);
                return at == 0 || (at != word.npos && static_cast<unsigned char>(begin[0]) >= 0xE3);
            });
        };
        if (std::ranges::all_of(wanted, is_there)) found.push_back(&row);
    }
    return found;
}

/// True where a row was chosen.
bool CommandPalette::list(Ui& ui, float width, float height, bool begins, bool entered) {
    const std::vector<const PaletteRow*> found = matching(rows_, typed_);
    if (found.empty()) text(ui.fonts.small, colour::dim, tr("No command has these words."));
    const std::size_t last = found.empty() ? 0 : found.size() - 1;
    const std::size_t before = chosen_;
    if (key_pressed(ImGuiKey_DownArrow)) ++chosen_;
    if (key_pressed(ImGuiKey_UpArrow) && chosen_ > 0) --chosen_;
    chosen_ = std::min(chosen_, last);
    scrolls_ |= chosen_ != before;
    bool done = false;
    const float row_height = ImGui::GetTextLineHeight() + ui.px(5);
    const float needed = (row_height + ImGui::GetStyle().ItemSpacing.y) * float(found.size());
    ImGui::BeginChild("rows", {width, std::clamp(needed, 1.F, height)});
    if (begins) ImGui::SetScrollY(0);
    const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - ui.px(8);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const PaletteRow& row = *found[i];
        ImGui::PushID(int(i));
        const bool clicked = ImGui::Selectable(
            "##row", i == chosen_, ImGuiSelectableFlags_DontClosePopups, {0, row_height});
        ImGui::PopID();
        record(ui, "palette:" + row.id, row.keys);
        if (i == chosen_ && scrolls_) ImGui::SetScrollHereY(0.5F);
        if (clicked || (entered && i == chosen_)) {
            ui.later(row.action);
            done = true;
        }
        ImVec2 at = ImGui::GetItemRectMin();
        at.y = (at.y + ImGui::GetItemRectMax().y - ImGui::GetTextLineHeight()) / 2;
        ImDrawList& lines = *ImGui::GetWindowDrawList();
        lines.AddText({at.x + ui.px(8), at.y}, colour::text, row.does.c_str());
        ImGui::PushFont(ui.fonts.mono);
        const float wide = ImGui::CalcTextSize(row.keys.c_str()).x;
        lines.AddText({ImGui::GetWindowPos().x + right - wide, at.y}, colour::accent,
                      row.keys.c_str());
        ImGui::PopFont();
    }
    scrolls_ = false;
    ImGui::EndChild();
    return done;
}

void CommandPalette::draw(Ui& ui, const std::function<std::vector<PaletteRow>()>& rows) {
    const bool begins = std::exchange(asked_, false);
    if (begins) {
        rows_ = rows();
        typed_.clear();
        chosen_ = 0;
        ImGui::OpenPopup("palette");
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.12F}, ImGuiCond_Always, {0.5F, 0});
    open_ = begin_popup(ui, "palette", {10, 10});
    if (!open_) return;
    const float width = std::min(ui.px(560), screen.x - ui.px(40));
    std::array<char, 256> buffer{};
    typed_.copy(buffer.data(), buffer.size() - 1);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, colour::background);
    ImGui::SetNextItemWidth(width);
    if (begins) ImGui::SetKeyboardFocusHere();
    const bool entered =
        ImGui::InputTextWithHint("##typed", tr("words of a command"), buffer.data(), buffer.size(),
                                 ImGuiInputTextFlags_EnterReturnsTrue);
    const bool escaped = key_pressed(ImGuiKey_Escape);
    if (typed_ != buffer.data() && !escaped) {
        typed_ = buffer.data();
        chosen_ = 0;
    }
    record(ui, "palette", typed_);
    ImGui::PopStyleColor();
    const bool done = list(ui, width, std::min(ui.px(420), screen.y * 0.6F), begins, entered);
    if (done || escaped) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

}  // namespace warpscope::ui
