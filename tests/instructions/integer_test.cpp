#include "instructions/form.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class IntegerInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(IntegerInstructions);

__extension__ typedef unsigned __int128 U;
using std::nullopt;

constexpr const char* every = "s16 u16 s32 u32 s64 u64";
constexpr const char* narrow = "s16 u16 s32 u32 s64";  // products fit the reference's 128 bits

std::optional<Int> quotient(int bits, Int a, Int b) {
    if (b == 0) return nullopt;
    if (b == -1 && a == -(Int(1) << (bits - 1))) return nullopt;
    return a / b;
}

std::optional<Int> remainder(int bits, Int a, Int b) {
    if (!quotient(bits, a, b)) return nullopt;
    return a % b;
}

Int magnitude(Int a) {
    return a < 0 ? -a : a;
}

TEST_P(IntegerInstructions, AddSubtractMultiply) {
    check(device(),
          {
              {"add.T %d, %a, %b;", every, "T T T", ints([](Int a, Int b, Int) { return a + b; })},
              {"sub.T %d, %a, %b;", every, "T T T", ints([](Int a, Int b, Int) { return a - b; })},
              {"mul.lo.T %d, %a, %b;", narrow, "T T T",
               ints([](Int a, Int b, Int) { return a * b; })},
              {"mul.lo.u64 %d, %a, %b;", "u64", "T T T",
               bits([](auto a, auto b, auto) { return a * b; })},
              {"mul.hi.T %d, %a, %b;", narrow, "T T T",
               ints_of_width([](int w, Int a, Int b, Int) { return (a * b) >> w; })},
              {"mul.hi.u64 %d, %a, %b;", "u64", "T T T",
               bits([](auto a, auto b, auto) { return std::uint64_t(U(a) * b >> 64); })},
              {"mul.wide.T %d, %a, %b;", "s16 u16 s32 u32", "W T T",
               ints([](Int a, Int b, Int) { return a * b; })},
              {"mad.lo.T %d, %a, %b, %c;", narrow, "T T T T",
               ints([](Int a, Int b, Int c) { return a * b + c; })},
              {"mad.lo.u64 %d, %a, %b, %c;", "u64", "T T T T",
               bits([](auto a, auto b, auto c) { return a * b + c; })},
              {"mad.hi.T %d, %a, %b, %c;", "s16 u16 s32 u32 s64", "T T T T",
               ints_of_width([](int w, Int a, Int b, Int c) { return (a * b >> w) + c; })},
              {"mad.wide.T %d, %a, %b, %c;", "s16 u16 s32 u32", "W T T W",
               ints([](Int a, Int b, Int c) { return a * b + c; })},
          });
}

TEST_P(IntegerInstructions, WithImmediates) {
    check(device(),
          {
              {"add.s32 %d, %a, -5;", "s32", "T T", ints([](Int a, Int, Int) { return a - 5; })},
              {"add.s64 %d, %a, -4294967296;", "s64", "T T",
               ints([](Int a, Int, Int) { return a - (Int(1) << 32); })},
              {"add.s16 %d, %a, -3;", "s16", "T T", ints([](Int a, Int, Int) { return a - 3; })},
              {"sub.s32 %d, 7, %a;", "s32", "T T", ints([](Int a, Int, Int) { return 7 - a; })},
              {"mul.lo.s32 %d, %a, -2147483648;", "s32", "T T",
               ints([](Int a, Int, Int) { return a << 31; })},
              {"mul.wide.s32 %d, %a, -16;", "s32", "W T",
               ints([](Int a, Int, Int) { return a * -16; })},
              {"mul.wide.u32 %d, %a, 4294967295;", "u32", "W T",
               ints([](Int a, Int, Int) { return a * 0xffffffffu; })},
              {"mad.lo.s32 %d, %a, 3, 0x7fffffff;", "s32", "T T",
               ints([](Int a, Int, Int) { return a * 3 + 0x7fffffff; })},
              {"min.u32 %d, %a, 2147483648;", "u32", "T T",
               ints([](Int a, Int, Int) { return std::min(a, Int(1) << 31); })},
              {"max.s32 %d, %a, -1;", "s32", "T T",
               ints([](Int a, Int, Int) { return std::max(a, Int(-1)); })},
              {"rem.u32 %d, %a, 10;", "u32", "T T", ints([](Int a, Int, Int) { return a % 10; })},
              {"div.s32 %d, %a, -7;", "s32", "T T", ints([](Int a, Int, Int) { return a / -7; })},
          });
}

TEST_P(IntegerInstructions, DivideAndRemainder) {
    check(device(),
          {
              {"div.T %d, %a, %b;", every, "T T T",
               ints_of_width([](int w, Int a, Int b, Int) { return quotient(w, a, b); })},
              {"rem.T %d, %a, %b;", every, "T T T",
               ints_of_width([](int w, Int a, Int b, Int) { return remainder(w, a, b); })},
          });
}

TEST_P(IntegerInstructions, SignsAndExtremes) {
    check(device(),
          {
              {"neg.T %d, %a;", "s16 s32 s64", "T T", ints([](Int a, Int, Int) { return -a; })},
              {"abs.T %d, %a;", "s16 s32 s64", "T T",
               ints([](Int a, Int, Int) { return magnitude(a); })},
              {"min.T %d, %a, %b;", every, "T T T",
               ints([](Int a, Int b, Int) { return std::min(a, b); })},
              {"max.T %d, %a, %b;", every, "T T T",
               ints([](Int a, Int b, Int) { return std::max(a, b); })},
          });
}

TEST_P(IntegerInstructions, Logic) {
    check(device(),
          {
              {"and.T %d, %a, %b;", "b16 b32 b64", "T T T",
               bits([](auto a, auto b, auto) { return a & b; })},
              {"or.T %d, %a, %b;", "b16 b32 b64", "T T T",
               bits([](auto a, auto b, auto) { return a | b; })},
              {"xor.T %d, %a, %b;", "b16 b32 b64", "T T T",
               bits([](auto a, auto b, auto) { return a ^ b; })},
              {"not.T %d, %a;", "b16 b32 b64", "T T", bits([](auto a, auto, auto) { return ~a; })},
              {"and.b32 %d, %a, -16;", "b32", "T T",
               bits([](auto a, auto, auto) { return a & 0xfffffff0; })},
              {"xor.b16 %d, %a, 0x8000;", "b16", "T T",
               bits([](auto a, auto, auto) { return a ^ 0x8000; })},
          });
}

TEST_P(IntegerInstructions, LogicOnPredicates) {
    const std::string load = "setp.lt.s32 %p, %a, 0; setp.ne.s32 %q, %b, 0; ";
    const std::string store = " selp.b32 %d, 1, 0, %p;";
    check(
        device(),
        {
            {load + "and.pred %p, %p, %q;" + store, "s32", "T T T",
             ints([](Int a, Int b, Int) { return a < 0 && b != 0; })},
            {load + "or.pred %p, %p, %q;" + store, "s32", "T T T",
             ints([](Int a, Int b, Int) { return a < 0 || b != 0; })},
            {load + "xor.pred %p, %p, %q;" + store, "s32", "T T T",
             ints([](Int a, Int b, Int) { return (a < 0) != (b != 0); })},
            {load + "not.pred %p, %q;" + store, "s32", "T T T",
             ints([](Int, Int b, Int) { return b == 0; })},
            {load + "mov.pred %p, %q;" + store, "s32", "T T T",
             ints([](Int, Int b, Int) { return b != 0; })},
            {"mov.pred %p, 1;" + store, "s32", "T T", ints([](Int, Int, Int) { return 1; })},
            {"mov.pred %p, 0;" + store, "s32", "T T", ints([](Int, Int, Int) { return 0; })},
            {load + "@%p mov.b32 %d, 1; @!%p mov.b32 %d, 2; @%q add.s32 %d, %d, 10;", "s32",
             "T T T", ints([](Int a, Int b, Int) { return (a < 0 ? 1 : 2) + (b != 0 ? 10 : 0); })},
        });
}

// PTX clamps shift counts to the width (unlike C): PTX ISA, "Logic and Shift Instructions: shl".
std::uint64_t shifted_left(int w, std::uint64_t a, Int count) {
    return count < w ? a << count : 0;
}
Int shifted_right(int w, Int a, Int count) {
    return a >> std::min(count, Int(w - 1 + (a >= 0)));
}

TEST_P(IntegerInstructions, ShiftsClampTheirCount) {
    check(device(),
          {
              {"shl.T %d, %a, %b;", "b16 b32 b64", "T T u32",
               ints_of_width([](int w, Int a, Int b, Int) {
                   return Int(shifted_left(w, std::uint64_t(a), b));
               })},
              {"shr.T %d, %a, %b;", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "T T u32",
               ints_of_width([](int w, Int a, Int b, Int) { return shifted_right(w, a, b); })},
              {"shl.b32 %d, %a, 31;", "b32", "T T", bits([](auto a, auto...) { return a << 31; })},
              {"shl.b32 %d, %a, 32;", "b32", "T T", bits([](auto...) { return std::uint64_t(0); })},
              {"shl.b64 %d, %a, 40;", "b64", "T T", bits([](auto a, auto...) { return a << 40; })},
              {"shr.s32 %d, %a, 40;", "s32", "T T",
               ints([](Int a, Int, Int) { return a < 0 ? -1 : 0; })},
              {"shr.u64 %d, %a, 63;", "u64", "T T", bits([](auto a, auto...) { return a >> 63; })},
              {"shr.u16 %d, %a, 15;", "u16", "T T", bits([](auto a, auto...) { return a >> 15; })},
          });
}

// PTX ISA, "Logic and Shift Instructions: shf": {b, a} is one 64-bit number.
TEST_P(IntegerInstructions, FunnelShifts) {
    const auto joined = [](std::uint64_t a, std::uint64_t b) { return b << 32 | a; };
    const auto left = [joined](std::uint64_t a, std::uint64_t b, std::uint64_t n) {
        return n == 0 ? b : joined(a, b) >> (32 - n);
    };
    const auto right = [joined](std::uint64_t a, std::uint64_t b, std::uint64_t n) {
        return joined(a, b) >> n;
    };
    const auto least = [](std::uint64_t c) { return std::min<std::uint64_t>(c, 32); };
    const char* types = "b32 u32 u32 u32";
    check(device(), {
                        {"shf.l.wrap.T %d, %a, %b, %c;", "b32", types,
                         bits([=](auto a, auto b, auto c) { return left(a, b, c & 31); })},
                        {"shf.l.clamp.T %d, %a, %b, %c;", "b32", types,
                         bits([=](auto a, auto b, auto c) { return left(a, b, least(c)); })},
                        {"shf.r.wrap.T %d, %a, %b, %c;", "b32", types,
                         bits([=](auto a, auto b, auto c) { return right(a, b, c & 31); })},
                        {"shf.r.clamp.T %d, %a, %b, %c;", "b32", types,
                         bits([=](auto a, auto b, auto c) { return right(a, b, least(c)); })},
                    });
}

// Bit by bit, as the ISA's own pseudocode for bfe and bfi has it.
Int extracted(bool sign, int w, Int a, Int b, Int c) {
    const int pos = int(b & 255), len = int(c & 255), msb = w - 1;
    const auto bit = [&](int i) { return int(U(a) >> i & 1); };
    const int fill = sign && len != 0 ? bit(std::min(pos + len - 1, msb)) : 0;
    U d = 0;
    for (int i = 0; i < w; ++i) d |= U(i < len && pos + i <= msb ? bit(pos + i) : fill) << i;
    return Int(d);
}

std::uint64_t inserted(int w, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const int pos = int(c & 255), len = int(c >> 8 & 255);
    std::uint64_t f = b;
    for (int i = 0; i < len && pos + i < w; ++i) {
        const std::uint64_t mask = std::uint64_t(1) << (pos + i);
        f = (f & ~mask) | (a >> i & 1 ? mask : 0);
    }
    return f;
}

// Position and length are "restricted to 0 .. 255" (PTX ISA, "bfe"): beyond, GPUs differ.
TEST_P(IntegerInstructions, BitFieldExtraction) {
    const std::string of_parts =
        "and.b32 %r0, %b, 255; and.b32 %r1, %c, 255; bfe.T %d, %a, %r0, %r1;";
    check(device(),
          {
              {of_parts, "u32 u64", "T T u32 u32", ints_of_width([](int w, Int a, Int b, Int c) {
                   return extracted(false, w, a, b, c);
               })},
              {of_parts, "s32 s64", "T T u32 u32", ints_of_width([](int w, Int a, Int b, Int c) {
                   return extracted(true, w, a, b, c);
               })},
          });
}

TEST_P(IntegerInstructions, BitFieldInsertion) {
    const std::string of_parts =
        "and.b32 %r0, %c, 255; shr.u32 %r1, %c, 8; and.b32 %r1, %r1, 255; "
        "bfi.T %d, %a, %b, %r0, %r1;";
    check(device(), {
                        {of_parts, "b32", "T T T u32",
                         bits([](auto a, auto b, auto c) { return inserted(32, a, b, c); })},
                        {of_parts, "b64", "T T T u32",
                         bits([](auto a, auto b, auto c) { return inserted(64, a, b, c); })},
                        {"bfi.b64 %d, %a, %b, 32, 32;", "b64", "T T T",
                         bits([](auto a, auto b, auto) { return a << 32 | (b & 0xffffffff); })},
                        {"bfi.b32 %d, %a, %b, 31, 5;", "b32", "T T T",
                         bits([](auto a, auto b, auto) { return (b & 0x7fffffff) | a << 31; })},
                        {"bfi.b32 %d, %a, %b, 4, 0;", "b32", "T T T",
                         bits([](auto, auto b, auto) { return b; })},
                    });
}

std::uint64_t leading_zeros(int w, std::uint64_t a) {
    std::uint64_t n = 0;
    while (n < std::uint64_t(w) && !(a >> (w - 1 - int(n)) & 1)) ++n;
    return n;
}

std::uint64_t ones(std::uint64_t a) {
    std::uint64_t n = 0;
    for (; a; a &= a - 1) ++n;
    return n;
}

std::uint64_t reversed(int w, std::uint64_t a) {
    std::uint64_t r = 0;
    for (int i = 0; i < w; ++i) r |= (a >> i & 1) << (w - 1 - i);
    return r;
}

// Position of the highest bit that differs from the sign; all ones where there is none.
std::optional<Int> highest(int w, Int a, bool as_shift) {
    const std::uint64_t value = std::uint64_t(a < 0 ? ~a : a);
    const std::uint64_t zeros = leading_zeros(w, value);
    if (zeros == std::uint64_t(w)) return 0xffffffff;
    return as_shift ? Int(zeros) : Int(w - 1 - int(zeros));
}

TEST_P(IntegerInstructions, BitCounts) {
    check(device(),
          {
              {"popc.T %d, %a;", "b32 b64", "u32 T", bits([](auto a, auto...) { return ones(a); })},
              {"clz.T %d, %a;", "b32 b64", "u32 T", ints_of_width([](int w, Int a, Int, Int) {
                   return Int(leading_zeros(w, std::uint64_t(a)));
               })},
              {"brev.T %d, %a;", "b32 b64", "T T", ints_of_width([](int w, Int a, Int, Int) {
                   return Int(reversed(w, std::uint64_t(a)));
               })},
              {"bfind.T %d, %a;", "u32 s32 u64 s64", "u32 T",
               ints_of_width([](int w, Int a, Int, Int) { return highest(w, a, false); })},
              {"bfind.shiftamt.T %d, %a;", "u32 s32 u64 s64", "u32 T",
               ints_of_width([](int w, Int a, Int, Int) { return highest(w, a, true); })},
          });
}

// PTX ISA, "Logic and Shift Instructions: lop3": the table is f(0xF0, 0xCC, 0xAA).
TEST_P(IntegerInstructions, ThreeInputLogic) {
    check(device(), {
                        {"lop3.b32 %d, %a, %b, %c, 0x80;", "b32", "T T T T",
                         bits([](auto a, auto b, auto c) { return a & b & c; })},
                        {"lop3.b32 %d, %a, %b, %c, 0xfe;", "b32", "T T T T",
                         bits([](auto a, auto b, auto c) { return a | b | c; })},
                        {"lop3.b32 %d, %a, %b, %c, 0x96;", "b32", "T T T T",
                         bits([](auto a, auto b, auto c) { return a ^ b ^ c; })},
                        {"lop3.b32 %d, %a, %b, %c, 0xca;", "b32", "T T T T",
                         bits([](auto a, auto b, auto c) { return (a & b) | (~a & c); })},
                        {"lop3.b32 %d, %a, %b, %c, 0x1a;", "b32", "T T T T",
                         bits([](auto a, auto b, auto c) { return ((a & b) | c) ^ a; })},
                        {"lop3.b32 %d, %a, %b, %c, 0x40;", "b32", "T T T T",
                         bits([](auto a, auto b, auto c) { return a & b & ~c; })},
                        {"lop3.b32 %d, %a, %b, %c, 0;", "b32", "T T T T",
                         bits([](auto...) { return std::uint64_t(0); })},
                    });
}

unsigned byte_of(std::uint64_t a, std::uint64_t b, unsigned index) {
    return unsigned((b << 32 | a) >> (8 * (index & 7)) & 255);
}

// Each nibble picks a byte; its top bit spreads that byte's sign.
std::uint64_t permuted(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t d = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned select = unsigned(c >> (4 * i) & 15);
        unsigned value = byte_of(a, b, select);
        if (select & 8) value = value & 128 ? 255 : 0;
        d |= std::uint64_t(value) << (8 * i);
    }
    return d;
}

std::uint64_t bytes(std::uint64_t a, std::uint64_t b, unsigned i0, unsigned i1, unsigned i2,
                    unsigned i3) {
    return byte_of(a, b, i0) | std::uint64_t(byte_of(a, b, i1)) << 8 |
           std::uint64_t(byte_of(a, b, i2)) << 16 | std::uint64_t(byte_of(a, b, i3)) << 24;
}

TEST_P(IntegerInstructions, BytePermutation) {
    const auto max = [](unsigned a, unsigned b) { return std::max(a, b); };
    const auto min = [](unsigned a, unsigned b) { return std::min(a, b); };
    const char* types = "b32 b32 b32 b32";
    check(device(),
          {
              {"prmt.b32 %d, %a, %b, %c;", "b32", types, bits(permuted)},
              {"prmt.b32 %d, %a, %b, 0x7531;", "b32", "b32 b32 b32",
               bits([](auto a, auto b, auto) { return bytes(a, b, 1, 3, 5, 7); })},
              {"prmt.b32 %d, %a, %b, 0x8ba0;", "b32", "b32 b32 b32",
               bits([](auto a, auto b, auto) { return permuted(a, b, 0x8ba0); })},
              {"prmt.b32.f4e %d, %a, %b, %c;", "b32", types, bits([](auto a, auto b, auto c) {
                   const unsigned s = c & 3;
                   return bytes(a, b, s, s + 1, s + 2, s + 3);
               })},
              {"prmt.b32.b4e %d, %a, %b, %c;", "b32", types, bits([](auto a, auto b, auto c) {
                   const unsigned s = c & 3;
                   return bytes(a, b, s, s + 7, s + 6, s + 5);
               })},
              {"prmt.b32.rc8 %d, %a, %b, %c;", "b32", types, bits([](auto a, auto b, auto c) {
                   const unsigned s = c & 3;
                   return bytes(a, b, s, s, s, s);
               })},
              {"prmt.b32.ecl %d, %a, %b, %c;", "b32", types, bits([=](auto a, auto b, auto c) {
                   const unsigned s = c & 3;
                   return bytes(a, b, s, max(s, 1), max(s, 2), 3);
               })},
              {"prmt.b32.ecr %d, %a, %b, %c;", "b32", types, bits([=](auto a, auto b, auto c) {
                   const unsigned s = c & 3;
                   return bytes(a, b, 0, min(s, 1), min(s, 2), s);
               })},
              {"prmt.b32.rc16 %d, %a, %b, %c;", "b32", types, bits([](auto a, auto b, auto c) {
                   const unsigned s = c & 1 ? 2 : 0;
                   return bytes(a, b, s, s + 1, s, s + 1);
               })},
          });
}

TEST_P(IntegerInstructions, SaturationAndDifferences) {
    const auto clamp = [](Int v) {
        return std::min(std::max(v, -(Int(1) << 31)), (Int(1) << 31) - 1);
    };
    check(device(), {
                        {"add.sat.s32 %d, %a, %b;", "s32", "T T T",
                         ints([=](Int a, Int b, Int) { return clamp(a + b); })},
                        {"sub.sat.s32 %d, %a, %b;", "s32", "T T T",
                         ints([=](Int a, Int b, Int) { return clamp(a - b); })},
                        {"sad.T %d, %a, %b, %c;", every, "T T T T",
                         ints([](Int a, Int b, Int c) { return c + magnitude(a - b); })},
                    });
}

TEST_P(IntegerInstructions, Moves) {
    const auto low = [](int w) { return (std::uint64_t(1) << w) - 1; };
    check(device(),
          {
              {"mov.T %d, %a;", "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64", "T T",
               bits([](auto a, auto...) { return a; })},
              {"mov.u32 %d, -2;", "u32", "T T", bits([](auto...) { return std::uint64_t(-2); })},
              {"mov.u64 %d, -2;", "u64", "T T", bits([](auto...) { return std::uint64_t(-2); })},
              {"mov.u16 %d, 65535;", "u16", "T T",
               bits([](auto...) { return std::uint64_t(65535); })},
              {"mov.f32 %d, 0fC0490FDB;", "b32", "T T",
               bits([](auto...) { return std::uint64_t(0xc0490fdb); })},
              {"mov.f64 %d, 0d400921FB54442D18;", "b64", "T T",
               bits([](auto...) { return std::uint64_t(0x400921fb54442d18); })},
              {"mov.b64 %d, {%a, %b};", "b64", "b64 b32 b32",
               bits([](auto a, auto b, auto) { return b << 32 | a; })},
              {"mov.b32 %d, {%a, %b};", "b32", "b32 b16 b16",
               bits([](auto a, auto b, auto) { return b << 16 | a; })},
              {"mov.b64 {%r0, %d}, %a;", "b64", "b32 b64",
               bits([](auto a, auto...) { return a >> 32; })},
              {"mov.b64 {%d, %r0}, %a;", "b64", "b32 b64",
               bits([=](auto a, auto...) { return a & low(32); })},
              {"mov.b32 {%h0, %d}, %a;", "b32", "b16 b32",
               bits([](auto a, auto...) { return a >> 16; })},
              {"mov.b32 {%d, %h0}, %a;", "b32", "b16 b32",
               bits([=](auto a, auto...) { return a & low(16); })},
              {"mov.b64 {%r0, %r1}, %a; mov.b64 %d, {%r1, %r0};", "b64", "b64 b64",
               bits([](auto a, auto...) { return a << 32 | a >> 32; })},
          });
}

}  // namespace
}  // namespace warpscope::tests
