#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launches/arrays/expression.h"

namespace warpscope::launches {

/// Names what a lane has: {"cache", 3}, {"threadIdx", "x"}, {"%r4"}.
using ValuePath = std::vector<std::variant<std::string, std::int64_t>>;

/// An expression of what a lane has: registers (%r4), built-in variables (threadIdx.x), elements of
/// arrays (cache[i + 1]) and members, with the operators of Expression.
class LaneExpression {
  public:
    /// Throws LaunchError.
    explicit LaneExpression(std::string_view text);

    /// Returns the number at a path, or throws LaunchError.
    using Lookup = std::function<Number(const ValuePath& path)>;
    Number value(const Lookup& lookup) const;
    /// Whether the expression is one name with its indices and members, and nothing else.
    bool is_path() const { return is_path_; }
    /// The names of variables, registers and arrays, also those in indices.
    std::vector<std::string> names() const;
    /// The path that is_path().
    ValuePath path(const Lookup& lookup) const;

  private:
    struct Term {
        std::vector<std::variant<std::string, std::unique_ptr<LaneExpression>>> steps;
        ValuePath path(const Lookup& lookup) const;
    };
    friend class LaneExpressionReader;

    std::vector<Term> terms_;
    bool is_path_ = false;
    Expression expression_;  ///< of the terms, which it names v0, v1, …
};

}  // namespace warpscope::launches
