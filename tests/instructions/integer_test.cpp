#include "instructions/form.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

class IntegerInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(IntegerInstructions);

__extension__ typedef unsigned __int128 U;
using std::nullopt;

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
              {"add.T %d, %a, %b;", integer_types, "T T T",
               ints([](Int a, Int b, Int) { return a + b; })},
              {"sub.T %d, %a, %b;", integer_types, "T T T",
               ints([](Int a, Int b, Int) { return a - b; })},
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
              {"div.T %d, %a, %b;", integer_types, "T T T",
               ints_of_width([](int w, Int a, Int b, Int) { return quotient(w, a, b); })},
              {"rem.T %d, %a, %b;", integer_types, "T T T",
               ints_of_width([](int w, Int a, Int b, Int) { return remainder(w, a, b); })},
          });
}

TEST_P(IntegerInstructions, SignsAndExtremes) {
    check(device(),
          {
              {"neg.T %d, %a;", "s16 s32 s64", "T T", ints([](Int a, Int, Int) { return -a; })},
              {"abs.T %d, %a;", "s16 s32 s64", "T T",
               ints([](Int a, Int, Int) { return magnitude(a); })},
              {"min.T %d, %a, %b;", integer_types, "T T T",
               ints([](Int a, Int b, Int) { return std::min(a, b); })},
              {"max.T %d, %a, %b;", integer_types, "T T T",
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

TEST_P(IntegerInstructions, SaturationAndDifferences) {
    const auto clamp = [](Int v) {
        return std::min(std::max(v, -(Int(1) << 31)), (Int(1) << 31) - 1);
    };
    check(device(), {
                        {"add.sat.s32 %d, %a, %b;", "s32", "T T T",
                         ints([=](Int a, Int b, Int) { return clamp(a + b); })},
                        {"sub.sat.s32 %d, %a, %b;", "s32", "T T T",
                         ints([=](Int a, Int b, Int) { return clamp(a - b); })},
                        {"sad.T %d, %a, %b, %c;", integer_types, "T T T T",
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
