#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"

namespace warpscope::tests {

__extension__ typedef __int128 Int;

/// The bits of an instruction's result, from the bits of its operands. No value where the PTX ISA
/// does not define the result, as for a division by zero: the instruction then only has to end.
using Reference =
    std::function<std::optional<std::uint64_t>(std::uint64_t a, std::uint64_t b, std::uint64_t c)>;

/// A row of a table: an instruction with every type of a list.
struct Form {
    /// PTX that reads %a, %b, %c and writes %d; may use %p, %q, %h0, %h1, %r0, %r1, %l0, %l1.
    /// T stands for each of `types` in turn (as a word or after a dot).
    std::string ptx;
    std::string types;
    /// Types of %d, %a, %b and %c, as many as the instruction has. T as above; W is twice as wide.
    std::string signature;
    /// Makes the reference from the types of d, a, b, c.
    std::function<Reference(const std::vector<std::string>& types)> reference;
    /// For floating-point results: the largest permitted distance from the reference (the bits of
    /// a double). Without it, results must be equal; all NaNs count as equal.
    std::function<double(double expected, double a)> tolerance = nullptr;
};

/// References in 128-bit integers: operands are read by their types, the result is cut to the width
/// of %d.
std::function<Reference(const std::vector<std::string>&)> ints(
    std::function<std::optional<Int>(Int a, Int b, Int c)> f);
/// References like those of ints(), for results that depend on the operands' width.
std::function<Reference(const std::vector<std::string>&)> ints_of_width(
    std::function<std::optional<Int>(int bits, Int a, Int b, Int c)> f);
/// References in double; the result is rounded once, to the type of %d. Exact for a single + - * /
/// or square root of floats (Figueroa 1995: a double has more than 2p + 2 bits for p bits of a
/// float).
std::function<Reference(const std::vector<std::string>&)> reals(
    std::function<double(double a, double b, double c)> f);
/// References like those of reals(), with .ftz: subnormal operands and results become zeros of
/// their sign.
std::function<Reference(const std::vector<std::string>&)> flushed(
    std::function<double(double a, double b, double c)> f);
/// References that compute with the bits.
std::function<Reference(const std::vector<std::string>&)> bits(
    std::function<std::optional<std::uint64_t>(std::uint64_t a, std::uint64_t b, std::uint64_t c)>
        f);
/// The exact value as the bits of a double, for rows with a tolerance.
std::function<Reference(const std::vector<std::string>&)> close_to(
    std::function<double(double a, double b)> f);

/// Runs every type of every row: with uniform and vector operands in each combination, under a
/// divergent branch, and with a guard. Compiled kernels: two of these, unless the tests are long.
void check(compute::Device& device, const std::vector<Form>& table,
           std::string_view target = "sm_75");
/// Whether a device executes PTX for a compute capability, such as 80. The emulator executes all.
bool executes(const compute::Device& device, int capability);

/// Operands a, b, c of one lane, as bits.
/// Integer types, as Form::types has them.
constexpr const char* integer_types = "s16 u16 s32 u32 s64 u64";

using Row = std::array<std::uint64_t, 3>;

/// A row of a table of instructions that the lanes of a warp execute together. %d has 32 bits.
struct WarpForm {
    std::string ptx;
    std::string signature;  // types of %d, %a, %b, %c
    /// `warp` holds the operands of all 32 lanes.
    std::function<std::uint64_t(unsigned lane, std::span<const Row> warp)> reference;
    /// Only every third lane, from lane 1 on, executes the instruction.
    bool every_third_lane = false;
};

/// The member mask of `every_third_lane`.
constexpr std::uint32_t third_lanes = 0x92492492;

void check_warps(compute::Device& device, const std::vector<WarpForm>& table,
                 std::string_view target = "sm_75");

/// Records the instructions that a test runs in its report, which coverage_test.py reads. Returns
/// whether the test is to end there.
bool record_forms(const std::string& ptx);

int width(std::string_view type);
double as_real(std::string_view type, std::uint64_t bits);
/// A PTX file of this folder, which is embedded in the test program. Empty for an unknown name.
std::string_view ptx_file(std::string_view name);

}  // namespace warpscope::tests
