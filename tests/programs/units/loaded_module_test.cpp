#include "programs/gpu/loaded_module.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::programs {
namespace {

const std::string head = ".version 7.8\n.target sm_80\n.address_size 64\n";

LoadedModule module_of(const std::string& ptx) {
    return LoadedModule({{.ptx = head + ptx}}, "the program");
}

std::string kernel(const std::string& name, const std::string& body) {
    return ".visible .entry " + name + "()\n{\n" + body + "ret;\n}\n";
}

TEST(LoadedModule, DecodesAKernelWhenItIsAskedFor) {
    LoadedModule module =
        module_of(".global .u32 count;\n" + kernel("none", "") +
                  kernel("some", ".shared .align 4 .b8 tile[64];\n") + kernel("other", ""));
    EXPECT_EQ(module.functions().size(), 3u);
    EXPECT_EQ(module.variables().size(), 1u);
    EXPECT_EQ(module.decoded(), 0u);
    Function* const some = module.find("some");
    ASSERT_TRUE(some);
    EXPECT_EQ(some->static_shared_bytes(), 64u);
    EXPECT_EQ(some->most_dynamic_shared_bytes(), (48u << 10) - 64);
    EXPECT_EQ(module.decoded(), 1u);
    EXPECT_EQ(some->kernel(), some->kernel());
    EXPECT_EQ(module.decoded(), 1u);
}

TEST(LoadedModule, KeepsTheLinesOfTheText) {
    LoadedModule module = module_of(kernel("first", "") + kernel("second", ""));
    const emulator::Kernel* const second = module.find("second")->kernel();
    ASSERT_TRUE(second);
    // Three lines of the head, five of the first kernel, two of the second one.
    EXPECT_EQ(second->lines.at(0).source.ptx_line, 3 + 4 + 3);
    EXPECT_EQ(second->module->text(), module.ptx());
}

TEST(LoadedModule, RefusesOnlyTheKernelThatItDoesNotKnow) {
    LoadedModule module =
        module_of(kernel("wrong", "frobnicate.u32 %r1, %r2;\n") + kernel("right", ""));
    EXPECT_FALSE(module.find("wrong")->kernel());
    EXPECT_NE(module.find("wrong")->problem().find("frobnicate"), std::string::npos);
    EXPECT_EQ(module.find("wrong")->problem().find("WARPSCOPE_COMPUTE_CAPABILITY"),
              std::string::npos);
    EXPECT_TRUE(module.find("right")->kernel());
}

TEST(LoadedModule, SaysHowProgramsCompileForAnOlderGpu) {
    LoadedModule module({{.ptx = ".version 8.6\n.target sm_100a\n.address_size 64\n" +
                                 kernel("newer", "tcgen05.wait::ld.sync.aligned;\n")}},
                        "the program");
    EXPECT_FALSE(module.find("newer")->kernel());
    EXPECT_NE(module.find("newer")->problem().find("WARPSCOPE_COMPUTE_CAPABILITY=8.0"),
              std::string::npos);
}

// One kernel stores the address of a function, another one calls it.
TEST(LoadedModule, KnowsTheFunctionsThatOtherKernelsPointTo) {
    LoadedModule module = module_of(
        ".global .u64 pointer;\n.func (.param .b32 r) seven()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, "
        "%tid.x;\nadd.u32 %r1, %r1, 77;\n"
        "st.param.b32 [r], %r1;\nret;\n}\n" +
        kernel("stores",
               ".reg .b64 %rd<2>;\nmov.u64 %rd1, seven;\nst.global.u64 [pointer], %rd1;\n") +
        kernel("calls",
               ".reg .b64 %rd<2>;\n.reg .b32 %r<2>;\nld.global.u64 %rd1, [pointer];\n{\n"
               ".param .b32 result;\nprototype: .callprototype (.param .b32 _) _ ();\n"
               "call (result), %rd1, (), prototype;\nld.param.b32 %r1, [result];\n}\n"));
    const emulator::Kernel* const calls = module.find("calls")->kernel();
    ASSERT_TRUE(calls) << module.find("calls")->problem();
    EXPECT_EQ(module.decoded(), 1u);
    bool has_body = false;
    for (const auto& line : calls->lines) has_body |= line.text.find(", 77") != std::string::npos;
    EXPECT_TRUE(has_body);
    EXPECT_TRUE(module.find("stores")->kernel()) << module.find("stores")->problem();
}

}  // namespace
}  // namespace warpscope::programs
