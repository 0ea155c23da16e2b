#include "ui/microscope/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ui/language/language.h"
#include "ui/widgets/tab_stops.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

namespace {

using State = emulator::SplitView::State;

/// Places in the listing's window, in layout units.
struct Places {
    ImVec2 low, high;           ///< corners of the visible part
    float line;                 ///< height of a row
    float number, chips, text;  ///< left edges
    float chips_width;
    float scroll_x, scroll_y;
    float y(std::uint32_t row) const { return low.y + float(row) * line - scroll_y; }
};

void draw_text(ImVec2 at, const KernelText::Line& line) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float character = character_width();
    const char* words = line.text.c_str();
    std::size_t done = 0;
    const auto put = [&](std::size_t end, ImU32 colour) {
        if (end > done)
            list.AddText({at.x + float(done) * character, at.y}, colour, words + done, words + end);
        done = std::max(done, end);
    };
    for (const InkSpan& span : line.inks) {
        put(span.begin, colour::text);
        put(span.end, ink_colour(span.ink));
    }
    put(line.text.size(), colour::text);
}

std::string name_of(const Chip& chip) {
    return chip.whole ? fmt::format("{}", chip.warp)
                      : fmt::format("{}:{}", chip.warp, std::popcount(chip.mask));
}

std::string chip_words(const Chip& chip) {
    std::string words = tr("warp {}", chip.warp);
    if (!chip.whole) words += tr(", {} lanes", std::popcount(chip.mask));
    if (chip.state == State::at_barrier) words += tr(", waits at the barrier");
    if (chip.state == State::at_warp_sync) words += tr(", waits for its other lanes");
    if (chip.state == State::at_join) words += tr(", waits where its lanes join");
    if (chip.acting) words += tr(", runs next");
    return words;
}

void draw_chip(Ui& ui, const Chip& chip, ImVec2 low, ImVec2 high, const std::string& label) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 hue = warp_colour(chip.warp);
    const float rounding = std::min(ui.px(4), (high.x - low.x) * 0.3F);
    // The chips of lanes that wait are hollow.
    const bool waits = chip.state != State::running;
    list.AddRectFilled(low, high, waits ? faded(hue, 0.22F) : hue, rounding);
    if (waits) list.AddRect(low, high, hue, rounding, 0, ui.px(1));
    if (chip.acting)
        list.AddRect({low.x - ui.px(1.5F), low.y - ui.px(1.5F)},
                     {high.x + ui.px(1.5F), high.y + ui.px(1.5F)}, colour::text,
                     rounding + ui.px(1.5F), 0, ui.px(1.6F));
    if (label.empty()) return;
    const ImVec2 size = ImGui::CalcTextSize(label.c_str());
    list.AddText(
        {std::round((low.x + high.x - size.x) / 2), std::round((low.y + high.y - size.y) / 2)},
        waits ? hue : colour::background, label.c_str());
}

/// Draws the chips of a row: as wide as their labels or, in a narrow row, of equal width.
void chips_of_row(Ui& ui, Microscope& microscope, const Listing& listing, const Places& at,
                  const Chip* begin, const Chip* end) {
    ImGui::PushFont(ui.fonts.mono_small);
    const float top = at.y(begin->row) + ui.px(1.5F), bottom = top + at.line - ui.px(3);
    const auto count = float(end - begin);
    const float gap = ui.px(2);
    float wish = 0;
    for (const Chip* c = begin; c < end; ++c)
        wish += std::max(ui.px(17), ImGui::CalcTextSize(name_of(*c).c_str()).x + ui.px(8)) + gap;
    const bool narrow = wish > at.chips_width;
    const float each = (at.chips_width - gap * 0.5F * count) / count;
    float x = at.chips;
    for (const Chip* c = begin; c < end; ++c) {
        std::string label = narrow ? fmt::format("{}", c->warp) : name_of(*c);
        const float needed = ImGui::CalcTextSize(label.c_str()).x;
        if (narrow && needed > each + ui.px(0.5F)) label.clear();
        const float width = narrow ? each : std::max(ui.px(17), needed + ui.px(8));
        draw_chip(ui, *c, {x, top}, {x + width, bottom}, label);
        if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
            ImGui::IsMouseHoveringRect({x, top}, {x + width, bottom}))
            microscope.pick(c->warp, unsigned(std::countr_zero(c->mask)));
        record_rect(ui, {x, top}, {x + width, bottom},
                    fmt::format("{}.warp.{}", listing.id, c->warp),
                    fmt::format("{}", listing.text->lines[c->row].number));
        x += width + (narrow ? gap * 0.5F : gap);
    }
    ImGui::PopFont();
}

void row_background(Ui& ui, const Listing& listing, const Places& at, std::uint32_t row) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low{at.low.x, at.y(row)}, high{at.high.x, at.y(row) + at.line};
    const bool hazard =
        std::find(listing.hazards.begin(), listing.hazards.end(), row) != listing.hazards.end();
    if (hazard) list.AddRectFilled(low, high, faded(colour::bad, colour::hazard_fill));
    if (listing.focus == row)
        list.AddRectFilled(low, high, faded(colour::accent, colour::focus_fill));
    const KernelText::Line& line = listing.text->lines[row];
    if (line.barrier || hazard)
        list.AddRectFilled(low, {low.x + ui.px(4), high.y}, hazard ? colour::bad : colour::accent);
    if (std::ranges::binary_search(listing.slice, row))
        list.AddRectFilled({at.text - ui.px(5), low.y}, {at.text - ui.px(2), high.y},
                           colour::accent);
}

/// Marks the words that a person looks for.
void row_matches(Ui& ui, const FindBar& find, const Places& at, std::uint32_t row) {
    const TextMatch* current = find.current();
    const float left = at.text - at.scroll_x, character = character_width();
    for (const TextMatch& match : find.matches(int(row))) {
        const bool here = current && match == *current;
        ImGui::GetWindowDrawList()->AddRectFilled(
            {left + character * float(match.begin), at.y(row)},
            {left + character * float(match.end), at.y(row) + at.line},
            faded(colour::warning, here ? 0.5F : 0.2F), ui.px(2));
    }
}

void row_text(Ui& ui, Microscope& microscope, const Listing& listing, const Places& at,
              std::uint32_t row) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const KernelText::Line& line = listing.text->lines[row];
    const std::string number = fmt::format("{}", line.number);
    const float width = ImGui::CalcTextSize(number.c_str()).x;
    const ImU32 code = line.code ? colour::dim : colour::faint;
    list.AddText({at.chips - ui.px(10) - width, at.y(row)}, line.barrier ? colour::accent : code,
                 number.c_str());
    list.PushClipRect({at.text, at.low.y}, at.high, true);
    if (listing.find) row_matches(ui, *listing.find, at, row);
    draw_text({at.text - at.scroll_x, at.y(row)}, line);
    list.PopClipRect();
    float right = at.high.x - ImGui::GetStyle().ScrollbarSize;
    // Remarks stand behind the code, shortened where they have no room.
    const float code_end = at.text - at.scroll_x + character_width() * float(line.text.size() + 2);
    const auto remark = [&](const auto& remarks, const char* kind, ImU32 colour) {
        for (const auto& [marked, words, barrier] : remarks) {
            if (marked != row) continue;
            const std::string shown =
                shortened(words, std::max(right - ui.px(8) - code_end, ui.px(60)));
            const float x = right - ImGui::CalcTextSize(shown.c_str()).x - ui.px(8);
            list.AddRectFilled({x - ui.px(4), at.y(row)}, {right, at.y(row) + at.line},
                               colour::canvas);
            list.AddText({x, at.y(row)}, colour, shown.c_str());
            record_rect(ui, {x, at.y(row)}, {right, at.y(row) + at.line},
                        fmt::format("{}.{}.{}", listing.id, kind, line.number), words);
            const bool hovered =
                ImGui::IsWindowHovered() &&
                ImGui::IsMouseHoveringRect({x, at.y(row)}, {right, at.y(row) + at.line});
            if (hovered && shown != words) tooltip_at(ui, {x, at.y(row)}, words);
            if (barrier && hovered) microscope.needs().point_at(*barrier);
            right = x - ui.px(8);
        }
    };
    remark(listing.needed, "needed", colour::dim);
    remark(listing.reasons, "why", colour::bad);
}

/// The row for a breakpoint that is set at `row`: the first one from there on with instructions.
std::optional<std::uint32_t> row_with_code(const Listing& listing, std::uint32_t row) {
    const auto& lines = listing.text->lines;
    while (row < lines.size() && !lines[row].code) ++row;
    return row < lines.size() ? std::optional(row) : std::nullopt;
}

/// Draws the breakpoints beside the numbers: filled where they stop, hollow where they are disabled
/// or the kernel has no instruction at their line. A click sets or removes one.
void draw_breakpoints(Ui& ui, Microscope& microscope, const Listing& listing, const Places& at,
                      std::uint32_t row) {
    const KernelText::Line& line = listing.text->lines[row];
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low{at.low.x, at.y(row)}, high{at.chips - ui.px(6), at.y(row) + at.line};
    const ImVec2 centre{at.low.x + ui.px(13), (low.y + high.y) / 2};
    const float radius = ui.px(5);
    const auto& points = microscope.breaks().points;
    bool there = false, stops = false;
    for (const emulator::Breakpoint& point : points) {
        if (point.line != line.number || point.file != listing.file) continue;
        there = true;
        stops = stops || (point.enabled && line.code);
    }
    if (stops)
        list.AddCircleFilled(centre, radius, colour::breakpoint);
    else if (there)
        list.AddCircle(centre, radius, colour::breakpoint, 0, ui.px(1.6F));
    record_rect(ui, low, high, fmt::format("{}.line.{}", listing.id, line.number),
                stops   ? "breakpoint"
                : there ? "disabled"
                        : "");
    if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(low, high)) return;
    const auto goal = there ? row : row_with_code(listing, row);
    if (!goal) return;
    if (!there && *goal == row)
        list.AddCircleFilled(centre, radius, faded(colour::breakpoint, 0.4F));
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        ui.later([&microscope, file = listing.file, number = listing.text->lines[*goal].number] {
            microscope.toggle_breakpoint(file, number);
        });
}

void hover(Ui& ui, const Listing& listing, const Places& at) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!ImGui::IsWindowHovered() || mouse.y < at.low.y) return;
    const auto row = std::uint32_t((mouse.y - at.low.y + at.scroll_y) / at.line);
    if (row >= listing.text->lines.size()) return;
    if (mouse.x > at.text) {
        const auto column = std::size_t((mouse.x - at.text + at.scroll_x) / character_width());
        return hover_code({at.text, float(row)}, listing.text->lines[row].text, column);
    }
    std::string words;
    for (const Chip& chip : listing.chips)
        if (chip.row == row) words += (words.empty() ? "" : "\n") + chip_words(chip);
    if (listing.text->lines[row].barrier)
        words += (words.empty() ? "" : "\n") +
                 std::string(tr("A barrier: warps wait here until all have arrived."));
    if (!words.empty()) quick_tooltip(ui, words);
}

/// Tab goes through the explained words in sight. A key explains those of the focused row.
void explain_by_keys(Ui& ui, const Microscope& microscope, const Listing& listing,
                     const Places& at) {
    const auto& lines = listing.text->lines;
    const auto place = [&](std::uint32_t row, std::size_t byte, int below) -> ImVec2 {
        return {at.text - at.scroll_x + float(byte) * character_width(),
                at.y(row) + float(below) * at.line};
    };
    for (auto row = std::uint32_t(std::ceil(at.scroll_y / at.line));
         keyboard_is_used() && row < lines.size() && at.y(row + 1) <= at.high.y; ++row)
        for (const ExplainedWord& word : explained_words(lines[row].text)) {
            const ImVec2 low = place(row, word.begin, 0), high = place(row, word.end, 1);
            if (low.x >= at.text && high.x <= at.high.x && word_stop(low, high, word.explaining))
                hover_word(low, word.explaining);
        }
    if (!listing.help || !listing.focus) return;
    const std::uint32_t row = *listing.focus;
    const auto words = explained_words(lines[row].text);
    listing.help->draw(ui, microscope.version(), words,
                       place(row, words.empty() ? 0 : words.front().begin, 0),
                       place(row, lines[row].text.size(), 1));
}

/// After scrolling by hand, the listing no longer follows the focus.
void notice_scrolling(ListingView& view) {
    const ImGuiIO& io = ImGui::GetIO();
    const bool wheel = ImGui::IsWindowHovered() && (io.MouseWheel != 0 || io.MouseWheelH != 0);
    if (wheel || (ImGui::IsWindowFocused() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)))
        view.following = false;
}

/// Scrolls so that the focus is in sight, already in this frame.
void keep_in_sight(const Microscope& microscope, ListingView& view, const Listing& listing,
                   Places& at, bool moved) {
    if (!view.following || !(moved || view.settling > 0) || !listing.focus) return;
    // ImGui knows the scroll range only after the text has been drawn.
    view.settling = moved ? 2 : view.settling - 1;
    const float height = at.high.y - at.low.y, y = float(*listing.focus) * at.line;
    const float goal = scroll_into_sight(y, at.line, at.scroll_y, height);
    if (goal == at.scroll_y) {
        view.seen = ImGui::GetTime();
        return;
    }
    // The lines of inlined functions lie far from the lines that call them. While the block plays,
    // the listing does not jump at every step.
    constexpr double patience = 0.7;
    if (microscope.playing() && ImGui::GetTime() < view.seen + patience) return;
    const float most = at.line * float(listing.text->lines.size() + 2) - height;
    at.scroll_y = std::round(std::clamp(goal, 0.F, std::max(0.F, most)));
    ImGui::SetScrollY(at.scroll_y);
}

float line_height() {
    return std::round(ImGui::GetTextLineHeight() * 1.28F);
}

Places find_places(Ui& ui, const Listing& listing, ImVec2 size) {
    Places at{};
    at.low = ImGui::GetWindowPos();
    at.high = {at.low.x + size.x, at.low.y + size.y};
    at.line = line_height();
    const int last = listing.text->lines.back().number;
    at.number = at.low.x + ui.px(22);
    at.chips = at.number + ImGui::CalcTextSize(fmt::format("{}", last).c_str()).x + ui.px(10);
    at.chips_width = ui.px(size.x < ui.px(440) ? 46 : 78);
    at.text = at.chips + at.chips_width + ui.px(8);
    at.scroll_x = ImGui::GetScrollX();
    at.scroll_y = ImGui::GetScrollY();
    return at;
}

void rows(Ui& ui, Microscope& microscope, const Listing& listing, const Places& at) {
    const auto count = std::uint32_t(listing.text->lines.size());
    const auto first = std::uint32_t(at.scroll_y / at.line);
    const auto end = std::min(count, first + std::uint32_t((at.high.y - at.low.y) / at.line) + 2);
    for (std::uint32_t row = first; row < end; ++row) {
        row_background(ui, listing, at, row);
        row_text(ui, microscope, listing, at, row);
        draw_breakpoints(ui, microscope, listing, at, row);
    }
    const Chip* chips_end = listing.chips.data() + listing.chips.size();
    for (const Chip* c = listing.chips.data(); c < chips_end;) {
        const Chip* next = c;
        while (next < chips_end && next->row == c->row) ++next;
        chips_of_row(ui, microscope, listing, at, c, next);
        c = next;
    }
}

}  // namespace

float scroll_into_sight(float y, float line, float scroll, float height) {
    const float margin = std::min(3 * line, height / 4);
    const float above = y - margin, below = y + line + margin - height;
    if (scroll <= above && scroll >= below) return scroll;
    const float near = scroll > above ? above : below;
    return std::abs(near - scroll) < height ? near : y - 0.4F * height;
}

void draw_listing(Ui& ui, Microscope& microscope, ListingView& view, const Listing& listing,
                  ImVec2 size, bool moved) {
    ImGui::PushFont(size.x >= ui.px(760) ? ui.fonts.mono : ui.fonts.mono_small);
    ImGui::BeginChild(listing.id.c_str(), size, false, ImGuiWindowFlags_HorizontalScrollbar);
    notice_scrolling(view);
    view.clicked = ImGui::IsWindowFocused();
    Places at = find_places(ui, listing, size);
    if (view.reveal) {
        view.following = false;
        const float height = at.high.y - at.low.y;
        at.scroll_y = std::max(0.F, std::round(float(*view.reveal) * at.line - 0.45F * height));
        ImGui::SetScrollY(at.scroll_y);
        view.reveal.reset();
    }
    keep_in_sight(microscope, view, listing, at, moved);
    std::size_t widest = 0;
    for (const KernelText::Line& line : listing.text->lines)
        widest = std::max(widest, line.text.size());
    rows(ui, microscope, listing, at);
    hover(ui, listing, at);
    explain_by_keys(ui, microscope, listing, at);
    ImGui::Dummy({at.text - at.low.x + character_width() * float(widest),
                  at.line * float(listing.text->lines.size() + 2)});
    ImGui::EndChild();
    ImGui::PopFont();
    record(ui, listing.id, listing.text->file);
}

}  // namespace warpscope::ui
