#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpscope::launches {

/// A launch that can't be described in this way. The message names the field, such as
/// "launches[0].grid", and says what to write.
struct LaunchError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Integers stay integers, so that (n + 255) / 256 divides as in C++.
using Number = std::variant<std::int64_t, double>;
using Names = std::map<std::string, Number, std::less<>>;

double real(const Number& number);
/// Returns the number as an integer. Throws LaunchError if it has a fraction or does not fit.
std::int64_t whole(const Number& number);
std::string to_string(const Number& number);  ///< as a literal: "16", "0.5"

/// An arithmetic expression of named numbers, as in C++: integer and floating literals, names,
/// + - * / % << >>, comparisons, ! && || ?:, parentheses, and the functions min, max, abs, sqrt,
/// sin, cos, exp, log, pow, floor, ceil, round. Two integers give an integer. Angles are in
/// radians.
class Expression {
  public:
    /// Throws LaunchError that quotes the text and names the column, or quotes what a person has
    /// `written` in its place.
    explicit Expression(std::string_view text, std::string_view written = {});
    const std::string& text() const { return text_; }
    /// The names in the expression, each once.
    const std::vector<std::string>& names() const { return names_; }

    /// Throws LaunchError if a name is unknown, and the errors of value(span).
    Number value(const Names& known) const;
    /// `values` belong to names(). Throws LaunchError for a division of integers by zero and for an
    /// integer that does not fit into 64 bits.
    Number value(std::span<const Number> values) const;

  private:
    friend class ExpressionParser;
    enum class Operation : std::uint8_t {
        constant,
        name,
        negate,
        call,
        jump,         ///< to the entry `index`
        jump_unless,  ///< to the entry `index` if the number on the stack is 0
        add,
        subtract,
        multiply,
        divide,
        remainder,
        shift_left,
        shift_right,
        less,
        less_equal,
        greater,
        greater_equal,
        equal,
        not_equal
    };
    /// One entry of the expression in postfix order.
    struct PostfixEntry {
        Operation operation;
        std::size_t index = 0;  ///< the index of the name, of the function or of an entry
        Number constant{};
    };
    [[noreturn]] void fail(std::string_view reason) const;
    Number binary(Operation operation, const Number& a, const Number& b) const;
    std::int64_t of_integers(Operation operation, std::int64_t a, std::int64_t b) const;
    double of_reals(Operation operation, double a, double b) const;

    std::string text_;
    std::vector<std::string> names_;
    std::vector<PostfixEntry> entries_;
};

}  // namespace warpscope::launches
