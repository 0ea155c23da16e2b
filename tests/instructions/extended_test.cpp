#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "instructions/form.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class ExtendedInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(ExtendedInstructions);

using Bits = std::uint64_t;
__extension__ typedef unsigned __int128 Wide;

constexpr const char* words = "u32 s32 u64 s64";

/// The bits of an operand of `w` bits, as a number that is not negative.
Wide natural(int w, Int x) {
    return Wide(x) & ((Wide(1) << w) - 1);
}
/// The carry of a sum: the bit above its low `w` bits.
Int carry_of(int w, Wide sum) {
    return Int(sum >> w);
}

TEST_P(ExtendedInstructions, CarriesAndBorrows) {
    check(
        device(),
        {
            {"add.cc.T %a, %a, %b; addc.u32 %d, 0, 0;", words, "u32 T T",
             ints_of_width([](int w, Int a, Int b, Int) {
                 return carry_of(w, natural(w, a) + natural(w, b));
             })},
            {"add.cc.T %d, %a, %b;", words, "T T T", ints([](Int a, Int b, Int) { return a + b; })},
            {"sub.cc.T %a, %a, %b; subc.u32 %d, 0, 0;", words, "u32 T T",
             ints_of_width(
                 [](int w, Int a, Int b, Int) { return natural(w, a) < natural(w, b) ? -1 : 0; })},
            {"sub.cc.T %d, %a, %b;", words, "T T T", ints([](Int a, Int b, Int) { return a - b; })},
            // addc.cc reads the carry and writes it.
            {"add.cc.T %a, %a, %b; addc.cc.T %b, %b, %c; addc.u32 %d, 0, 0;", words, "u32 T T T",
             ints_of_width([](int w, Int a, Int b, Int c) {
                 const Int in = carry_of(w, natural(w, a) + natural(w, b));
                 return carry_of(w, natural(w, b) + natural(w, c) + Wide(in));
             })},
            {"sub.cc.T %a, %a, %b; subc.cc.T %b, %b, %c; subc.u32 %d, 0, 0;", words, "u32 T T T",
             ints_of_width([](int w, Int a, Int b, Int c) {
                 const bool in = natural(w, a) < natural(w, b);
                 return natural(w, b) < natural(w, c) + in ? -1 : 0;
             })},
            {"add.cc.T %a, %a, %b; addc.T %d, %b, %c;", words, "T T T T",
             ints_of_width([](int w, Int a, Int b, Int c) {
                 return b + c + carry_of(w, natural(w, a) + natural(w, b));
             })},
            {"sub.cc.T %a, %a, %b; subc.T %d, %b, %c;", words, "T T T T",
             ints_of_width([](int w, Int a, Int b, Int c) {
                 return b - c - (natural(w, a) < natural(w, b));
             })},
            // addc without .cc leaves the carry as it is.
            {"add.cc.u32 %a, %a, %b; addc.u32 %r0, 0, 0; addc.u32 %d, 5, 0;", "u32", "u32 T T",
             ints([](Int a, Int b, Int) { return 5 + ((a + b) >> 32); })},
        });
}

Wide product_low(int w, Int a, Int b) {
    return natural(w, Int(natural(w, a) * natural(w, b)));
}
/// The upper half of a product, signed or not, which fits 128 bits either way.
Int product_high(int w, Int a, Int b) {
    if (a >= 0 && b >= 0) return Int(Wide(a) * Wide(b) >> w);
    return a * b >> w;
}

TEST_P(ExtendedInstructions, ProductsWithACarry) {
    check(device(), {
                        {"mad.lo.cc.T %c, %a, %b, %c; addc.u32 %d, 0, 0;", words, "u32 T T T",
                         ints_of_width([](int w, Int a, Int b, Int c) {
                             return carry_of(w, product_low(w, a, b) + natural(w, c));
                         })},
                        {"mad.hi.cc.T %c, %a, %b, %c; addc.u32 %d, 0, 0;", words, "u32 T T T",
                         ints_of_width([](int w, Int a, Int b, Int c) {
                             return carry_of(w, natural(w, product_high(w, a, b)) + natural(w, c));
                         })},
                        {"mad.lo.cc.T %c, %a, %b, %c; madc.hi.T %d, %a, %b, 7;", words, "T T T T",
                         ints_of_width([](int w, Int a, Int b, Int c) {
                             return product_high(w, a, b) + 7 +
                                    carry_of(w, product_low(w, a, b) + natural(w, c));
                         })},
                        {"add.cc.T %c, %c, %b; madc.lo.cc.T %c, %a, %b, %a; addc.u32 %d, 0, 0;",
                         words, "u32 T T T", ints_of_width([](int w, Int a, Int b, Int c) {
                             const Int in = carry_of(w, natural(w, c) + natural(w, b));
                             return carry_of(w, product_low(w, a, b) + natural(w, a) + Wide(in));
                         })},
                        {"add.cc.T %c, %c, %b; madc.lo.T %d, %a, %b, %a;", words, "T T T T",
                         ints_of_width([](int w, Int a, Int b, Int c) {
                             const Int in = carry_of(w, natural(w, c) + natural(w, b));
                             return Int(product_low(w, a, b)) + a + in;
                         })},
                        {"add.cc.T %c, %c, %b; madc.hi.cc.T %c, %a, %b, %a; addc.u32 %d, 0, 0;",
                         words, "u32 T T T", ints_of_width([](int w, Int a, Int b, Int c) {
                             const Int in = carry_of(w, natural(w, c) + natural(w, b));
                             return carry_of(
                                 w, natural(w, product_high(w, a, b)) + natural(w, a) + Wide(in));
                         })},
                    });
}

/// Element `k` of `bits` bits, signed or not.
Int element(Bits word, unsigned k, unsigned bits, bool sign) {
    const Int low = Int(word >> k * bits & ((1u << bits) - 1));
    return sign && low >> (bits - 1) ? low - (Int(1) << bits) : low;
}

/// PTX ISA, "dp4a" and "dp2a": c plus the products of bytes, or of halves and two bytes.
Form dot_product(bool four, unsigned first, const std::string& a_type, const std::string& b_type) {
    const std::string name = fmt::format("{}.{}.{}",
                                         four    ? "dp4a"
                                         : first ? "dp2a.hi"
                                                 : "dp2a.lo",
                                         a_type, b_type);
    return {name + " %d, %a, %b, %c;", "b32", "b32 b32 b32 b32", bits([=](Bits a, Bits b, Bits c) {
                Int total = Int(c);
                for (unsigned k = 0; k < (four ? 4 : 2); ++k)
                    total += element(a, k, four ? 8 : 16, a_type == "s32") *
                             element(b, k + first, 8, b_type == "s32");
                return Bits(total);
            })};
}

TEST_P(ExtendedInstructions, DotProducts) {
    std::vector<Form> table;
    for (const std::string a : {"u32", "s32"})
        for (const std::string b : {"u32", "s32"}) {
            table.push_back(dot_product(true, 0, a, b));
            table.push_back(dot_product(false, 0, a, b));
            table.push_back(dot_product(false, 2, a, b));
        }
    check(device(), table);
}

/// PTX ISA, "vabsdiff4": of each element, or with .add their sum and c.
Form differences(unsigned elements, const std::string& type, bool adds) {
    const unsigned width = 32 / elements;
    return {fmt::format("vabsdiff{}.u32.{}.{}{} %d, %a, %b, %c;", elements, type, type,
                        adds ? ".add" : ""),
            "b32", "b32 b32 b32 b32", bits([=](Bits a, Bits b, Bits c) {
                Bits result = adds ? c : 0;
                for (unsigned k = 0; k < elements; ++k) {
                    const Int d =
                        element(a, k, width, type == "s32") - element(b, k, width, type == "s32");
                    result += Bits(d < 0 ? -d : d) << (adds ? 0 : k * width);
                }
                return result;
            })};
}

TEST_P(ExtendedInstructions, DifferencesOfElements) {
    std::vector<Form> table;
    for (const unsigned elements : {2, 4})
        for (const std::string type : {"u32", "s32"})
            for (const bool adds : {false, true})
                table.push_back(differences(elements, type, adds));
    check(device(), table);
}

/// PTX ISA, "add", "min" and "max" of sm_90: each half of .u16x2 and .s16x2, with .relu at least 0.
Form of_halves(const std::string& opcode, const std::string& type, bool rectifies) {
    return {fmt::format("{}{}.{}x2 %d, %a, %b;", opcode, rectifies ? ".relu" : "", type), "b32",
            "b32 b32 b32", bits([=](Bits a, Bits b, Bits) {
                Bits result = 0;
                for (unsigned k = 0; k < 2; ++k) {
                    const Int x = element(a, k, 16, type == "s16"),
                              y = element(b, k, 16, type == "s16");
                    Int one = opcode == "add"   ? x + y
                              : opcode == "min" ? std::min(x, y)
                                                : std::max(x, y);
                    if (rectifies && one < 0) one = 0;
                    result |= Bits(one & 0xffff) << 16 * k;
                }
                return result;
            })};
}

TEST_P(ExtendedInstructions, PairsOfShortIntegers) {
    if (!executes(device(), 90)) GTEST_SKIP() << "the GPU is older than sm_90";
    std::vector<Form> table;
    for (const std::string opcode : {"add", "min", "max"})
        for (const std::string type : {"u16", "s16"})
            table.push_back(of_halves(opcode, type, false));
    for (const std::string opcode : {"min", "max"}) {
        table.push_back(of_halves(opcode, "s16", true));
        table.push_back({opcode + ".relu.s32 %d, %a, %b;", "s32", "T T T",
                         ints([least = opcode == "min"](Int a, Int b, Int) {
                             return std::max(least ? std::min(a, b) : std::max(a, b), Int(0));
                         })});
    }
    check(device(), table, "sm_90");
}

/// fns as the PTX ISA describes it: goes from `base` one bit at a time.
Bits nth_set(Bits mask, Int base, Int offset) {
    const auto is_set = [&](Int at) { return mask >> at & 1; };
    if (offset == 0) return is_set(base) ? Bits(base) : 0xffffffff;
    Int left = offset < 0 ? -offset : offset;
    for (Int at = base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
        if (is_set(at) && --left == 0) return Bits(at);
    return 0xffffffff;
}

TEST_P(ExtendedInstructions, NthSetBitAndBitMasks) {
    check(device(), {
                        {"and.b32 %b, %b, 31; shr.s32 %c, %c, 26; fns.b32 %d, %a, %b, %c;", "b32",
                         "b32 b32 u32 s32", bits([](Bits a, Bits b, Bits c) {
                             return nth_set(a, Int(b & 31),
                                            Int(std::int32_t(std::uint32_t(c)) >> 26));
                         })},
                        {"bmsk.clamp.b32 %d, %a, %b;", "b32", "b32 u32 u32",
                         bits([](Bits start, Bits length, Bits) {
                             Bits mask = 0;
                             for (Bits k = start; k < 32 && k - start < length; ++k)
                                 mask |= Bits(1) << k;
                             return mask;
                         })},
                        {"bmsk.wrap.b32 %d, %a, %b;", "b32", "b32 u32 u32",
                         bits([](Bits start, Bits length, Bits) {
                             Bits mask = 0;
                             for (Bits k = start % 32; k < 32 && k - start % 32 < length % 32; ++k)
                                 mask |= Bits(1) << k;
                             return mask;
                         })},
                    });
}

Int low_24(const Int& x, bool sign) {
    return element(Bits(x), 0, 24, sign);
}

TEST_P(ExtendedInstructions, ProductsOf24Bits) {
    std::vector<Form> table;
    for (const std::string type : {"u32", "s32"}) {
        const auto product = [sign = type == "s32"](Int a, Int b) {
            return low_24(a, sign) * low_24(b, sign);
        };
        const auto row = [&](const char* name, const char* signature, auto f) {
            const bool adds = signature == std::string("T T T T");
            table.push_back({fmt::format("{}.T %d, %a, %b{};", name, adds ? ", %c" : ""), type,
                             signature, ints(f)});
        };
        row("mul24.lo", "T T T", [=](Int a, Int b, Int) { return product(a, b); });
        row("mul24.hi", "T T T", [=](Int a, Int b, Int) { return product(a, b) >> 16; });
        row("mad24.lo", "T T T T", [=](Int a, Int b, Int c) { return product(a, b) + c; });
        row("mad24.hi", "T T T T", [=](Int a, Int b, Int c) { return (product(a, b) >> 16) + c; });
    }
    check(device(), table);
}

TEST_P(ExtendedInstructions, SpacesOfAddresses) {
    const std::string shared =
        ".shared .align 4 .b32 cells[4]; mov.u64 %l0, cells; cvta.shared.u64 %l0, %l0; ";
    const std::string local =
        ".local .align 4 .b32 frame[4]; mov.u64 %l0, frame; cvta.local.u64 %l0, %l0; ";
    const std::string global = "mov.u64 %l0, %from; ";
    std::vector<Form> table;
    for (const auto& [name, address] :
         {std::pair{"shared", shared}, {"local", local}, {"global", global}})
        for (const std::string space : {"shared", "local", "global"})
            table.push_back(
                {fmt::format("{}isspacep.{} %p, %l0; selp.u32 %d, 1, 0, %p;", address, space),
                 "u32", "u32 u32", bits([yes = space == name](auto...) { return Bits(yes); })});
    check(device(), table);
}

}  // namespace
}  // namespace warpscope::tests
