#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/launch/launch_plan.h"
#include "ui/language/language.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// What a person should know of launches that were proposed for a source without a launch file:
/// uses of freed memory, guesses, smaller sizes, and launches that were left out.
class ProposalNotes {
  public:
    /// Draws a line for each note. Nothing for the plan of a launch file.
    void draw(Ui& ui, const std::shared_ptr<const experiments::LaunchPlan>& plan);

  private:
    void find(const std::shared_ptr<const experiments::LaunchPlan>& plan);

    std::shared_ptr<const experiments::LaunchPlan> seen_;
    Language language_ = Language::english;  ///< of the notes
    std::vector<std::string> errors_, warnings_, remarks_;
};

}  // namespace warpscope::ui
