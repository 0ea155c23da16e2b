#include "ui/launch_form/proposal_notes.h"

#include <fmt/ranges.h>

#include "experiments/launch/proposal_words.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

template <typename Words>
std::string listed(const Words& words) {
    std::vector<std::string> translated;
    for (const std::string& one : words) translated.push_back(tr(one));
    return fmt::format("{}", fmt::join(translated, ", "));
}

}  // namespace

void ProposalNotes::find(const std::shared_ptr<const experiments::LaunchPlan>& plan) {
    seen_ = plan;
    language_ = language();
    errors_.clear();
    warnings_.clear();
    remarks_.clear();
    const experiments::ProposalWords words = experiments::proposal_words(plan, {});
    if (words.empty()) return;
    for (const experiments::HostFault& fault : plan->faults) errors_.push_back(tr(fault.sentence));
    for (const auto& [kernel, guesses] : words.guesses)
        warnings_.push_back(tr("Guessed for {}, since the host program does not say it: {}", kernel,
                               listed(guesses)));
    for (const std::string& size : words.reduced) remarks_.push_back(tr("Smaller: {}", tr(size)));
    for (const std::string& remark : words.remarks) remarks_.push_back(tr(remark));
    if (!words.not_launched.empty())
        remarks_.push_back(tr("Not launched: {}", listed(words.not_launched)));
}

void ProposalNotes::draw(Ui& ui, const std::shared_ptr<const experiments::LaunchPlan>& plan) {
    if (plan != seen_ || language() != language_) find(plan);
    const std::pair<ImU32, const std::vector<std::string>&> all[] = {
        {colour::bad, errors_}, {colour::finding, warnings_}, {colour::dim, remarks_}};
    for (const auto& [colour, notes] : all)
        for (const std::string& note : notes) {
            paragraph(ui.fonts.small, colour, note);
            record(ui, "launch.note", note);
        }
    ImGui::Dummy({0, ui.px(2)});
}

}  // namespace warpscope::ui
