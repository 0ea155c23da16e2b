#include <algorithm>
#include <string>

#include "fuzz.h"
#include "ui/documents/kernel_documents.h"
#include "ui/editor/typing_aid.h"
#include "ui/source/find_bar.h"
#include "ui/source/kernel_text.h"
#include "ui/source/line_diff.h"

// A sequence of the editor's operations on a text. The first line of the input is the built-in
// text; after it come operations of a letter and up to two numbers of one byte.
namespace {

using namespace warpscope::ui;
using warpscope::tests::require;

/// Reads the operations.
class Input {
  public:
    explicit Input(std::string_view bytes) : left_(bytes) {}
    bool empty() const { return left_.empty(); }
    std::size_t byte() {
        if (left_.empty()) return 0;
        const auto value = static_cast<unsigned char>(left_.front());
        left_.remove_prefix(1);
        return value;
    }
    std::string_view text(std::size_t most) {
        const std::string_view taken = left_.substr(0, most);
        left_.remove_prefix(taken.size());
        return taken;
    }

  private:
    std::string_view left_;
};

/// Changes the text as the text field does, which tells the document the whole text.
void change(KernelDocument& document, std::size_t begin, std::size_t end, std::string_view added,
            std::size_t cursor) {
    std::string text = document.text();
    require(begin <= end && end <= text.size(), "a change lies in the text");
    text.replace(begin, end - begin, added);
    document.typed(text, cursor);
}

void aid(KernelDocument& document, const Aid& aid) {
    require(aid.cursor <= document.text().size() + aid.added.size(), "the cursor is in the text");
    change(document, aid.begin, aid.end, aid.added, aid.cursor);
}

/// The document's lines were changed in place: they must be those of a text read as a whole.
void check_lines(const KernelDocument& document) {
    const KernelLines whole(document.text());
    const KernelLines& lines = document.lines();
    require(lines.count() == whole.count(), "there are as many lines as newlines, and one");
    require(lines.columns() == whole.columns(), "the widest line is known");
    for (int row = 0; row < whole.count(); ++row) {
        require(lines.begin(row) == whole.begin(row), "a line begins behind a newline");
        require(lines.in_comment(row) == whole.in_comment(row), "comments reach over lines");
    }
    require(document.cursor() <= document.text().size(), "the cursor is in the text");
}

void check_undo(KernelDocument& document) {
    const std::string text = document.text();
    if (document.can_undo()) {
        document.undo();
        document.redo();
    } else if (document.can_redo()) {
        document.redo();
        document.undo();
    }
    require(document.text() == text, "redo restores what undo has taken back");
}

/// Computes the parts that the editor would draw, and draws nothing.
void read(const KernelDocument& document) {
    const std::string& text = document.text();
    bool comment = false;
    for (int row = 0; row < document.lines().count(); ++row) {
        const std::string_view line = document.lines().line(text, row);
        for (const InkSpan& span : ink_cuda(line, comment))
            require(span.begin <= span.end && span.end <= line.size(), "colours lie in the line");
        ink_ptx(line);
        document.barrier_condition(row + 1);
        require(byte_at(line, columns_of(line)) == line.size(), "the last column ends the line");
    }
    document.barriers();
    for (const Hunk& hunk : diff_lines(document.shipped(), text))
        require(hunk.removed + hunk.added > 0, "a difference has lines");
    show_diff(document.shipped(), text, 2);
    const WordRange word = word_around(text, document.cursor());
    require(word.begin <= word.end && word.end <= text.size(), "a word lies in the text");
    const std::string_view words = std::string_view(text).substr(word.begin, word.end - word.begin);
    const TextRows rows{document.lines().count(),
                        [&](int row) { return document.lines().line(text, row); }};
    if (!words.empty() && words.find('\n') == std::string_view::npos)
        require(!find_words(rows, words).empty(), "a word of the text is found in it");
}

void carry_out(KernelDocument& document, Input& input) {
    const std::size_t operation = input.byte();
    const std::size_t size = document.text().size(), cursor = document.cursor();
    switch (operation) {
        case 'c':
            return document.set_cursor(input.byte() % (size + 1));
        case 't': {
            const std::string_view added = input.text(input.byte() % 32);
            return change(document, cursor, cursor, added, cursor + added.size());
        }
        case 'b':
            if (cursor > 0) change(document, cursor - 1, cursor, "", cursor - 1);
            return;
        case 'r': {
            const std::size_t end = std::min(size, cursor + input.byte());
            const std::string_view added = input.text(input.byte() % 32);
            return change(document, cursor, end, added, cursor + added.size());
        }
        case 'm':
            document.toggle_barriers(int(input.byte()) - 1);
            return;
        case 'u':
            return document.undo();
        case 'y':
            return document.redo();
        case 'n':
            change(document, cursor, cursor, "\n", cursor + 1);
            return aid(document, indent_new_line(document.text(), document.cursor()));
        case '}':
            change(document, cursor, cursor, "}", cursor + 1);
            return aid(document, align_brace(document.text(), document.cursor()));
        case 'i':
        case 'o': {
            const std::size_t anchor = input.byte() % (size + 1);
            return aid(document, tab_key(document.text(), cursor, anchor, operation == 'o'));
        }
        case 'p':
            return document.replace(input.text(input.byte()));
        case 'f':
            return document.follow(
                std::make_shared<const std::string>(input.text(input.byte() % 64)));
        default:
            return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = warpscope::tests::text_of(data, size);
    // Another letter stands for a newline, so that the built-in text can have some.
    const std::size_t end = std::min(bytes.find('\n'), size);
    std::string shipped(bytes.substr(0, end));
    std::replace(shipped.begin(), shipped.end(), '$', '\n');
    KernelDocument document(shipped);
    Input input(bytes.substr(std::min(end + 1, size)));
    read(document);
    while (!input.empty()) {
        carry_out(document, input);
        check_lines(document);
    }
    check_undo(document);
    check_lines(document);
    read(document);
    return 0;
}
