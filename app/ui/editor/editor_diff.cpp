#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/editor/editor_parts.h"
#include "ui/language/language.h"
#include "ui/source/source_colour.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

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
             tr("No differences from the built-in kernel source."));
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
