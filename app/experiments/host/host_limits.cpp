#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "experiments/host/host_values.h"

namespace warpscope::experiments {
namespace {

/// Limits of numbers, as macros and as functions of std::numeric_limits.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> limits{
    {{"FLT_MAX", "3.40282347e+38"},
     {"FLT_MIN", "1.17549435e-38"},
     {"FLT_EPSILON", "1.19209290e-07"},
     {"DBL_MAX", "1.7976931348623157e+308"},
     {"INT_MAX", "2147483647"},
     {"INT_MIN", "(-2147483647 - 1)"},
     {"UINT_MAX", "4294967295"},
     {"LLONG_MAX", "9223372036854775807"},
     {"INFINITY", "(1e308 * 10.0)"},
     {"HUGE_VALF", "(1e308 * 10.0)"},
     {"M_PI", "3.14159265358979323846"},
     {"CHAR_BIT", "8"},
     {"RAND_MAX", "2147483647"},
     {"EOF", "(-1)"}}};
}  // namespace

std::string_view limit_of_numbers(std::string_view macro) {
    const auto found = std::ranges::find(limits, macro, [](const auto& row) { return row.first; });
    return found == limits.end() ? std::string_view() : found->second;
}

std::string limit_macro(std::string_view type, std::string_view function) {
    if (function == "infinity") return "INFINITY";
    const std::string prefix = type == "float"      ? "FLT"
                               : type == "double"   ? "DBL"
                               : type == "int"      ? "INT"
                               : type == "unsigned" ? "UINT"
                                                    : "";
    const bool is_real = prefix == "FLT" || prefix == "DBL";
    if (prefix.empty()) return "";
    if (function == "lowest" && is_real) return "-" + prefix + "_MAX";
    if (function == "max") return prefix + "_MAX";
    if (function == "epsilon" || function == "min" || function == "lowest")
        return prefix + (function == "epsilon" ? "_EPSILON" : "_MIN");
    return "";
}

}  // namespace warpscope::experiments
