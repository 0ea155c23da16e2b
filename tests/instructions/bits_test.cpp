#include "instructions/form.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class BitInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(BitInstructions);

__extension__ typedef unsigned __int128 U;

// Bit by bit, as in the PTX ISA's pseudocode of bfe and bfi.
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

// Position and length are "restricted to 0 .. 255" (PTX ISA, "bfe"); GPUs differ beyond.
TEST_P(BitInstructions, BitFieldExtraction) {
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

TEST_P(BitInstructions, BitFieldInsertion) {
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

TEST_P(BitInstructions, BitCounts) {
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
TEST_P(BitInstructions, ThreeInputLogic) {
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

TEST_P(BitInstructions, BytePermutation) {
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

}  // namespace
}  // namespace warpscope::tests
