#include <cmath>

#include "instructions/form.h"
#include "instructions/real_comparisons.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class CompareInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(CompareInstructions);

struct IntegerComparison {
    std::string name, types;
    bool (*holds)(Int a, Int b);
};

const std::vector<IntegerComparison> integer_comparisons{
    {"eq", "s16 u16 b16 s32 u32 b32 s64 u64 b64", [](Int a, Int b) { return a == b; }},
    {"ne", "s16 u16 b16 s32 u32 b32 s64 u64 b64", [](Int a, Int b) { return a != b; }},
    {"lt", integer_types, [](Int a, Int b) { return a < b; }},
    {"le", integer_types, [](Int a, Int b) { return a <= b; }},
    {"gt", integer_types, [](Int a, Int b) { return a > b; }},
    {"ge", integer_types, [](Int a, Int b) { return a >= b; }},
    {"lo", "u16 u32 u64", [](Int a, Int b) { return a < b; }},
    {"ls", "u16 u32 u64", [](Int a, Int b) { return a <= b; }},
    {"hi", "u16 u32 u64", [](Int a, Int b) { return a > b; }},
    {"hs", "u16 u32 u64", [](Int a, Int b) { return a >= b; }},
};

const std::string as_number = " selp.u32 %d, 1, 0, %p;";

TEST_P(CompareInstructions, EveryComparisonOfIntegers) {
    std::vector<Form> table;
    for (const auto& [name, types, holds] : integer_comparisons)
        table.push_back({"setp." + name + ".T %p, %a, %b;" + as_number, types, "u32 T T",
                         ints([holds = holds](Int a, Int b, Int) { return holds(a, b); })});
    check(device(), table);
}

TEST_P(CompareInstructions, IntegersWithImmediates) {
    check(device(), {
                        {"setp.gt.s32 %p, %a, -1;" + as_number, "s32", "u32 T",
                         ints([](Int a, Int, Int) { return a > -1; })},
                        {"setp.gt.u32 %p, %a, 2147483647;" + as_number, "u32", "u32 T",
                         ints([](Int a, Int, Int) { return a > 0x7fffffff; })},
                        {"setp.lt.s64 %p, %a, -1;" + as_number, "s64", "u32 T",
                         ints([](Int a, Int, Int) { return a < -1; })},
                        {"setp.ne.s16 %p, %a, -7;" + as_number, "s16", "u32 T",
                         ints([](Int a, Int, Int) { return a != -7; })},
                    });
}

TEST_P(CompareInstructions, EveryComparisonOfFloats) {
    std::vector<Form> table;
    for (const auto& [name, holds] : real_comparisons)
        table.push_back({"setp." + name + ".T %p, %a, %b;" + as_number, "f32 f64", "u32 T T",
                         [holds = holds](const std::vector<std::string>& types) -> Reference {
                             return [holds, types](auto a, auto b, auto) {
                                 return holds(as_real(types[1], a), as_real(types[2], b));
                             };
                         }});
    check(device(), table);
}

// With .ftz subnormals compare as zeros of their sign.
TEST_P(CompareInstructions, FloatsFlushed) {
    std::vector<Form> table;
    const auto flush = [](std::uint64_t x) {
        const double value = as_real("f32", x);
        return std::abs(value) < 0x1p-126 ? 0.0 : value;
    };
    for (const auto& [name, holds] : real_comparisons)
        table.push_back(
            {"setp." + name + ".ftz.f32 %p, %a, %b;" + as_number, "f32", "u32 T T",
             bits([=, holds = holds](auto a, auto b, auto) { return holds(flush(a), flush(b)); })});
    check(device(), table);
}

TEST_P(CompareInstructions, ComparisonsCombineWithAPredicate) {
    const std::string before = "setp.ne.u32 %q, %c, 0; ";
    check(device(),
          {
              {before + "setp.lt.and.s32 %p, %a, %b, %q;" + as_number, "s32", "u32 T T T",
               ints([](Int a, Int b, Int c) { return a < b && c != 0; })},
              {before + "setp.lt.or.s32 %p, %a, %b, %q;" + as_number, "s32", "u32 T T T",
               ints([](Int a, Int b, Int c) { return a < b || c != 0; })},
              {before + "setp.lt.xor.s32 %p, %a, %b, %q;" + as_number, "s32", "u32 T T T",
               ints([](Int a, Int b, Int c) { return (a < b) != (c != 0); })},
              {before + "setp.ge.and.u32 %p, %a, %b, !%q;" + as_number, "u32", "u32 T T T",
               ints([](Int a, Int b, Int c) { return a >= b && c == 0; })},
              {"setp.lt.s32 %p|%q, %a, %b; selp.u32 %r0, 1, 0, %p; selp.u32 %r1, 2, 0, %q; "
               "or.b32 %d, %r0, %r1;",
               "s32", "u32 T T", ints([](Int a, Int b, Int) { return a < b ? 1 : 2; })},
          });
}

// PTX ISA, "set": all ones or 1.0f where the comparison holds.
TEST_P(CompareInstructions, SetWritesAllOnesForTrue) {
    check(device(),
          {
              {"set.lt.u32.T %d, %a, %b;", "s32 u32 s64 s16", "u32 T T",
               ints([](Int a, Int b, Int) { return a < b ? -1 : 0; })},
              {"set.eq.s32.T %d, %a, %b;", "s32", "s32 T T",
               ints([](Int a, Int b, Int) { return a == b ? -1 : 0; })},
              {"set.gtu.u32.f32 %d, %a, %b;", "f32", "u32 T T", bits([](auto a, auto b, auto) {
                   const bool below = as_real("f32", a) <= as_real("f32", b);
                   return below ? 0 : 0xffffffff;
               })},
          });
}

// Rows of two statements are not run with a guard: the assembler in CUDA 13.0's driver converts the
// old bits of inactive lanes to float.
TEST_P(CompareInstructions, SetWritesOneAsFloat) {
    check(device(), {
                        {"set.gt.f32.T %d, %a, %b; mov.f32 %d, %d;", "s32 u32", "f32 T T",
                         reals([](double a, double b, double) { return a > b ? 1.0 : 0.0; })},
                        {"set.le.f32.T %d, %a, %b; mov.f32 %d, %d;", "f32 f64", "f32 T T",
                         reals([](double a, double b, double) { return a <= b ? 1.0 : 0.0; })},
                    });
}

TEST_P(CompareInstructions, Selections) {
    const std::string choose = "setp.lt.s32 %p, %c, 0; ";
    check(device(),
          {
              {choose + "selp.T %d, %a, %b, %p;", "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64",
               "T T T s32", bits([](auto a, auto b, auto c) { return c >> 31 ? a : b; })},
              {"setp.lt.s32 %p, %a, 0; selp.b32 %d, 5, -5, %p;", "s32", "T T",
               ints([](Int a, Int, Int) { return a < 0 ? 5 : -5; })},
              {"setp.lt.s32 %p, %a, 0; selp.f32 %d, 0f3F800000, 0fBF800000, %p;", "s32", "f32 T",
               reals([](double a, double, double) { return a < 0 ? 1.0 : -1.0; })},
              {"slct.T.s32 %d, %a, %b, %c;", "b32 u32 s32 f32 b64 f64", "T T T s32",
               bits([](auto a, auto b, auto c) { return c >> 31 ? b : a; })},
              {"slct.T.f32 %d, %a, %b, %c;", "u32 f32 u64", "T T T f32",
               bits([](auto a, auto b, auto c) { return as_real("f32", c) >= 0 ? a : b; })},
          });
}

TEST_P(CompareInstructions, TestpClassifiesFloats) {
    const auto tests = [](bool (*holds)(double)) {
        return [holds](const std::vector<std::string>& types) -> Reference {
            return [holds, types](auto a, auto, auto) { return holds(as_real(types[1], a)); };
        };
    };
    check(device(), {
                        {"testp.finite.T %p, %a;" + as_number, "f32 f64", "u32 T",
                         tests([](double x) { return bool(std::isfinite(x)); })},
                        {"testp.infinite.T %p, %a;" + as_number, "f32 f64", "u32 T",
                         tests([](double x) { return bool(std::isinf(x)); })},
                        {"testp.number.T %p, %a;" + as_number, "f32 f64", "u32 T",
                         tests([](double x) { return !std::isnan(x); })},
                        {"testp.notanumber.T %p, %a;" + as_number, "f32 f64", "u32 T",
                         tests([](double x) { return bool(std::isnan(x)); })},
                        {"testp.subnormal.f32 %p, %a;" + as_number, "f32", "u32 T",
                         tests([](double x) { return x != 0 && std::abs(x) < 0x1p-126; })},
                        {"testp.subnormal.f64 %p, %a;" + as_number, "f64", "u32 T",
                         tests([](double x) { return x != 0 && std::abs(x) < 0x1p-1022; })},
                    });
}

}  // namespace
}  // namespace warpscope::tests
