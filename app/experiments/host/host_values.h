#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/arrays/expression.h"
#include "experiments/host/host_program.h"

namespace warpscope::experiments {

/// The number that a macro such as FLT_MAX is; empty: it is none.
std::string_view limit_of_numbers(std::string_view macro);
/// The macro that "numeric_limits<float>::max" is; empty: none.
std::string limit_macro(std::string_view type, std::string_view function);

/// What the texts of a host program mean for a launch file.
class HostValues {
  public:
    explicit HostValues(const HostProgram& program) : program_(program) {}

    /// This name of the host program has the value of a scalar.
    void is_scalar(const std::string& name, const std::string& scalar) { scalars_[name] = scalar; }
    /// The size of a type of the source.
    void has_type(const std::string& name, std::size_t bytes);
    /// Reads the text as an expression of numbers and scalars. nullopt: it needs what only the host
    /// program knows.
    std::optional<Expression> expression(std::string_view text) const {
        return expression(text, 0);
    }
    /// nullopt: one of them can't be given, or there are none.
    std::optional<std::vector<Expression>> expressions(const std::vector<std::string>& texts) const;
    /// nullopt: it is no number, or one that depends on a scalar.
    std::optional<Number> number(std::string_view text) const { return number(text, 0); }
    /// Elements of an array, from its bytes: "(n) * sizeof(float)" are n. nullopt: not known.
    std::optional<Expression> elements(std::string_view bytes, std::size_t element) const;
    /// The offset of a place in elements of this many bytes. nullopt: not known, or a part of one.
    std::optional<Expression> offset(const HostPlace& place, std::size_t element) const;
    /// The last of the names that stand for each other: SIZE of `n = SIZE`. Empty: the text is no
    /// name.
    std::string last_name(std::string_view text) const;

  private:
    /// The most names that stand for each other in turn.
    static constexpr int deepest_name = 12;

    /// `depth`: of the names that stand for this text.
    std::optional<Expression> expression(std::string_view text, int depth) const;
    std::optional<Number> number(std::string_view text, int depth) const;
    bool append(std::string_view text, std::string& to, int depth) const;
    bool append_name(std::string_view name, std::string& to, int depth) const;
    bool append_call(const HostFunction& function, std::string_view arguments, std::string& to,
                     int depth) const;
    std::optional<bool> append_choice(std::string_view text, std::string& to, int depth) const;
    /// Returns the bytes of a variable that the operand of a sizeof names: "( N ) * sizeof ( int
    /// )".
    std::optional<std::string> variable_bytes(std::string_view operand) const;
    std::optional<std::size_t> type_bytes(std::string_view name) const;

    const HostProgram& program_;
    std::map<std::string, std::string, std::less<>> scalars_;  ///< by the name in the host program
    std::map<std::string, std::size_t, std::less<>> types_;
};

}  // namespace warpscope::experiments
