#include "launches/arrays/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace warpscope::launches {
namespace {

/// A function that expressions can call.
struct ExpressionFunction {
    std::string_view name;
    unsigned arguments;  ///< one or two
    double (*of_reals)(double, double);
    /// Null: the result is a real number.
    std::int64_t (*of_integers)(std::int64_t, std::int64_t) = nullptr;
};

constexpr std::int64_t unchanged(std::int64_t a, std::int64_t) {
    return a;
}

constexpr std::array functions{
    ExpressionFunction{"min", 2, [](double a, double b) { return std::fmin(a, b); },
                       [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
    ExpressionFunction{"max", 2, [](double a, double b) { return std::fmax(a, b); },
                       [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
    ExpressionFunction{"pow", 2, [](double a, double b) { return std::pow(a, b); }},
    ExpressionFunction{"abs", 1, [](double a, double) { return std::fabs(a); },
                       [](std::int64_t a, std::int64_t) {
                           return a == std::numeric_limits<std::int64_t>::min() ? a : std::abs(a);
                       }},
    ExpressionFunction{"sqrt", 1, [](double a, double) { return std::sqrt(a); }},
    ExpressionFunction{"sin", 1, [](double a, double) { return std::sin(a); }},
    ExpressionFunction{"cos", 1, [](double a, double) { return std::cos(a); }},
    ExpressionFunction{"exp", 1, [](double a, double) { return std::exp(a); }},
    ExpressionFunction{"log", 1, [](double a, double) { return std::log(a); }},
    ExpressionFunction{"floor", 1, [](double a, double) { return std::floor(a); }, unchanged},
    ExpressionFunction{"ceil", 1, [](double a, double) { return std::ceil(a); }, unchanged},
    ExpressionFunction{"round", 1, [](double a, double) { return std::round(a); }, unchanged},
};

std::span<const ExpressionFunction> expression_functions() {
    return functions;
}

}  // namespace

double real(const Number& number) {
    return std::visit([](auto value) { return double(value); }, number);
}

std::int64_t whole(const Number& number) {
    if (const auto* integer = std::get_if<std::int64_t>(&number)) return *integer;
    const double value = std::get<double>(number);
    if (value != std::floor(value) || std::fabs(value) >= 0x1p63)
        throw LaunchError(fmt::format("{} is not an integer", value));
    return std::int64_t(value);
}

std::string to_string(const Number& number) {
    return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

void Expression::fail(std::string_view reason) const {
    throw LaunchError(fmt::format("\"{}\": {}", text_, reason));
}

Number Expression::value(const Names& known) const {
    std::vector<Number> values;
    for (const std::string& name : names_) {
        const auto found = known.find(name);
        if (found == known.end()) {
            std::vector<std::string_view> all;
            for (const auto& [other, value] : known) all.push_back(other);
            fail(fmt::format("{} is not known; known are: {}", name, fmt::join(all, ", ")));
        }
        values.push_back(found->second);
    }
    return value(values);
}

Number Expression::value(std::span<const Number> values) const {
    std::vector<Number> stack;
    const auto pop = [&] {
        const Number top = stack.back();
        stack.pop_back();
        return top;
    };
    for (std::size_t at = 0; at < entries_.size(); ++at) {
        const PostfixEntry& entry = entries_[at];
        switch (entry.operation) {
            case Operation::constant:
                stack.push_back(entry.constant);
                break;
            case Operation::name:
                stack.push_back(values[entry.index]);
                break;
            case Operation::negate:
                stack.push_back(binary(Operation::subtract, 0L, pop()));
                break;
            case Operation::jump_unless:
                if (real(pop()) == 0) at = entry.index - 1;
                break;
            case Operation::jump:
                at = entry.index - 1;
                break;
            case Operation::call: {
                const ExpressionFunction& function = expression_functions()[entry.index];
                const Number b = function.arguments == 2 ? pop() : Number(0L);
                const Number a = pop();
                const auto* ai = std::get_if<std::int64_t>(&a);
                const auto* bi = std::get_if<std::int64_t>(&b);
                stack.push_back(ai && bi && function.of_integers
                                    ? Number(function.of_integers(*ai, *bi))
                                    : Number(function.of_reals(real(a), real(b))));
                break;
            }
            default: {
                const Number b = pop(), a = pop();
                stack.push_back(binary(entry.operation, a, b));
            }
        }
    }
    return stack.back();
}

Number Expression::binary(Operation operation, const Number& a, const Number& b) const {
    const auto* ai = std::get_if<std::int64_t>(&a);
    const auto* bi = std::get_if<std::int64_t>(&b);
    if (ai && bi) return of_integers(operation, *ai, *bi);
    switch (operation) {
        case Operation::less:
            return std::int64_t(real(a) < real(b));
        case Operation::less_equal:
            return std::int64_t(real(a) <= real(b));
        case Operation::greater:
            return std::int64_t(real(a) > real(b));
        case Operation::greater_equal:
            return std::int64_t(real(a) >= real(b));
        case Operation::equal:
            return std::int64_t(real(a) == real(b));
        case Operation::not_equal:
            return std::int64_t(real(a) != real(b));
        default:
            return of_reals(operation, real(a), real(b));
    }
}

double Expression::of_reals(Operation operation, double a, double b) const {
    switch (operation) {
        case Operation::add:
            return a + b;
        case Operation::subtract:
            return a - b;
        case Operation::multiply:
            return a * b;
        case Operation::divide:
            return a / b;
        case Operation::remainder:
            return std::fmod(a, b);
        default:
            fail("<< and >> take integers");
    }
}

std::int64_t Expression::of_integers(Operation operation, std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    bool overflows = false;
    switch (operation) {
        case Operation::add:
            overflows = __builtin_add_overflow(a, b, &result);
            break;
        case Operation::subtract:
            overflows = __builtin_sub_overflow(a, b, &result);
            break;
        case Operation::multiply:
            overflows = __builtin_mul_overflow(a, b, &result);
            break;
        case Operation::divide:
        case Operation::remainder:
            if (b == 0) fail("division by zero");
            overflows = b == -1 && a == std::numeric_limits<std::int64_t>::min();
            if (!overflows) result = operation == Operation::divide ? a / b : a % b;
            break;
        case Operation::shift_left:
            overflows =
                b < 0 || b > 62 || a < 0 || a > (std::numeric_limits<std::int64_t>::max() >> b);
            if (!overflows) result = a << b;
            break;
        case Operation::shift_right:
            overflows = b < 0 || b > 63;
            if (!overflows) result = a >> b;
            break;
        case Operation::less:
            result = a < b;
            break;
        case Operation::less_equal:
            result = a <= b;
            break;
        case Operation::greater:
            result = a > b;
            break;
        case Operation::greater_equal:
            result = a >= b;
            break;
        case Operation::equal:
            result = a == b;
            break;
        default:
            result = a != b;
            break;
    }
    if (overflows) fail("a number does not fit into 64 bits");
    return result;
}

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
    ExpressionParser(Expression& to, std::string_view text) : to_(to), text_(text) {}

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
        either();
        if (!take("?")) return;
        const std::size_t unless = emit({Operation::jump_unless});
        choice();
        if (!take(":")) fail("\":\" is missing after \"?\"");
        const std::size_t end = emit({Operation::jump});
        to_.entries_[unless].index = to_.entries_.size();
        choice();
        to_.entries_[end].index = to_.entries_.size();
    }

    /// a || b is a ? 1 : b != 0, and a && b is a ? b != 0 : 0.
    void either() {
        both();
        while (take("||")) {
            const std::size_t unless = emit({Operation::jump_unless});
            emit_number(1);
            const std::size_t end = emit({Operation::jump});
            to_.entries_[unless].index = to_.entries_.size();
            both();
            emit_number(0);
            emit({Operation::not_equal});
            to_.entries_[end].index = to_.entries_.size();
        }
    }
    void both() {
        binary(0);
        while (take("&&")) {
            const std::size_t unless = emit({Operation::jump_unless});
            binary(0);
            emit_number(0);
            emit({Operation::not_equal});
            const std::size_t end = emit({Operation::jump});
            to_.entries_[unless].index = to_.entries_.size();
            emit_number(0);
            to_.entries_[end].index = to_.entries_.size();
        }
    }
    void emit_number(std::int64_t number) { emit({Operation::constant, 0, number}); }

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
        if (take("!")) {
            sign();
            emit_number(0);
            emit({Operation::equal});
            return;
        }
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
        // The columns of what a person has written are others.
        if (text_ != to_.text_) to_.fail(reason);
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

Expression::Expression(std::string_view text, std::string_view written)
    : text_(written.empty() ? text : written) {
    ExpressionParser(*this, text).parse();
}

}  // namespace warpscope::launches
