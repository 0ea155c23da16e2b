#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "programs/images/fat_binary.h"
#include "programs/images/line_table.h"
#include "programs/images/ptx_entries.h"
#include "programs/images/ptx_link.h"

namespace warpscope::programs {
namespace {

// A fat binary with one entry: a header of 16 bytes, an entry of 64 and the bytes behind it.
std::string fat_binary(std::uint16_t kind, std::uint64_t flags, const std::string& stored,
                       std::uint32_t compressed = 0, std::uint64_t plain = 0) {
    std::string bytes(80, '\0');
    const auto put = [&](std::size_t at, auto value) {
        std::memcpy(bytes.data() + at, &value, sizeof value);
    };
    put(0, std::uint32_t(0xBA55ED50));
    put(6, std::uint16_t(16));
    put(8, std::uint64_t(64 + stored.size()));
    put(16, kind);
    put(20, std::uint32_t(64));
    put(24, std::uint64_t(stored.size()));
    put(32, compressed);
    put(44, std::uint32_t(75));
    put(56, flags);
    put(72, plain);
    return bytes + stored;
}

std::vector<Image> read(const std::string& bytes) {
    return read_fat_binary(std::as_bytes(std::span(bytes)));
}

TEST(FatBinary, HoldsPlainPtx) {
    const auto images = read(fat_binary(1, 0, std::string(".version 6.4\n") + '\0'));
    ASSERT_EQ(images.size(), 1u);
    EXPECT_EQ(images[0].ptx, ".version 6.4\n");
    EXPECT_EQ(images[0].architecture, 75u);
}

TEST(FatBinary, HoldsPtxThatLz4HasCompressed) {
    // A token of 3 literals and a match of 4 + 5 = 9 bytes at distance 3, then 5 literals.
    const std::string packed =
        std::string("\x35") + "abc" + std::string("\x03\x00", 2) + "\x50" + "12345";
    const auto images = read(fat_binary(1, 0x2000, packed, unsigned(packed.size()), 17));
    ASSERT_EQ(images.size(), 1u);
    EXPECT_EQ(images[0].ptx, "abcabcabcabc12345");
    EXPECT_EQ(images[0].problem, "");
}

TEST(FatBinary, SaysThatCompressedBytesAreDamaged) {
    for (const std::uint64_t flags : {0x2000u, 0x8000u}) {
        const auto images = read(fat_binary(1, flags, "garbage!", 8, 100));
        ASSERT_EQ(images.size(), 1u);
        EXPECT_NE(images[0].problem, "");
        EXPECT_EQ(images[0].ptx, "");
    }
}

TEST(FatBinary, SaysThatALengthIsWrong) {
    EXPECT_NE(read(fat_binary(1, 0x2000, "abc", 4000, 100))[0].problem, "");
    EXPECT_NE(read(fat_binary(1, 0x8000, "abc", 3, ~std::uint64_t(0)))[0].problem, "");
    std::string bytes = fat_binary(1, 0, "text");
    bytes[24] = '\x7f';  // the entry is longer than the file
    EXPECT_NE(read(bytes)[0].problem, "");
    EXPECT_NE(read("no fat binary")[0].problem, "");
    EXPECT_NE(read("")[0].problem, "");
}

TEST(FatBinary, HasNoPtxInMachineCodeWithoutLineInformation) {
    const auto images = read(fat_binary(2, 0,
                                        "\x7f"
                                        "ELF but cut off"));
    ASSERT_EQ(images.size(), 1u);
    EXPECT_EQ(images[0].ptx, "");
    EXPECT_TRUE(images[0].of_machine_code);
}

TEST(FatBinary, IsReadAtEveryLengthThatIsCutOff) {
    const std::string whole = fat_binary(1, 0, ".version 6.4");
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
        for (const Image& image : read(whole.substr(0, bytes))) EXPECT_EQ(image.ptx, "");
}

// A table of one program: two files, and rows at the addresses 0, 16, 32 and 48 of the function in
// section 9. Instructions have 16 bytes; special code 10 + n advances by n / 14 of them, and by
// n % 14 - 5 lines.
std::string line_table() {
    std::string header = std::string("\x02\0", 2);  // the version; the length of the header follows
    const std::string fields = std::string("\x10\x01\xfb\x0e\x0a", 5) +
                               std::string("\0\1\1\1\1\0\0\0\1", 9) + std::string("/src\0\0", 6) +
                               std::string("a.cu\0\1\2\3", 8) + std::string("b.h\0\0\0\0\0", 8);
    header += std::string({char(fields.size()), 0, 0, 0}) + fields;
    const std::string rows = std::string("\0\x09\x02", 3) + std::string(8, '\0') +  // address 0
                             "\x03\x06\x01"  // 6 lines on: line 7
                             "\x1e"          // 10 + 14 + 6: 16 bytes and a line on
                             + std::string("\0\x03\x90\x06\0", 5) +  // NVIDIA's own code
                             "\x04\x02"                              // the second file
                             "\x03\x7e"                              // two lines back
                             "\x02\x01\x01"  // an instruction on: a row at line 6
                             "\x1d"          // an instruction on, on the same line
                             + std::string("\0\x01\x01", 3);
    const std::size_t bytes = header.size() + rows.size();
    return std::string({char(bytes), 0, 0, 0}) + header + rows;
}

TEST(LineTable, HasTheRowsOfItsProgram) {
    const std::string table = line_table();
    const std::uint64_t address_at = table.find(std::string("\0\x09\x02", 3)) + 3;
    const auto rows = read_line_table(std::as_bytes(std::span(table)), {{address_at, 9}});
    ASSERT_EQ(rows.size(), 4u);
    const auto expect = [&](std::size_t row, std::uint64_t address, const char* file, int line) {
        EXPECT_EQ(rows[row].section, 9u);
        EXPECT_EQ(rows[row].address, address);
        EXPECT_EQ(rows[row].file, file);
        EXPECT_EQ(rows[row].line, line);
    };
    expect(0, 0, "/src/a.cu", 7);
    expect(1, 16, "/src/a.cu", 8);
    expect(2, 32, "b.h", 6);
    expect(3, 48, "b.h", 6);
}

TEST(LineTable, IsReadAtEveryLengthThatIsCutOff) {
    const std::string whole = line_table();
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
        EXPECT_LE(read_line_table(std::as_bytes(std::span(whole).first(bytes)), {}).size(), 5u);
}

TEST(PtxEntries, AreFoundBetweenFunctionsCommentsAndStrings) {
    const std::string ptx =
        ".version 6.4\n.target sm_75\n"
        ".func f() { ret; } // .entry not_this { \n"
        ".visible .entry first(.param .u64 p)\n{ { } ret; }\n"
        ".file 1 \"a.entry{b\"\n"
        "/* .entry nor_this() { */ .entry second() { ret; }\n";
    const auto entries = entries_of(ptx);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].name, "first");
    EXPECT_EQ(ptx.substr(entries[0].begin, 8), ".visible");
    EXPECT_EQ(entries[1].name, "second");
    const std::string rest = without(ptx, {entries[0]});
    EXPECT_EQ(rest.size(), ptx.size());
    EXPECT_EQ(rest.find("first"), rest.npos);
    EXPECT_NE(rest.find("second"), rest.npos);
    EXPECT_EQ(std::count(rest.begin(), rest.end(), '\n'), std::count(ptx.begin(), ptx.end(), '\n'));
    EXPECT_EQ(target_of(ptx), 75u);
    EXPECT_EQ(target_of("nothing"), 0u);
}

TEST(PtxEntries, HeadersOfTheToolkitGetShortNames) {
    EXPECT_EQ(with_names_of_toolkit(
                  "a\n\t.file 2 \"/x/bin/../targets/x86_64-linux/include/sm.hpp\", 1, 2\n"
                  ".file 1 \"/home/me/a.cu\"\nmov \"/targets/x86_64-linux/include/\";"),
              "a\n\t.file 2 \"cuda/sm.hpp\", 1, 2\n.file 1 \"/home/me/a.cu\"\n"
              "mov \"/targets/x86_64-linux/include/\";");
}

TEST(PtxEntries, AFolderWithTheRuntimesHeaderIsThatOfAToolkit) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(::testing::TempDir()) / "toolkit_of_names";
    fs::create_directories(folder / "include");
    std::ofstream(folder / "include/cuda_runtime.h") << "\n";
    const std::string other = ".file 1 \"" + (folder / "more/include/a.cuh").string() + "\"\n";
    EXPECT_EQ(
        with_names_of_toolkit(".file 1 \"" + (folder / "include/cub/a.cuh").string() + "\"\n"),
        ".file 1 \"cuda/cub/a.cuh\"\n");
    EXPECT_EQ(with_names_of_toolkit(other), other);
    fs::remove_all(folder);
}

TEST(PtxEntries, EndWithATextThatIsCutOff) {
    const auto entries = entries_of(".entry k() { ret;");
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].end, 17u);
}

TEST(DeviceFunctions, FollowAModuleThatDeclaresThem) {
    const std::string other = ".version 7.0\n.extern .func malloc_more (.param .b64 n);\n";
    EXPECT_EQ(with_device_functions(other), other);
    const std::string text =
        with_device_functions(".version 7.0\n.extern .func free (.param .b64 p);\n");
    EXPECT_NE(text.find("\n.func free(.param .b64 pointer)"), text.npos);
    EXPECT_NE(text.find(".global .align 8 .u64 $warpscope_heap;"), text.npos);
    EXPECT_EQ(text.find("malloc("), text.npos);
    // Numba links these with libcudadevrt.a.
    const std::string grid = with_device_functions(
        ".version 7.0\n.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 "
        "f);\n");
    EXPECT_NE(grid.find("\n.func (.param .b32 result) cudaCGSynchronize("), grid.npos);
    EXPECT_EQ(grid.find("cudaCGGetIntrinsicHandle"), grid.npos);
}

}  // namespace
}  // namespace warpscope::programs
