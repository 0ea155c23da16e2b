#include "compute/device/ptx_text.h"

#include <gtest/gtest.h>

namespace warpscope::compute {
namespace {

TEST(PtxVersion, IsLoweredToThatOfTheDriver) {
    const std::string text = "// by NVRTC\n.version 9.0\n.target sm_75\n";
    EXPECT_EQ(ptx_for_driver(text, 12080), "// by NVRTC\n.version 8.7\n.target sm_75\n");
    EXPECT_EQ(ptx_for_driver(text, 12060), "// by NVRTC\n.version 8.5\n.target sm_75\n");
    EXPECT_EQ(ptx_for_driver(text, 12000), "// by NVRTC\n.version 8.0\n.target sm_75\n");
    EXPECT_EQ(ptx_for_driver(text, 11080), "// by NVRTC\n.version 7.8\n.target sm_75\n");
    EXPECT_EQ(ptx_for_driver(text, 11000), "// by NVRTC\n.version 7.0\n.target sm_75\n");
}

TEST(PtxVersion, StaysWhereTheDriverKnowsIt) {
    for (const std::string text : {".version 7.0\n.target sm_75", ".version 9.0\n", ".version 8.7",
                                   "no version", ".version x\n"})
        EXPECT_EQ(ptx_for_driver(text, 13000), text);
    EXPECT_EQ(ptx_for_driver(".version 9.1\n", 13010), ".version 9.1\n");
    EXPECT_EQ(ptx_for_driver(".version 9.1\n", 13000), ".version 9.0\n");
}

}  // namespace
}  // namespace warpscope::compute
