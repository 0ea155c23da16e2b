#pragma once

#include <string>
#include <vector>

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Asks, when the window is to close, what is to become of edits of a person's files.
class QuitQuestion {
  public:
    explicit QuitQuestion(Stage& stage) : stage_(stage) {}

    /// False: there are such edits, and the question opens. After its answer: true.
    bool may_quit();
    /// Draws the question over the window, while it is open.
    void draw(Ui& ui);

  private:
    std::vector<std::string> unsaved() const;
    bool save() const;

    Stage& stage_;
    bool opens_ = false, answered_ = false;
};

}  // namespace warpscope::ui
