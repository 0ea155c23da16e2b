#include "compute/device/kernel_files.h"

#include <gtest/gtest.h>

namespace warpscope::compute {
namespace {

TEST(MovedKernels, OfAnOldTextAreNamedWithTheFileThatHasThemNow) {
    const std::string old =
        "\t// .globl\tripple_txty\n.visible .entry ripple_txty(\n)\n{}\n"
        ".visible .entry ripple_padded(\n)\n{}\n.visible .entry ripple_bytes_nosync(\n)\n{}\n"
        ".visible .entry compare(\n)\n{}\n.visible .entry mine(\n)\n{}\n";
    const std::vector<std::string> sentences = moved_kernels("ripple", old);
    ASSERT_EQ(sentences.size(), 2u);
    EXPECT_EQ(sentences[0],
              "Warpscope runs ripple_padded and 1 more of this text from "
              "kernels/ripple_layouts.cu: put what you changed there");
    EXPECT_EQ(sentences[1],
              "Warpscope runs compare from kernels/ripple_compare.cu: put what you changed there");
}

TEST(MovedKernels, AreThoseOfTheOtherFilesOnly) {
    for (const char* file : {"ripple", "ripple_layouts", "ripple_stamped", "ripple_compare", "dot",
                             "dot_ladder", "reduce", "reduce_ladder", "nbody", "nbody_ladder"})
        EXPECT_TRUE(moved_kernels(file, kernel_ptx(file, Math::precise)).empty()) << file;
    const std::pair<const char*, const char*> moved[] = {
        {"dot", "dot_ladder"}, {"reduce", "reduce_ladder"}, {"nbody", "nbody_ladder"}};
    for (const auto& [old, now] : moved)
        EXPECT_EQ(moved_kernels(old, kernel_ptx(now, Math::precise)).size(), 1u) << old;
    EXPECT_TRUE(moved_kernels("gallery/own", ".visible .entry ripple_padded(").empty());
    EXPECT_TRUE(moved_kernels("ripple", "").empty());
}

}  // namespace
}  // namespace warpscope::compute
