#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "launches/arrays/expression.h"
#include "launches/arrays/expression_functions.h"

namespace warpscope::launches {
namespace {

bool starts_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}

bool in_name(char c) {
    return starts_name(c) || std::isdigit(static_cast<unsigned char>(c));
}

/// Parentheses, calls and signs may be nested this deep: the parser calls itself for each.
constexpr int deepest = 100;

}  // namespace

/// A recursive-descent parser, which appends to the expression's entries.
class ExpressionParser {
  public:
    explicit ExpressionParser(Expression& to) : to_(to), text_(to.text_) {}

    void parse() {
        choice();
        if (skip_spaces(); at_ < text_.size()) fail("an operator is missing");
    }

  private:
    using Operation = Expression::Operation;
    struct Operator {
        std::string_view sign;
        Operation operation;
    };
    /// The operators of one level. An operator stands before any that is its beginning.
    using Level = std::span<const Operator>;

    void choice() {
        const Nesting nesting(*this);
        binary(0);
        if (!take("?")) return;
        const std::size_t unless = emit({Operation::jump_unless});
        choice();
        if (!take(":")) fail("\":\" is missing after \"?\"");
        const std::size_t end = emit({Operation::jump});
        to_.entries_[unless].index = to_.entries_.size();
        choice();
        to_.entries_[end].index = to_.entries_.size();
    }

    static Level level(std::size_t index) {
        static constexpr std::array equality{Operator{"==", Operation::equal},
                                             Operator{"!=", Operation::not_equal}};
        static constexpr std::array order{
            Operator{"<=", Operation::less_equal}, Operator{">=", Operation::greater_equal},
            Operator{"<", Operation::less}, Operator{">", Operation::greater}};
        static constexpr std::array shift{Operator{"<<", Operation::shift_left},
                                          Operator{">>", Operation::shift_right}};
        static constexpr std::array sum{Operator{"+", Operation::add},
                                        Operator{"-", Operation::subtract}};
        static constexpr std::array product{Operator{"*", Operation::multiply},
                                            Operator{"/", Operation::divide},
                                            Operator{"%", Operation::remainder}};
        const std::array<Level, 5> levels{equality, order, shift, sum, product};
        return index < levels.size() ? levels[index] : Level();
    }

    void binary(std::size_t index) {
        const Level operators = level(index);
        if (operators.empty()) return sign();
        binary(index + 1);
        for (;;) {
            const auto found = std::ranges::find_if(operators, [&](const Operator& candidate) {
                return is_operator(candidate.sign) && take(candidate.sign);
            });
            if (found == operators.end()) return;
            binary(index + 1);
            emit({found->operation});
        }
    }

    /// "<" must not be taken for the beginning of "<<".
    bool is_operator(std::string_view sign) {
        skip_spaces();
        const bool shifts =
            text_.substr(at_).starts_with("<<") || text_.substr(at_).starts_with(">>");
        return !shifts || sign.size() == 2;
    }

    void sign() {
        const Nesting nesting(*this);
        if (take("-")) {
            sign();
            emit({Operation::negate});
            return;
        }
        if (take("+")) return sign();
        operand();
    }

    void operand() {
        if (take("(")) {
            choice();
            if (!take(")")) fail("\")\" is missing");
            return;
        }
        if (at_ == text_.size()) fail("a number or a name is missing");
        const char c = text_[at_];
        if (starts_name(c)) return name_or_call();
        if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
        fail(fmt::format("\"{}\" can't stand here", c));
    }

    void name_or_call() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && in_name(text_[at_])) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        if (take("(")) return call(name);
        auto& names = to_.names_;
        const auto found = std::ranges::find(names, name);
        const auto index = std::size_t(found - names.begin());
        if (found == names.end()) names.emplace_back(name);
        emit({Operation::name, index});
    }

    void call(std::string_view name) {
        const auto functions = expression_functions();
        const auto found = std::ranges::find(functions, name, &ExpressionFunction::name);
        if (found == functions.end()) fail(fmt::format("there is no function {}", name));
        unsigned given = 0;
        do {
            choice();
            ++given;
        } while (take(","));
        if (!take(")")) fail("\")\" is missing");
        if (given != found->arguments)
            fail(fmt::format("{} takes {} arguments, not {}", name, found->arguments, given));
        emit({Operation::call, std::size_t(found - functions.begin())});
    }

    void number() {
        const char* const begin = text_.data() + at_;
        const char* const end = text_.data() + text_.size();
        std::int64_t integer = 0;
        double value = 0;
        const bool hex = text_.substr(at_).starts_with("0x");
        const auto whole = std::from_chars(begin + (hex ? 2 : 0), end, integer, hex ? 16 : 10);
        const auto any = hex ? whole : std::from_chars(begin, end, value);
        if (any.ec != std::errc()) fail("the number can't be represented");
        at_ += std::size_t(any.ptr - begin);
        const bool is_integer = hex || (whole.ptr == any.ptr && whole.ec == std::errc());
        // A literal of C++ may end in f, as in 0.5f.
        if (!is_integer && at_ < text_.size() && text_[at_] == 'f') ++at_;
        if (at_ < text_.size() && in_name(text_[at_])) fail("an operator is missing");
        emit({Operation::constant, 0, is_integer ? Number(integer) : Number(value)});
    }

    /// Appends an entry and returns its index.
    std::size_t emit(Expression::PostfixEntry entry) {
        to_.entries_.push_back(entry);
        return to_.entries_.size() - 1;
    }

    void skip_spaces() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }

    bool take(std::string_view sign) {
        skip_spaces();
        if (!text_.substr(at_).starts_with(sign)) return false;
        at_ += sign.size();
        skip_spaces();
        return true;
    }

    [[noreturn]] void fail(std::string_view reason) const {
        to_.fail(fmt::format("column {}: {}", at_ + 1, reason));
    }

    struct Nesting {
        explicit Nesting(ExpressionParser& parser) : parser(parser) {
            if (++parser.depth_ > deepest) parser.fail("the expression is nested too deep");
        }
        ~Nesting() { --parser.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        ExpressionParser& parser;
    };

    Expression& to_;
    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

Expression::Expression(std::string_view text) : text_(text) {
    ExpressionParser(*this).parse();
}

}  // namespace warpscope::launches
