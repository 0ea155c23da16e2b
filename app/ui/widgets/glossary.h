#pragma once

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A row of docs/vocabulary.md, in plain text.
struct VocabularyWord {
    std::string word, meaning;
    std::string page;  ///< of docs/book/: "03-warps"; empty: none explains it
};
/// "Page 3 of the book", for "03-warps".
std::string page_words(std::string_view page);
/// Every row, in the order of the page.
const std::vector<VocabularyWord>& vocabulary();
/// The word of the vocabulary that explains a word of the interface, of CUDA C++ or of PTX
/// ("bar.sync"); empty: none has to.
std::string explaining_word(std::string_view word);

/// "warp: 32 threads of a block with consecutive indices, ...": what docs/vocabulary.md says of a
/// word of the interface or of CUDA C++. Plurals and capitals are found, too, and `__syncthreads`
/// is a barrier. Empty: the word needs no explanation here.
std::string meaning_of(std::string_view word);

/// An explained word of a line of text or of code.
struct ExplainedWord {
    std::size_t begin = 0, end = 0;  ///< bytes
    std::string explaining;          ///< explaining_word()
};
/// Those of a line, in their order.
std::vector<ExplainedWord> explained_words(std::string_view line);

/// What tooltips say of a row of the vocabulary: its meaning, and which page explains it.
std::string explanation_of(std::string_view explaining);

/// The mouse is over a word that starts at `corner`. The tooltip of this frame says its meaning.
void hover_word(ImVec2 corner, std::string_view explaining);
/// hover_word() for the word of a line of code that has the byte under the mouse.
void hover_code(ImVec2 corner, std::string_view line, std::size_t byte);
/// hover_word() for the word under the mouse, where the last item shows these words in the current
/// font from its top left corner on.
void hover_text(std::string_view words);
/// hover_word() for the first explained word of a label, where the mouse is over the last item, or
/// the keyboard has brought the focus to it, which ImGui treats alike.
void hover_label(std::string_view label);

/// The meaning of the word under the mouse.
struct HoveredMeaning {
    ImVec2 corner;
    std::string words;       ///< empty: there is none, or it was taken
    std::string explaining;  ///< explaining_word()
};
/// Takes that of this frame.
HoveredMeaning take_hovered_meaning();
/// The keyboard points at a word in this frame.
void point_at_word(std::string_view explaining);
/// The explaining word that was pointed at in this frame or the one before; empty: none was.
std::string newest_word();

/// Explains words of a source that the keyboard is at, once a key asks for it: until the keyboard
/// is at another place, a click, Tab, or the key again.
class CodeHelp {
  public:
    void ask() { asked_ = true; }
    /// Returns false if nothing is explained.
    bool close();
    /// Once a frame: the keyboard is at place number `here`, with these words, which the rectangle
    /// surrounds.
    void draw(Ui& ui, std::uint64_t here, const std::vector<ExplainedWord>& words, ImVec2 low,
              ImVec2 high);

  private:
    bool asked_ = false;
    std::optional<std::uint64_t> place_;  ///< what is explained
};

}  // namespace warpscope::ui
