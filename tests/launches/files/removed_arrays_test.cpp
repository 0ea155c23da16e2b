#include "launches/files/ptx_source.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::launches {
namespace {

/// A kernel of kernels/a.cu with two arrays in shared memory, and statements that follow line 4.
std::string two_arrays(const std::string& body) {
    return R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<9>;
    .shared .align 4 .b8 _ZZ1kvE4kept[4];
    .shared .align 4 .b8 _ZZ1kvE6unread[4];
    .loc 1 4 5
)" + body + "\n    ret;\n}\n.file 1 \"kernels/a.cu\"\n.file 2 \"kernels/b.h\"\n";
}

const std::string stores =
    "    st.shared.u32 [_ZZ1kvE4kept], 1;\n"
    "    .loc 1 7 9\n"
    "    st.shared.u32 [_ZZ1kvE6unread], 2;\n"
    "    .loc 1 8 9\n"
    "    mov.u32 %r1, _ZZ1kvE6unread;\n";

TEST(RemovedArrays, ANoteNamesTheArrayAtTheLineThatFirstUsesIt) {
    const auto notes = removed_arrays(two_arrays("    st.shared.u32 [_ZZ1kvE4kept], 1;"),
                                      two_arrays(stores), "kernels/a.cu");
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].line, 7);
    EXPECT_EQ(notes[0].severity, compiler::Severity::note);
    EXPECT_NE(notes[0].text.find("removed the array unread in shared memory"), std::string::npos)
        << notes[0].text;
}

TEST(RemovedArrays, AnAddressInARegisterKeepsAnArray) {
    EXPECT_TRUE(removed_arrays(two_arrays("    mov.u32 %r1, _ZZ1kvE6unread;\n"
                                          "    st.shared.u32 [_ZZ1kvE4kept], %r1;"),
                               two_arrays(stores), "kernels/a.cu")
                    .empty());
}

TEST(RemovedArrays, AnArrayThatTheCompilerHasSplitIsStillThere) {
    std::string split = two_arrays(
        "    st.shared.u32 [_ZZ1kvE6unread_$_0], 1;\n"
        "    st.shared.u32 [_ZZ1kvE4kept], 1;");
    split.replace(split.find("_ZZ1kvE6unread[4]"), 17, "_ZZ1kvE6unread_$_0[4]");
    EXPECT_TRUE(removed_arrays(split, two_arrays(stores), "kernels/a.cu").empty());
}

TEST(RemovedArrays, AnArrayThatNoStatementUsesIsNotTold) {
    EXPECT_TRUE(removed_arrays(two_arrays(""), two_arrays(""), "kernels/a.cu").empty());
}

TEST(RemovedArrays, ALineOfAnotherFileIsNotGiven) {
    const auto notes = removed_arrays(two_arrays(""), two_arrays(stores), "kernels/other.cu");
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(notes[0].line, 0);
}

TEST(RemovedArrays, ASourceTellsWhichArraysThePtxLacks) {
    const std::string ptx =
        ".visible .entry _Z1kPf(\n)\n{\n.shared .align 4 .b8 _ZZ1kPfE4kept[4];\n}\n";
    const std::string kernel =
        "__global__ void k(float* x) {\n"
        "    __shared__ float kept[1];\n"
        "    __shared__ float unread[2];\n"
        "    extern __shared__ float dynamic[];\n"
        "#ifdef TWICE\n"
        "    __shared__ float second[2];\n"
        "#endif\n"
        "}\n";
    const auto notes =
        arrays_not_in(ptx, kernel + "__global__ void other() { __shared__ int of_other[2]; }\n");
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].line, 3);
    EXPECT_NE(notes[0].text.find("removed the array unread in"), std::string::npos);
    // A kernel without the mangled names of C++.
    EXPECT_EQ(arrays_not_in(".entry k(\n)\n{\n}\n", "extern \"C\" " + kernel).size(), 2U);
}

TEST(RemovedArrays, TextThatIsNoPtxGivesNoNote) {
    EXPECT_TRUE(removed_arrays(".entry k(", two_arrays(stores), "kernels/a.cu").empty());
}

}  // namespace
}  // namespace warpscope::launches
