#include "emulator/ptx/ptx_lexer.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

#include "emulator/program/error.h"

namespace warpscope::emulator {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return is_of_name(c) || c == '.';
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string module_name)
    : text_(text), module_name_(std::move(module_name)) {
    scan();
}

void Lexer::fail(const std::string& what, std::int32_t line) const {
    throw Error(fmt::format("{}: PTX line {}: {}", module_name_, line, what));
}

void Lexer::skip_space() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
            ++at_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
            ++at_;
        } else if (text_.substr(at_, 2) == "//") {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_.substr(at_, 2) == "/*") {
            const std::size_t close = text_.find("*/", at_ + 2);
            if (close == text_.npos) fail("this comment has no end", line_);
            for (; at_ < close + 2; ++at_) line_ += text_[at_] == '\n';
        } else {
            return;
        }
    }
}

void Lexer::scan() {
    skip_space();
    token_ = {Token::end, {}, line_};
    if (at_ >= text_.size()) return;
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (c == '"') {
        const std::size_t close = text_.find('"', at_ + 1);
        if (close == text_.npos) fail("this string has no end", line_);
        token_ = {Token::string, text_.substr(begin + 1, close - begin - 1), line_};
        at_ = close + 1;
        return;
    }
    if (is_digit(c)) {
        while (at_ < text_.size() && (is_word(text_[at_]) && text_[at_] != '%')) ++at_;
        token_.kind = Token::number;
    } else if (is_word(c)) {
        while (at_ < text_.size()) {
            if (is_word(text_[at_]))
                ++at_;
            else if (text_.substr(at_, 2) == "::")
                at_ += 2;
            else
                break;
        }
        token_.kind = Token::word;
    } else if (std::string_view("{}[]()<>,;:@!|+-=*").find(c) != std::string_view::npos) {
        ++at_;
        token_.kind = Token::punctuation;
    } else {
        fail(fmt::format("unexpected character '{}'", c), line_);
    }
    token_.text = text_.substr(begin, at_ - begin);
}

Token Lexer::next() {
    const Token taken = token_;
    taken_end_ = at_;
    scan();
    return taken;
}

bool Lexer::accept(std::string_view text) {
    if (!token_.is(text) || token_.kind == Token::end) return false;
    next();
    return true;
}

void Lexer::expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("expected '{}' before '{}'", text, token_.text));
}

Token Lexer::expect_word(const char* what) {
    if (token_.kind != Token::word) fail(fmt::format("expected {} before '{}'", what, token_.text));
    return next();
}

std::int64_t Lexer::expect_integer() {
    const bool negative = accept("-");
    if (token_.kind != Token::number) fail(fmt::format("expected a number, not '{}'", token_.text));
    const std::int64_t value = integer_value(next().text);
    return negative ? std::int64_t(0 - std::uint64_t(value)) : value;
}

std::string_view Lexer::since(const Token& begin) const {
    const std::size_t from = std::size_t(begin.text.data() - text_.data());
    return text_.substr(from, taken_end_ - from);
}

std::int64_t integer_value(std::string_view text) {
    if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        base = 16;
        text.remove_prefix(2);
    } else if (text.starts_with("0b") || text.starts_with("0B")) {
        base = 2;
        text.remove_prefix(2);
    } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
    }
    std::uint64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size())
        throw Error(fmt::format("PTX: '{}' is not a number", text));
    return std::int64_t(value);
}

SourceLines::Position SourceLines::position(Lexer& lexer) {
    return {std::int32_t(lexer.expect_integer()), std::int32_t(lexer.expect_integer()),
            std::int32_t(lexer.expect_integer())};
}

// Finds the line to which code belongs that was inlined at this position of its caller.
SourceLines::Inlining SourceLines::inlining_at(const Position& caller) const {
    if (caller.file == kernel_file_) return {caller.line, {}};
    if (const auto found = inlined_.find(caller); found != inlined_.end()) return found->second;
    return {0, {{caller.file, caller.line}}};
}

// Finds the call in whose body this position is. Code of another file whose caller is not known
// belongs to the line before it.
SourceLines::Call SourceLines::call_at(const Position& place) const {
    if (const auto known = calls_.find(place); known != calls_.end()) {
        std::size_t depth = 0;
        for (const SourceCall* call = known->second.get(); call; call = call->caller.get()) ++depth;
        return depth < most_inlined ? known->second : nullptr;
    }
    if (place.file == kernel_file_) return nullptr;
    return std::make_shared<const SourceCall>(SourceCall{"", {kernel_file_, here_.line}});
}

// PTX ISA, "Debugging Directives: .loc": `inlined_at` is the position of the call. Where the caller
// was inlined, too, a .loc before this one has the caller's position and says where. The kernel's
// file is that of its first .loc; code that the compiler inlined from other files gets the line of
// the kernel's file that leads to it. Where that is not known, the statement keeps the line of the
// statement before it.
void SourceLines::read(Lexer& lexer) {
    const std::int32_t ptx_line = lexer.peek().line;
    lexer.next();
    const Position found = position(lexer);
    if (kernel_file_ < 0) kernel_file_ = found.file;
    std::optional<Position> caller;
    std::string function;
    while (lexer.accept(",")) {
        const Token word = lexer.next();
        if (word.is("function_name")) {
            function = lexer.next().text;
            if (lexer.accept("+")) lexer.expect_integer();
        } else if (word.is("inlined_at")) {
            caller = position(lexer);
        } else {
            lexer.fail(fmt::format("unknown .loc attribute '{}'", word.text), word.line);
        }
    }
    // The compiler writes line 0 for code without a line.
    if (found.line <= 0 && (!caller || found.file == kernel_file_)) return;
    if (found.line > 0) {
        calls_.erase(found);  // it may be inlined at another place now
        here_.call = caller ? std::make_shared<const SourceCall>(SourceCall{
                                  function, {caller->file, caller->line}, 0, 0, call_at(*caller)})
                            : call_at(found);
        here_.own = {found.file, found.line};
        if (here_.call) calls_[found] = here_.call;
    }
    if (found.file == kernel_file_) {
        here_.file = found.file;
        here_.line = found.line;
        here_.ptx_line = ptx_line;
        here_.inlined = nullptr;
        return;
    }
    Inlining inlining = caller ? inlining_at(*caller) : Inlining{};
    if (found.line > 0) inlining.lines.insert(inlining.lines.begin(), {found.file, found.line});
    if (inlining.lines.size() > most_inlined) inlining.lines.resize(most_inlined);
    if (inlining.line > 0) {
        here_.file = kernel_file_;
        here_.line = inlining.line;
        here_.ptx_line = ptx_line;
    }
    here_.inlined = std::make_shared<const std::vector<FileLine>>(inlining.lines);
    inlined_[found] = std::move(inlining);
}

}  // namespace warpscope::emulator
