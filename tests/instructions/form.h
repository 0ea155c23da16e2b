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

/// What an instruction makes of its operands, as bits; nothing where the PTX ISA leaves it open
/// (a division by zero): the instruction then only has to end.
using Reference =
    std::function<std::optional<std::uint64_t>(std::uint64_t a, std::uint64_t b, std::uint64_t c)>;

/// A row of a table: an instruction in every type of a list.
struct Form {
    /// PTX that reads %a, %b, %c and writes %d; may use %p, %q, %h0, %h1, %r0, %r1, %l0, %l1.
    /// T stands for each of `types` in turn (as a word or after a dot).
    std::string ptx;
    std::string types;
    /// Types of %d, %a, %b, %c, as far as there are any; T as above, W of twice its width.
    std::string signature;
    /// Makes the reference from the types of d, a, b, c.
    std::function<Reference(const std::vector<std::string>& types)> reference;
    /// For floating-point results: how far from the reference (a double's bits) is right.
    /// Absent: exact, where every NaN is the same.
    std::function<double(double expected, double a)> tolerance = nullptr;
};

/// References in wide integers: operands as their types say, the result cut to %d's width.
std::function<Reference(const std::vector<std::string>&)> ints(
    std::function<std::optional<Int>(Int a, Int b, Int c)> f);
/// The same where the result depends on the operands' width.
std::function<Reference(const std::vector<std::string>&)> ints_of_width(
    std::function<std::optional<Int>(int bits, Int a, Int b, Int c)> f);
/// References in double; the result is rounded once, to %d's type. Exact for one + - * / or square
/// root of floats (Figueroa 1995: a double has more than twice a float's digits, plus two).
std::function<Reference(const std::vector<std::string>&)> reals(
    std::function<double(double a, double b, double c)> f);
/// The same with subnormal operands and results made zeros of their sign (.ftz).
std::function<Reference(const std::vector<std::string>&)> flushed(
    std::function<double(double a, double b, double c)> f);
/// References on the bits themselves.
std::function<Reference(const std::vector<std::string>&)> bits(
    std::function<std::optional<std::uint64_t>(std::uint64_t a, std::uint64_t b, std::uint64_t c)>
        f);
/// The exact value, as a double's bits: for rows with a tolerance.
std::function<Reference(const std::vector<std::string>&)> close_to(
    std::function<double(double a, double b)> f);

/// Runs every type of every row: operands that differ from lane to lane or not, in each
/// combination; under a branch that some lanes take; guarded by a predicate.
void check(compute::Device& device, const std::vector<Form>& table);

/// Operands a, b, c of one lane, as bits.
using Row = std::array<std::uint64_t, 3>;

/// A row of a table of instructions that lanes of a warp do together; %d has 32 bits.
struct WarpForm {
    std::string ptx;
    std::string signature;  // types of %d, %a, %b, %c
    /// `warp` holds the operands of all 32 lanes.
    std::function<std::uint64_t(unsigned lane, std::span<const Row> warp)> reference;
    /// With it only every third lane, from lane 1, runs the instruction.
    bool every_third_lane = false;
};

/// Lanes that take part under `every_third_lane`, as a member mask.
constexpr std::uint32_t third_lanes = 0x92492492;

void check_warps(compute::Device& device, const std::vector<WarpForm>& table,
                 std::string_view target = "sm_75");

/// Puts the instructions that a test runs into its report, where coverage_test.py finds them.
void record_forms(const std::string& ptx);

int width(std::string_view type);
double as_real(std::string_view type, std::uint64_t bits);
/// A PTX file of this folder, as built in; empty for an unknown name.
std::string_view ptx_file(std::string_view name);

}  // namespace warpscope::tests
