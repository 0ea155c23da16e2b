#include "emulator/program/source_name.h"

#include <gtest/gtest.h>

namespace warpscope::emulator {
namespace {

TEST(SourceName, IsTheLastPartOfAMangledName) {
    EXPECT_EQ(source_name("_ZN3lib6countsE"), "counts");
    EXPECT_EQ(source_name("_ZZ4drawPjiifibE4tile"), "tile") << "draw(unsigned int*, …)::tile";
}

TEST(SourceName, OtherNamesStay) {
    for (const char* name : {"taps", "", "_Zwrong", "a$1"}) EXPECT_EQ(source_name(name), name);
}

}  // namespace
}  // namespace warpscope::emulator
