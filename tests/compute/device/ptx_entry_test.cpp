#include "compute/device/ptx_text.h"

#include <gtest/gtest.h>

#include "compute/device/kernel_files.h"

namespace warpscope::compute {
namespace {

using Sizes = std::vector<std::size_t>;

TEST(PtxEntry, ReadsTheSizesOfParameters) {
    constexpr std::string_view ptx = R"(
.version 9.0
.visible .func (.param .b32 result) helper(.param .b64 helper_param_0) { ret; }
.visible .entry first(
	.param .u64 .ptr .global .align 4 first_param_0,
	.param .u32 first_param_1,
	.param .align 8 .b8 first_param_2[24],
	.param .f64 first_param_3
)
.maxntid 256, 1, 1
{
	ret;
}
.visible .entry second() { ret; }
.entry third { ret; }
.entry fourth (.param .b16 x){ ret; }
)";
    EXPECT_EQ(ptx_parameter_bytes(ptx, "first"), (Sizes{8, 4, 24, 8}));
    EXPECT_EQ(ptx_parameter_bytes(ptx, "second"), Sizes{});
    EXPECT_EQ(ptx_parameter_bytes(ptx, "third"), Sizes{});
    EXPECT_EQ(ptx_parameter_bytes(ptx, "fourth"), Sizes{2});
    EXPECT_FALSE(ptx_parameter_bytes(ptx, "helper"));
    EXPECT_FALSE(ptx_parameter_bytes(ptx, "fir"));
}

TEST(PtxEntry, ExtractsOneKernelOfSeveral) {
    constexpr std::string_view ptx = R"(.version 9.0
.const .b8 table[4];
.visible .entry first(
	.param .u64 .ptr .global .align 4 first_param_0
)
{
	// a comment with a }
	{ .reg .b32 %temp; }
	ret;
}
.visible .func helper() { ret; }
.entry second() { ret; }
.section .debug_str { }
)";
    EXPECT_EQ(ptx_of_kernel(ptx, "second"), R"(.version 9.0
.const .b8 table[4];
.visible .func helper() { ret; }
.entry second() { ret; }
.section .debug_str { }
)");
    const auto first = ptx_of_kernel(ptx, "first");
    ASSERT_TRUE(first);
    EXPECT_NE(first->find("%temp"), std::string::npos);
    EXPECT_NE(first->find("helper"), std::string::npos);
    EXPECT_EQ(first->find("second"), std::string::npos);
    EXPECT_FALSE(ptx_of_kernel(ptx, "third"));
    const auto with_variable = [&](const char* name) {
        return ".global .align 4 .u32 " + std::string(name) + "[4] = {7};\n" + std::string(ptx);
    };
    EXPECT_TRUE(ptx_of_kernel(with_variable("temp"), "first")) << "%temp is another name";
    EXPECT_FALSE(ptx_of_kernel(with_variable("%temp"), "first"));
    EXPECT_TRUE(ptx_of_kernel(with_variable("%temp"), "second"));
    const std::string constant = ".const .align 4 .b8 %temp[4];\n" + std::string(ptx);
    EXPECT_FALSE(ptx_of_kernel(constant, "first")) << "the host fills the variable of all kernels";
    EXPECT_TRUE(ptx_of_kernel(constant, "second"));
}

TEST(PtxEntry, ExtractsEachKernelOfTheRipple) {
    for (const auto& [file, name] : {std::pair{"ripple", "ripple_txty"},
                                     {"ripple_layouts", "ripple_padded_nosync"},
                                     {"ripple_stamped", "ripple_stamped"},
                                     {"ripple_compare", "compare"}}) {
        const auto ptx = kernel_ptx(file, Math::precise);
        const auto alone = ptx_of_kernel(ptx, name);
        ASSERT_TRUE(alone) << name;
        EXPECT_EQ(ptx_parameter_bytes(*alone, name), ptx_parameter_bytes(ptx, name));
        const std::size_t first = alone->find(".entry");
        EXPECT_EQ(alone->find(".entry", first + 1), std::string::npos) << name;
    }
}

TEST(PtxEntry, ReadsTheSizesOfBuiltInKernels) {
    const auto ptx = kernel_ptx("dot", Math::precise);
    EXPECT_EQ(ptx_parameter_bytes(ptx, "dot_book"), (Sizes{8, 8, 8, 4}));
}

TEST(PtxEntry, ATextThatIsNotPtxHasNoKernels) {
    for (const char* text : {"", ".entry", ".entry a", ".entry a(", ".entry a(.param", ".entry a(x",
                             ".entry a(.param .u64", ".entry a(.param .align 4 .b8 x[",
                             ".entry a(.param .b8 x[99999999999999999999999]"})
        EXPECT_TRUE(!ptx_parameter_bytes(text, "a") || std::string_view(text) == ".entry a")
            << text;
}

}  // namespace
}  // namespace warpscope::compute
