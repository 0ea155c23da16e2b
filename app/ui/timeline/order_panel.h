#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ui/language/language.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The order of a schedule file in which the microscope steps its block: its turns in words, one
/// line each. A click on a line goes to the first step of the turn.
class OrderPanel {
  public:
    OrderPanel(Stage& stage, Microscope& microscope) : stage_(stage), microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    void renew();
    void row(Ui& ui, std::size_t line, std::size_t current, float width);
    void save();

    Stage& stage_;
    Microscope& microscope_;
    std::vector<std::string> lines_;
    std::vector<std::optional<std::uint64_t>> steps_;  ///< by line: turn_steps()
    std::uint64_t copy_ = 0, known_steps_ = 0;         ///< for which they were made
    Language language_ = Language::english;            ///< in which they are
};

}  // namespace warpscope::ui
