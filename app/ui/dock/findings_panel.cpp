#include "ui/dock/findings_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "ui/language/language.h"
#include "ui/stage/inspector.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::ThreadAtLine;

std::string kind_of(const Finding& finding) {
    if (finding.kind == FindingKind::members) return tr("member mask");
    if (finding.kind != FindingKind::race) return tr(to_string(finding.kind));
    if (!finding.misread()) return tr("race {}", to_string(finding.hazard));
    return finding.hazard == Hazard::write_after_read ? tr("read too early") : tr("read too late");
}

/// "256 hazards": of the whole launch.
std::string count_of(const Finding& finding) {
    return counted(finding.count, counted_noun(finding.kind), quantity(double(finding.count), ""));
}

/// `id`: "finding.2"; of a race that the barrier of another row also repairs, "finding.2.0".
void finding_row(Ui& ui, Stage& stage, Microscope& microscope, const Finding& finding,
                 const std::string& id, std::optional<std::size_t> barrier = {}) {
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const bool is_advice = barrier.has_value();
    const bool is_painted = barrier && microscope.needs().is_chosen(*barrier);
    const ImU32 colour =
        is_advice ? (microscope.needs().answer()->barriers[*barrier].is_needed ? colour::accent
                                                                               : colour::dim)
        : spoils_results(finding) ? colour::bad
                                  : colour::finding;
    const std::string times = count_of(finding), sentence = tr(finding.sentence);
    ImGui::PushFont(ui.fonts.small);
    const float times_width = ImGui::CalcTextSize(times.c_str()).x;
    const float text_left = ui.px(126), text_width = width - text_left - times_width - ui.px(24);
    const std::string lines = wrapped(sentence, text_width);
    const float height = ImGui::CalcTextSize(lines.c_str()).y + ui.px(12);
    ImGui::PopFont();

    const bool clicked = hit_area(id, {width, height});
    record(ui, id, sentence);
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (hovered || is_painted)
        list.AddRectFilled(low, {low.x + width, low.y + height}, colour::raised, ui.px(4));
    if (barrier && hovered) microscope.needs().point_at(*barrier);
    list.AddRectFilled(low, {low.x + ui.px(3), low.y + height}, colour, ui.px(1.5F));
    const float y = low.y + ui.px(6);
    ImGui::SetCursorScreenPos({low.x + ui.px(12), y - ui.px(2)});
    badge(ui, kind_of(finding), colour);
    const bool is_plain_race = finding.kind == FindingKind::race && !finding.misread();
    hover_label(is_plain_race ? to_string(finding.hazard) : kind_of(finding));
    ImGui::SetCursorScreenPos({low.x + text_left, y});
    text(ui.fonts.small, colour::text, lines);
    ImGui::SetCursorScreenPos({low.x + width - times_width - ui.px(8), y});
    text(ui.fonts.small, colour::dim, times);
    record(ui, id + ".count", std::to_string(finding.count));
    const ThreadAtLine& place = finding.place();
    const bool has_orders = finding.kind == FindingKind::race && finding.second;
    const bool asks = hovered && has_orders && ImGui::IsMouseClicked(ImGuiMouseButton_Right);
    if (hovered && is_painted)
        tooltip_at(ui, low, tr("Click: paint no longer what depends on it."));
    else if (hovered)
        tooltip_at(ui, low,
                   tr("Click: {}show thread {} of block {} in the microscope, {}.{}",
                      is_advice ? tr("paint what depends on it, and ") : "", name_of(place.thread),
                      name_of(place.block),
                      is_advice           ? tr("before this line")
                      : finding.misread() ? tr("before it reads the wrong value")
                                          : tr("before this access"),
                      has_orders ? tr(" Right click: search for the shortest order of the "
                                      "warps in which it spoils a result, and show that.")
                                 : ""));
    ImGui::SetCursorScreenPos({low.x, low.y + height + ui.px(4)});
    if (clicked && barrier)
        ui.later([&microscope, barrier] { microscope.needs().toggle(*barrier); });
    if ((clicked && !is_painted) || asks)
        ui.later([&stage, &microscope, finding, asks, launch = stage.checks().inspection->launch] {
            stage.pause(true);
            if (asks) return microscope.show_witness(stage.launch(), launch, finding);
            microscope.show(stage.launch(), launch, finding);
        });
    if (finding.repaired_too.empty()) return;
    ImGui::Indent(ui.px(24));
    text(ui.fonts.small, colour::dim, tr(words_of_repair(finding)));
    for (std::size_t k = 0; k < finding.repaired_too.size(); ++k)
        finding_row(ui, stage, microscope, finding.repaired_too[k], fmt::format("{}.{}", id, k));
    ImGui::Unindent(ui.px(24));
}

float switch_width(Ui& ui) {
    return ui.px(34 + 9) +
           std::max(ImGui::CalcTextSize(tr("on")).x, ImGui::CalcTextSize(tr("off")).x);
}

/// The width of the switch and the button that automatic() draws.
float automatic_width(Ui& ui, bool by_button) {
    return ImGui::CalcTextSize(tr("Check automatically")).x + ui.px(8) + switch_width(ui) +
           (by_button ? button_width(tr("Check now")) + ui.px(10) : 0);
}

/// Draws at the right edge the switch of the automatic check and, if it is off, a button.
void automatic(Ui& ui, Stage& stage, ViewOptions& options, bool by_button) {
    const Checks& checks = stage.checks();
    const float free = ImGui::GetContentRegionAvail().x - automatic_width(ui, by_button);
    if (free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
    if (by_button) {
        const bool known = checks.current && !checks.too_large;
        ImGui::BeginDisabled(checks.checking || known);
        if (flat_button(ui, "findings.check", tr("Check now"))) stage.check_now();
        ImGui::EndDisabled();
        ImGui::SameLine(0, ui.px(10));
    }
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.body, colour::dim, tr("Check automatically"));
    ImGui::SameLine(0, ui.px(8));
    if (toggle_switch(ui, "findings.automatic", options.inspect, switch_width(ui)))
        options.inspect = !options.inspect;
    tooltip(ui, tr("After each change, the emulator checks a copy of the launch, also where a GPU "
                   "draws the picture."));
}

}  // namespace

/// The question which barriers are needed, and its answer, below the rows of the findings.
void FindingsPanel::draw_needed(Ui& ui, const NeedFinder::Checked& checked, std::size_t rows) {
    NeedFinder& needs = microscope_.needs();
    if (needs.works()) {
        const auto now = needs.progress();
        ImGui::AlignTextToFramePadding();
        const std::string words =
            now.blocks == 0
                ? tr("The barriers are examined.")
                : tr("{} of {} barriers, fences and waits examined", now.done, now.blocks);
        text(ui.fonts.small, colour::dim, words);
        record(ui, "findings.examining", words);
        ImGui::SameLine(0, ui.px(10));
        if (flat_button(ui, "findings.stop", tr("Stop"))) needs.stop();
        return;
    }
    if (!needs.knows(checked)) {
        if (flat_button(ui, "findings.needed", tr("Which barriers are needed?")))
            needs.look(checked);
        tooltip(ui,
                tr("Takes out each barrier, fence and wait alone, and paints which pixels, words "
                   "and sums depend on it."));
        return;
    }
    const auto& barriers = needs.answer()->barriers;
    for (std::size_t k = 0; k < barriers.size(); ++k)
        finding_row(ui, stage_, microscope_, barriers[k].finding,
                    fmt::format("finding.{}", rows + k), k);
    if (barriers.empty())
        text(ui.fonts.small, colour::dim, tr("The kernel has no barrier, fence or wait."));
}

void FindingsPanel::draw(Ui& ui) {
    const RaceSummary summary = stage_.race_summary();
    ImGui::AlignTextToFramePadding();
    const bool by_button = !options_.inspect || stage_.checks().too_large;
    const float beside =
        ImGui::GetContentRegionAvail().x - automatic_width(ui, by_button) - ui.px(16);
    const bool fits = beside > ui.px(240);
    paragraph(ui.fonts.body, summary.checking ? colour::dim : colour::text, summary.sentence,
              fits ? beside : 0);
    record(ui, "findings.summary", summary.sentence);
    if (fits) ImGui::SameLine();
    automatic(ui, stage_, options_, by_button);
    ImGui::Dummy({0, ui.px(2)});
    const auto& inspection = stage_.checks().inspection;
    if (!inspection) return;
    for (std::size_t i = 0; i < inspection->verdict.findings.size(); ++i)
        finding_row(ui, stage_, microscope_, inspection->verdict.findings[i],
                    fmt::format("finding.{}", i));
    const bool in_a_row = std::ranges::any_of(
        inspection->verdict.findings,
        [&](const Finding& finding) { return finding.sentence == inspection->verdict.error; });
    if (!inspection->verdict.error.empty() && !in_a_row)
        paragraph(ui.fonts.small, colour::bad, tr(inspection->verdict.error));
    if (inspection->launch)
        draw_needed(ui, inspection->launch, inspection->verdict.findings.size());
}

}  // namespace warpscope::ui
