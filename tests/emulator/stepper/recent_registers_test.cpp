#include "emulator/stepper/recent_registers.h"

#include <gtest/gtest.h>

namespace warpscope::emulator {
namespace {

TEST(RecentRegistersTest, FindsTheRegistersThatAStatementWrites) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(written_names("add.s32 \t%r3, %r1, %r2"), Names{"%r3"});
    EXPECT_EQ(written_names("ld.shared.v2.f32 {%f1, %f2}, [%r4]"), (Names{"%f1", "%f2"}));
    EXPECT_EQ(written_names("@%p1 mov.u32 %r1, %tid.x"), Names{"%r1"});
    EXPECT_EQ(written_names("shfl.sync.down.b32 %r1|%p2, %r3, 1, 31, -1"), (Names{"%r1", "%p2"}));
    EXPECT_EQ(written_names("st.global.u32 [%rd1], %r1"), Names{});
    EXPECT_EQ(written_names("@%p1 bra $L__BB0_2"), Names{});
    EXPECT_EQ(written_names("bar.sync 0"), Names{});
    EXPECT_EQ(written_names("bar.red.popc.u32 %r1, 0, %p1"), Names{"%r1"});
    EXPECT_EQ(written_names("ret"), Names{});
}

TEST(RecentRegistersTest, ValuesArePrintedByTheirType) {
    EXPECT_EQ(register_text({"%f1", 0, 32, true}, 0x3f000000), "0.5");
    EXPECT_EQ(register_text({"%fd1", 0, 64, true}, 0xbff8000000000000), "-1.5");
    EXPECT_EQ(register_text({"%r1", 0, 32, false}, 0xfffffffd), "-3");
    EXPECT_EQ(register_text({"%p1", 0, 1, false}, 1), "true");
    EXPECT_EQ(register_text({"%rd1", 0, 64, false}, 44), "44");
    EXPECT_EQ(register_text({"%rd1", 0, 64, false}, ~0ULL), "-1");
    EXPECT_EQ(register_text({"%rd1", 0, 64, false}, 0x7f31c0de1000), "0x7f31c0de1000");
    EXPECT_EQ(register_text({"%rs1", 0, 16, false}, 0xffff), "-1");
}

}  // namespace
}  // namespace warpscope::emulator
