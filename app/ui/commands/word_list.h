#pragma once

#include <string>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The words of the vocabulary with their meanings, over the middle of the window.
class WordList {
  public:
    /// `word`: the one to begin at; empty: the first.
    void show(std::string word);
    void hide() { shown_ = false; }
    bool shown() const { return shown_; }
    void draw(Ui& ui);

  private:
    bool shown_ = false, scrolls_ = false;
    std::string word_;
};

}  // namespace warpscope::ui
