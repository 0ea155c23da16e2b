#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The list of all keys, over the middle of the window.
class KeyList {
  public:
    void draw(Ui& ui);
    void show(bool shown) {
        shown_ = begins_ = shown;
        searched_.clear();
    }
    bool shown() const { return shown_; }

  private:
    bool section(Ui& ui, const char* title, KeyScope scope, float width) const;

    bool shown_ = false, begins_ = false;
    std::string searched_;  ///< only rows with these words are listed
};

/// What helps an audience to follow a speaker: a halo of the pointer, and the newest keys.
class SpeakerMarks {
  public:
    /// A key went down that is a command: "Shift+F12".
    void press(std::string key);
    /// Draws them over the window.
    void draw(Ui& ui) const;
    /// True while a key is shown, which has to vanish later.
    bool moves() const;

  private:
    std::string key_;
    double at_ = -10;  ///< ImGui's seconds
};

/// A part of a page of docs/book/, without the marks of Markdown.
struct BookPart {
    enum class Kind { title, heading, text, item, code, picture } kind;
    std::string words;  ///< of a picture: its file, below the folder of the book
};
/// The parts of a page up to the line that leads to other pages.
std::vector<BookPart> book_parts(std::string_view page);

/// Shows a page of the book with its picture.
class BookPage {
  public:
    BookPage();
    ~BookPage();
    BookPage(const BookPage&) = delete;
    BookPage& operator=(const BookPage&) = delete;

    /// Whether the book has this page, such as "03-warps". It comes with an installation.
    bool has(std::string_view name) const;
    void open(const std::string& name);
    void open_first() {
        if (!names_.empty()) open(names_.front());
    }
    void close() { name_.clear(); }
    bool shown() const { return !name_.empty(); }
    void draw(Ui& ui);

  private:
    void draw_buttons(Ui& ui);
    void draw_picture(const std::string& file);

    std::string folder_;              ///< empty: the book is missing
    std::vector<std::string> names_;  ///< in their order
    std::string name_;                ///< of the page on show; empty: none
    std::vector<BookPart> parts_;
    bool begins_ = false;
    unsigned texture_ = 0;  ///< of the picture; 0: there is none
    int width_ = 0, height_ = 0;
};

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
