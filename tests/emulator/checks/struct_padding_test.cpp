#include "emulator/checks/padding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warpscope::emulator {
namespace {

/// "110" is two words that were written and one that was not.
bool padding(const std::string& words) {
    std::vector<bool> written;
    for (const char word : words) written.push_back(word == '1');
    return may_be_padding(written);
}

TEST(StructPadding, StandsBeforeAMemberOfGreaterAlignmentOrAtTheEnd) {
    EXPECT_TRUE(padding("1110")) << "double, int";
    EXPECT_TRUE(padding("111011101110"));
    EXPECT_TRUE(padding("10111011")) << "int, double";
    EXPECT_TRUE(padding("1000111110001111")) << "int, float4";
    EXPECT_TRUE(padding("1111110011111100")) << "float4, float2";
    EXPECT_TRUE(padding("101110111011")) << "int, double, three times";
}

TEST(StructPadding, IsNotWhatNoStructureHas) {
    EXPECT_FALSE(padding("1010")) << "no member of 8 bytes needs the gap";
    EXPECT_FALSE(padding("110110110110")) << "a gap that ends at no multiple of 8 bytes";
    EXPECT_FALSE(padding("11111011")) << "one element of an array";
    EXPECT_FALSE(padding("1111110111101110")) << "gaps at no regular distance";
    EXPECT_FALSE(padding("1111000011110000")) << "as large as any member";
    EXPECT_FALSE(padding("10001000")) << "no member of 16 bytes";
    EXPECT_FALSE(padding("0000"));
    EXPECT_FALSE(padding("0"));
    EXPECT_FALSE(padding(std::string(64, '1') + std::string(64, '0')));
}

}  // namespace
}  // namespace warpscope::emulator
