#include <fmt/format.h>

#include <bit>
#include <cfloat>
#include <cmath>

#include "instructions/form.h"
#include "instructions/rounding.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class ConvertInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(ConvertInstructions);

const std::vector<std::string> integers{"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};
const std::vector<std::string> roundings{"rn", "rz", "rm", "rp"};

Int least(const std::string& type) {
    return type[0] == 's' ? -(Int(1) << (width(type) - 1)) : Int(0);
}
Int most(const std::string& type) {
    return (Int(1) << (width(type) - (type[0] == 's' ? 1 : 0))) - 1;
}
Int clamped(const std::string& type, Int value) {
    return std::min(std::max(value, least(type)), most(type));
}
/// The low bits of `value`, read as `type`.
Int cut_to(const std::string& type, Int value) {
    const Int low = value & ((Int(1) << width(type)) - 1);
    return low > most(type) ? low - (Int(1) << width(type)) : low;
}
/// The register type that holds a value of `type`: a 16-bit one at least, so that cvt extends.
std::string holder(const std::string& type) {
    return width(type) < 16 ? fmt::format("{}16", type[0]) : type;
}

TEST_P(ConvertInstructions, IntegersOfEveryWidth) {
    std::vector<Form> table;
    for (const std::string& to : integers)
        for (const std::string& from : integers)
            table.push_back(
                {fmt::format("cvt.{}.{} %d, %a;", to, from), to,
                 fmt::format("{} {}", holder(to), holder(from)),
                 ints([to, from](Int a, Int, Int) { return cut_to(to, cut_to(from, a)); })});
    check(device(), table);
}

TEST_P(ConvertInstructions, NarrowIntegersInWideRegisters) {
    std::vector<Form> table;
    for (const std::string from : {"s8", "u8", "s16", "u16", "s32", "u32"})
        table.push_back({fmt::format("cvt.s64.{} %d, %a;", from), from, "s64 u64",
                         ints([from](Int a, Int, Int) { return cut_to(from, a); })});
    for (const std::string to : {"s8", "u8", "s16", "u16"})
        table.push_back({fmt::format("cvt.{}.s32 %d, %a;", to), to, fmt::format("{}32 s32", to[0]),
                         ints([to](Int a, Int, Int) { return cut_to(to, a); })});
    check(device(), table);
}

TEST_P(ConvertInstructions, SaturatedIntegers) {
    std::vector<Form> table;
    for (const auto& [to, from] : std::vector<std::pair<std::string, std::string>>{{"u8", "s32"},
                                                                                   {"s8", "s32"},
                                                                                   {"u16", "s32"},
                                                                                   {"s16", "s32"},
                                                                                   {"u8", "u32"},
                                                                                   {"s16", "u32"},
                                                                                   {"s32", "u32"},
                                                                                   {"u32", "s32"},
                                                                                   {"s32", "s64"},
                                                                                   {"u32", "s64"},
                                                                                   {"u32", "u64"},
                                                                                   {"s64", "u64"},
                                                                                   {"u64", "s64"},
                                                                                   {"s8", "s16"},
                                                                                   {"u8", "s16"}})
        table.push_back({fmt::format("cvt.sat.{}.{} %d, %a;", to, from), to,
                         fmt::format("{} {}", holder(to), from),
                         ints([to = to](Int a, Int, Int) { return clamped(to, a); })});
    check(device(), table);
}

/// PTX ISA, "Data Movement and Conversion Instructions: cvt": out of range clamps; NaN gives zero
/// where source and destination have at most 32 bits, and the sign bit alone elsewhere. The ISA's
/// sentence does not fit destinations of 8 and 16 bits, which are left open.
Reference to_integer(const std::string& to, const std::string& from, const std::string& rounding,
                     bool flush) {
    return [=](std::uint64_t a, std::uint64_t, std::uint64_t) -> std::optional<std::uint64_t> {
        double value = as_real(from, a);
        if (std::isnan(value)) {
            if (from == "f32" && width(to) <= 32) return 0;
            if (width(to) < 32) return std::nullopt;
            return std::uint64_t(1) << (width(to) - 1);
        }
        if (flush && std::abs(value) < FLT_MIN) value = 0;
        value = to_integral(rounding, value);
        if (value >= 0x1p64) return std::uint64_t(most(to));
        if (value <= -0x1p64) return std::uint64_t(least(to));
        return std::uint64_t(clamped(to, Int(value)));
    };
}

void add_float_to_integer(std::vector<Form>& table, const std::string& to, const std::string& from,
                          bool flush) {
    for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"})
        table.push_back(
            {fmt::format("cvt.{}{}.{}.{} %d, %a;", rounding, flush ? ".ftz" : "", to, from), from,
             fmt::format("{} {}", holder(to), from),
             [=](const auto&) { return to_integer(to, from, rounding, flush); }});
}

TEST_P(ConvertInstructions, FloatsToIntegers) {
    std::vector<Form> table;
    for (const std::string to : {"s32", "u32", "s64", "u64", "s16", "u16"})
        for (const std::string from : {"f32", "f64"}) add_float_to_integer(table, to, from, false);
    check(device(), table);
}

TEST_P(ConvertInstructions, FlushedFloatsToIntegers) {
    std::vector<Form> table;
    for (const std::string to : {"s32", "u32", "s64", "u64"})
        add_float_to_integer(table, to, "f32", true);
    check(device(), table);
}

std::uint64_t rounded(const std::string& to, const std::string& rounding, Int value) {
    const Exact exact = value < 0 ? -Exact(std::uint64_t(-value)) : Exact(std::uint64_t(value));
    if (to == "f32")
        return std::bit_cast<std::uint32_t>(directed_sum(rounding, float(exact), exact, exact * 0));
    return std::bit_cast<std::uint64_t>(directed_sum(rounding, double(exact), exact, exact * 0));
}

TEST_P(ConvertInstructions, IntegersToFloats) {
    std::vector<Form> table;
    for (const std::string to : {"f32", "f64"})
        for (const std::string& from : integers)
            for (const std::string& rounding : roundings)
                table.push_back({fmt::format("cvt.{}.{}.{} %d, %a;", rounding, to, from), from,
                                 fmt::format("{} {}", to, holder(from)), ints([=](Int a, Int, Int) {
                                     return Int(rounded(to, rounding, cut_to(from, a)));
                                 })});
    check(device(), table);
}

TEST_P(ConvertInstructions, FloatsToIntegralFloats) {
    std::vector<Form> table;
    for (const std::string rounding : {"rni", "rzi", "rmi", "rpi"}) {
        const auto f = [rounding](double a, double, double) { return to_integral(rounding, a); };
        table.push_back({fmt::format("cvt.{}.f32.f32 %d, %a;", rounding), "f32", "T T", reals(f)});
        table.push_back({fmt::format("cvt.{}.f64.f64 %d, %a;", rounding), "f64", "T T", reals(f)});
        table.push_back(
            {fmt::format("cvt.{}.ftz.f32.f32 %d, %a;", rounding), "f32", "T T", flushed(f)});
    }
    check(device(), table);
}

TEST_P(ConvertInstructions, FloatsToOtherFloats) {
    std::vector<Form> table{
        {"cvt.f64.f32 %d, %a;", "f32", "f64 f32", reals([](double a, auto...) { return a; })},
        {"cvt.ftz.f64.f32 %d, %a;", "f32", "f64 f32", flushed([](double a, auto...) { return a; })},
        {"cvt.rn.ftz.f32.f64 %d, %a;", "f64", "f32 f64",
         flushed([](double a, auto...) { return a; })},
        {"cvt.sat.f32.f32 %d, %a;", "f32", "f32 f32", reals([](double a, auto...) {
             return std::isnan(a) ? 0.0 : a <= 0 ? 0.0 : std::min(a, 1.0);
         })},
    };
    for (const std::string& rounding : roundings)
        table.push_back({fmt::format("cvt.{}.f32.f64 %d, %a;", rounding), "f64", "f32 f64",
                         bits([rounding](auto a, auto...) {
                             const double exact = as_real("f64", a);
                             return std::uint64_t(std::bit_cast<std::uint32_t>(directed_sum(
                                 rounding, float(exact), Exact(exact), exact * Exact(0))));
                         })});
    check(device(), table);
}

}  // namespace
}  // namespace warpscope::tests
