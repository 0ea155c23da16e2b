#include "ui/dock/findings_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "ui/dock/finding_card.h"
#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/stage/inspector.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::Finding;

/// Whether orders of the warps can be searched in which the finding does harm.
bool has_orders(const Finding& finding) {
    return finding.kind == emulator::FindingKind::race && finding.second;
}

/// What a click on a card does.
std::string click_words(const Finding& finding, bool is_advice) {
    const emulator::ThreadAtLine& place = finding.place();
    return tr("Click: {}show thread {} of block {} in the microscope, {}.{}",
              is_advice ? tr("paint what depends on it, and ") : "", name_of(place.thread),
              name_of(place.block),
              is_advice           ? tr("before this line")
              : finding.misread() ? tr("before it reads the wrong value")
                                  : tr("before this access"),
              has_orders(finding) ? tr(" Right click: search for the shortest order of the "
                                       "warps in which it spoils a result, and show that.")
                                  : "");
}

}  // namespace

/// Draws the two lists that choose the kind and the order of several findings. Returns their
/// indices in that order.
std::vector<std::size_t> FindingsPanel::in_order(Ui& ui, const std::vector<Finding>& findings) {
    std::vector<std::size_t> shown(findings.size());
    std::iota(shown.begin(), shown.end(), std::size_t(0));
    if (findings.size() < 2) return shown;
    std::vector<std::string> kinds{""}, labels{tr("all kinds")};
    for (const Finding& finding : findings)
        if (std::ranges::find(kinds, kind_of(finding)) == kinds.end())
            kinds.push_back(kind_of(finding)), labels.push_back(kinds.back());
    const auto chosen = std::ranges::find(kinds, kind_);
    if (chosen == kinds.end()) kind_.clear();
    const std::size_t at = chosen == kinds.end() ? 0 : std::size_t(chosen - kinds.begin());
    if (const int kind = dropdown(ui, "findings.kind", kinds, labels, at, ui.px(200)); kind >= 0)
        kind_ = kinds[std::size_t(kind)];
    ImGui::SameLine(0, ui.px(10));
    const int order = dropdown(ui, "findings.sort", {"harm", "line", "count"},
                               {tr("most harmful first"), tr("by line"), tr("by count")},
                               std::size_t(sorting_), ui.px(200));
    if (order >= 0) sorting_ = Sorting(order);
    std::erase_if(shown,
                  [&](std::size_t i) { return !kind_.empty() && kind_of(findings[i]) != kind_; });
    const auto place = [&](std::size_t i) {
        return std::tie(findings[i].place().file, findings[i].place().line);
    };
    if (sorting_ == Sorting::line) std::ranges::stable_sort(shown, {}, place);
    if (sorting_ == Sorting::count)
        std::ranges::stable_sort(shown, std::greater{},
                                 [&](std::size_t i) { return findings[i].count; });
    return shown;
}

/// `id`: "finding.2"; of a race that the barrier of another row also repairs, "finding.2.0".
void FindingsPanel::draw_card(Ui& ui, const Finding& finding, const std::string& id) {
    const bool opened = opened_.contains(id);
    const CardPress press =
        finding_card(ui, stage_, finding, id, {.mark = mark_of(finding), .is_open = opened});
    if (press.hovered) tooltip_at(ui, ImGui::GetCursorScreenPos(), click_words(finding, false));
    const bool asks = press.by_right_button && has_orders(finding);
    if (press.what == CardPress::What::sentence)
        opened ? void(opened_.erase(id)) : void(opened_.insert(id));
    else if (press.what != CardPress::What::nothing || asks)
        ui.later([&stage = stage_, &microscope = microscope_, asks,
                  shown = of_one_side(finding, asks ? CardPress::What::place : press.what),
                  launch = stage_.checks().inspection->launch] {
            stage.pause(true);
            if (asks) return microscope.show_witness(stage.launch(), launch, shown);
            microscope.show(stage.launch(), launch, shown);
        });
    if (finding.repaired_too.empty()) return;
    ImGui::Indent(ui.px(24));
    text(ui.fonts.small, colour::dim, tr(words_of_repair(finding)));
    for (std::size_t k = 0; k < finding.repaired_too.size(); ++k)
        draw_card(ui, finding.repaired_too[k], fmt::format("{}.{}", id, k));
    ImGui::Unindent(ui.px(24));
}

/// A barrier, fence or wait, and what depends on it.
void FindingsPanel::draw_advice(Ui& ui, std::size_t barrier, const std::string& id) {
    NeedFinder& needs = microscope_.needs();
    const NeedFinder::Barrier& advice = needs.answer()->barriers[barrier];
    const Finding& finding = advice.finding;
    const bool painted = needs.is_chosen(barrier);
    const ImU32 ink = advice.is_needed ? colour::accent : colour::dim;
    const CardPress press =
        finding_card(ui, stage_, finding, id, {.mark = Mark::ring, .ink = ink, .is_lit = painted});
    if (press.hovered) {
        needs.point_at(barrier);
        tooltip_at(ui, ImGui::GetCursorScreenPos(),
                   painted ? tr("Click: paint no longer what depends on it.")
                           : click_words(finding, true));
    }
    if (press.what == CardPress::What::nothing) return;
    ui.later([&stage = stage_, &microscope = microscope_, barrier, painted, finding = finding,
              launch = stage_.checks().inspection->launch] {
        microscope.needs().toggle(barrier);
        if (painted) return;
        stage.pause(true);
        microscope.show(stage.launch(), launch, finding);
    });
}

namespace {

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
        draw_advice(ui, k, fmt::format("finding.{}", rows + k));
    if (barriers.empty())
        text(ui.fonts.small, colour::dim, tr("The kernel has no barrier, fence or wait."));
}

/// Offers something to find where there is nothing.
void FindingsPanel::draw_next_step(Ui& ui, const RaceSummary& summary) {
    const experiments::Toggle* const barrier = stage_.parameters().barrier_switch();
    if (!barrier || summary.state != RaceSummary::State::clean || !is_on(stage_, *barrier)) return;
    const std::string label = tr("Switch {} off", tr(barrier->label()));
    if (flat_button(ui, "findings.switch", label.c_str()))
        ui.later([&stage = stage_, held = stage_.held(*barrier)] { flip(stage, *held); });
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
    const std::vector<Finding>& findings = inspection->verdict.findings;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    for (const std::size_t i : in_order(ui, findings))
        draw_card(ui, findings[i], fmt::format("finding.{}", i));
    // Findings of an earlier state are faint until those of the new one are there.
    const bool old = summary.checking || summary.state == RaceSummary::State::unknown;
    if (!findings.empty()) record_rect(ui, {}, {}, "findings.state", old ? "old" : "current");
    if (old)
        ImGui::GetWindowDrawList()->AddRectFilled(
            low, {low.x + ImGui::GetContentRegionAvail().x, ImGui::GetCursorScreenPos().y},
            faded(colour::panel, 0.55F));
    const bool in_a_row = std::ranges::any_of(findings, [&](const Finding& finding) {
        return finding.sentence == inspection->verdict.error;
    });
    if (!inspection->verdict.error.empty() && !in_a_row)
        paragraph(ui.fonts.small, colour::bad, tr(inspection->verdict.error));
    if (inspection->launch) draw_needed(ui, inspection->launch, findings.size());
    draw_next_step(ui, summary);
}

}  // namespace warpscope::ui
