#include "emulator/program/source_line.h"

#include <gtest/gtest.h>

namespace warpscope::emulator {
namespace {

TEST(SourceName, IsTheLastPartOfAMangledName) {
    EXPECT_EQ(source_name("_ZN3lib6countsE"), "counts");
    EXPECT_EQ(source_name("_ZZ4drawPjiifibE4tile"), "tile") << "draw(unsigned int*, …)::tile";
}

TEST(SourceName, OfAFunctionHasNoParametersAndNoResult) {
    EXPECT_EQ(function_name("_Z3fibi"), "fib");
    EXPECT_EQ(function_name("_ZN3lib3fibEPKi"), "fib");
    EXPECT_EQ(function_name("_Z3addIiET_S0_S0_"), "add<int>") << "int add<int>(int, int)";
    EXPECT_EQ(function_name("_ZN12_GLOBAL__N_13fibEi"), "fib") << "(anonymous namespace)::fib(int)";
    EXPECT_EQ(function_name("helper"), "helper");
}

TEST(SourceName, OfAKernelHasNoParameters) {
    EXPECT_EQ(kernel_name("_Z3dotPKfS0_Pf"), "dot");
    EXPECT_EQ(kernel_name("_Z3sumILj256EEvPf"), "sum<256u>");
    EXPECT_EQ(kernel_name("_Z3addB2v1Pf"), "add");  // Numba: add[abi:v1](float*)
    EXPECT_EQ(kernel_name("plain"), "plain");
    EXPECT_EQ(kernel_name("f"), "f") << "of extern \"C\", and no float";
}

TEST(SourceName, OtherNamesStay) {
    for (const char* name : {"taps", "", "_Zwrong", "a$1", "f", "i"})
        EXPECT_EQ(source_name(name), name);
}

}  // namespace
}  // namespace warpscope::emulator
