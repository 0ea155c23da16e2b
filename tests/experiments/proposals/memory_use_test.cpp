#include "experiments/proposals/memory_use.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/add_kernel.h"

namespace warpscope::experiments {
namespace {

using compiler::MemoryUse;
using tests::f32;
using tests::i32;
using tests::pointer_to;

/// A kernel k(a, b, n) of two pointers and an integer of 8 bytes.
std::string kernel(const std::string& body) {
    return R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .local .align 8 .b8 stack[8];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [n];
)" + body + "\n ret;\n}\n";
}

/// "a: read, b: written"
std::string use_in(const std::string& body) {
    compiler::Signature signature;
    signature.name = signature.entry = "k";
    signature.parameters = {{"a", pointer_to(i32)},
                            {"b", pointer_to(i32)},
                            {"n", tests::scalar(tests::Type::Kind::signed_integer, "long", 8)}};
    read_memory_use(kernel(body), {&signature, 1});
    std::string text;
    for (std::size_t p = 0; p < signature.traits.memory.size(); ++p) {
        const MemoryUse& use = signature.traits.memory[p];
        if (!use.reads && !use.writes) continue;
        text += (text.empty() ? "" : ", ") + signature.parameters[p].name +
                (use.reads ? " read" : "") + (use.writes ? " written" : "");
    }
    return signature.traits.memory.empty() ? "not known" : text;
}

TEST(MemoryUse, LoadsReadAndStoresWrite) {
    compiler::Signature add = tests::add_signature();
    read_memory_use(tests::add_ptx, {&add, 1});
    ASSERT_EQ(add.traits.memory.size(), 4U);
    EXPECT_TRUE(add.traits.memory[2].reads);
    EXPECT_FALSE(add.traits.memory[2].writes);
    EXPECT_TRUE(add.traits.memory[3].reads);
    EXPECT_TRUE(add.traits.memory[3].writes);
    EXPECT_FALSE(add.traits.memory[0].reads) << "an argument that is no pointer";
}

TEST(MemoryUse, AtomicsWrite) {
    EXPECT_EQ(use_in("red.global.add.u32 [%rd1], 1; atom.global.add.u32 %r1, [%rd2+4], 1;"),
              "a written, b written");
}

TEST(MemoryUse, APointerIsFollowedAroundALoop) {
    EXPECT_EQ(use_in(R"(
    mov.u64 %rd4, %rd1;
LOOP:
    ld.global.u32 %r1, [%rd5];
    st.global.u32 [%rd4], %r1;
    add.s64 %rd5, %rd4, 4;
    add.s64 %rd4, %rd2, %rd3;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra LOOP;)"),
              "a read written, b read written")
        << "%rd5 comes from %rd4 of the iteration before";
}

TEST(MemoryUse, WhatIsLoadedIsNoPointerToTheSameMemory) {
    EXPECT_EQ(use_in("ld.global.u64 %rd4, [%rd1]; st.global.u32 [%rd4], %r1;"), "a read");
}

TEST(MemoryUse, APointerThatIsStoredIsNotFollowed) {
    EXPECT_EQ(use_in("st.local.u64 [stack], %rd1;"), "not known");
    EXPECT_EQ(use_in("st.local.u64 [stack], %rd3;"), "") << "the integer is no pointer";
}

TEST(MemoryUse, DynamicSharedMemoryIsFoundInWhatIsInlined) {
    compiler::Signature signature;
    signature.name = signature.entry = "k";
    signature.parameters = {{"a", pointer_to(i32)}, {"b", pointer_to(i32)}, {"n", pointer_to(i32)}};
    std::string text = kernel("mov.u64 %rd4, tile; st.shared.u32 [%rd4], %r1;");
    text.insert(text.find(".visible"), ".extern .shared .align 8 .b8 tile[];\n");
    read_memory_use(text, {&signature, 1});
    EXPECT_EQ(signature.traits.dynamic_shared, 8U);
    signature.traits.dynamic_shared = 4;
    read_memory_use(text, {&signature, 1});
    EXPECT_EQ(signature.traits.dynamic_shared, 4U) << "the type of its element is known";
}

std::string images_in(const std::string& body) {
    compiler::Signature signature;
    signature.name = signature.entry = "k";
    signature.parameters = {{"a", pointer_to(i32)}, {"b", pointer_to(i32)}, {"n", pointer_to(i32)}};
    read_memory_use(kernel(body), {&signature, 1});
    const auto& images = signature.traits.images[2];  // of %rd3
    return images ? fmt::format("{}D {} x{}", images->dimensions, images->number, images->lanes)
                  : "not known";
}

TEST(MemoryUse, TexturesAndSurfacesSayTheTypeOfTheirElements) {
    const std::string texture = "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5, %r6}];";
    EXPECT_EQ(images_in(texture), "2D float x1");
    EXPECT_EQ(images_in("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5}];"), "1D int x1");
    EXPECT_EQ(images_in("tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5, %r6}];"),
              "2D unsigned char x1");
    EXPECT_EQ(images_in("sust.b.2d.v4.b8.trap [%rd3, {%r5, %r6}], {%r1, %r2, %r3, %r4};"),
              "2D unsigned char x4");
    EXPECT_EQ(images_in("suld.b.1d.b32.trap {%r1}, [%rd3, {%r5}];"), "1D float x1");
    EXPECT_EQ(images_in(texture + texture), "2D float x1");
    EXPECT_EQ(images_in(texture + "suld.b.1d.b32.trap {%r1}, [%rd3, {%r5}];"), "not known");
    EXPECT_EQ(images_in("tex.3d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5, %r6, %r7, %r7}];"),
              "not known");
    EXPECT_EQ(images_in(""), "not known");
}

TEST(MemoryUse, EachTextureAndSurfaceHasElementsOfItsOwn) {
    compiler::Signature signature;
    signature.name = signature.entry = "k";
    const auto handle = [](const char* name) {
        return tests::scalar(tests::Type::Kind::unsigned_integer, name, 8);
    };
    signature.parameters = {{"a", handle("cudaTextureObject_t")},
                            {"b", handle("cudaSurfaceObject_t")},
                            {"n", handle("cudaTextureObject_t")}};
    const std::string both =
        "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5, %r6}];"
        "sust.b.2d.v4.b8.trap [%rd2, {%r5, %r6}], {%r1, %r2, %r3, %r4};";
    read_memory_use(kernel(both), {&signature, 1});
    const compiler::LaunchTraits& traits = signature.traits;
    ASSERT_EQ(traits.images.size(), 3U);
    ASSERT_TRUE(traits.images[0] && traits.images[1]);
    EXPECT_EQ(traits.images[0]->number, "float");
    EXPECT_EQ(traits.images[1]->number, "unsigned char");
    EXPECT_EQ(traits.images[1]->lanes, 4U);
    EXPECT_FALSE(traits.images[2]) << "it is not read";
    ASSERT_EQ(traits.memory.size(), 3U);
    EXPECT_TRUE(traits.memory[0].reads && !traits.memory[0].steers);
    EXPECT_TRUE(traits.memory[1].writes && !traits.memory[1].reads);
    const std::string index =
        "tex.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5, %r6}];"
        "setp.gt.s32 %p1, %r1, 0; @%p1 bra END; END:";
    read_memory_use(kernel(index), {&signature, 1});
    EXPECT_TRUE(traits.memory[2].steers) << "what it reads decides a branch";
}

TEST(MemoryUse, TextThatIsNoPtxSaysNothing) {
    compiler::Signature add = tests::add_signature();
    read_memory_use(".entry add(", {&add, 1});
    EXPECT_TRUE(add.traits.memory.empty());
}

}  // namespace
}  // namespace warpscope::experiments
