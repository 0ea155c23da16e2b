#include <fmt/format.h>

#include <cfloat>
#include <cmath>

#include "instructions/form.h"
#include "instructions/half_reference.h"
#include "instructions/real_comparisons.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class HalfInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(HalfInstructions);

using Bits = std::uint64_t;
using HalfFunction = std::function<Bits(Bits a, Bits b, Bits c)>;

Bits added(Bits a, Bits b, Bits) {
    return half_bits(half_value(a) + half_value(b));
}
Bits subtracted(Bits a, Bits b, Bits) {
    return half_bits(half_value(a) - half_value(b));
}
Bits multiplied(Bits a, Bits b, Bits) {
    return half_bits(half_value(a) * half_value(b));
}
Bits fused(Bits a, Bits b, Bits c) {
    return half_fused(half_value(a), half_value(b), half_value(c));
}

Bits flush(Bits a) {
    return (a & 0x7fff) < 0x0400 ? a & 0x8000 : a;
}
/// .ftz: subnormal operands and results become zeros of their sign.
HalfFunction flushed(HalfFunction f) {
    return [f](Bits a, Bits b, Bits c) { return flush(f(flush(a), flush(b), flush(c))); };
}
/// .sat: into [0, 1], NaN to +0.
HalfFunction clamped(HalfFunction f) {
    return [f](Bits a, Bits b, Bits c) -> Bits {
        const double x = half_value(f(a, b, c));
        return x > 0 ? half_bits(std::min(x, 1.0)) : 0;
    };
}

/// The PTX ISA does not define .ftz for a value that is subnormal before rounding and the least
/// normal number after it. sm_90 flushes it.
std::optional<Bits> unless_least(bool flushes, Bits result) {
    const auto least = [](Bits half) { return (half & 0x7fff) == 0x0400; };
    if (flushes && (least(result) || least(result >> 16))) return std::nullopt;
    return result;
}

/// The rows of one operation: of f16, and of both halves of f16x2.
void add_rows(std::vector<Form>& table, const std::string& name, int operands,
              const HalfFunction& f) {
    const std::string list = operands == 1 ? "%a" : operands == 2 ? "%a, %b" : "%a, %b, %c";
    const std::string signature = operands == 1 ? "T T" : operands == 2 ? "T T T" : "T T T T";
    const bool flushes = name.find(".ftz") != std::string::npos;
    table.push_back(
        {fmt::format("{}.T %d, {};", name, list), "f16", signature,
         bits([=](Bits a, Bits b, Bits c) { return unless_least(flushes, f(a, b, c)); })});
    table.push_back({fmt::format("{}.T %d, {};", name, list), "f16x2", signature,
                     bits([=](Bits a, Bits b, Bits c) {
                         const Bits low = f(a & 0xffff, b & 0xffff, c & 0xffff);
                         const Bits high = f(a >> 16, b >> 16, c >> 16);
                         return unless_least(flushes, low | high << 16);
                     })});
}

TEST_P(HalfInstructions, Arithmetic) {
    std::vector<Form> table;
    for (const std::string rounding : {"", ".rn"}) {
        add_rows(table, "add" + rounding, 2, added);
        add_rows(table, "sub" + rounding, 2, subtracted);
        add_rows(table, "mul" + rounding, 2, multiplied);
    }
    add_rows(table, "fma.rn", 3, fused);
    check(device(), table);
}

TEST_P(HalfInstructions, FlushedAndSaturated) {
    std::vector<Form> table;
    add_rows(table, "add.ftz", 2, flushed(added));
    add_rows(table, "sub.sat", 2, clamped(subtracted));
    add_rows(table, "mul.rn.ftz", 2, flushed(multiplied));
    add_rows(table, "mul.sat", 2, clamped(multiplied));
    add_rows(table, "add.ftz.sat", 2, clamped(flushed(added)));
    add_rows(table, "fma.rn.ftz", 3, flushed(fused));
    add_rows(table, "fma.rn.sat", 3, clamped(fused));
    add_rows(table, "fma.rn.ftz.sat", 3, clamped(flushed(fused)));
    check(device(), table);
}

TEST_P(HalfInstructions, Signs) {
    const auto negated = [](Bits a, Bits, Bits) { return a ^ 0x8000; };
    const auto magnitude = [](Bits a, Bits, Bits) { return a & 0x7fff; };
    std::vector<Form> table;
    add_rows(table, "neg", 1, negated);
    add_rows(table, "abs", 1, magnitude);
    add_rows(table, "neg.ftz", 1, flushed(negated));
    add_rows(table, "abs.ftz", 1, flushed(magnitude));
    check(device(), table);
}

/// 3 * 683 = 2049 is halfway between two halves; adding c breaks the tie.
TEST_P(HalfInstructions, FmaRoundsOnce) {
    EXPECT_EQ(half_fused(3, 683, 0), half_bits(2048));
    EXPECT_EQ(half_fused(3, 683, 0x1p-24), half_bits(2050));
    EXPECT_EQ(half_fused(3, 683, -0x1p-24), half_bits(2048));
    check(device(),
          {{"mov.b16 %h0, 0x4200; mov.b16 %h1, 0x6156; fma.rn.f16 %d, %h0, %h1, %a;", "f16", "T T",
            bits([](Bits c, Bits, Bits) { return half_fused(3, 683, half_value(c)); })},
           {"mov.b16 %h0, 0xc200; mov.b16 %h1, 0x6156; fma.rn.f16 %d, %h0, %h1, %a;", "f16", "T T",
            bits([](Bits c, Bits, Bits) { return half_fused(-3, 683, half_value(c)); })}});
}

/// PTX ISA, "ex2" and "tanh": 2^-9.9 relative and 2^-10.987 absolute, then rounded to a half.
TEST_P(HalfInstructions, Approximations) {
    const auto half_unit = [](double x) {
        return std::ldexp(0.5, std::max(std::ilogb(x), -14) - 10);
    };
    const auto close_to_half = [](double (*f)(double)) {
        return [f](const std::vector<std::string>&) -> Reference {
            return [f](Bits a, Bits, Bits) {
                double exact = f(half_value(a));
                if (exact >= 65520) exact = INFINITY;
                return std::bit_cast<Bits>(exact);
            };
        };
    };
    check(device(), {{"ex2.approx.f16 %d, %a;", "f16", "T T",
                      close_to_half([](double a) { return std::exp2(a); }),
                      [=](double x, double) { return x * std::exp2(-9.9) + half_unit(x); }},
                     {"tanh.approx.f16 %d, %a;", "f16", "T T",
                      close_to_half([](double a) { return std::tanh(a); }),
                      [=](double x, double) { return std::exp2(-10.987) + half_unit(x); }}});
}

TEST_P(HalfInstructions, Predicates) {
    std::vector<Form> table;
    for (const auto& [name, holds] : real_comparisons) {
        const auto low = [holds = holds](Bits a, Bits b, Bits) -> Bits {
            return holds(half_value(a & 0xffff), half_value(b & 0xffff));
        };
        const auto high = [low](Bits a, Bits b, Bits) { return low(a >> 16, b >> 16, 0); };
        table.push_back({fmt::format("setp.{}.f16 %p, %a, %b; selp.u32 %d, 1, 0, %p;", name), "u32",
                         "u32 f16 f16", bits(low)});
        table.push_back({fmt::format("setp.{}.f16x2 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; "
                                     "@%q add.u32 %d, %d, 2;",
                                     name),
                         "u32", "u32 f16x2 f16x2", bits([=](Bits a, Bits b, Bits) {
                             return low(a, b, 0) | high(a, b, 0) << 1;
                         })});
    }
    table.push_back({"setp.eq.ftz.f16 %p, %a, %b; selp.u32 %d, 1, 0, %p;", "u32", "u32 f16 f16",
                     bits([](Bits a, Bits b, Bits) -> Bits {
                         return half_value(flush(a)) == half_value(flush(b));
                     })});
    check(device(), table);
}

// Rows of two statements are not run with a guard: see CompareInstructions.SetWritesOneAsFloat.
TEST_P(HalfInstructions, TruthValues) {
    std::vector<Form> table;
    for (const auto& [name, holds] : real_comparisons)
        for (const auto& [type, yes] :
             {std::pair{"f16", Bits(0x3c00)}, {"u32", Bits(0xffffffff)}, {"s32", Bits(0xffffffff)}})
            table.push_back({fmt::format("set.{}.{}.f16 %d, %a, %b; mov.{} %d, %d;", name, type,
                                         type == std::string("f16") ? "b16" : "b32"),
                             type,
                             fmt::format("{} f16 f16", type == std::string("f16") ? "b16" : "b32"),
                             bits([holds = holds, yes = yes](Bits a, Bits b, Bits) {
                                 return holds(half_value(a), half_value(b)) ? yes : 0;
                             })});
    for (const auto& [name, holds] : real_comparisons)
        for (const auto& [type, yes] : {std::pair{"f16x2", Bits(0x3c00)}, {"u32", Bits(0xffff)}})
            table.push_back(
                {fmt::format("set.{}.{}.f16x2 %d, %a, %b; mov.b32 %d, %d;", name, type), type,
                 "b32 f16x2 f16x2", bits([holds = holds, yes = yes](Bits a, Bits b, Bits) {
                     const bool low = holds(half_value(a & 0xffff), half_value(b & 0xffff));
                     const bool high = holds(half_value(a >> 16), half_value(b >> 16));
                     return (low ? yes : 0) | (high ? yes << 16 : 0);
                 })});
    check(device(), table);
}

TEST_P(HalfInstructions, ConversionsFromHalf) {
    std::vector<Form> table{
        {"cvt.f32.f16 %d, %a;", "f32", "f32 f16", reals([](double a, auto...) { return a; })},
        {"cvt.f64.f16 %d, %a;", "f64", "f64 f16", reals([](double a, auto...) { return a; })},
        {"cvt.sat.f16.f16 %d, %a;", "f16", "T T",
         reals([](double a, auto...) { return a > 0 ? std::min(a, 1.0) : 0.0; })}};
    const auto whole = [](char rounding, double a) {
        return rounding == 'n'   ? std::nearbyint(a)
               : rounding == 'z' ? std::trunc(a)
               : rounding == 'm' ? std::floor(a)
                                 : std::ceil(a);
    };
    for (const char rounding : {'n', 'z', 'm', 'p'}) {
        table.push_back({fmt::format("cvt.r{}i.f16.f16 %d, %a;", rounding), "f16", "T T",
                         reals([=](double a, auto...) { return whole(rounding, a); })});
        for (const std::string to : {"s16", "u16", "s32", "u32", "s64", "u64"})
            table.push_back({fmt::format("cvt.r{}i.{}.f16 %d, %a;", rounding, to), to, to + " f16",
                             bits([=](Bits a, Bits, Bits) -> std::optional<Bits> {
                                 const double x = whole(rounding, half_value(a));
                                 const int w = width(to);
                                 if (std::isnan(x)) {
                                     if (w < 32) return std::nullopt;  // as for other floats
                                     return w == 64 ? Bits(1) << 63 : 0;
                                 }
                                 const bool sign = to[0] == 's';
                                 const double most = std::ldexp(1, w - sign),
                                              least = sign ? -most : 0;
                                 if (x >= most) return sign ? (Bits(1) << (w - 1)) - 1 : ~Bits(0);
                                 if (x <= least) return sign ? Bits(1) << (w - 1) : 0;
                                 return Bits(std::int64_t(x));
                             })});
    }
    check(device(), table);
}

TEST_P(HalfInstructions, ConversionsToHalf) {
    std::vector<Form> table;
    for (const std::string rounding : {"rn", "rz", "rm", "rp"}) {
        for (const std::string from : {"f32", "f64"})
            table.push_back({fmt::format("cvt.{}.f16.{} %d, %a;", rounding, from), from,
                             "f16 " + from, bits([=](Bits a, Bits, Bits) -> Bits {
                                 return half_bits(as_real(from, a), rounding);
                             })});
        for (const std::string from : {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}) {
            const std::string held =
                width(from) < 16 ? fmt::format("{}16", from[0]) : from;  // PTX has no .reg .s8
            table.push_back({fmt::format("cvt.{}.f16.{} %d, %a;", rounding, from), from,
                             "f16 " + held, bits([=](Bits a, Bits, Bits) -> Bits {
                                 const int unused = 64 - width(from);
                                 const double value =
                                     from[0] == 's' ? double(std::int64_t(a << unused) >> unused)
                                                    : double(a << unused >> unused);
                                 return half_bits(value, rounding);
                             })});
        }
    }
    table.push_back(
        {"cvt.rn.sat.f16.f32 %d, %a;", "f32", "f16 f32", bits([](Bits a, Bits, Bits) -> Bits {
             const double x = as_real("f32", a);
             return x > 0 ? half_bits(std::min(x, 1.0)) : 0;
         })});
    // The ISA says that subnormal operands are flushed here; sm_90 rounds them unflushed.
    table.push_back({"cvt.rp.ftz.f16.f32 %d, %a;", "f32", "f16 f32",
                     bits([](Bits a, Bits, Bits) -> std::optional<Bits> {
                         const double x = as_real("f32", a);
                         if (x != 0 && std::abs(x) < FLT_MIN) return std::nullopt;
                         return half_bits(x, "rp");
                     })});
    check(device(), table);
}

TEST_P(HalfInstructions, ThroughPackedRegisters) {
    // The PTX of __floats2half2_rn and __half22float2 in cuda_fp16.hpp.
    check(device(),
          {{"cvt.rn.f16.f32 %h0, %a; cvt.rn.f16.f32 %h1, %b; mov.b32 %d, {%h0, %h1};", "f32",
            "f16x2 f32 f32", bits([](Bits a, Bits b, Bits) -> Bits {
                return half_bits(as_real("f32", a)) | Bits(half_bits(as_real("f32", b))) << 16;
            })},
           // Its inline PTX declares registers with directive and type in one word, and without %.
           {"{.reg.b16 h,one; mov.b16 h,%a; mov.b16 one, 0X3C00U; add.f16 %d,h,one;}", "f16",
            "f16 f16", bits([](Bits a, Bits, Bits) { return Bits(half_bits(half_value(a) + 1)); })},
           {"mov.b32 {%h0, %h1}, %a; cvt.f32.f16 %d, %h1;", "f32", "f32 f16x2",
            bits([](Bits a, Bits, Bits) {
                return Bits(std::bit_cast<std::uint32_t>(float(half_value(a >> 16))));
            })}});
}

}  // namespace
}  // namespace warpscope::tests
