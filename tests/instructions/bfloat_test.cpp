#include "instructions/bfloat_reference.h"

#include <fmt/format.h>

#include <cfloat>
#include <cmath>

#include "instructions/form.h"
#include "instructions/half_reference.h"
#include "instructions/real_comparisons.h"
#include "support/devices.h"

/// What sm_80, sm_86 and sm_90 have added to the floats: bfloat16, tf32, .relu, and modifiers of
/// min and max.
namespace warpscope::tests {
namespace {

class BfloatInstructions : public OnDevices {
  protected:
    void check_for(int capability, const std::vector<Form>& table) {
        if (!executes(device(), capability))
            GTEST_SKIP() << "the GPU is older than sm_" << capability;
        check(device(), table, fmt::format("sm_{}", capability));
    }
};
WARPSCOPE_ON_DEVICES(BfloatInstructions);

using Bits = std::uint64_t;
using ShortFunction = std::function<Bits(Bits a, Bits b, Bits c)>;

/// f(a, b, c) of both halves of a register.
Reference of_pairs(const ShortFunction& f) {
    return [f](Bits a, Bits b, Bits c) -> std::optional<Bits> {
        return f(a & 0xffff, b & 0xffff, c & 0xffff) | f(a >> 16, b >> 16, c >> 16) << 16;
    };
}

/// The rows of one operation: of a type, and of pairs of it.
void add_rows(std::vector<Form>& table, const std::string& name, const std::string& type,
              int operands, const ShortFunction& f) {
    const std::string list = operands == 1 ? "%a" : operands == 2 ? "%a, %b" : "%a, %b, %c";
    const std::string signature = operands == 1 ? "T T" : operands == 2 ? "T T T" : "T T T T";
    table.push_back({fmt::format("{}.T %d, {};", name, list), type, signature,
                     [f](const auto&) -> Reference { return f; }});
    table.push_back({fmt::format("{}.T %d, {};", name, list), type + "x2", signature,
                     [f](const auto&) { return of_pairs(f); }});
}

Bits bfloat_fused(Bits a, Bits b, Bits c) {
    return bfloat_bits(static_cast<long double>(bfloat_value(a)) * bfloat_value(b),
                       bfloat_value(c));
}
/// .relu
ShortFunction rectified(const ShortFunction& f, double (*value)(Bits)) {
    return [=](Bits a, Bits b, Bits c) -> Bits {
        const Bits result = f(a, b, c);
        return std::isnan(value(result)) ? 0x7fff : result & 0x8000 ? 0 : result;
    };
}

TEST_P(BfloatInstructions, Arithmetic) {
    std::vector<Form> table;
    for (const std::string rounding : {"", ".rn"}) {
        add_rows(table, "add" + rounding, "bf16", 2, [](Bits a, Bits b, Bits) {
            return bfloat_bits(bfloat_value(a), bfloat_value(b));
        });
        add_rows(table, "sub" + rounding, "bf16", 2, [](Bits a, Bits b, Bits) {
            return bfloat_bits(bfloat_value(a), -bfloat_value(b));
        });
        add_rows(table, "mul" + rounding, "bf16", 2, [](Bits a, Bits b, Bits) {
            return bfloat_bits(bfloat_value(a) * bfloat_value(b));
        });
    }
    check_for(90, table);
}

TEST_P(BfloatInstructions, FusedProducts) {
    std::vector<Form> table;
    const ShortFunction of_halves = [](Bits a, Bits b, Bits c) {
        return half_fused(half_value(a), half_value(b), half_value(c));
    };
    add_rows(table, "fma.rn", "bf16", 3, bfloat_fused);
    add_rows(table, "fma.rn.relu", "bf16", 3, rectified(bfloat_fused, bfloat_value));
    add_rows(table, "fma.rn.relu", "f16", 3, rectified(of_halves, half_value));
    check_for(80, table);
}

/// 1.5 * 1.0078125 = 1.51171875 lies halfway between two values; a tiny c breaks the tie.
TEST_P(BfloatInstructions, FmaRoundsOnce) {
    EXPECT_EQ(bfloat_fused(0x3fc0, 0x3f81, 0), 0x3fc2);
    EXPECT_EQ(bfloat_fused(0x3fc0, 0x3f81, 0x8080), 0x3fc1);
    check_for(80,
              {{"mov.b16 %h0, 0x3fc0; mov.b16 %h1, 0x3f81; fma.rn.bf16 %d, %h0, %h1, %a;", "bf16",
                "T T", bits([](Bits c, Bits, Bits) { return bfloat_fused(0x3fc0, 0x3f81, c); })}});
}

TEST_P(BfloatInstructions, Signs) {
    std::vector<Form> table;
    add_rows(table, "neg", "bf16", 1, [](Bits a, Bits, Bits) { return a ^ 0x8000; });
    add_rows(table, "abs", "bf16", 1, [](Bits a, Bits, Bits) { return a & 0x7fff; });
    check_for(80, table);
}

/// PTX ISA, "min" and "max" of floats; -0 is less than +0.
double extremum(const std::string& name, double a, double b) {
    const bool xors = name.find(".xorsign.abs") != std::string::npos;
    const bool negative = std::signbit(a) != std::signbit(b);
    if (xors) a = std::abs(a), b = std::abs(b);
    const bool a_is_less = a < b || (a == b && std::signbit(a));
    double result = a_is_less == name.starts_with("min") ? a : b;
    if (std::isnan(a)) result = b;
    if (std::isnan(b)) result = a;
    if (name.find(".NaN") != std::string::npos && (std::isnan(a) || std::isnan(b))) return NAN;
    return xors ? std::copysign(result, negative ? -1.0 : 1.0) : result;
}

double flush_single(double x) {
    return std::abs(x) < FLT_MIN ? std::copysign(0.0, x) : x;
}

TEST_P(BfloatInstructions, MinimaAndMaxima) {
    std::vector<Form> plain, with_signs;
    for (const std::string operation : {"min", "max"})
        for (const std::string modifiers : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"}) {
            const std::string name = operation + modifiers;
            std::vector<Form>& table = modifiers.ends_with("abs") ? with_signs : plain;
            add_rows(table, name, "bf16", 2, [=](Bits a, Bits b, Bits) {
                return bfloat_bits(extremum(name, bfloat_value(a), bfloat_value(b)));
            });
            add_rows(table, name, "f16", 2, [=](Bits a, Bits b, Bits) {
                return half_bits(extremum(name, half_value(a), half_value(b)));
            });
            if (modifiers.empty()) continue;
            table.push_back(
                {name + ".f32 %d, %a, %b;", "f32", "T T T",
                 reals([=](double a, double b, auto...) { return extremum(name, a, b); })});
            const std::string flushing = operation + ".ftz" + modifiers;
            table.push_back({flushing + ".f32 %d, %a, %b;", "f32", "T T T",
                             reals([=](double a, double b, auto...) {
                                 return extremum(name, flush_single(a), flush_single(b));
                             })});
        }
    const auto flush_half = [](Bits a) { return (a & 0x7fff) < 0x0400 ? a & 0x8000 : a; };
    add_rows(plain, "max.ftz.NaN", "f16", 2, [=](Bits a, Bits b, Bits) {
        return half_bits(extremum("max.NaN", half_value(flush_half(a)), half_value(flush_half(b))));
    });
    check_for(80, plain);
    check_for(86, with_signs);
}

TEST_P(BfloatInstructions, ExtremaOfThree) {
    if (device().info().kind == compute::DeviceKind::cuda)
        GTEST_SKIP() << "three sources need sm_100";
    std::vector<Form> table;
    for (const std::string operation : {"min", "max"}) {
        const auto of_three = [](std::string name, bool absolute) {
            return reals([=](double a, double b, double c) {
                if (absolute) a = std::abs(a), b = std::abs(b), c = std::abs(c);
                return extremum(name, extremum(name, a, b), c);
            });
        };
        table.push_back(
            {operation + ".f32 %d, %a, %b, %c;", "f32", "T T T T", of_three(operation, false)});
        table.push_back({operation + ".NaN.abs.f32 %d, %a, %b, %c;", "f32", "T T T T",
                         of_three(operation + ".NaN", true)});
    }
    check(device(), table, "sm_100");
}

/// PTX ISA, "ex2" and "tanh": relative errors of 2^-7 and 2^-8, and 2^-10.987 absolute for tanh of
/// f16, then rounded.
TEST_P(BfloatInstructions, Approximations) {
    const auto close = [](double (*f)(double), double (*value)(Bits)) {
        return [=](const std::vector<std::string>&) -> Reference {
            return [=](Bits a, Bits, Bits) { return std::bit_cast<Bits>(f(value(a))); };
        };
    };
    const auto exp2 = [](double a) {
        if (std::abs(a) < FLT_MIN) return 1.0;  // .ftz
        const double exact = std::exp2(a);
        return exact >= 0x1.ffp127 ? INFINITY : exact < FLT_MIN ? 0.0 : exact;
    };
    check_for(90, {{"ex2.approx.ftz.bf16 %d, %a;", "bf16", "T T", close(exp2, bfloat_value),
                    [](double x, double) { return x * 0x1p-6 + FLT_MIN; }},
                   {"tanh.approx.bf16 %d, %a;", "bf16", "T T",
                    close([](double a) { return std::tanh(a); }, bfloat_value),
                    [](double x, double) { return std::abs(x) * 0x1p-6 + 0x1p-133; }}});
    // Of pairs: a result that a single instruction gives for each half.
    std::vector<Form> pairs;
    for (const std::string name : {"ex2.approx.f16", "tanh.approx.f16"})
        pairs.push_back(
            {fmt::format("{0}x2 %d, %a; mov.b32 {{%h0, %h1}}, %a; {0} %h0, %h0; {0} %h1, %h1; "
                         "mov.b32 %r0, {{%h0, %h1}}; xor.b32 %d, %d, %r0;",
                         name),
             "b32", "T T", bits([](Bits, Bits, Bits) { return 0; })});
    check_for(75, pairs);
    for (Form& form : pairs)
        for (std::size_t at = 0; (at = form.ptx.find("f16", at)) != std::string::npos; at += 4)
            form.ptx.replace(at, 3, "bf16");
    for (std::size_t at = 0; (at = pairs[0].ptx.find("approx.bf", at)) != std::string::npos;
         at += 8)
        pairs[0].ptx.replace(at, 7, "approx.ftz.");
    check_for(90, pairs);
}

TEST_P(BfloatInstructions, Comparisons) {
    std::vector<Form> table;
    for (const auto& [name, holds] : real_comparisons) {
        const auto of_one = [holds = holds](Bits a, Bits b, Bits) -> Bits {
            return holds(bfloat_value(a & 0xffff), bfloat_value(b & 0xffff));
        };
        table.push_back({fmt::format("setp.{}.bf16 %p, %a, %b; selp.u32 %d, 1, 0, %p;", name),
                         "u32", "u32 bf16 bf16", bits(of_one)});
        table.push_back({fmt::format("setp.{}.bf16x2 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; "
                                     "@%q add.u32 %d, %d, 2;",
                                     name),
                         "u32", "u32 bf16x2 bf16x2", bits([=](Bits a, Bits b, Bits) {
                             return of_one(a, b, 0) | of_one(a >> 16, b >> 16, 0) << 1;
                         })});
        table.push_back({fmt::format("set.{}.bf16x2.bf16x2 %d, %a, %b; mov.b32 %d, %d;", name),
                         "b32", "b32 bf16x2 bf16x2", bits([=](Bits a, Bits b, Bits) {
                             return of_one(a, b, 0) * 0x3f80 |
                                    of_one(a >> 16, b >> 16, 0) * 0x3f800000;
                         })});
    }
    check_for(90, table);
}

TEST_P(BfloatInstructions, Conversions) {
    const auto rounded = [](const std::string& rounding) {
        return [=](Bits a) -> Bits { return bfloat_bits(as_real("f32", a), -0.0L, rounding); };
    };
    std::vector<Form> table{
        {"cvt.f32.bf16 %d, %a;", "f32", "f32 bf16", reals([](double a, auto...) { return a; })}};
    for (const std::string rounding : {"rn", "rz"})
        for (const std::string relu : {"", ".relu"}) {
            const auto one = [=, f = rounded(rounding)](Bits a) -> Bits {
                const Bits result = f(a);
                return relu.empty() || result == 0x7fff ? result : result & 0x8000 ? 0 : result;
            };
            table.push_back({fmt::format("cvt.{}{}.bf16.f32 %d, %a;", rounding, relu), "f32",
                             "bf16 f32", bits([=](Bits a, Bits, Bits) { return one(a); })});
            table.push_back({fmt::format("cvt.{}{}.bf16x2.f32 %d, %a, %b;", rounding, relu), "f32",
                             "bf16x2 f32 f32",
                             bits([=](Bits a, Bits b, Bits) { return one(a) << 16 | one(b); })});
            const auto half = [=](Bits a) -> Bits {
                const Bits result = half_bits(as_real("f32", a), rounding);
                return relu.empty() || result == 0x7fff ? result : result & 0x8000 ? 0 : result;
            };
            table.push_back({fmt::format("cvt.{}{}.f16x2.f32 %d, %a, %b;", rounding, relu), "f32",
                             "f16x2 f32 f32",
                             bits([=](Bits a, Bits b, Bits) { return half(a) << 16 | half(b); })});
        }
    check_for(80, table);
}

TEST_P(BfloatInstructions, ConversionsOfSm90) {
    std::vector<Form> table{
        {"cvt.rn.bf16.s32 %d, %a;", "s32", "bf16 s32",
         bits([](Bits a, Bits, Bits) { return bfloat_bits(std::int32_t(a)); })},
        {"cvt.rn.bf16.u64 %d, %a;", "u64", "bf16 u64",
         bits([](Bits a, Bits, Bits) { return bfloat_bits(static_cast<long double>(a)); })},
        {"cvt.rn.bf16.f16 %d, %a;", "f16", "bf16 f16",
         bits([](Bits a, Bits, Bits) { return bfloat_bits(half_value(a)); })},
        {"cvt.rn.f16.bf16 %d, %a;", "bf16", "f16 bf16",
         bits([](Bits a, Bits, Bits) { return half_bits(bfloat_value(a)); })},
        {"cvt.rzi.s32.bf16 %d, %a;", "bf16", "s32 bf16", bits([](Bits a, Bits, Bits) -> Bits {
             const double x = std::trunc(bfloat_value(a));
             if (std::isnan(x)) return 0;
             return Bits(std::int64_t(std::clamp(x, -0x1p31, 0x1p31 - 1)));
         })}};
    check_for(90, table);
}

/// tf32 has the exponents of f32 and ten digits: 13 fewer.
TEST_P(BfloatInstructions, RoundingToTf32) {
    const auto to_tf32 = [](const std::string& rounding) {
        return bits([=](Bits a, Bits, Bits) -> std::optional<Bits> {
            const double x = as_real("f32", a);
            if (std::isnan(x)) return 0x7fffffff;
            if (std::isinf(x)) return a;
            const Bits low = a & 0x1fff, cut = a - low;
            if (rounding == "rz") return cut;
            const bool is_odd = cut & 0x2000;
            const bool up = low > 0x1000 || (low == 0x1000 && (rounding == "rna" || is_odd));
            return up ? cut + 0x2000 : cut;
        });
    };
    check_for(80, {{"cvt.rna.tf32.f32 %d, %a;", "f32", "f32 f32", to_tf32("rna")}});
    check_for(90, {{"cvt.rn.tf32.f32 %d, %a;", "f32", "f32 f32", to_tf32("rn")},
                   {"cvt.rz.tf32.f32 %d, %a;", "f32", "f32 f32", to_tf32("rz")}});
}

}  // namespace
}  // namespace warpscope::tests
