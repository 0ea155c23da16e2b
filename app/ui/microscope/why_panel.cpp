#include "ui/microscope/why_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <utility>

#include "compute/device/number_text.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

/// One slice, the latest instruction first. A click on a row of this run goes to its step.
void WhyPanel::column(Ui& ui, const Reason::Side& side, bool right, float width) {
    const Reason& reason = *microscope_.reason();
    const char* id = right ? "why.right" : "why.run";
    ImGui::BeginGroup();
    const emulator::WrongWord& word = reason.word_of_memory();
    const std::string title =
        right && !word.right && !side.lines.empty() ? std::string(tr("Who has written it last"))
        : right ? tr("Right run: {}", word.order.empty() ? tr("none is known") : tr(word.order))
                : std::string(tr("This run"));
    clipped_text(ui.fonts.strong, colour::text, title, width - ui.px(170));
    ImGui::SameLine(0, ui.px(8));
    text(ui.fonts.small, colour::dim, side.nodes == 0 ? "" : counted(side.nodes, "instruction"));
    record(ui, id, fmt::format("{}", side.nodes));
    ImGui::BeginChild(id, {width, ImGui::GetContentRegionAvail().y}, false);
    ImGui::PushFont(ui.fonts.mono_small);
    const float line = ImGui::GetTextLineHeight() + ui.px(3);
    if (scrolls_ && side.parting) ImGui::SetScrollY(std::max(0.F, float(*side.parting) - 1) * line);
    for (std::size_t k = 0; k < side.lines.size(); ++k) {
        const ImVec2 low = ImGui::GetCursorScreenPos();
        const bool is_parting = side.parting == k;
        const std::string row = fmt::format("{}.{}", id, k);
        const bool clicked = hit_area(row, {width, line});
        const bool hovered = !right && ImGui::IsItemHovered();
        ImDrawList& list = *ImGui::GetWindowDrawList();
        if (is_parting || hovered)
            list.AddRectFilled(low, {low.x + width, low.y + line},
                               is_parting ? faded(colour::bad, 0.25F) : colour::raised, ui.px(3));
        if (ImGui::IsItemVisible())
            list.AddText({low.x + ui.px(4), low.y + ui.px(1)},
                         is_parting ? colour::text : colour::dim, tr(side.lines[k]).c_str());
        if (is_parting) record(ui, row + ".parting", side.lines[k]);
        if (right && !word.right) record(ui, row, side.lines[k]);
        ImGui::SetCursorScreenPos({low.x, low.y + line});
        if (!clicked || right || k >= word.run.slice.nodes.size()) continue;
        const emulator::SliceNode& node = word.run.slice.nodes[k];
        ui.later([this, step = node.step, warp = node.warp, lane = node.lane] {
            microscope_.seek(step);
            microscope_.pick(warp, lane);
        });
    }
    ImGui::PopFont();
    end_child();
    ImGui::EndGroup();
}

void WhyPanel::draw(Ui& ui) {
    if (!microscope_.ready() || !microscope_.reason()) return;
    const Reason& reason = *microscope_.reason();
    const experiments::WrongReason& words = reason.words;
    const std::string element = tr(words.element), found = tr(words.found),
                      expected = tr(words.expected), whole = tr(words.whole);
    paragraph(
        ui.fonts.body, colour::text,
        words.found == words.expected ? whole
        : words.is_captured
            ? tr("{} is {}, the program's launch left {}. {}", element, found, expected, whole)
            : tr("{} is {}, expected {}. {}", element, found, expected, whole));
    record(ui, "why", words.whole);
    tooltip(
        ui,
        tr("The instructions behind the value, from its store back to the inputs of the kernel. "
           "The runs part at the red line. A branch that decided on an instruction is behind it "
           "too."));
    scrolls_ = std::exchange(shown_, &reason) != &reason;
    const float gap = ui.px(16), width = (ImGui::GetContentRegionAvail().x - gap) / 2;
    column(ui, reason.run, false, width);
    ImGui::SameLine(0, gap);
    column(ui, reason.right, true, width);
}

void show_why(Stage& stage, Microscope& microscope, const std::string& element) {
    stage.pause(true);
    microscope.show_reason(stage.launch(), element);
}

std::string ask_why(Ui& ui, Stage& stage, Microscope& microscope, const std::string& element) {
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        ui.later([&stage, &microscope, element] { show_why(stage, microscope, element); });
    // Of a picture that moves on, the answer would be out of date.
    if (!stage.paused()) return tr("Right click: pause, and show why it is wrong.");
    const auto reason = microscope.reasons().ask(stage.launch(), element);
    if (!reason) return {};
    return tr(reason->words.element) + ": " + tr(reason->words.brief) +
           tr("\nRight click: open this access in the microscope.");
}

}  // namespace warpscope::ui
