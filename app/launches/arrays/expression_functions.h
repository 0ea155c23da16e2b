#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace warpscope::launches {

/// A function that expressions can call.
struct ExpressionFunction {
    std::string_view name;
    unsigned arguments;  ///< one or two
    double (*of_reals)(double, double);
    /// Null: the result is a real number.
    std::int64_t (*of_integers)(std::int64_t, std::int64_t) = nullptr;
};

std::span<const ExpressionFunction> expression_functions();

}  // namespace warpscope::launches
