#pragma once

#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The foot of a presentation: one large switch of the barrier, and one sentence.
class Caption {
  public:
    explicit Caption(Stage& stage) : stage_(stage) {}
    void draw(Ui& ui);

  private:
    Stage& stage_;
};

}  // namespace warpscope::ui
