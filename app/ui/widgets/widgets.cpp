#include "ui/widgets/widgets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/tab_stops.h"
#include "ui/widgets/ui.h"
#if IMGUI_VERSION_NUM >= 19200
#include <imgui_internal.h>
#endif

namespace warpscope::ui {
namespace {

std::vector<std::string>* cut_words = nullptr;  // see collect_cut_words()

/// The colour, faded like ImGui's own widgets while items are disabled.
ImU32 faint_where_disabled(ImU32 colour) {
    return ImGui::GetColorU32(colour);
}

const char* end_of(std::string_view words) {
    return words.data() + words.size();
}

ImVec2 text_size(std::string_view words) {
    return ImGui::CalcTextSize(words.data(), end_of(words));
}

/// A tooltip in the current font, wrapped after about 60 characters. ImGui by itself would draw it
/// for one frame in the size of the tooltip before, and a frame may take long. It is near the
/// mouse, or below `beside`, or above it where the window ends.
void show_tooltip(std::string_view words, Ui* ui = nullptr, const Box* beside = nullptr) {
    const float em = ImGui::GetFontSize();
    const std::string lines = wrapped(words, 24 * em);
    const ImVec2 padding{0.7F * em, 0.55F * em}, size = text_size(lines);
    const ImVec2 whole{std::ceil(size.x) + 2 * padding.x, size.y + 2 * padding.y};
    ImGui::SetNextWindowSize(whole);
    if (beside) {
        const ImVec2 screen = ImGui::GetIO().DisplaySize;
        const float below = beside->y + beside->height;
        ImGui::SetNextWindowPos({std::max(0.F, std::min(beside->x, screen.x - whole.x)),
                                 below + whole.y <= screen.y ? below : beside->y - whole.y});
    }
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
    ImGui::PushStyleColor(ImGuiCol_PopupBg, colour::raised);
    ImGui::BeginTooltip();
    text(ImGui::GetFont(), colour::text, lines);
    if (ui) {
        const ImVec2 low = ImGui::GetWindowPos(), full = ImGui::GetWindowSize();
        record_rect(*ui, low, {low.x + full.x, low.y + full.y}, "tooltip", std::string(words));
    }
    ImGui::EndTooltip();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
}

float width_of(const std::string& label) {
    return ImGui::CalcTextSize(label.c_str()).x;
}

/// The widths of segments: equal ones, or where a label has no room in its part, shares of what the
/// labels leave.
std::vector<float> segment_widths(const std::vector<std::string>& labels, float width) {
    float widest = 0, sum = 0;
    for (const std::string& label : labels) {
        widest = std::max(widest, width_of(label));
        sum += width_of(label);
    }
    const auto count = float(labels.size());
    std::vector<float> widths(labels.size(), width / count);
    if (widest > width / count)
        for (std::size_t i = 0; i < labels.size(); ++i)
            widths[i] = std::max(1.F, width_of(labels[i]) + (width - sum) / count);
    return widths;
}

}  // namespace

// ImGui itself would also break "2.6e-06".
std::string wrapped(std::string_view words, float width) {
    return with_line_breaks(words,
                            [&](const std::string& line) { return text_size(line).x <= width; });
}

std::string shortened(std::string_view words, float width) {
    std::string shown(words);
    for (std::size_t keep = words.size(); keep > 0 && text_size(shown).x > width;) {
        // Remove whole UTF-8 characters only.
        do --keep;
        while (keep > 0 && (static_cast<unsigned char>(words[keep]) & 0xC0) == 0x80);
        shown = std::string(words.substr(0, keep)) + "…";
    }
    return shown;
}

void record_rect(Ui& ui, ImVec2 low, ImVec2 high, std::string id, std::string value) {
    const ImVec2 clip_low = ImGui::GetWindowDrawList()->GetClipRectMin();
    const ImVec2 clip_high = ImGui::GetWindowDrawList()->GetClipRectMax();
    low = {std::max(low.x, clip_low.x), std::max(low.y, clip_low.y)};
    high = {std::min(high.x, clip_high.x), std::min(high.y, clip_high.y)};
    Widget widget;
    widget.id = std::move(id);
    widget.value = std::move(value);
    widget.visible = high.x > low.x && high.y > low.y;
    if (widget.visible) {
        widget.x = low.x;
        widget.y = low.y;
        widget.w = high.x - low.x;
        widget.h = high.y - low.y;
    }
    ui.widgets.add(std::move(widget));
}

void record(Ui& ui, std::string id, std::string value, bool enabled) {
    tab_stop(id);
    focus_ring(ui.px(1));
    record_rect(ui, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), std::move(id),
                std::move(value));
    ui.widgets.last().enabled = enabled;
}

void collect_cut_words(std::vector<std::string>* words) {
    cut_words = words;
}

void note_if_cut(std::string_view words, float width) {
    // Code, which has the monospaced font, may be cut.
    if (!cut_words || text_size("i").x == text_size("M").x) return;
    if (text_size(words).x > width + 1) cut_words->emplace_back(words);
}

bool hit_area(const std::string& id, ImVec2 size, ImGuiButtonFlags buttons) {
    return ImGui::InvisibleButton(id.c_str(), {std::max(1.F, size.x), std::max(1.F, size.y)},
                                  buttons);
}

bool key_pressed(ImGuiKey key) {
#if IMGUI_VERSION_NUM >= 18700
    return ImGui::IsKeyPressed(key);
#else
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key));
#endif
}

bool begin_popup(const Ui& ui, const char* name, ImVec2 padding) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(padding.x), ui.px(padding.y)});
    const bool open = ImGui::BeginPopup(name);
    ImGui::PopStyleVar();
    return open;
}

bool begin_dialog(const Ui& ui, const char* name) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
    if (!begin_popup(ui, name, {16, 14})) return false;
    ImGui::PushStyleColor(ImGuiCol_Button, colour::hovered);
    return true;
}

void end_dialog(bool done) {
    if (done) ImGui::CloseCurrentPopup();
    ImGui::PopStyleColor();
    ImGui::EndPopup();
}

void begin_padded_child(const char* name, ImVec2 size, ImGuiWindowFlags flags) {
#if IMGUI_VERSION_NUM >= 19000
    ImGui::BeginChild(name, size, ImGuiChildFlags_AlwaysUseWindowPadding, flags);
#else
    ImGui::BeginChild(name, size, false, ImGuiWindowFlags_AlwaysUseWindowPadding | flags);
#endif
}

void end_child() {
#if IMGUI_VERSION_NUM >= 19200
    // In older versions of ImGui, setting the cursor made the contents larger; in newer ones it is
    // an error without an item.
    if (ImGui::GetCurrentWindow()->DC.IsSetPos) ImGui::Dummy({0, 0});
#endif
    ImGui::EndChild();
}

float character_width() {
#if IMGUI_VERSION_NUM >= 19200
    return ImGui::GetFontBaked()->GetCharAdvance('M');
#else
    return ImGui::GetFont()->GetCharAdvance('M') * ImGui::GetFontSize() /
           ImGui::GetFont()->FontSize;
#endif
}

float text_size(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
    const float loaded = font->LegacySize;
#else
    const float loaded = font->FontSize;
#endif
    return loaded * ImGui::GetIO().FontGlobalScale;
}

void same_line_if_room(float gap, float width) {
    const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    if (ImGui::GetItemRectMax().x + gap + width <= end) ImGui::SameLine(0, gap);
}

void text(ImFont* font, ImU32 colour, std::string_view words) {
    ImGui::PushFont(font);
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(words.data(), end_of(words));
    ImGui::PopStyleColor();
    if (ImGui::IsItemVisible()) {
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const float room = ImGui::GetWindowDrawList()->GetClipRectMax().x - low.x;
        if (high.x - low.x > room + 1 && ImGui::GetScrollMaxX() <= 0) note_if_cut(words, room);
    }
    hover_text(words);
    ImGui::PopFont();
}

void paragraph(ImFont* font, ImU32 colour, std::string_view words, float width) {
    ImGui::PushFont(font);
    const std::string lines = wrapped(words, width > 0 ? width : ImGui::GetContentRegionAvail().x);
    if (width > 0) note_if_cut(lines, width);
    ImGui::PopFont();
    text(font, colour, lines);
}

void clipped_text(ImFont* font, ImU32 colour, std::string_view words, float width) {
    ImGui::PushFont(font);
    const bool clipped = text_size(words).x > width;
    note_if_cut(words, width);
    const std::string shown = shortened(words, width);
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(shown.c_str());
    ImGui::PopStyleColor();
    if (!clipped)
        hover_text(words);
    else if (ImGui::IsItemHovered())
        show_tooltip(words);
    ImGui::PopFont();
}

void heading(Ui& ui, std::string_view words) {
    text(ui.fonts.strong, colour::text, words);
    ImGui::Dummy({0, ui.px(1)});
}

void rule(Ui& ui) {
    ImGui::Dummy({0, ui.px(3)});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = at.x + ImGui::GetContentRegionAvail().x;
    ImGui::GetWindowDrawList()->AddLine(at, {right, at.y}, colour::line, ui.px(1));
    ImGui::Dummy({0, ui.px(7)});
}

float badge(Ui& ui, std::string_view words, ImU32 colour) {
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = text_size(words);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + size.x + ui.px(14), low.y + size.y + ui.px(4)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, faded(colour, colour::badge_fill), ui.px(4));
    list.AddText({low.x + ui.px(7), low.y + ui.px(2)}, colour, words.data(), end_of(words));
    ImGui::Dummy({high.x - low.x, high.y - low.y});
    ImGui::PopFont();
    return high.x - low.x;
}

ImU32 verdict_colour(experiments::Verdict verdict) {
    switch (verdict) {
        case experiments::Verdict::none:
            return colour::dim;
        case experiments::Verdict::pass:
            return colour::good;
        case experiments::Verdict::unproven:
            return colour::dim;
        case experiments::Verdict::finding:
        case experiments::Verdict::fail:
            return colour::bad;
    }
    return colour::dim;
}

std::string verdict_word(experiments::Verdict verdict) {
    using experiments::Verdict;
    const bool is_wrong = verdict == Verdict::finding || verdict == Verdict::fail;
    return is_wrong ? tr("wrong") : tr(experiments::to_string(verdict));
}

void tooltip(Ui& ui, std::string_view words) {
    if (words.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
    tooltip_at(ui, ImGui::GetItemRectMin(), words);
}

void tooltip_at(Ui& ui, ImVec2 corner, std::string_view words) {
    constexpr double rest_seconds = 0.5;
    const int frame = ImGui::GetFrameCount();
    const bool new_item =
        corner.x != ui.rest.item.x || corner.y != ui.rest.item.y || ui.rest.frame + 1 < frame;
    if (new_item) ui.rest = {corner, ImGui::GetTime()};
    ui.rest.frame = frame;
    if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) ui.rest.pressed = true;
    const std::string meaning = take_hovered_meaning().words;
    if (ui.rest.pressed || ImGui::GetTime() - ui.rest.since < rest_seconds) return;
    quick_tooltip(ui, meaning.empty() ? words : std::string(words) + "\n" + meaning);
}

void explain_hovered_word(Ui& ui) {
    const HoveredMeaning meaning = take_hovered_meaning();
    const bool said = ui.rest.frame == ImGui::GetFrameCount();
    if (!said && !meaning.words.empty()) tooltip_at(ui, meaning.corner, meaning.words);
}

void quick_tooltip(Ui& ui, std::string_view words) {
    ImGui::PushFont(ui.fonts.small);
    show_tooltip(words, &ui);
    ImGui::PopFont();
}

void tooltip_beside(Ui& ui, ImVec2 low, ImVec2 high, std::string_view words) {
    const Box box{low.x, low.y, high.x - low.x, high.y - low.y};
    ImGui::PushFont(ui.fonts.small);
    show_tooltip(words, &ui, &box);
    ImGui::PopFont();
}

void context_menu(Ui& ui, const std::string& id, ImVec2 low, ImVec2 high, const std::string& value,
                  std::string_view words, const std::function<void()>& reset,
                  const std::vector<float>& newest) {
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(low, high) &&
        ImGui::IsMouseReleased(ImGuiMouseButton_Right))
        ImGui::OpenPopup((id + ".menu").c_str());
    if (!begin_popup(ui, (id + ".menu").c_str(), {10, 8})) return;
    if (!words.empty()) paragraph(ui.fonts.small, colour::dim, words, ui.px(300));
    const auto entry = [&](const char* name, const std::string& label) {
        const bool clicked = ImGui::MenuItem(label.c_str());
        record(ui, id + name, label);
        return clicked;
    };
    if (entry(".menu.copy", tr("Copy {}", value))) ImGui::SetClipboardText(value.c_str());
    if (reset && entry(".menu.reset", tr("Reset"))) reset();
    if (newest.size() > 1) {
        const auto [least, most] = std::ranges::minmax(newest);
        text(ui.fonts.small, colour::dim,
             tr("Its newest {} values: {} to {}", newest.size(), quantity(double(least), ""),
                quantity(double(most), "")));
        sparkline(ui, newest, {ui.px(240), ui.px(56)});
        record(ui, id + ".menu.plot", std::to_string(newest.size()));
    }
    ImGui::EndPopup();
}

bool toggle_switch(Ui& ui, const std::string& id, bool on, float width) {
    const float height = ImGui::GetFrameHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = hit_area(id, {width, height});
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 size{ui.px(34), ui.px(18)};
    const ImVec2 low{at.x, std::round(at.y + (height - size.y) / 2)};
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const float radius = size.y / 2;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 off = hovered ? colour::faint : colour::switched_off;
    list.AddRectFilled(low, high, faint_where_disabled(on ? colour::accent : off), radius);
    const float knob = on ? high.x - radius : low.x + radius;
    list.AddCircleFilled({knob, low.y + radius}, radius - ui.px(3), IM_COL32_WHITE);
    const char* word = on ? tr("on") : tr("off");
    const float text_y = at.y + (height - ImGui::GetTextLineHeight()) / 2;
    const ImU32 ink = faint_where_disabled(on ? colour::text : colour::dim);
    list.AddText({high.x + ui.px(9), text_y}, ink, word);
    note_if_cut(word, width - size.x - ui.px(9));
    record(ui, id, on ? "on" : "off");
    return clicked;
}

/// A button that can't be pressed has no ground.
bool flat_button(Ui& ui, const std::string& id, const char* label, bool on, ImVec2 size) {
    ImGui::PushID(id.c_str());
    const ImU32 off = ImGui::GetStyle().Alpha < 1 ? 0 : colour::raised;  // less than 1: disabled
    const ImU32 ground = on ? colour::accent_deep : off;
    ImGui::PushStyleColor(ImGuiCol_Button, ground);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, on ? colour::accent_deep : colour::hovered);
    const bool clicked = ImGui::Button((std::string(label) + "###label").c_str(), size);
    note_if_cut(label, ImGui::GetItemRectSize().x);
    ImGui::PopStyleColor(2);
    ImGui::PopID();
    record(ui, id, on ? "on" : "off");
    return clicked;
}

float button_width(const char* label) {
    return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
}

bool field(Ui& ui, const std::string& id, const std::string& current, float width,
           std::string& typed, const std::string& hint) {
    const bool editing = ui.edit.id == id;
    std::array<char, 4096> buffer{};  // as long as a path can be
    (editing ? ui.edit.text : current).copy(buffer.data(), buffer.size() - 1);
    ImGui::SetNextItemWidth(width);
    const bool entered = ImGui::InputTextWithHint(
        ("##" + id).c_str(), hint.c_str(), buffer.data(), buffer.size(),
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    record(ui, id, buffer.data());
    const bool left = ImGui::IsItemDeactivatedAfterEdit();
    if (ImGui::IsItemActive() && !entered) {
        ui.edit = {id, buffer.data()};
        return false;
    }
    if (!editing && !entered) return false;
    if (editing) ui.edit = {};
    typed = buffer.data();
    return (entered || left) && typed != current;
}

void sparkline(Ui& ui, const std::vector<float>& values, ImVec2 size) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    if (values.size() < 2) return;
    // The line has as many points as can be distinguished.
    const auto points = std::min(values.size(), std::size_t(size.x / ui.px(2)));
    if (points < 2) return;
    const auto begin = values.end() - std::ptrdiff_t(points);
    const auto [least, most] = std::minmax_element(begin, values.end());
    const float top = *most, bottom = std::min(*least, 0.8F * top);
    const float range = top > bottom ? top - bottom : 1;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float step = size.x / float(points - 1);
    for (std::size_t i = 0; i < points; ++i) {
        const float share = (begin[std::ptrdiff_t(i)] - bottom) / range;
        list.PathLineTo(
            {low.x + step * float(i), low.y + size.y - ui.px(1) - share * (size.y - ui.px(3))});
    }
    list.PathStroke(colour::accent, 0, ui.px(1.2F));
}

float segments_width(const std::vector<std::string>& labels) {
    float widest = 0;
    for (const std::string& label : labels) widest = std::max(widest, width_of(label));
    return (widest + 2 * ImGui::GetStyle().FramePadding.x) * float(labels.size());
}

int segments(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetFrameHeight(), rounding = ImGui::GetStyle().FrameRounding;
    const auto ink = [](ImU32 colour) { return ImGui::GetColorU32(colour); };  // faint: disabled
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + width, at.y + height}, ink(colour::raised), rounding);
    int clicked = -1;
    const bool narrow = segments_width(labels) > width;
    ImGui::PushFont(narrow ? ui.fonts.small : ImGui::GetFont());
    const std::vector<float> widths = segment_widths(labels, width);
    ImVec2 low = at;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const ImVec2 high{low.x + widths[i], low.y + height};
        ImGui::SetCursorScreenPos(low);
        if (hit_area(id + ":" + ids[i], {widths[i], height})) clicked = int(i);
        record(ui, id + ":" + ids[i], i == chosen ? "on" : "off");
        hover_label(labels[i]);
        if (i == chosen)
            list.AddRectFilled(low, high, ink(colour::accent_deep), rounding);
        else if (ImGui::IsItemHovered())
            list.AddRectFilled(low, high, ink(colour::hovered), rounding);
        note_if_cut(labels[i], widths[i]);
        ImGui::PushClipRect(low, high, true);
        const float left = low.x + std::max(0.F, (widths[i] - width_of(labels[i])) / 2);
        list.AddText({std::round(left), low.y + (height - ImGui::GetTextLineHeight()) / 2},
                     ink(i == chosen ? colour::text : colour::dim), labels[i].c_str());
        ImGui::PopClipRect();
        low.x = high.x;
    }
    ImGui::PopFont();
    record_rect(ui, at, {at.x + width, at.y + height}, id, ids[chosen]);
    return clicked;
}

int dropdown(Ui& ui, const std::string& id, const std::vector<std::string>& ids,
             const std::vector<std::string>& labels, std::size_t chosen, float width) {
    int clicked = -1;
    // The label has as many lines as it needs. ImGui would cut it, and its arrow is as wide as
    // high.
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    const float arrow = ImGui::GetFrameHeight(), room = width - arrow - padding.x;
    // A narrow box is an arrow alone.
    std::string words = room > ImGui::GetFontSize() ? wrapped(labels[chosen], room) : "";
    // A word that is too long is smaller.
    const bool is_long = width_of(words) > room && !words.empty();
    ImFont* const font = is_long ? ui.fonts.small : ImGui::GetFont();
    ImGui::PushFont(font);
    if (is_long) words = wrapped(labels[chosen], room);
    if (!words.empty()) note_if_cut(words, room);
    if (width_of(words) > room) words = shortened(labels[chosen], room);
    ImGui::PopFont();
    const auto more = float(std::ranges::count(words, '\n')) * ImGui::GetTextLineHeight();
    const ImU32 ink = ImGui::GetColorU32(ImGuiCol_Text);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + width, low.y + ImGui::GetFrameHeight() + more};
    ImGui::SetNextItemWidth(width);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(6), ui.px(6)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding.x, padding.y + more / 2});
    const bool open = ImGui::BeginCombo(
        ("##" + id).c_str(), "", ImGuiComboFlags_HeightLargest | ImGuiComboFlags_NoArrowButton);
    ImGui::PopStyleVar();
    // While the list is open, the last item is not the box.
    if (!open) tab_stop(id);
    if (!open) focus_ring(ui.px(1));
    list.AddText(font, text_size(font), {low.x + padding.x, low.y + padding.y}, ink, words.c_str());
    const ImVec2 tip{high.x - arrow / 2, (low.y + high.y) / 2 + ui.px(4)};
    list.AddTriangleFilled({tip.x - ui.px(5), tip.y - ui.px(8)},
                           {tip.x + ui.px(5), tip.y - ui.px(8)}, tip, ink);
    if (open) {
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (ImGui::Selectable(labels[i].c_str(), i == chosen)) clicked = int(i);
            // After a click, Dear ImGui chooses with a key only when an arrow key has moved.
            if (ImGui::IsItemFocused() && key_pressed(ImGuiKey_Enter)) {
                clicked = int(i);
                ImGui::CloseCurrentPopup();
            }
            if (i == chosen) ImGui::SetItemDefaultFocus();  // where the arrow keys begin
            record(ui, id + ":" + ids[i], i == chosen ? "on" : "off");
        }
        ImGui::EndCombo();
    }
    ImGui::PopStyleVar();
    if (!open) record_rect(ui, low, high, id, ids[chosen]);
    return clicked;
}

}  // namespace warpscope::ui
