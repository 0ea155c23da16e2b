#include "launches/arrays/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "launches/arrays/expression_functions.h"

namespace warpscope::launches {

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

}  // namespace warpscope::launches
