#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/nvrtc.h"
#include "compute/device/kernel_files.h"
#include "ui/documents/kernel_lines.h"

namespace warpscope::ui {

/// A text that never changes, so that all who know it may share it.
using SharedText = std::shared_ptr<const std::string>;

enum class EditState {
    shipped,  ///< the text that is built in
    waiting,  ///< edited, and not tried yet
    running,  ///< its kernel runs
    failed,   ///< it did not compile, or its kernel failed; another one runs
};

/// What became of one text of a document.
struct EditOutcome {
    EditState state = EditState::shipped;
    SharedText text;  ///< the one that was tried; it may be older than the document's
    std::vector<compiler::Diagnostic> diagnostics;
    std::string error;  ///< a sentence where the edit failed; empty: it did not
};

/// One kernel file as a person edits it: the text with its cursor, the changes that undo and redo
/// take, and the outcome of the newest try. The editor, watched files and kept edits all change it
/// here. Lines count from 1, as the compiler's do; cursor and columns are in bytes.
class KernelDocument {
  public:
    /// `shipped`: the text that is built in, or that of the source file at `path`, which no other
    /// file replaces.
    explicit KernelDocument(std::string_view shipped, std::string path = {});

    const std::string& text() const { return *text_; }
    /// Another pointer means another text.
    const SharedText& shared_text() const { return text_; }
    const KernelLines& lines() const { return lines_; }
    const std::string& shipped() const { return *shipped_; }
    const SharedText& shared_shipped() const { return shipped_; }
    bool edited() const { return text_ != shipped_ && *text_ != *shipped_; }
    /// The file that the text was read from or saved to last. Empty: there is none.
    const std::string& path() const { return path_; }
    /// The text that is built in is that of the file at path().
    bool has_own_file() const { return has_own_file_; }
    /// What the file at path() had when it was read or saved; empty where path() is.
    std::string_view saved_text() const { return saved_ ? *saved_ : std::string_view(); }
    /// The file at path() has this text.
    bool saved() const { return saved_ && (saved_ == text_ || *saved_ == *text_); }
    /// The text was read from this file, or saved to it. In its own file, a source is not edited.
    void set_saved(const std::string& path);
    /// Counts the changes of the text.
    std::uint64_t version() const { return version_; }
    std::size_t cursor() const { return cursor_; }
    void set_cursor(std::size_t byte) { cursor_ = std::min(byte, text_->size()); }

    /// Takes the whole text over after a person has typed, with the cursor as it then stands. What
    /// is typed without a pause, up to the next word or line, becomes one change.
    void typed(std::string_view text, std::size_t cursor);
    /// Takes another text over as one change: a file that was opened, or the built-in text.
    void replace(std::string_view text);

    /// Takes over a text that was edited elsewhere, and forgets all changes.
    void follow(SharedText text);

    /// Comments out all barriers of a line; where all of them are commented out already, puts them
    /// back. That is one change. Returns false where the line has none.
    bool toggle_barriers(int line);
    /// Every line with barriers, in the text's order.
    std::vector<BarrierLine> barriers() const;
    /// The barriers of one line: one element, or none.
    std::vector<BarrierLine> barriers(int line) const;
    /// NAME where the first barrier of a line stands after `if (NAME)`, on this line or on those
    /// above; else empty.
    std::string_view barrier_condition(int line) const;

    bool can_undo() const { return done_ > 0; }
    bool can_redo() const { return done_ < changes_.size(); }
    void undo();
    void redo();
    /// The line, from 1, of the change that redo() (`forward`) or undo() is about; 0: there is
    /// none.
    int line_of_change(bool forward) const;

    EditState state() const;
    /// The outcome of the newest text that was tried. Never null; another pointer means another
    /// outcome.
    const std::shared_ptr<const EditOutcome>& outcome() const { return outcome_; }
    void set_outcome(EditOutcome outcome);
    void set_outcome(std::shared_ptr<const EditOutcome> outcome) { outcome_ = std::move(outcome); }

  private:
    /// At byte `at`, `removed` became `added`.
    struct TextChange {
        std::size_t at = 0;
        std::string removed, added;
        std::size_t cursor_before = 0, cursor_after = 0;
        bool typing = false;  ///< further typing may join
    };
    TextChange difference(std::string_view text, std::size_t cursor) const;
    bool join(const TextChange& change);
    void carry_out(TextChange change);
    void put(std::size_t at, std::size_t removed, std::string_view added, std::size_t cursor);

    SharedText shipped_, text_;
    bool has_own_file_;
    std::string path_;
    SharedText saved_;  ///< null where path_ is empty
    KernelLines lines_;
    std::deque<TextChange> changes_;
    std::size_t done_ = 0;  ///< of changes_; the rest have been undone
    std::size_t held_ = 0;  ///< bytes in changes_
    std::size_t cursor_ = 0;
    std::uint64_t version_ = 0;
    std::shared_ptr<const EditOutcome> outcome_;
};

/// The documents of all kernel files, each made when it is first asked for.
class KernelDocuments {
  public:
    /// The text of kernels/`file`.cu that is built in; empty where there is no such file.
    static std::string_view shipped(std::string_view file);

    /// The document of kernels/`file`.cu, such as "ripple" or "gallery/life".
    KernelDocument& operator[](const std::string& file);
    /// The document of the source file at `path`, which has this text. The document begins anew
    /// with it unless it has this text of this file already.
    KernelDocument& open(const std::string& file, std::string_view text, const std::string& path);

    /// nullptr: nobody has asked for it.
    const KernelDocument* find(const std::string& file) const;
    /// KernelDocument::shipped() of a file.
    std::string_view text_before_edits(const std::string& file) const;

    /// As people know a file: "ripple.cu"; of an opened source its name.
    std::string name_of(const std::string& file) const;
    /// Counts the changes of all texts.
    std::uint64_t version() const;
    /// Every text that differs from the one that is built in.
    compute::Sources edited_sources() const;
    /// Every text, by file, without a copy.
    std::map<std::string, SharedText> texts() const;
    std::map<std::string, std::shared_ptr<const EditOutcome>> outcomes() const;
    /// The files with this state.
    std::vector<std::string> files(EditState state) const;

  private:
    std::map<std::string, KernelDocument, std::less<>> documents_;
    std::uint64_t closed_ = 0;  ///< the part of version() of documents that began anew
};

}  // namespace warpscope::ui
