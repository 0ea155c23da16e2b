#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "compute/device/kernel_files.h"
#include "compute/device/number_text.h"
#include "experiments/measure/kernel_figures.h"
#include "ui/editor/editor_parts.h"
#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/source/kernel_text.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws the visible part of a line in the colours of its syntax.
void draw_line(const KernelDocument& document, const EditorPlaces& at, int row) {
    const std::string_view line = document.lines().line(document.text(), row);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const double left = double(at.low.x - at.origin.x) / double(at.character);
    const double right = double(at.high.x - at.origin.x) / double(at.character);
    const std::size_t from = byte_at(line, std::floor(left) - 4), to = byte_at(line, right + 4);
    constexpr std::size_t longest = 4000;  // longer lines, which no program has, get no colours
    bool comment = document.lines().in_comment(row);
    std::vector<InkSpan> spans;
    if (line.size() < longest) spans = ink_cuda(line, comment);
    spans.push_back({line.size(), line.size(), Ink::plain});
    std::size_t done = from;
    float column = float(columns_of(line.substr(0, from)));
    const auto put = [&](std::size_t end, ImU32 colour) {
        end = std::min(end, to);
        if (end <= done) return;
        const std::string_view words = line.substr(done, end - done);
        list.AddText({at.origin.x + column * at.character, at.y(row)}, colour, words.data(),
                     words.data() + words.size());
        column += float(columns_of(words));
        done = end;
    };
    for (const InkSpan& span : spans) {
        put(span.begin, colour::text);
        put(span.end, ink_colour(span.ink));
    }
}

/// The diagnostics of a row.
std::vector<const compiler::Diagnostic*> diagnostics_of(const EditorView& view, int row) {
    std::vector<const compiler::Diagnostic*> list;
    for (const PlacedDiagnostic& one : view.placed)
        if (one.row == row) list.push_back(&one.what);
    if (view.fault && view.fault->row == row) list.push_back(&view.fault->what);
    return list;
}

const compiler::Diagnostic& worst(const std::vector<const compiler::Diagnostic*>& list) {
    return **std::max_element(list.begin(), list.end(), [](const auto* a, const auto* b) {
        return a->severity < b->severity;
    });
}

/// Marks the words that a person looks for.
void draw_matches(const EditorFrame& frame, const KernelDocument& document, const EditorPlaces& at,
                  int row) {
    const std::string_view line = document.lines().line(document.text(), row);
    const TextMatch* current = frame.view.find.current();
    for (const TextMatch& match : frame.view.find.matches(row)) {
        const auto x = [&](std::size_t byte) {
            return at.origin.x + at.character * float(columns_of(line.substr(0, byte)));
        };
        const bool here = current && match == *current;
        ImGui::GetWindowDrawList()->AddRectFilled(
            {x(match.begin), at.y(row)}, {x(match.end), at.y(row) + at.line},
            faded(colour::warning, here ? 0.5F : 0.2F), frame.ui.px(2));
    }
}

void draw_row(const EditorFrame& frame, const KernelDocument& document, const EditorPlaces& at,
              int row) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low{at.low.x, at.y(row)}, high{at.high.x, at.y(row) + at.line};
    const EditorField& field = frame.view.field;
    if (field.active && document.lines().row(field.cursor) == row)
        list.AddRectFilled(low, high, faded(colour::text, 0.045F));
    const auto said = diagnostics_of(frame.view, row);
    if (!said.empty()) {
        const compiler::Diagnostic& first = worst(said);
        const ImU32 hue = severity_colour(first.severity);
        list.AddRectFilled(low, high, faded(hue, 0.15F));
        const int columns = columns_of(document.lines().line(document.text(), row));
        list.AddText({at.origin.x + float(columns + 3) * at.character, low.y}, faded(hue, 0.9F),
                     first.text.c_str());
    }
    draw_matches(frame, document, at, row);
    draw_line(document, at, row);
    record_rect(frame.ui, low, high, fmt::format("editor.line.{}", row + 1),
                std::string(document.lines().line(document.text(), row).substr(0, 400)));
}

/// Calls `use` with each row of the text that has a barrier, fence or wait of which it is known
/// what depends on it, and with its index there. Nothing is known of a text that does not run.
template <class Use>
void for_needed(const EditorFrame& frame, Use use) {
    const EditState state = frame.stage.documents()[frame.view.file].state();
    if (state != EditState::shipped && state != EditState::running) return;
    const auto needed = frame.needs.of(frame.stage.shown().edits);
    const std::string path = compute::kernel_path(frame.view.file);
    for (std::size_t k = 0; k < needed.size(); ++k) {
        const emulator::ThreadAtLine& place = needed[k].finding.first;
        if (place.file == path) use(int(place.line) - 1, needed[k], k);
    }
}

/// Writes at the right edge what depends on the barriers in sight.
void draw_needed(const EditorFrame& frame, const EditorPlaces& at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for_needed(frame, [&](int row, const NeedFinder::Barrier& barrier, std::size_t k) {
        if (row < at.first || row >= at.end) return;
        const std::string words = mark_words(barrier);
        const ImVec2 high{at.high.x, at.y(row) + at.line};
        const float x = high.x - ImGui::CalcTextSize(words.c_str()).x - frame.ui.px(8);
        const ImVec2 low{x - frame.ui.px(4), at.y(row)};
        list.AddRectFilled(low, high, colour::canvas);
        list.AddText({x, low.y}, colour::dim, words.c_str());
        record_rect(frame.ui, low, high, fmt::format("editor.needed.{}", row + 1), words);
        if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows) &&
            ImGui::IsMouseHoveringRect(low, high))
            frame.needs.point_at(k);
    });
}

void draw_caret(const EditorField& field, const KernelDocument& document, const EditorPlaces& at,
                float px) {
    const bool lit = std::fmod(ImGui::GetTime() - field.moved, 1.2) < 0.8;
    if (!field.active || !lit) return;
    const int row = document.lines().row(field.cursor);
    const std::size_t begin = document.lines().begin(row);
    const int column =
        columns_of(std::string_view(document.text()).substr(begin, field.cursor - begin));
    const float x = std::round(at.origin.x + float(column) * at.character);
    ImGui::GetWindowDrawList()->AddRectFilled({x, at.y(row)}, {x + 1.5F * px, at.y(row) + at.line},
                                              colour::text);
}

/// Two bars across the way: filled where the barrier takes effect.
void draw_barrier_mark(const EditorFrame& frame, BarrierState state, ImVec2 centre, bool lit) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float r = frame.ui.px(5);
    if (lit) list.AddCircleFilled(centre, r + frame.ui.px(3), faded(colour::accent, 0.25F));
    for (const float side : {-1.F, 1.F}) {
        const float x = centre.x + side * frame.ui.px(2.5F), half = frame.ui.px(1.5F);
        const ImVec2 low{x - half, centre.y - r}, high{x + half, centre.y + r};
        if (state == BarrierState::in || (state == BarrierState::mixed && side < 0))
            list.AddRectFilled(low, high, colour::accent, half);
        else
            list.AddRect(low, high, colour::accent, half, 0, frame.ui.px(1));
    }
}

const char* name_of(BarrierState state) {
    switch (state) {
        case BarrierState::in:
            return "in";
        case BarrierState::out:
            return "out";
        case BarrierState::mixed:
            return "mixed";
        case BarrierState::off:
            return "off";
    }
    return "";
}

/// Returns the state of a row's barriers as they take effect: off where the parameters choose a
/// kernel that was compiled without them.
std::optional<BarrierState> effective_state(const EditorFrame& frame,
                                            const KernelDocument& document, int row) {
    const auto barriers = document.barriers(row + 1);
    if (barriers.empty()) return {};
    const BarrierState state = barriers.front().state;
    if (state != BarrierState::in || frame.view.file != frame.view.kernel) return state;
    const std::string_view condition = document.barrier_condition(row + 1);
    const bool there = condition.empty() || frame.stage.parameters().has_barrier_if(condition);
    return there ? state : BarrierState::off;
}

std::string words_off(const experiments::Toggle* toggle, bool editable) {
    if (toggle)
        return tr(
            "This barrier is switched off by {} in the panel: no thread waits here. Click to "
            "switch it on.",
            toggle->label());
    return std::string(tr("The chosen kernel is compiled without this barrier: no thread waits "
                          "here.")) +
           (editable ? tr(" Click to comment it out.") : "");
}

std::string words_of(BarrierState state, bool editable, const experiments::Toggle* toggle) {
    if (state == BarrierState::off) return words_off(toggle, editable);
    std::string words;
    if (state == BarrierState::in) words = tr("A barrier: threads wait here for one another.");
    if (state == BarrierState::out)
        words = tr("A barrier that is commented out: no thread waits here.");
    if (state == BarrierState::mixed) words = tr("Some of these barriers are commented out.");
    if (!editable) return words;
    return words + (state == BarrierState::out ? tr(" Click to restore it.")
                                               : tr(" Click to comment it out."));
}

/// Left edges in the gutter.
struct Gutter {
    float mark, number_end, change, figure, width;
};

/// The counters of the file's lines if the dock shows them and they are of this text.
const emulator::KernelCounters* counters_beside(const EditorFrame& frame) {
    const bool shown = frame.options.dock == "lines" && !frame.options.dock_folded;
    const EditState state = frame.stage.documents()[frame.view.file].state();
    const bool current = frame.stage.checks().current &&
                         (state == EditState::shipped || state == EditState::running);
    return shown && current ? frame.stage.checks().newest_counters() : nullptr;
}

Gutter gutter_of(const EditorFrame& frame, int lines) {
    Gutter gutter{};
    gutter.mark = frame.ui.px(13);
    const float digits = float(std::max<std::size_t>(3, fmt::format("{}", lines).size()));
    gutter.number_end = frame.ui.px(25) + digits * character_width();
    gutter.change = gutter.number_end + frame.ui.px(5);
    gutter.figure = gutter.change + frame.ui.px(7);
    const bool counts = counters_beside(frame) != nullptr;
    gutter.width = gutter.change + frame.ui.px(9) + (counts ? frame.ui.px(62) : 0);
    return gutter;
}

/// Marks the lines that differ from the built-in text.
void draw_changes(const EditorFrame& frame, const Gutter& gutter, float left,
                  const EditorPlaces& at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (const Hunk& hunk : frame.view.changes) {
        if (hunk.after + hunk.added < at.first || hunk.after > at.end) continue;
        const float x = left + gutter.change, thick = frame.ui.px(2.5F);
        const float top = at.y(hunk.after), bottom = at.y(hunk.after + hunk.added);
        if (hunk.added > 0)
            list.AddRectFilled({x, top}, {x + thick, bottom}, colour::accent);
        else
            list.AddTriangleFilled({x, top - frame.ui.px(3)}, {x + frame.ui.px(5), top},
                                   {x, top + frame.ui.px(3)}, colour::bad);
    }
}

/// One figure of each counted line, with a bar for its share of the highest one.
void draw_figures(const EditorFrame& frame, const Gutter& gutter, float left,
                  const EditorPlaces& at) {
    const emulator::KernelCounters* kernel = counters_beside(frame);
    if (!kernel) return;
    const std::string path = compute::kernel_path(frame.view.file);
    std::uint64_t most = 1;
    for (const emulator::LineCounters& line : kernel->lines)
        most = std::max(most, experiments::figure_of(line, frame.options.figure));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImFont* const font = frame.ui.fonts.mono_small;
    for (const emulator::LineCounters& line : kernel->lines) {
        const int row = line.line - 1;
        const std::uint64_t value = experiments::figure_of(line, frame.options.figure);
        if (line.file != path || row < at.first || row >= at.end || value == 0) continue;
        const ImVec2 low{left + gutter.figure, at.y(row)},
            high{left + gutter.figure + frame.ui.px(56), at.y(row) + at.line};
        const float share = float(value) / float(most);
        list.AddRectFilled({high.x - (high.x - low.x) * share, low.y + frame.ui.px(1)},
                           {high.x, high.y - frame.ui.px(1)}, faded(colour::accent, 0.28F));
        const std::string words = compute::count(double(value));
        const float width =
            font->CalcTextSizeA(text_size(font), FLT_MAX, 0, words.c_str()).x + frame.ui.px(3);
        list.AddText(font, text_size(font),
                     {high.x - width, low.y + (at.line - text_size(font)) / 2}, colour::text,
                     words.c_str());
        record_rect(frame.ui, low, high, fmt::format("editor.figure.{}", line.line),
                    std::to_string(value));
    }
}

/// Shows the tooltip of a row's marks, and toggles its barriers on a click.
void use_gutter(const EditorFrame& frame, KernelDocument& document, int row) {
    const auto state = effective_state(frame, document, row);
    const experiments::Toggle* toggle = frame.stage.parameters().barrier_switch();
    const bool may_switch = state == BarrierState::off && toggle;
    const auto said = diagnostics_of(frame.view, row);
    for (const auto* one : said) quick_tooltip(frame.ui, one->text);
    std::string needed;
    for_needed(frame, [&](int marked, const NeedFinder::Barrier& barrier, std::size_t k) {
        if (marked != row) return;
        frame.needs.point_at(k);
        needed += "\n" + mark_words(barrier);
    });
    // Without its delay the tooltip would hide the lines below every barrier that is clicked.
    if (state && said.empty())
        tooltip_at(frame.ui, {0, float(row)}, words_of(*state, can_edit(frame), toggle) + needed);
    if (!state || !(can_edit(frame) || may_switch)) return;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
    if (may_switch)
        frame.ui.later(
            [&stage = frame.stage, held = frame.stage.held(*toggle)] { flip(stage, *held); });
    else
        document.toggle_barriers(row + 1);
}

void draw_gutter(const EditorFrame& frame, KernelDocument& document, const EditorPlaces& at,
                 const Gutter& gutter, ImVec2 low) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 high{low.x + gutter.width, at.high.y};
    ImGui::SetCursorScreenPos(low);
    hit_area("editor.gutter", {gutter.width, std::max(1.F, high.y - low.y)});
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const int under = int(std::floor((mouse.y - at.origin.y) / at.line));
    if (hovered) frame.view.field.wheel -= ImGui::GetIO().MouseWheel * 5 * at.line;
    ImGui::PushClipRect(low, high, true);
    draw_changes(frame, gutter, low.x, at);
    draw_figures(frame, gutter, low.x, at);
    const int current = document.lines().row(frame.view.field.cursor);
    for (int row = at.first; row < at.end; ++row) {
        const auto said = diagnostics_of(frame.view, row);
        const std::string number = fmt::format("{}", row + 1);
        const bool here = frame.view.field.active && row == current;
        const ImU32 hue = said.empty() ? here ? colour::text : colour::faint
                                       : severity_colour(worst(said).severity);
        const float width = ImGui::CalcTextSize(number.c_str()).x;
        list.AddText({low.x + gutter.number_end - width, at.y(row)}, hue, number.c_str());
        if (!said.empty())
            list.AddRectFilled({low.x, at.y(row)}, {low.x + frame.ui.px(3), at.y(row) + at.line},
                               hue);
        if (const auto state = effective_state(frame, document, row)) {
            const ImVec2 centre{low.x + gutter.mark, at.y(row) + at.line / 2};
            draw_barrier_mark(frame, *state, centre, hovered && under == row && can_edit(frame));
            record_rect(frame.ui, {low.x, at.y(row)},
                        {low.x + gutter.number_end, at.y(row) + at.line},
                        fmt::format("editor.barrier.{}", row + 1), name_of(*state));
        }
    }
    ImGui::PopClipRect();
    if (hovered && under >= 0 && under < document.lines().count())
        use_gutter(frame, document, under);
}

EditorPlaces find_places(const KernelDocument& document) {
    EditorPlaces at;
    at.low = ImGui::GetWindowPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    at.high = {at.low.x + room.x, at.low.y + room.y};
    at.origin = {at.low.x - ImGui::GetScrollX(), at.low.y - ImGui::GetScrollY()};
    at.line = ImGui::GetFontSize();
    at.character = character_width();
    const float top = (at.low.y - at.origin.y) / at.line;
    at.first = std::clamp(int(top), 0, document.lines().count());
    at.end = std::min(document.lines().count(), int(top + room.y / at.line) + 2);
    return at;
}

using Kind = DiffLine::Kind;

ImU32 hue_of(Kind kind) {
    return kind == Kind::removed ? colour::bad : kind == Kind::added ? colour::good : colour::faint;
}

void put_words(ImVec2 at, std::string_view words, bool in_comment, ImU32 plain) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float character = character_width();
    std::size_t done = 0;
    const auto put = [&](std::size_t end, ImU32 colour) {
        if (end > done)
            list.AddText({at.x + character * float(columns_of(words.substr(0, done))), at.y},
                         colour, words.data() + done, words.data() + end);
        done = std::max(done, end);
    };
    for (const InkSpan& span : ink_cuda(words, in_comment)) {
        put(span.begin, plain);
        put(span.end, ink_colour(span.ink));
    }
    put(words.size(), plain);
}

struct Columns {
    float before, after, sign, text, right;
};

void draw_row(const EditorFrame& frame, const KernelDocument& document, const DiffLine& row,
              const Columns& at, float y, float line) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 hue = hue_of(row.kind);
    const float left = ImGui::GetWindowPos().x;
    if (row.kind == Kind::gap) {
        const std::string words = tr("…  {} unchanged lines", row.skipped);
        return list.AddText({at.text, y}, colour::faint, words.c_str());
    }
    if (row.kind != Kind::same) {
        list.AddRectFilled({left, y}, {at.right, y + line}, faded(hue, 0.14F));
        list.AddRectFilled({left, y}, {left + frame.ui.px(3), y + line}, hue);
        list.AddText({at.sign, y}, hue, row.kind == Kind::added ? "+" : "-");
    }
    const auto number = [&](float end, int value) {
        if (value == 0) return;
        const std::string words = fmt::format("{}", value);
        list.AddText({end - character_width() * float(words.size()), y},
                     row.kind == Kind::same ? colour::faint : hue, words.c_str());
    };
    number(at.before, row.before);
    number(at.after, row.after);
    const bool comment = row.after > 0 && document.lines().in_comment(row.after - 1);
    put_words({at.text, y}, row.text.substr(0, 1000), comment,
              row.kind == Kind::same ? colour::dim : colour::text);
}

}  // namespace

void draw_editor_text(const EditorFrame& frame, KernelDocument& document, ImVec2 size) {
    ImGui::PushFont(size.x >= frame.ui.px(520) ? frame.ui.fonts.mono : frame.ui.fonts.mono_small);
    const Gutter gutter = gutter_of(frame, document.lines().count());
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({low.x + gutter.width, low.y});
    ImGui::BeginChild("editor.scroll", {std::max(1.F, size.x - gutter.width), size.y}, false,
                      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoMove);
    EditorPlaces at = find_places(document);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    draw_editor_field(frame, document, at,
                      {std::max(room.x, float(document.lines().columns() + 6) * at.character),
                       std::max(room.y, float(document.lines().count() + 2) * at.line)});
    at.end = std::min(at.end, document.lines().count());
    for (int row = at.first; row < at.end; ++row) draw_row(frame, document, at, row);
    draw_needed(frame, at);
    explain_code(frame, document, at);
    draw_caret(frame.view.field, document, at, frame.ui.px(1));
    keep_cursor_in_sight(frame, document, at);
    ImGui::EndChild();
    const int row = document.lines().row(frame.view.field.cursor);
    record_rect(
        frame.ui, at.low, at.high, "editor.text",
        fmt::format("{}:{}", row + 1, frame.view.field.cursor - document.lines().begin(row) + 1));
    draw_gutter(frame, document, at, gutter, low);
    ImGui::PopFont();
}

void draw_editor_diff(const EditorFrame& frame, const KernelDocument& document, ImVec2 size) {
    const std::vector<DiffLine>& shown = frame.view.shown;
    ImGui::PushFont(size.x >= frame.ui.px(600) ? frame.ui.fonts.mono : frame.ui.fonts.mono_small);
    ImGui::BeginChild("editor.diff.scroll", size, false, ImGuiWindowFlags_HorizontalScrollbar);
    const float line = ImGui::GetFontSize(), character = character_width();
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const float digits = 4 * character;
    Columns at{};
    at.before = origin.x + frame.ui.px(8) + digits;
    at.after = at.before + frame.ui.px(8) + digits;
    at.sign = at.after + frame.ui.px(9);
    at.text = at.sign + 2 * character;
    at.right = ImGui::GetWindowPos().x + size.x;
    const int first = std::max(0, int(ImGui::GetScrollY() / line));
    const int end = std::min(int(shown.size()), first + int(size.y / line) + 2);
    for (int i = first; i < end; ++i)
        draw_row(frame, document, shown[std::size_t(i)], at, origin.y + float(i) * line, line);
    std::size_t widest = 0;
    for (const DiffLine& row : shown) widest = std::max(widest, row.text.size());
    if (shown.empty())
        text(frame.ui.fonts.small, colour::dim,
             document.has_own_file() ? tr("No differences from the text of its file.")
                                     : tr("No differences from the built-in kernel source."));
    else
        ImGui::Dummy({at.text - origin.x + character * float(std::min<std::size_t>(widest, 1000)),
                      line * float(shown.size() + 1)});
    ImGui::EndChild();
    ImGui::PopFont();
    const auto count = [&](Kind kind) {
        return std::count_if(shown.begin(), shown.end(), [&](auto& r) { return r.kind == kind; });
    };
    record(frame.ui, "editor.diff.text",
           fmt::format("-{} +{}", count(Kind::removed), count(Kind::added)));
}

}  // namespace warpscope::ui
