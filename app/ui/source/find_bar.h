#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/widgets/key_table.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A place of the words that a person looks for: bytes [begin, end) of a row, which counts from 0.
struct TextMatch {
    int row = 0;
    std::size_t begin = 0, end = 0;
    bool operator==(const TextMatch&) const = default;
};

/// The rows of a text.
struct TextRows {
    int count = 0;
    std::function<std::string_view(int row)> row;
};

/// Every place of the words, from the top down, at most `most`. Places do not overlap. An
/// upper-case letter in the words finds only itself, a lower-case one finds both.
std::vector<TextMatch> find_words(const TextRows& text, std::string_view words,
                                  std::size_t most = 10'000);

/// The bar over a text in which a person searches the text or names a line to go to.
class FindBar {
  public:
    /// Where a person wants to be in the text.
    struct Goal {
        int line = 0;  ///< a line number that was typed; 0: go to `match`
        TextMatch match;
    };

    bool is_open() const { return wish_ != Wish::none; }
    void close() { wish_ = Wish::none; }
    /// True if the field has the keyboard or is about to get it, which takes some frames.
    bool takes_keyboard() const { return is_open() && (focus_ || grabbing_ > 0); }
    /// Carries out find_text, find_next, find_previous or go_to_line in the next draw(). `words`
    /// are searched at first; empty: those of the last time. The search starts at `row`.
    void ask(Command command, std::string words = {}, int row = 0);
    /// Draws the bar, one row high, while it is open. Another `version` means another text. Returns
    /// the goal, where there is a new one.
    std::optional<Goal> draw(Ui& ui, const std::string& id, const TextRows& text,
                             std::uint64_t version);
    /// The matches of a row, and the one that the person has gone to.
    std::vector<TextMatch> matches(int row) const;
    const TextMatch* current() const;

  private:
    enum class Wish { none, find, line };

    void search(const TextRows& text, std::uint64_t version);
    std::optional<Goal> move(int by);
    std::optional<Goal> draw_find(Ui& ui, const std::string& id, const TextRows& text);
    std::optional<Goal> draw_line(Ui& ui, const std::string& id, const TextRows& text);
    bool field(Ui& ui, const std::string& id, const char* hint, float width, std::string& typed);

    Wish wish_ = Wish::none;
    std::string words_, line_;
    std::string searched_;  ///< the words that matches_ belong to
    std::uint64_t version_ = 0;
    std::vector<TextMatch> matches_;
    std::size_t current_ = 0;
    int from_ = 0;        ///< the row from which the search began
    int moves_ = 0;       ///< moves that keys have asked for
    bool focus_ = false;  ///< the field is to get the keyboard
    int grabbing_ = 0;    ///< frames until ImGui says that the field has it
};

}  // namespace warpscope::ui
