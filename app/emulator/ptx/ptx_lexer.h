#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program/source_line.h"

namespace warpscope::emulator {

/// True for a character of an identifier (PTX ISA, "Identifiers").
constexpr bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

struct Token {
    enum Kind : std::uint8_t { word, number, string, punctuation, end };
    Kind kind = end;
    std::string_view text;  ///< a string has it without quotes
    std::int32_t line = 1;

    bool is(std::string_view s) const { return text == s && kind != string; }
};

/// Cuts PTX into tokens and looks one token ahead. A word includes dots: an opcode with its
/// modifiers, a directive, %tid.x. Throws Error for a character that PTX does not have.
class Lexer {
  public:
    Lexer(std::string_view text, std::string module_name);

    const Token& peek() const { return token_; }
    Token next();
    bool accept(std::string_view text);
    void expect(std::string_view text);
    Token expect_word(const char* what);
    std::int64_t expect_integer();
    /// The text from the first character of `begin` to the end of the last token that next()
    /// returned.
    std::string_view since(const Token& begin) const;

    [[noreturn]] void fail(const std::string& what, std::int32_t line) const;
    [[noreturn]] void fail(const std::string& what) const { fail(what, token_.line); }

  private:
    void skip_space();
    void scan();

    std::string_view text_;
    std::string module_name_;
    std::size_t at_ = 0;
    std::size_t taken_end_ = 0;
    std::int32_t line_ = 1;
    Token token_;
};

/// The value of an integer literal: decimal, 0x, 0b or octal, with an optional U.
std::int64_t integer_value(std::string_view text);

/// The source lines of a kernel's or function's statements, as its .loc directives tell them.
class SourceLines {
  public:
    /// Reads a .loc directive.
    void read(Lexer& lexer);
    /// The line of the statements that follow. It has no PTX line.
    const SourceLine& here() const { return here_; }

  private:
    /// The position in a .loc. It tells a place where a function was inlined from others.
    struct Position {
        std::int32_t file = -1, line = 0, column = 0;
        auto operator<=>(const Position&) const = default;
    };
    /// Code of other files, inlined into a line of the kernel's file.
    struct Inlining {
        std::int32_t line = 0;        ///< of the kernel's file; 0 where it is not known
        std::vector<FileLine> lines;  ///< see SourceLine::inlined
    };

    using Call = std::shared_ptr<const SourceCall>;

    static Position position(Lexer& lexer);
    Inlining inlining_at(const Position& caller) const;
    Call call_at(const Position& place) const;

    SourceLine here_;
    std::int32_t kernel_file_ = -1;         ///< the file of the first .loc
    std::map<Position, Inlining> inlined_;  ///< the newest .loc of each position, in other files
    std::map<Position, Call> calls_;        ///< in whose body is the newest .loc of each position
};

}  // namespace warpscope::emulator
