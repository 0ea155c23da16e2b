#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ui/format.h"
#include "ui/panels.h"
#include "ui/widgets.h"

namespace warpscope::ui {
namespace {

using compute::BarrierPolicy;
using experiments::PolicyOutcome;

struct Words {
    const char* id;
    const char* title;
    const char* rule;
};

Words words_of(BarrierPolicy policy) {
    switch (policy) {
        case BarrierPolicy::volta:
            return {"volta", "Volta and later", "Waits for every thread that has not ended."};
        case BarrierPolicy::before_volta:
            return {"before_volta", "Before Volta",
                    "One arrival of each warp that has not ended stands for all its lanes."};
        case BarrierPolicy::strict:
            return {"strict", "By the letter of PTX",
                    "A warp that comes without all its lanes is an error."};
    }
    return {"", "", ""};
}

/// What came out: of a launch that ends the readings that can be right or wrong.
std::string outcome_of(const PolicyOutcome& outcome) {
    if (!outcome.ends) return outcome.error;
    std::string words;
    for (const experiments::Reading& r : outcome.report) {
        if (!r.expected) continue;
        words += fmt::format("{}{}: {}{}", words.empty() ? "" : " · ", r.label,
                             quantity(r.value, r.unit),
                             r.verdict == experiments::Verdict::pass
                                 ? ""
                                 : " instead of " + quantity(*r.expected, r.unit));
    }
    for (const emulator::Finding& f : outcome.findings)
        words += (words.empty() ? "" : "\n") + f.sentence;
    return words.empty() ? "Every block comes to its end." : words;
}

bool right(const PolicyOutcome& outcome) {
    return std::none_of(outcome.report.begin(), outcome.report.end(), [](const auto& r) {
        return r.verdict == experiments::Verdict::finding ||
               r.verdict == experiments::Verdict::fail;
    });
}

void policy_row(Interface& ui, const PolicyOutcome& outcome) {
    const Words words = words_of(outcome.policy);
    const std::string id = std::string("policy.") + words.id;
    const float left = ImGui::GetCursorPosX();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    text(ui.fonts.body, colour::text, words.title);
    tooltip(ui, words.rule);
    ImGui::SameLine(left + ui.px(170), 0);
    const bool good = outcome.ends && right(outcome);
    const char* verdict = !outcome.ends ? "can't go on" : good ? "ends" : "ends, wrong";
    badge(ui, verdict, good ? colour::good : outcome.ends ? colour::finding : colour::bad);
    record(ui, id, verdict);
    ImGui::SameLine(left + ui.px(280), 0);
    const std::string sentence = outcome_of(outcome);
    ImGui::BeginGroup();
    paragraph(ui.fonts.small, colour::text, sentence);
    record(ui, id + ".sentence", sentence);
    text(ui.fonts.small, colour::faint, words.rule);
    ImGui::EndGroup();
    const float bottom = ImGui::GetItemRectMax().y + ui.px(5);
    const float right_edge = low.x + ImGui::GetContentRegionAvail().x;
    ImGui::GetWindowDrawList()->AddLine({low.x, bottom}, {right_edge, bottom}, colour::line,
                                        ui.px(1));
    ImGui::Dummy({0, ui.px(4)});
}

}  // namespace

void draw_policies(Interface& ui) {
    Inspector& inspector = ui.inspector;
    const bool wanted = !inspector.policies_current() && !inspector.trying_policies();
    if (wanted && ui.options.inspect) inspector.try_policies();
    if (!ui.options.inspect) {
        ImGui::BeginDisabled(!wanted);
        if (flat_button(ui, "policies.try", "Try them")) inspector.try_policies();
        ImGui::EndDisabled();
    }
    if (inspector.trying_policies() || (!inspector.policies() && wanted)) {
        text(ui.fonts.small, colour::dim,
             inspector.trying_policies() ? "Trying this launch under each kind of barrier…"
                                         : "Not tried yet.");
        record(ui, "policies.state", inspector.trying_policies() ? "trying" : "none");
    }
    if (!inspector.policies_error().empty()) {
        paragraph(ui.fonts.small, colour::bad, inspector.policies_error());
        record(ui, "policies.error", inspector.policies_error());
    }
    if (!inspector.policies()) return;
    for (const PolicyOutcome& outcome : *inspector.policies()) policy_row(ui, outcome);
}

}  // namespace warpscope::ui
