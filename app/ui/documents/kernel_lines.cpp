#include "ui/documents/kernel_lines.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/framework/cuda_source.h"
#include "ui/source/kernel_text.h"

namespace warpscope::ui {
namespace {

int width(char c) {
    if (c == '\t') return KernelLines::tab;
    // Nothing is drawn for later bytes of a UTF-8 character, nor for the carriage return.
    const bool none = (static_cast<unsigned char>(c) & 0xC0) == 0x80 || c == '\r';
    return none ? 0 : 1;
}

}  // namespace

int columns_of(std::string_view part) {
    int columns = 0;
    for (const char c : part) columns += width(c);
    return columns;
}

std::size_t byte_at(std::string_view line, double column) {
    double passed = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const double next = width(line[at]);
        if (next > 0 && passed + next / 2 > column) return at;
        passed += next;
    }
    return line.size();
}

std::string_view KernelLines::line(std::string_view text, int row) const {
    const std::size_t from = begin(row);
    const std::size_t to = row + 1 < count() ? begin(row + 1) - 1 : text.size();
    return text.substr(from, to - from);
}

int KernelLines::row(std::size_t byte) const {
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), byte,
                                        [](std::size_t b, const Line& l) { return b < l.begin; });
    return std::max(0, int(after - lines_.begin()) - 1);
}

/// Appends the lines that begin in [from, to] to `into`; a line begins at `from`.
void KernelLines::find_lines(std::string_view text, std::size_t from, std::size_t to,
                             std::vector<Line>& into) const {
    for (std::size_t at = from; at <= to;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        into.push_back({at, columns_of(text.substr(at, end - at)), false});
        if (end == text.size()) break;
        at = end + 1;
    }
}

/// Updates in_comment from row `first` on; after row `surely`, only while it changes.
void KernelLines::find_comments(std::string_view text, int first, int surely) {
    bool inside = in_comment(first);
    for (int row = first; row + 1 < count(); ++row) {
        const std::string_view words = line(text, row);
        // Without a slash no comment begins or ends, and most lines have none.
        if (words.find('/') != std::string_view::npos) experiments::cuda_tokens(words, inside);
        bool& next = lines_[std::size_t(row) + 1].in_comment;
        if (row >= surely && next == inside) return;
        next = inside;
    }
}

void KernelLines::find_widest() {
    columns_ = 0;
    for (const Line& line : lines_) columns_ = std::max(columns_, line.columns);
}

void KernelLines::set(std::string_view text) {
    lines_.clear();
    find_lines(text, 0, text.size(), lines_);
    find_comments(text, 0, count());
    find_widest();
}

void KernelLines::change(std::string_view text, std::size_t at, std::size_t removed,
                         std::size_t added) {
    const int first = row(at), last = row(at + removed);
    std::vector<Line> fresh;
    find_lines(text, begin(first), at + added, fresh);
    fresh.front().in_comment = in_comment(first);
    const auto low = lines_.begin() + first, high = lines_.begin() + last + 1;
    for (auto line = high; line != lines_.end(); ++line) line->begin += added - removed;
    // The search for comments may end at the first line that is not new.
    lines_.insert(lines_.erase(low, high), fresh.begin(), fresh.end());
    find_comments(text, first, first + int(fresh.size()) - 1);
    find_widest();
}

namespace {

using Words = std::string_view;

bool is_statement(Words word) {
    return word == "__syncthreads" || word == "__syncwarp";
}

bool is_value(Words word) {
    constexpr std::array names{Words("__syncthreads_count"), Words("__syncthreads_and"),
                               Words("__syncthreads_or")};
    return std::find(names.begin(), names.end(), word) != names.end();
}

/// The byte after the closing parenthesis of the argument list that begins at or after `at`, behind
/// nothing but spaces. npos where no list begins there or a comment's mark is within it.
std::size_t end_of_call(Words line, std::size_t at) {
    at = line.find_first_not_of(" \t", at);
    if (at == Words::npos || line[at] != '(') return Words::npos;
    for (int depth = 0; at < line.size(); ++at) {
        const Words rest = line.substr(at);
        if (rest.starts_with("/*") || rest.starts_with("*/") || rest.starts_with("//"))
            return Words::npos;
        if (line[at] == '(') ++depth;
        if (line[at] == ')' && --depth == 0) return at + 1;
    }
    return Words::npos;
}

Words trimmed(Words words) {
    const std::size_t begin = words.find_first_not_of(" \t");
    if (begin == Words::npos) return {};
    return words.substr(begin, words.find_last_not_of(" \t;") + 1 - begin);
}

/// The text between the marks of a comment.
Words inside(Words comment) {
    return comment.substr(2, comment.size() - 4);
}

/// Whether a comment holds a barrier and nothing else.
bool encloses_barrier(Words comment) {
    const bool whole = comment.size() > 4 && comment.starts_with("/*") && comment.ends_with("*/");
    if (!whole) return false;
    const Words call = trimmed(inside(comment));
    const std::size_t name = std::min(call.find_first_of(" \t("), call.size());
    if (is_value(call)) return true;
    return is_statement(call.substr(0, name)) && end_of_call(call, name) == call.size();
}

}  // namespace

std::vector<BarrierCall> find_barriers(std::string_view line, bool in_comment) {
    std::vector<BarrierCall> calls;
    if (line.find("__sync") == Words::npos) return calls;
    const bool began_before = in_comment;
    for (const InkSpan& span : ink_cuda(line, in_comment)) {
        const Words word = line.substr(span.begin, span.end - span.begin);
        const bool tail =
            began_before && span.begin == 0;  // of a comment that began in a line above
        if (span.ink == Ink::comment && !tail && encloses_barrier(word))
            calls.push_back({span.begin, span.end, true});
        if (span.ink != Ink::cuda) continue;
        const std::size_t end = is_statement(word) ? end_of_call(line, span.end) : Words::npos;
        if (end != Words::npos) calls.push_back({span.begin, end, false});
        if (is_value(word)) calls.push_back({span.begin, span.end, false});
    }
    return calls;
}

std::string_view condition_before(std::string_view source) {
    const auto trim = [&] { source = source.substr(0, source.find_last_not_of(" \t\r\n") + 1); };
    trim();
    if (!source.ends_with(')')) return {};
    const std::size_t open = source.rfind('(');
    if (open == Words::npos) return {};
    const Words name = source.substr(open + 1, source.size() - open - 2);
    source = source.substr(0, open);
    trim();
    return source.ends_with("if") ? name : Words();
}

std::string toggle_barriers(std::string_view line, bool in_comment) {
    const std::vector<BarrierCall> calls = find_barriers(line, in_comment);
    const bool back = std::all_of(calls.begin(), calls.end(), [](auto& call) { return call.out; });
    std::string changed;
    std::size_t done = 0;
    for (const BarrierCall& call : calls) {
        const Words words = line.substr(call.begin, call.end - call.begin);
        changed += line.substr(done, call.begin - done);
        if (back)
            changed += inside(words);
        else if (call.out)
            changed += words;
        else
            changed.append("/*").append(words).append("*/");
        done = call.end;
    }
    return changed.append(line.substr(done));
}

}  // namespace warpscope::ui
