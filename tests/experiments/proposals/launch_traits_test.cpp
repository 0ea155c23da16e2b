#include "experiments/proposals/propose_launch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "launches/arrays/expression.h"
#include "support/add_kernel.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

using compiler::LaunchTraits;

/// A kernel k() with variables of its module before it.
std::string kernel(const std::string& body, const std::string& variables = "") {
    return ".version 6.4\n.target sm_75\n.address_size 64\n" + variables +
           ".visible .entry k(.param .u64 a)\n{\n"
           ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" +
           body + "\n ret;\n}\n";
}

LaunchTraits traits_of(const std::string& ptx, std::size_t dynamic_shared = 0) {
    compiler::Signature signature;
    signature.name = signature.entry = "k";
    signature.traits.dynamic_shared = dynamic_shared;
    read_launch_traits(ptx, {&signature, 1});
    return signature.traits;
}

TEST(LaunchTraits, DynamicSharedMemoryIsFoundInWhatIsInlined) {
    const std::string ptx = kernel("mov.u64 %rd4, tile; st.shared.u32 [%rd4], %r1;",
                                   ".extern .shared .align 8 .b8 tile[];\n"
                                   ".extern .shared .align 16 .b8 unused[];\n");
    EXPECT_EQ(traits_of(ptx).dynamic_shared, 8U);
    EXPECT_EQ(traits_of(ptx, 4).dynamic_shared, 4U) << "the type of its element is known";
}

std::string image(const std::optional<compiler::ImageUse>& use) {
    return use ? fmt::format("{}D {} x{}", use->dimensions, use->number, use->lanes) : "not known";
}

std::string texture_in(const std::string& body) {
    return image(traits_of(kernel(body)).texture);
}

std::string surface_in(const std::string& body) {
    return image(traits_of(kernel(body)).surface);
}

TEST(LaunchTraits, TexturesAndSurfacesSayTheTypeOfTheirElements) {
    const std::string texture = "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5, %r6}];";
    EXPECT_EQ(texture_in(texture), "2D float x1");
    EXPECT_EQ(texture_in("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5}];"), "1D int x1");
    const std::string bytes = "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5, %r6}];";
    EXPECT_EQ(texture_in(bytes), "2D unsigned char x1");
    EXPECT_EQ(texture_in(texture + texture), "2D float x1");
    EXPECT_EQ(texture_in(texture + bytes), "not known") << "they are of two types";
    EXPECT_EQ(texture_in("tex.3d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd3, {%r5, %r6, %r7, %r7}];"),
              "not known");
    EXPECT_EQ(texture_in(""), "not known");
    const std::string surface = "sust.b.2d.v4.b8.trap [%rd3, {%r5, %r6}], {%r1, %r2, %r3, %r4};";
    EXPECT_EQ(surface_in(surface), "2D unsigned char x4");
    EXPECT_EQ(surface_in("suld.b.1d.b32.trap {%r1}, [%rd3, {%r5}];"), "1D float x1");
    EXPECT_EQ(surface_in(surface + texture), "2D unsigned char x4");
    EXPECT_EQ(texture_in(surface + texture), "2D float x1");
}

TEST(LaunchTraits, AKernelMayReadItsBlockOrWaitForAllBlocks) {
    const LaunchTraits block = traits_of(kernel("mov.u32 %r1, %ctaid.y;"));
    EXPECT_TRUE(block.reads_block_index);
    EXPECT_FALSE(block.synchronises_grid);
    const LaunchTraits grid = traits_of(kernel("mov.u32 %r1, %envreg2;"));
    EXPECT_FALSE(grid.reads_block_index);
    EXPECT_TRUE(grid.synchronises_grid);
}

TEST(LaunchTraits, ArraysInSharedMemoryMustFitIntoABlock) {
    const std::string names_two = "mov.u64 %rd4, tile; mov.u64 %rd5, other;";
    const std::string tile =
        ".shared .align 4 .b8 tile[65532];\n"
        ".shared .align 4 .b8 unused[8];\n";
    EXPECT_NO_THROW(traits_of(kernel(names_two, tile + ".shared .align 4 .b8 other[4];\n")));
    EXPECT_THROW(traits_of(kernel(names_two, tile + ".shared .align 4 .b8 other[8];\n")),
                 LaunchError);
}

TEST(LaunchTraits, TextThatIsNoPtxSaysNothing) {
    EXPECT_TRUE(traits_of(".entry k(").reads_block_index);
}

}  // namespace
}  // namespace warpscope::experiments
