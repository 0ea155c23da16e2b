#include "emulator/ptx/ptx_lexer.h"

#include <fmt/format.h>

#include <charconv>

#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
           c == '.';
}
bool is_word(char c) {
    return is_word_start(c) || is_digit(c);
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
    } else if (is_word_start(c)) {
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

}  // namespace warpscope::emulator
