#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <random>

#include "instructions/form.h"
#include "instructions/half_reference.h"
#include "support/devices.h"

namespace warpscope::tests {
namespace {

using compute::Buffer;
using compute::DevicePointer;
using Word32 = std::uint32_t;
constexpr unsigned lanes = 32;

class MatrixInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(MatrixInstructions);

/// Instructions of one warp. Before them each lane has its words of the input in %i0, %i1 and so
/// on, of `bits` bits; behind them it stores %o0, %o1 and so on. 1 KiB of shared memory is at
/// `cells`.
struct WarpProgram {
    std::string ptx;
    unsigned inputs = 1, outputs = 1;
    int capability = 75;
    unsigned bits = 32;
};

std::string text_of(const WarpProgram& p) {
    const unsigned bytes = p.bits / 8;
    std::string text = fmt::format(
        ".version 8.0\n.target sm_{}\n.address_size 64\n"
        ".visible .entry run(.param .u64 in, .param .u64 out) {{\n"
        ".shared .align 16 .b8 cells[1024];\n"
        ".reg .b{}  %i<{}>, %o<{}>;\n"
        ".reg .pred %p;\n.reg .b16 %h<4>;\n.reg .b32 %lane, %base, %r<8>;\n.reg .b64 %in, %out;\n"
        "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
        "cvta.to.global.u64 %in, %in;\ncvta.to.global.u64 %out, %out;\n"
        "mov.u32 %lane, %tid.x;\nmov.u32 %base, cells;\n"
        "mad.wide.u32 %in, %lane, {}, %in;\nmad.wide.u32 %out, %lane, {}, %out;\n",
        p.capability, p.bits, p.inputs + 1, p.outputs + 1, bytes * p.inputs, bytes * p.outputs);
    for (unsigned k = 0; k < p.inputs; ++k)
        text += fmt::format("ld.global.b{} %i{}, [%in+{}];\n", p.bits, k, k * bytes);
    text += p.ptx + "\n";
    for (unsigned k = 0; k < p.outputs; ++k)
        text += fmt::format("st.global.b{} [%out+{}], %o{};\n", p.bits, k * bytes, k);
    return text + "ret;\n}\n";
}

/// What each lane has stored: the words of lane 0, those of lane 1 and so on.
template <class T>
std::vector<T> run(compute::Device& device, const WarpProgram& p, const std::vector<T>& inputs) {
    const Buffer<T> in(device, inputs);
    Buffer<T> out(device, lanes * p.outputs);
    out.fill(0);
    const auto kernel =
        device.kernel_from_ptx<DevicePointer<T>, DevicePointer<T>>(text_of(p), "run");
    device.launch(kernel, {{1, 1, 1}, {lanes, 1, 1}}, {}, in.pointer(), out.pointer());
    return out.download();
}

/// "{%i4, %i5}": registers from `first` on.
std::string registers(char letter, unsigned first, unsigned count) {
    std::string list;
    for (unsigned k = 0; k < count; ++k)
        list += fmt::format("{}%{}{}", k ? ", " : "", letter, first + k);
    return "{" + list + "}";
}

std::vector<Word32> random_words(unsigned count) {
    std::mt19937 random(count);
    std::vector<Word32> words(count);
    for (Word32& w : words) w = Word32(random());
    return words;
}

/// The PTX ISA, "ldmatrix": lane l has elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each
/// matrix; with .trans, of column l / 4. Row r of matrix m begins where lane 8 m + r says.
Word32 element_pair(unsigned lane, bool transposed,
                    const std::function<Word32(unsigned, unsigned)>& element) {
    const unsigned first = lane / 4, second = lane % 4 * 2;
    return transposed ? element(second, first) | element(second + 1, first) << 16
                      : element(first, second) | element(first, second + 1) << 16;
}

/// Each lane has stored four words at 16 times its number, and gives the address of the row of lane
/// 5 l % 32.
TEST_P(MatrixInstructions, LoadMatrices) {
    for (const unsigned count : {1u, 2u, 4u})
        for (const bool transposed : {false, true}) {
            const std::string form = fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16",
                                                 count, transposed ? ".trans" : "");
            const WarpProgram program{
                "shl.b32 %r0, %lane, 4; add.u32 %r0, %r0, %base;\n"
                "st.shared.v4.b32 [%r0], {%i0, %i1, %i2, %i3};\nbar.sync 0;\n"
                "mul.lo.u32 %r1, %lane, 80; and.b32 %r1, %r1, 511; add.u32 %r1, %r1, %base;\n" +
                    form + " " + registers('o', 0, count) + ", [%r1];",
                4, count};
            if (record_forms(program.ptx)) continue;
            const std::vector<Word32> words = random_words(4 * lanes);
            const std::vector<Word32> got = run(device(), program, words);
            for (unsigned lane = 0; lane < lanes; ++lane)
                for (unsigned m = 0; m < count; ++m) {
                    const auto element = [&](unsigned row, unsigned column) -> Word32 {
                        const unsigned from = (8 * m + row) * 5 % lanes;
                        return words[from * 4 + column / 2] >> column % 2 * 16 & 0xffff;
                    };
                    EXPECT_EQ(got[lane * count + m], element_pair(lane, transposed, element))
                        << form << ", lane " << lane << ", matrix " << m;
                }
        }
}

/// Rows that are stored to the place of lane 5 l % 32 and loaded from there by ordinary loads.
TEST_P(MatrixInstructions, StoreMatrices) {
    if (!executes(device(), 90)) GTEST_SKIP() << "stmatrix needs sm_90";
    for (const unsigned count : {1u, 2u, 4u})
        for (const bool transposed : {false, true}) {
            const std::string form = fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16",
                                                 count, transposed ? ".trans" : "");
            const WarpProgram program{
                "shl.b32 %r0, %lane, 4; add.u32 %r0, %r0, %base;\n"
                "st.shared.v4.b32 [%r0], {%i0, %i0, %i0, %i0};\nbar.sync 0;\n"
                "mul.lo.u32 %r1, %lane, 80; and.b32 %r1, %r1, 511; add.u32 %r1, %r1, %base;\n" +
                    form + " [%r1], " + registers('i', 0, count) +
                    ";\nbar.sync 0;\nld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%r0];",
                4, 4, 90};
            if (record_forms(program.ptx)) continue;
            const std::vector<Word32> words = random_words(4 * lanes);
            const std::vector<Word32> got = run(device(), program, words);
            std::vector<Word32> expected;
            for (unsigned lane = 0; lane < lanes; ++lane)
                for (unsigned k = 0; k < 4; ++k) expected.push_back(words[lane * 4]);
            for (unsigned m = 0; m < count; ++m)
                for (unsigned row = 0; row < 8; ++row)
                    for (unsigned column = 0; column < 8; ++column) {
                        const unsigned holder =
                            transposed ? 4 * column + row / 2 : 4 * row + column / 2;
                        const Word32 value =
                            words[holder * 4 + m] >> (transposed ? row : column) % 2 * 16 & 0xffff;
                        Word32& cell = expected[(8 * m + row) * 5 % lanes * 4 + column / 2];
                        const unsigned shift = column % 2 * 16;
                        cell = (cell & ~(Word32(0xffff) << shift)) | value << shift;
                    }
            EXPECT_EQ(got, expected) << form;
        }
}

TEST_P(MatrixInstructions, MoveMatrix) {
    const WarpProgram program{"movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;"};
    if (record_forms(program.ptx)) return;
    const std::vector<Word32> words = random_words(lanes);
    const std::vector<Word32> got = run(device(), program, words);
    for (unsigned lane = 0; lane < lanes; ++lane)
        EXPECT_EQ(got[lane], element_pair(lane, true, [&](unsigned row, unsigned column) {
                      return words[4 * row + column / 2] >> column % 2 * 16 & 0xffff;
                  }));
}

/// A type of elements: how its values become bits, and back.
struct ElementType {
    std::string name;
    unsigned bits;
    std::function<std::uint64_t(double)> to_bits;
    std::function<double(std::uint64_t)> value;
};

std::uint64_t single_bits(double x) {
    return std::bit_cast<Word32>(float(x));
}
double single_value(std::uint64_t bits) {
    return std::bit_cast<float>(Word32(bits));
}

ElementType element_type(const std::string& name) {
    if (name == "f16") return {name, 16, [](double x) { return half_bits(x); }, half_value};
    if (name == "bf16")
        return {name, 16, [](double x) { return single_bits(x) >> 16; },
                [](std::uint64_t b) { return single_value(b << 16); }};
    if (name == "tf32")
        return {name, 32, [](double x) { return single_bits(x) & 0xffffe000; }, single_value};
    if (name == "f32") return {name, 32, single_bits, single_value};
    if (name == "f64")
        return {name, 64, [](double x) { return std::bit_cast<std::uint64_t>(x); },
                [](std::uint64_t b) { return std::bit_cast<double>(b); }};
    const bool sign = name[0] == 's';
    const auto width = unsigned(tests::width(name));
    return {name, width,
            [width](double x) {
                return std::uint64_t(std::int64_t(x)) & ((std::uint64_t(1) << width) - 1);
            },
            [=](std::uint64_t b) {
                return sign ? double(std::int64_t(b << (64 - width)) >> (64 - width)) : double(b);
            }};
}

struct Place {
    unsigned row, column;
};

/// The PTX ISA, "Matrix fragments for mma": element i of a lane's fragment, with l = %laneid.
Place place_in_a(unsigned m, unsigned bits, unsigned lane, unsigned i) {
    const unsigned in_register = bits >= 32 ? 1 : 32 / bits, r = i / in_register;
    if (m == 8) return {lane / 4, lane % 4 * in_register + i % in_register + 4 * in_register * r};
    const unsigned row = lane / 4 + (r % 2 ? 8 : 0);
    return {row,
            lane % 4 * in_register + i % in_register + (r >= 2 ? 4 * in_register * (r / 2) : 0)};
}
Place place_in_b(unsigned bits, unsigned lane, unsigned i) {
    const unsigned in_register = bits >= 32 ? 1 : 32 / bits;
    return {lane % 4 * in_register + i % in_register + 4 * in_register * (i / in_register),
            lane / 4};
}
Place place_in_c(unsigned lane, unsigned i) {
    return {lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + i % 2};
}

struct Product {
    unsigned m, k;
    std::string a, b, c;
    int capability;
    std::string modifiers{};
};

using Matrix = std::vector<std::vector<double>>;

/// A matrix of values that its type has.
Matrix random_matrix(unsigned rows, unsigned columns, const ElementType& type,
                     const std::function<double()>& value) {
    Matrix matrix(rows, std::vector<double>(columns));
    for (auto& row : matrix)
        for (double& x : row) x = type.value(type.to_bits(value()));
    return matrix;
}

/// Adds a fragment to a lane's registers of `register_bits` bits.
void append(std::vector<std::uint64_t>& into, unsigned count, const ElementType& type,
            const Matrix& matrix, const std::function<Place(unsigned)>& place) {
    const unsigned in_register = type.bits >= 32 ? 1 : 32 / type.bits;
    for (unsigned i = 0; i < count; ++i) {
        if (i % in_register == 0) into.push_back(0);
        const Place at = place(i);
        into.back() |= type.to_bits(matrix[at.row][at.column]) << i % in_register * type.bits;
    }
}

/// Checks d = a b + c: check(row, column, got).
void check_product(compute::Device& device, const Product& p, const Matrix& a, const Matrix& b,
                   const Matrix& c,
                   const std::function<void(unsigned row, unsigned column, double got)>& check) {
    const ElementType type_a = element_type(p.a), type_b = element_type(p.b),
                      type_c = element_type(p.c);
    const unsigned a_elements = p.m * p.k / lanes, b_elements = 8 * p.k / lanes,
                   c_elements = p.m * 8 / lanes;
    const auto count = [](unsigned elements, const ElementType& type) {
        return type.bits >= 32 ? elements : elements * type.bits / 32;
    };
    const unsigned a_count = count(a_elements, type_a), b_count = count(b_elements, type_b),
                   c_count = count(c_elements, type_c), inputs = a_count + b_count + c_count;
    std::vector<std::uint64_t> words;
    for (unsigned lane = 0; lane < lanes; ++lane) {
        append(words, a_elements, type_a, a,
               [&](unsigned i) { return place_in_a(p.m, type_a.bits, lane, i); });
        append(words, b_elements, type_b, b,
               [&](unsigned i) { return place_in_b(type_b.bits, lane, i); });
        append(words, c_elements, type_c, c, [&](unsigned i) { return place_in_c(lane, i); });
    }
    const WarpProgram program{
        fmt::format("mma.sync.aligned.m{}n8k{}.row.col{}.{}.{}.{}.{} {}, {}, {}, {};", p.m, p.k,
                    p.modifiers, p.c, p.a, p.b, p.c, registers('o', 0, c_count),
                    registers('i', 0, a_count), registers('i', a_count, b_count),
                    registers('i', a_count + b_count, c_count)),
        inputs, c_count, p.capability, std::max(32u, type_a.bits)};
    if (record_forms(program.ptx)) return;
    SCOPED_TRACE(program.ptx);
    std::vector<std::uint64_t> got;
    if (program.bits == 64) {
        got = run(device, program, words);
    } else {
        const std::vector<Word32> narrow =
            run(device, program, std::vector<Word32>(words.begin(), words.end()));
        got.assign(narrow.begin(), narrow.end());
    }
    const unsigned in_register = type_c.bits >= 32 ? 1 : 32 / type_c.bits;
    for (unsigned lane = 0; lane < lanes; ++lane)
        for (unsigned i = 0; i < c_elements; ++i) {
            const Place at = place_in_c(lane, i);
            const std::uint64_t held = got[lane * c_count + i / in_register];
            const std::uint64_t bits = held >> i % in_register * type_c.bits;
            check(at.row, at.column, type_c.value(type_c.bits == 16 ? bits & 0xffff : bits));
        }
}

double exact_sum(const Matrix& a, const Matrix& b, const Matrix& c, unsigned row, unsigned column) {
    double sum = c[row][column];
    for (std::size_t k = 0; k < b.size(); ++k) sum += a[row][k] * b[k][column];
    return sum;
}

const std::vector<Product>& float_products() {
    static const std::vector<Product> all{
        {16, 8, "f16", "f16", "f32", 75},   {16, 8, "f16", "f16", "f16", 75},
        {16, 16, "f16", "f16", "f32", 80},  {16, 16, "f16", "f16", "f16", 80},
        {16, 8, "bf16", "bf16", "f32", 80}, {16, 16, "bf16", "bf16", "f32", 80},
        {16, 4, "tf32", "tf32", "f32", 80}, {16, 8, "tf32", "tf32", "f32", 80},
        {8, 4, "f64", "f64", "f64", 80},    {16, 4, "f64", "f64", "f64", 90},
        {16, 8, "f64", "f64", "f64", 90},   {16, 16, "f64", "f64", "f64", 90}};
    return all;
}

/// All sums of small whole numbers are exact, in whatever order they are added.
TEST_P(MatrixInstructions, ProductsOfSmallNumbersAreExact) {
    std::mt19937 random(1);
    const auto small = [&] { return double(int(random() % 17) - 8); };
    std::vector<Product> all = float_products();
    for (const std::string a : {"s8", "u8"})
        for (const std::string b : {"s8", "u8"})
            for (const auto& [m, k, capability] :
                 {std::tuple{8u, 16u, 75}, {16u, 16u, 80}, {16u, 32u, 80}})
                for (const std::string modifier : {"", ".satfinite"})
                    all.push_back({m, k, a, b, "s32", capability, modifier});
    for (const Product& p : all) {
        if (!executes(device(), p.capability)) continue;
        const Matrix a = random_matrix(p.m, p.k, element_type(p.a), small);
        const Matrix b = random_matrix(p.k, 8, element_type(p.b), small);
        const Matrix c = random_matrix(p.m, 8, element_type(p.c), small);
        check_product(device(), p, a, b, c, [&](unsigned row, unsigned column, double got) {
            EXPECT_EQ(got, exact_sum(a, b, c, row, column))
                << "row " << row << ", column " << column;
        });
    }
}

/// Each addend loses less than 2^-23 of the largest one (2^-24 on sm_90), and the sum less than its
/// last place.
TEST_P(MatrixInstructions, ProductsAreCloseToExactOnes) {
    std::mt19937 random(2);
    const auto spread = [&] {
        return std::ldexp(double(random()) * 0x1p-31 - 1, int(random() % 12) - 6);
    };
    for (const Product& p : float_products()) {
        if (!executes(device(), p.capability)) continue;
        const Matrix a = random_matrix(p.m, p.k, element_type(p.a), spread);
        const Matrix b = random_matrix(p.k, 8, element_type(p.b), spread);
        const Matrix c = random_matrix(p.m, 8, element_type(p.c), spread);
        check_product(device(), p, a, b, c, [&](unsigned row, unsigned column, double got) {
            const double want = exact_sum(a, b, c, row, column);
            double largest = std::abs(c[row][column]);
            for (unsigned k = 0; k < p.k; ++k)
                largest = std::max(largest, std::abs(a[row][k] * b[k][column]));
            double bound = (p.k + 2) * 0x1p-23 * largest + 0x1p-22 * std::abs(want);
            if (p.c == "f16") bound += 2 * 0x1p-11 * std::abs(want) + 0x1p-24;
            if (p.c == "f64") bound = (p.k + 1) * 0x1p-52 * p.k * largest;
            EXPECT_LE(std::abs(got - want), bound)
                << "row " << row << ", column " << column << ": " << got;
        });
    }
}

/// Column 1 of b has an infinity, column 2 a NaN, column 3 infinities of both signs; the others are
/// finite.
TEST_P(MatrixInstructions, ProductsOfInfinities) {
    const double inf = INFINITY;
    const Product p{16, 16, "bf16", "bf16", "f32", 80};
    if (!executes(device(), p.capability)) GTEST_SKIP() << "bf16 needs sm_80";
    const Matrix a(16, std::vector<double>(16, 2)), c(16, std::vector<double>(8, 1));
    Matrix b(16, std::vector<double>(8, 3));
    b[5][1] = -inf;
    b[6][2] = NAN;
    b[0][3] = inf, b[9][3] = -inf;
    check_product(device(), p, a, b, c, [&](unsigned, unsigned column, double got) {
        if (column == 1)
            EXPECT_EQ(got, -inf);
        else if (column == 2 || column == 3)
            EXPECT_TRUE(std::isnan(got));
        else
            EXPECT_EQ(got, 97);
    });
}

/// The largest sum of bytes is added to the largest number.
TEST_P(MatrixInstructions, SumsOfBytesWrapOrSaturate) {
    for (const std::string modifier : {"", ".satfinite"}) {
        const Product p{8, 16, "u8", "u8", "s32", 75, modifier};
        const Matrix a(8, std::vector<double>(16, 255)), b(16, std::vector<double>(8, 255)),
            c(8, std::vector<double>(8, 2147483647));
        const double wrapped = 2147483647.0 + 16 * 255 * 255 - 4294967296.0;
        check_product(device(), p, a, b, c, [&](unsigned, unsigned, double got) {
            EXPECT_EQ(got, modifier.empty() ? wrapped : 2147483647);
        });
    }
}

/// Lanes that have come apart wait for each other: odd lanes take another way to the same
/// instruction.
TEST_P(MatrixInstructions, LanesOfAWarpWaitForEachOther) {
    const WarpProgram program{
        "and.b32 %r0, %lane, 1; setp.eq.u32 %p, %r0, 1; mov.b32 %r1, %i0;\n"
        "@%p bra ODD; not.b32 %r1, %i0; not.b32 %r1, %r1; bra BOTH;\n"
        "ODD: add.u32 %r1, %i0, 0;\nBOTH: movmatrix.sync.aligned.m8n8.trans.b16 %o0, %r1;"};
    if (record_forms(program.ptx)) return;
    const std::vector<Word32> words = random_words(lanes);
    const std::vector<Word32> got = run(device(), program, words);
    for (unsigned lane = 0; lane < lanes; ++lane)
        EXPECT_EQ(got[lane], element_pair(lane, true, [&](unsigned row, unsigned column) {
                      return words[4 * row + column / 2] >> column % 2 * 16 & 0xffff;
                  }));
}

}  // namespace
}  // namespace warpscope::tests
