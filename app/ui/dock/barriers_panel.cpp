#include "ui/dock/barriers_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compute/device/enum_words.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using compute::BarrierPolicy;
using experiments::PolicyOutcome;

/// The rule of a policy, below its name.
const char* rule_of(BarrierPolicy policy) {
    switch (policy) {
        case BarrierPolicy::volta:
            return tr("Waits for every thread that has not exited.");
        case BarrierPolicy::before_volta:
            return tr("Counts one arrival of a warp for all lanes of the warp.");
        case BarrierPolicy::strict:
            return tr("A warp that arrives without all its lanes is an error.");
    }
    return "";
}

const compute::Word<BarrierPolicy>& word_of(BarrierPolicy policy) {
    const auto& words = compute::words_of<BarrierPolicy>;
    return *std::find_if(words.begin(), words.end(),
                         [&](const auto& word) { return word.value == policy; });
}

/// The result of the launch: the report's sentences, or the error that ended it, then the first
/// finding.
std::string outcome_of(const PolicyOutcome& outcome) {
    if (!outcome.ends) return tr(outcome.error);
    std::string words;
    for (const experiments::Reading& r : outcome.report)
        if (r.verdict != experiments::Verdict::none && !r.sentence.empty())
            words += (words.empty() ? "" : " ") + tr(r.sentence);
    if (outcome.blocks < outcome.of_blocks)
        words = tr("The first {} of {} blocks finish.", quantity(double(outcome.blocks), ""),
                   quantity(double(outcome.of_blocks), ""));
    else if (words.empty())
        words = tr("Every block finishes.");
    if (!outcome.findings.empty()) words += "\n" + tr(outcome.findings.front().sentence);
    if (outcome.findings.size() > 1) words += tr(" ({} more.)", outcome.findings.size() - 1);
    return words;
}

bool failed(const PolicyOutcome& outcome) {
    return std::any_of(outcome.report.begin(), outcome.report.end(),
                       [](const auto& r) { return r.verdict == experiments::Verdict::fail; });
}

struct Row {
    std::string id;
    std::string title, subtitle;
    const char* verdict;
    ImU32 colour;
    std::string sentence;
};

void draw_row(Ui& ui, const Row& row) {
    const float left = ImGui::GetCursorPosX();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float right_edge = low.x + ImGui::GetContentRegionAvail().x;
    const float room = ImGui::GetContentRegionAvail().x;
    constexpr float verdict = 118;          // logical pixels
    const bool narrow = room < ui.px(500);  // the sentence stands below the rest
    const float titles = narrow ? std::max(ui.px(60), room - ui.px(verdict))
                                : std::clamp(room * 0.27F, ui.px(230), ui.px(330));
    ImGui::BeginGroup();
    clipped_text(ui.fonts.body, colour::text, row.title, titles - ui.px(20));
    ImGui::PushTextWrapPos(left + titles - ui.px(20));
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ui.px(3));
    text(ui.fonts.small, colour::faint, row.subtitle);
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    float bottom = ImGui::GetItemRectMax().y;
    ImGui::SameLine(left + titles, 0);
    badge(ui, row.verdict, row.colour);
    record(ui, row.id, row.verdict);
    if (narrow)
        ImGui::SetCursorScreenPos({low.x, bottom + ui.px(3)});
    else
        ImGui::SameLine(left + titles + ui.px(verdict), 0);
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ui.px(1));
    paragraph(ui.fonts.small, colour::text, row.sentence);
    record(ui, row.id + ".sentence", row.sentence);
    bottom = std::max(bottom, ImGui::GetItemRectMax().y) + ui.px(6);
    ImGui::GetWindowDrawList()->AddLine({low.x, bottom}, {right_edge, bottom}, colour::line,
                                        ui.px(1));
    ImGui::SetCursorScreenPos({low.x, bottom + ui.px(6)});
}

void policy_row(Ui& ui, const PolicyOutcome& outcome) {
    const compute::Word<BarrierPolicy>& word = word_of(outcome.policy);
    const bool clean = outcome.findings.empty() && !failed(outcome);
    draw_row(ui, {"policy." + std::string(word.name), tr(word.label), rule_of(outcome.policy),
                  !outcome.ends     ? tr("can't go on")
                  : failed(outcome) ? tr("finishes, wrong")
                                    : tr("finishes"),
                  !outcome.ends ? colour::bad
                  : clean       ? colour::dim
                                : colour::warning,
                  outcome_of(outcome)});
}

/// Shows the behaviour of the device in use, measured with kernels that always finish.
void device_row(Ui& ui, Stage& stage) {
    if (!stage.checks().busy) stage.measure_barriers();
    const DeviceBarriers& device = stage.shown().readings.barriers;
    if (!device.report && device.error.empty()) return;
    const std::string& name = stage.device().name;
    std::string sentence = device.error;
    if (device.report)
        for (const experiments::Reading& r : *device.report)
            sentence +=
                fmt::format("{}{}: {}", sentence.empty() ? "" : "\n", tr(r.label), tr(r.sentence));
    draw_row(ui, {"policy.device", name, tr("Measured on this device."),
                  device.report ? tr("measured") : tr("can't go on"),
                  device.report ? colour::accent : colour::bad, sentence});
}

}  // namespace

void BarriersPanel::draw(Ui& ui) {
    const Checks& checks = stage_.checks();
    const bool wanted = !checks.policies_current && !checks.trying_policies;
    const bool by_button = !options_.inspect || checks.too_large;
    if (wanted && !by_button) stage_.try_policies();
    if (by_button) {
        ImGui::BeginDisabled(!wanted);
        if (flat_button(ui, "policies.try", tr("Try all policies"))) stage_.try_policies();
        ImGui::EndDisabled();
    }
    if (checks.trying_policies || (!checks.policies && wanted)) {
        text(ui.fonts.small, colour::dim,
             checks.trying_policies ? tr("Running this launch under each barrier policy…")
                                    : tr("Not tried yet."));
        record(ui, "policies.state", checks.trying_policies ? "trying" : "none");
    }
    if (!checks.policies_error.empty()) {
        paragraph(ui.fonts.small, colour::bad, checks.policies_error);
        record(ui, "policies.error", checks.policies_error);
    }
    if (checks.policies)
        for (const PolicyOutcome& outcome : *checks.policies) policy_row(ui, outcome);
    device_row(ui, stage_);
}

}  // namespace warpscope::ui
