#pragma once

#include <string>

#include "ui/commands/book_page.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The words of the vocabulary with their meanings, or a page of the book, over the middle of the
/// window.
class WordList {
  public:
    /// `word`: the one to begin at; empty: the first.
    void show(std::string word);
    /// Shows the first page of the book.
    void show_book();
    void hide() { shown_ = false; }
    bool shown() const { return shown_; }
    void draw(Ui& ui);

  private:
    void draw_words(Ui& ui);

    bool shown_ = false, scrolls_ = false;
    std::string word_;
    BookPage page_;
};

}  // namespace warpscope::ui
