#include "ui/editor/typing_aid.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "ui/documents/kernel_lines.h"

namespace warpscope::ui {
namespace {

using Words = std::string_view;

constexpr std::size_t step = 4;  // columns of an indentation

std::size_t line_begin(Words text, std::size_t at) {
    return at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
}

Words indentation(Words line) {
    return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

/// The bytes of indentation that a line loses when it moves to the left.
std::size_t outdent(Words line) {
    if (line.starts_with('\t')) return 1;
    return std::min(indentation(line).size(), std::min(line.find_first_not_of(' '), step));
}

int kind(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') return 0;
    if (std::isspace(byte)) return 1;
    return std::isalnum(byte) || c == '_' || byte >= 0x80 ? 2 : 3;
}

/// The lines of the selection, unchanged, without the newline of the last one.
Aid lines_of(Words text, std::size_t cursor, std::size_t anchor) {
    const std::size_t low = std::min(cursor, anchor), high = std::max(cursor, anchor);
    const std::size_t last = high > low ? high - 1 : high;
    return {.begin = line_begin(text, low), .end = std::min(text.find('\n', last), text.size())};
}

/// The lines between the bytes of an aid.
std::vector<Words> split(Words text, const Aid& aid) {
    std::vector<Words> lines;
    for (std::size_t at = aid.begin; at <= aid.end;) {
        const std::size_t end = std::min(text.find('\n', at), aid.end);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

Aid shift_lines(Words text, std::size_t cursor, std::size_t anchor, bool back) {
    Aid aid = lines_of(text, cursor, anchor);
    const std::vector<Words> lines = split(text, aid);
    for (const Words& line : lines) {
        if (back)
            aid.added += line.substr(outdent(line));
        else if (!line.empty())
            aid.added.append(step, ' ').append(line);
        if (&line != &lines.back()) aid.added += '\n';
    }
    aid.anchor = aid.begin;
    aid.cursor = aid.begin + aid.added.size();
    return aid;
}

}  // namespace

Aid toggle_comment(Words text, std::size_t cursor, std::size_t anchor) {
    Aid aid = lines_of(text, cursor, anchor);
    const std::vector<Words> lines = split(text, aid);
    const auto is_blank = [](Words line) { return indentation(line).size() == line.size(); };
    std::size_t column = Words::npos;
    bool all = true;
    for (const Words line : lines) {
        if (is_blank(line)) continue;
        column = std::min(column, indentation(line).size());
        all = all && line.substr(indentation(line).size()).starts_with("//");
    }
    for (const Words& line : lines) {
        const std::size_t at = all ? indentation(line).size() : std::min(column, line.size());
        aid.added += line.substr(0, is_blank(line) ? line.size() : at);
        if (!is_blank(line)) {
            Words rest = line.substr(at);
            if (all) rest.remove_prefix(rest.starts_with("// ") ? 3 : 2);
            aid.added.append(all ? "" : "// ").append(rest);
        }
        if (&line != &lines.back()) aid.added += '\n';
    }
    aid.cursor = aid.anchor = aid.begin + aid.added.size();
    return aid;
}

Aid move_lines_up(Words text, std::size_t cursor, std::size_t anchor) {
    Aid aid = lines_of(text, cursor, anchor);
    if (aid.begin == 0) return {.cursor = cursor, .anchor = anchor};
    const Words moved = text.substr(aid.begin, aid.end - aid.begin);
    const std::size_t above = line_begin(text, aid.begin - 1);
    aid.added = std::string(moved) + '\n' + std::string(text.substr(above, aid.begin - 1 - above));
    const std::size_t by = aid.begin - above;
    aid.begin = above;
    aid.cursor = cursor - by;
    aid.anchor = anchor - by;
    return aid;
}

Aid move_lines_down(Words text, std::size_t cursor, std::size_t anchor) {
    Aid aid = lines_of(text, cursor, anchor);
    if (aid.end == text.size()) return {.cursor = cursor, .anchor = anchor};
    const Words moved = text.substr(aid.begin, aid.end - aid.begin);
    const std::size_t below = aid.end + 1, end = std::min(text.find('\n', below), text.size());
    aid.added = std::string(text.substr(below, end - below)) + '\n' + std::string(moved);
    aid.end = end;
    aid.cursor = cursor + (end - below) + 1;
    aid.anchor = anchor + (end - below) + 1;
    return aid;
}

Aid delete_lines(Words text, std::size_t cursor, std::size_t anchor) {
    Aid aid = lines_of(text, cursor, anchor);
    if (aid.end < text.size())
        ++aid.end;
    else if (aid.begin > 0)
        --aid.begin;
    aid.cursor = aid.anchor = aid.begin;
    return aid;
}

Aid indent_new_line(Words text, std::size_t cursor) {
    const std::size_t end = cursor - 1, begin = line_begin(text, end);
    const Words above = text.substr(begin, end - begin);
    std::string added(indentation(above));
    const std::size_t last = above.find_last_not_of(" \t\r");
    if (last != Words::npos && above[last] == '{') added.append(step, ' ');
    return {cursor, cursor, added, cursor + added.size(), cursor + added.size()};
}

Aid align_brace(Words text, std::size_t cursor) {
    const std::size_t brace = cursor - 1, begin = line_begin(text, brace);
    const Words before = text.substr(begin, brace - begin);
    const bool first = indentation(before).size() == before.size();
    const std::size_t less = first ? outdent(before) : 0;
    return {begin, begin + less, "", cursor - less, cursor - less};
}

Aid tab_key(Words text, std::size_t cursor, std::size_t anchor, bool back) {
    const std::size_t low = std::min(cursor, anchor), high = std::max(cursor, anchor);
    const bool lines = text.substr(low, high - low).find('\n') != Words::npos;
    const std::size_t begin = line_begin(text, low);
    if (back && !lines) {
        const std::size_t less = outdent(text.substr(begin, low - begin));
        return {begin, begin + less, "", cursor - less, anchor - less};
    }
    if (lines) return shift_lines(text, cursor, anchor, back);
    const auto column = std::size_t(columns_of(text.substr(begin, low - begin)));
    const std::string spaces(step - column % step, ' ');
    return {low, high, spaces, low + spaces.size(), low + spaces.size()};
}

std::string expand_tabs(Words text) {
    std::string expanded;
    std::size_t column = 0;
    for (const char c : text) {
        if (c == '\t') {
            const std::size_t spaces = step - column % step;
            expanded.append(spaces, ' ');
            column += spaces;
            continue;
        }
        expanded += c;
        const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
        column = c == '\n' ? 0 : column + (continues ? 0 : 1);
    }
    return expanded;
}

WordRange word_around(Words text, std::size_t at) {
    if (text.empty()) return {};
    at = std::min(at, text.size() - 1);
    const int wanted = kind(text[at]);
    std::size_t begin = at, end = at;
    while (begin > 0 && kind(text[begin - 1]) == wanted && wanted > 0) --begin;
    while (end < text.size() && kind(text[end]) == wanted && wanted > 0) ++end;
    return {begin, end};
}

}  // namespace warpscope::ui
