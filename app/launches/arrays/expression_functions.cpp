#include "launches/arrays/expression_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace warpscope::launches {
namespace {

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

}  // namespace

std::span<const ExpressionFunction> expression_functions() {
    return functions;
}

}  // namespace warpscope::launches
