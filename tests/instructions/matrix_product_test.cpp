#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "instructions/bfloat_reference.h"
#include "instructions/half_reference.h"
#include "instructions/warp_program.h"

/// Products of matrices: mma.sync and wmma.
namespace warpscope::tests {
namespace {

class MatrixProducts : public OnDevices {};
WARPSCOPE_ON_DEVICES(MatrixProducts);

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
TEST_P(MatrixProducts, ProductsOfSmallNumbersAreExact) {
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
TEST_P(MatrixProducts, ProductsAreCloseToExactOnes) {
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

/// The sum of sixteen products of the largest halves has more bits than a 32-bit integer has at the
/// place where the addends are cut off.
TEST_P(MatrixProducts, ProductsOfTheLargestHalves) {
    const Product p{16, 16, "f16", "f16", "f32", 80};
    if (!executes(device(), p.capability)) GTEST_SKIP() << "this shape needs sm_80";
    const Matrix a(16, std::vector<double>(16, 65504)), b(16, std::vector<double>(8, 65504)),
        c(16, std::vector<double>(8, 0x1p31 - 128));
    check_product(device(), p, a, b, c, [&](unsigned, unsigned, double got) {
        EXPECT_NEAR(got, 16 * 65504.0 * 65504 + 0x1p31 - 128, 8192);
    });
}

/// Column 1 of b has an infinity, column 2 a NaN, column 3 infinities of both signs; the others are
/// finite.
TEST_P(MatrixProducts, ProductsOfInfinities) {
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
TEST_P(MatrixProducts, SumsOfBytesWrapOrSaturate) {
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

struct Fragments {
    std::string factor, sum;
    unsigned side, k, factor_registers, sum_registers;
    int capability;
};

/// wmma: d = a b + c of matrices in global memory, whose lines lie `stride` elements apart: the
/// result does not depend on which lane holds what. All sums are exact; those of f64 have more bits
/// than an f32.
TEST_P(MatrixProducts, FragmentsOfWmma) {
    constexpr unsigned stride = 24;
    std::mt19937 random(3);
    for (const Fragments& f : {Fragments{"f16", "f32", 16, 16, 8, 8, 75},
                               {"f16", "f16", 16, 16, 8, 4, 75},
                               {"bf16", "f32", 16, 16, 4, 8, 80},
                               {"tf32", "f32", 16, 8, 4, 8, 80},
                               {"f64", "f64", 8, 4, 1, 2, 80},
                               {"s8", "s32", 16, 16, 2, 8, 75},
                               {"u8", "s32", 16, 16, 2, 8, 75}})
        for (unsigned layouts = 0; layouts < 16; ++layouts) {
            if (!executes(device(), f.capability)) continue;
            const unsigned side = f.side, values = f.factor == "f64" ? 1u << 24 : 9;
            const auto small = [&] { return double(random() % values); };
            const std::string a_layout = layouts & 1 ? "col" : "row",
                              b_layout = layouts & 2 ? "col" : "row",
                              c_layout = layouts & 4 ? "col" : "row",
                              d_layout = layouts & 8 ? "col" : "row";
            const ElementType factor = element_type(f.factor), sum = element_type(f.sum);
            const Matrix a = random_matrix(side, f.k, factor, small),
                         b = random_matrix(f.k, side, factor, small),
                         c = random_matrix(side, side, sum, small);
            // Of one buffer: a, b and c, each in 2048 bytes.
            std::vector<Word32> memory(3 * 512);
            const auto put = [&](unsigned at, const Matrix& matrix, const ElementType& type,
                                 bool is_row) {
                for (unsigned row = 0; row < matrix.size(); ++row)
                    for (unsigned column = 0; column < matrix[row].size(); ++column) {
                        const unsigned place =
                            is_row ? row * stride + column : column * stride + row;
                        const unsigned bit = place * type.bits;
                        const std::uint64_t bits = type.to_bits(matrix[row][column]);
                        memory[at + bit / 32] |= Word32(bits) << bit % 32;
                        if (type.bits == 64) memory[at + bit / 32 + 1] = Word32(bits >> 32);
                    }
            };
            put(0, a, factor, a_layout == "row");
            put(512, b, factor, b_layout == "row");
            put(1024, c, sum, c_layout == "row");
            const std::string shape = fmt::format("m{0}n{0}k{1}", side, f.k);
            const std::string types = f.factor == "f16" ? fmt::format("{0}.{0}", f.sum)
                                      : f.factor == "f64"
                                          ? "f64.f64.f64.f64.rn"
                                          : fmt::format("{0}.{1}.{1}.{0}", f.sum, f.factor);
            const unsigned n = f.factor_registers, m = f.sum_registers;
            WarpProgram program{
                fmt::format("ld.global.b64 %in, [%in]; mov.b64 %out, %in; mov.u32 %r0, {};\n"
                            "wmma.load.a.sync.aligned.{}.{}.global.{} {}, [%in], %r0;\n"
                            "wmma.load.b.sync.aligned.{}.{}.global.{} {}, [%in+2048], %r0;\n"
                            "wmma.load.c.sync.aligned.{}.{}.global.{} {}, [%in+4096], {};\n"
                            "wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n"
                            "wmma.store.d.sync.aligned.{}.{}.global.{} [%out+4096], {}, %r0;",
                            stride, a_layout, shape, f.factor, registers('o', 0, n), b_layout,
                            shape, f.factor, registers('o', n, n), c_layout, shape, f.sum,
                            registers('o', 2 * n, m), stride, a_layout, b_layout, shape, types,
                            registers('o', 2 * n + m, m), registers('o', 0, n),
                            registers('o', n, n), registers('o', 2 * n, m), d_layout, shape, f.sum,
                            registers('o', 2 * n + m, m)),
                0, 2 * n + 2 * m, f.capability, std::max(32u, factor.bits)};
            if (record_forms(program.ptx)) continue;
            SCOPED_TRACE(program.ptx);
            const Buffer<Word32> buffer(device(), memory);
            // Each lane loads the buffer's address from its first inputs, of 8 bytes.
            program.inputs = 64 / program.bits;
            std::string text = text_of(program);
            text.replace(text.find(fmt::format("st.global.b{} [%out", program.bits)),
                         std::string::npos, "ret;\n}\n");
            const std::uint64_t address = buffer.pointer().address;
            std::vector<Word32> addresses;
            for (unsigned lane = 0; lane < lanes; ++lane) {
                addresses.push_back(Word32(address));
                addresses.push_back(Word32(address >> 32));
            }
            const Buffer<Word32> in(device(), addresses);
            const auto kernel =
                device().kernel_from_ptx<DevicePointer<Word32>, DevicePointer<Word32>>(text, "run");
            device().launch(kernel, {{1, 1, 1}, {lanes, 1, 1}}, {}, in.pointer(), in.pointer());
            const std::vector<Word32> after = buffer.download();
            for (unsigned row = 0; row < side; ++row)
                for (unsigned column = 0; column < side; ++column) {
                    const unsigned place =
                        d_layout == "row" ? row * stride + column : column * stride + row;
                    const unsigned bit = place * sum.bits;
                    std::uint64_t bits = after[1024 + bit / 32] >> bit % 32;
                    if (sum.bits == 64) bits |= std::uint64_t(after[1025 + bit / 32]) << 32;
                    EXPECT_EQ(sum.value(sum.bits == 16 ? bits & 0xffff : bits),
                              exact_sum(a, b, c, row, column))
                        << "row " << row << ", column " << column;
                }
        }
}

}  // namespace
}  // namespace warpscope::tests
