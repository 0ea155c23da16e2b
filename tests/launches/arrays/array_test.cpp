#include "launches/arrays/array.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include <filesystem>
#include <fstream>

#include "experiments/launch/launch_buffers.h"
#include "launches/arrays/array_comparison.h"
#include "launches/arrays/array_file.h"

namespace warpscope::launches {
namespace {

using experiments::filled;

constexpr ElementType f32{ElementKind::floating, 4, 1}, f32x4{ElementKind::floating, 4, 4},
    i32{ElementKind::signed_integer, 4, 1}, u8{ElementKind::unsigned_integer, 1, 1};

class ArrayFiles : public testing::Test {
  protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder = std::filesystem::path(testing::TempDir()) /
                 (std::string("arrays_") + test->name() + std::to_string(::getpid()));
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::filesystem::path write(const std::string& name, const std::string& content) const {
        std::ofstream(folder / name, std::ios::binary) << content;
        return folder / name;
    }
    std::string error(const std::string& name, const std::string& content,
                      const ElementType& type = f32) const {
        try {
            read_array(write(name, content), type);
            return "no error";
        } catch (const LaunchError& e) {
            return e.what();
        }
    }
    std::filesystem::path folder;
};

/// The bytes that numpy.save() writes for np.array([[1, 2, 3], [4, 5, 6]], dtype) with `numbers`.
std::string npy(const std::string& descr, const std::string& shape, const std::string& numbers,
                const std::string& order = "False") {
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    header.append(128 - 10 - header.size() - 1, ' ');
    header += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header + numbers;
}

TEST(ElementTypes, HaveTheWordsOfCuda) {
    EXPECT_EQ(parse_element_type("float"), f32);
    EXPECT_EQ(parse_element_type("float4"), f32x4);
    EXPECT_EQ(parse_element_type("unsigned"), (ElementType{ElementKind::unsigned_integer, 4, 1}));
    EXPECT_EQ(parse_element_type("uchar3"), (ElementType{ElementKind::unsigned_integer, 1, 3}));
    EXPECT_EQ(parse_element_type("long long"), (ElementType{ElementKind::signed_integer, 8, 1}));
    for (const char* word : {"half9", "float5", "float0", "", "4", "float 4"})
        EXPECT_THROW(parse_element_type(word), LaunchError) << word;
    EXPECT_EQ(parse_element_type("__half2"), parse_element_type("half2"));
    for (const char* word : {"float", "double", "int", "unsigned char", "bool", "float4", "uint2",
                             "half", "half2", "bfloat16"})
        EXPECT_EQ(to_string(parse_element_type(word)), word);
}

TEST(Arrays, ConvertNumbersAsCppDoes) {
    Array integers(i32, {2});
    integers.set(0, -3.9);
    integers.set(1, 1e300);
    EXPECT_EQ(integers.at(0), Number(-3L));
    Array bytes(u8, {1});
    bytes.set(0, 257L);
    EXPECT_EQ(bytes.at(0), Number(1L));
    Array floats(f32x4, {2, 3});
    EXPECT_EQ(floats.elements(), 6U);
    EXPECT_EQ(floats.numbers(), 24U);
    EXPECT_EQ(floats.bytes.size(), 96U);
    floats.set(23, 0.5);
    EXPECT_EQ(floats.at(23), Number(0.5));
    EXPECT_EQ(floats.at(22), Number(0.0));
}

/// The bits of the only number of an array of 16 bits.
unsigned bits_of(const char* type, double value) {
    Array array(parse_element_type(type), {1});
    array.set(0, value);
    return std::to_integer<unsigned>(array.bytes[0]) | std::to_integer<unsigned>(array.bytes[1])
                                                           << 8;
}

TEST(Arrays, OfHalvesRoundToNearestTiesToEven) {
    EXPECT_EQ(bits_of("half", 1), 0x3c00U);
    EXPECT_EQ(bits_of("half", -2.5), 0xc100U);
    EXPECT_EQ(bits_of("half", -0.0), 0x8000U);
    EXPECT_EQ(bits_of("half", 2049), 0x6800U);   // halfway between 2048 and 2050
    EXPECT_EQ(bits_of("half", 2051), 0x6802U);   // halfway between 2050 and 2052
    EXPECT_EQ(bits_of("half", 65519), 0x7bffU);  // the largest is 65504
    EXPECT_EQ(bits_of("half", 65520), 0x7c00U);  // halfway to the next one: infinity
    EXPECT_EQ(bits_of("half", 1e300), 0x7c00U);
    EXPECT_EQ(bits_of("half", 0x1p-24), 0x0001U);  // the smallest one
    EXPECT_EQ(bits_of("half", 0x1p-25), 0x0000U);  // half of it
    EXPECT_EQ(bits_of("half", 0x1.8p-25), 0x0001U);
    EXPECT_EQ(bits_of("half", 0x1.ff8p-15), 0x03ffU);  // the largest below the normal ones
    EXPECT_EQ(bits_of("half", 0x1.ffcp-15), 0x0400U);  // halfway to the first normal one
    EXPECT_EQ(bits_of("half", std::nan("")) & 0x7fffU, 0x7fffU);
    EXPECT_EQ(bits_of("bfloat16", 1), 0x3f80U);
    EXPECT_EQ(bits_of("bfloat16", 3.14159265), 0x4049U);
    EXPECT_EQ(bits_of("bfloat16", -1e39), 0xff80U);
}

TEST(Arrays, OfHalvesKeepEveryNumber) {
    for (const char* type : {"half", "bfloat16"}) {
        Array array(parse_element_type(type), {1}), back = array;
        for (unsigned bits = 0; bits < 0x10000; ++bits) {
            array.bytes = {std::byte(bits & 255), std::byte(bits >> 8)};
            const double value = real(array.at(0));
            back.set(0, value);
            if (!std::isnan(value)) {
                ASSERT_EQ(back.bytes, array.bytes) << type << " " << bits;
            }
        }
    }
}

TEST_F(ArrayFiles, HalvesAreReadAndWritten) {
    const Array array =
        read_array(write("h.npy", npy("<f2", "(2,)", std::string("\0\x3c\0\xc1", 4))), f32);
    EXPECT_EQ(array.type, parse_element_type("half"));
    EXPECT_EQ(array.at(1), Number(-2.5));
    EXPECT_NE(to_npy(array).find("'<f2'"), std::string::npos);
    EXPECT_EQ(to_csv(array), "1\n-2.5\n");
    Array brain(parse_element_type("bfloat16"), {2});
    brain.set(1, 0.5);
    const std::filesystem::path file = write("b.npy", to_npy(brain));
    EXPECT_EQ(read_array(file, f32).type, f32);
    EXPECT_EQ(filled(file, brain.type, {}, {}, "", "b").bytes, brain.bytes);
}

TEST_F(ArrayFiles, ReadWhatNumpySaves) {
    const std::string six("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6\0\0\0", 24);
    const Array array = read_array(write("a.npy", npy("<i4", "(2, 3)", six)), f32);
    EXPECT_EQ(array.type, i32);
    EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(array.at(4), Number(5L));
}

TEST_F(ArrayFiles, AFileOfNumpyComesBackAsItWas) {
    Array array(f32x4, {3, 5});
    for (std::size_t i = 0; i < array.numbers(); ++i) array.set(i, double(i) / 4);
    const std::string content = to_npy(array);
    EXPECT_EQ(content.find('\n') % 64, 63U);
    const Array back = read_array(write("a.npy", content), f32x4);
    EXPECT_EQ(back.type, array.type);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.bytes, array.bytes);
}

TEST_F(ArrayFiles, BadFilesAreNamed) {
    EXPECT_NE(error("a.npy", "no").find("it is not a file of NumPy"), std::string::npos);
    EXPECT_NE(error("a.npy", npy("<i4", "(2,)", "1234")).find("4 bytes of numbers"),
              std::string::npos);
    EXPECT_NE(error("a.npy", npy(">i4", "(1,)", "1234")).find("little-endian"), std::string::npos);
    EXPECT_NE(error("a.npy", npy("<c8", "(1,)", "12345678")).find("its numbers are"),
              std::string::npos);
    EXPECT_NE(error("a.npy", npy("<f4", "(1,)", "1234", "True")).find("Fortran order"),
              std::string::npos);
    EXPECT_NE(error("a.npy", npy("<f4", "(99999999999999,)", "")).find("too large"),
              std::string::npos);
    EXPECT_NE(error("a.npy", npy("<f4", "(1,)", "1234").substr(0, 40)).find("within its header"),
              std::string::npos);
    EXPECT_NE(error("a.bin", "12345").find("no whole number"), std::string::npos);
    EXPECT_NE(error("a.png", "12345").find("it is not a PNG file"), std::string::npos);
    try {
        read_array(folder, f32);
        ADD_FAILURE();
    } catch (const LaunchError& e) {
        EXPECT_NE(std::string(e.what()).find("it is a folder"), std::string::npos) << e.what();
    }
}

TEST_F(ArrayFiles, CsvHasALineForEachRow) {
    Array array(f32, {2, 3});
    for (std::size_t i = 0; i < 6; ++i) array.set(i, 0.1 * double(i));
    EXPECT_EQ(to_csv(array), "0,0.1,0.2\n0.3,0.4,0.5\n");
    Array line(i32, {3});
    EXPECT_EQ(to_csv(line), "0\n0\n0\n");
}

TEST(Fills, UseTheIndices) {
    const Names names{{"n", 10L}};
    const auto fill = [&](const char* text) {
        return filled(Expression(text), i32, std::vector<std::size_t>{2, 3, 4}, names, "", "b");
    };
    EXPECT_EQ(fill("i").at(23), Number(23L));
    EXPECT_EQ(fill("x + 10 * y + 100 * z").at(23), Number(123L));
    EXPECT_EQ(fill("n").at(7), Number(10L));
    EXPECT_EQ(filled(Expression("lane"), f32x4, std::vector<std::size_t>{2}, {}, "", "b").at(6),
              Number(2.0));
    EXPECT_THROW(fill("m"), LaunchError);
}

TEST(Fills, RandomNumbersFollowTheirDistribution) {
    const auto fill = [](RandomFill random) {
        return filled(random, f32, std::vector<std::size_t>{100'000}, {}, "", "b");
    };
    const Array even = fill({RandomFill::Distribution::uniform, -1, 3, 7});
    const Array normal = fill({RandomFill::Distribution::normal, 5, 2, 7});
    double sum = 0, square = 0, low = 9, high = -9, even_sum = 0;
    for (std::size_t i = 0; i < 100'000; ++i) {
        low = std::min(low, real(even.at(i)));
        high = std::max(high, real(even.at(i)));
        even_sum += real(even.at(i));
        sum += real(normal.at(i));
        square += (real(normal.at(i)) - 5) * (real(normal.at(i)) - 5);
    }
    EXPECT_GE(low, -1);
    EXPECT_LE(high, 3);
    // Four standard errors: 1.155 / sqrt(100 000) and 2 / sqrt(100 000).
    EXPECT_NEAR(even_sum / 1e5, 1, 0.0147);
    EXPECT_NEAR(sum / 1e5, 5, 0.0253);
    EXPECT_NEAR(square / 1e5, 4, 0.08);
    EXPECT_EQ(even.bytes, fill({RandomFill::Distribution::uniform, -1, 3, 7}).bytes);
    EXPECT_NE(even.bytes, fill({RandomFill::Distribution::uniform, -1, 3, 8}).bytes);
}

TEST(Fills, SizesArePositiveAndFitIntoMemory) {
    const auto size = [](const char* text) {
        return experiments::sizes({Expression(text), Expression("2")}, {{"n", 3L}}, 4,
                                  "buffers.a.shape");
    };
    EXPECT_EQ(size("n"), (std::vector<std::size_t>{3, 2}));
    for (const char* text : {"0", "-1", "0.5", "1 << 40", "m"})
        EXPECT_THROW(size(text), LaunchError) << text;
}

TEST(Differences, CountNumbersOutOfTolerance) {
    Array a(f32, {2, 3}), b(f32, {2, 3});
    a.set(4, 1.5);
    b.set(4, 1.0);
    a.set(5, 100.5);
    b.set(5, 100.0);
    const OutOfTolerance exact = out_of_tolerance(a, b, 0, 0);
    EXPECT_EQ(exact.count, 2U);
    EXPECT_EQ(exact.first, 4U);
    EXPECT_EQ(exact.largest, 0.5);
    EXPECT_EQ(place_words("y", a, exact.first), "y[1, 1]");
    EXPECT_EQ(out_of_tolerance(a, b, 0, 0.01).count, 1U);  // 0.5 <= 0.01 * 100, not <= 0.01 * 1
    EXPECT_EQ(out_of_tolerance(a, b, 0.5, 0).count, 0U);
    EXPECT_THROW(out_of_tolerance(a, Array(f32, {5}), 0, 0), LaunchError);
}

TEST(Differences, NanAndInfinityEqualOnlyThemselves) {
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    const auto differ = [](double x, double y) {
        Array a(f32, {1}), b(f32, {1});
        a.set(0, x);
        b.set(0, y);
        return out_of_tolerance(a, b, 1e9, 1).count;
    };
    EXPECT_EQ(differ(nan, nan), 0U);
    EXPECT_EQ(differ(infinity, infinity), 0U);
    EXPECT_EQ(differ(nan, 1), 1U);
    EXPECT_EQ(differ(1, nan), 1U);
    EXPECT_EQ(differ(1, infinity), 1U);
    EXPECT_EQ(differ(infinity, 1), 1U);
}

}  // namespace
}  // namespace warpscope::launches
