#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace warpscope::tests {

/// A comparison of floats of any width, as set and setp have it.
struct RealComparison {
    std::string name;
    bool (*holds)(double a, double b);
};

inline bool unordered(double a, double b) {
    return std::isnan(a) || std::isnan(b);
}

/// PTX ISA, "Comparison and Selection Instructions: setp": eq, ne, lt… are false where an operand
/// is NaN, equ, neu, ltu… are true.
inline const std::vector<RealComparison> real_comparisons{
    {"eq", [](double a, double b) { return a == b; }},
    {"ne", [](double a, double b) { return a < b || a > b; }},
    {"lt", [](double a, double b) { return a < b; }},
    {"le", [](double a, double b) { return a <= b; }},
    {"gt", [](double a, double b) { return a > b; }},
    {"ge", [](double a, double b) { return a >= b; }},
    {"equ", [](double a, double b) { return unordered(a, b) || a == b; }},
    {"neu", [](double a, double b) { return unordered(a, b) || a != b; }},
    {"ltu", [](double a, double b) { return unordered(a, b) || a < b; }},
    {"leu", [](double a, double b) { return unordered(a, b) || a <= b; }},
    {"gtu", [](double a, double b) { return unordered(a, b) || a > b; }},
    {"geu", [](double a, double b) { return unordered(a, b) || a >= b; }},
    {"num", [](double a, double b) { return !unordered(a, b); }},
    {"nan", [](double a, double b) { return unordered(a, b); }},
};

}  // namespace warpscope::tests
