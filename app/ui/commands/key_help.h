#pragma once

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The list of all keys, over the middle of the window.
class KeyList {
  public:
    void draw(Ui& ui) const;
    void show(bool shown) { shown_ = shown; }
    bool shown() const { return shown_; }

  private:
    bool shown_ = false;
};

}  // namespace warpscope::ui
