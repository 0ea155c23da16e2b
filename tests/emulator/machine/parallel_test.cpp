#include "emulator/machine/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace warpscope::emulator {
namespace {

TEST(HardwareThreads, AreTheProcessorsThatTheThreadMayUse) {
    std::thread([] {
        cpu_set_t allowed, one;
        ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
        EXPECT_EQ(hardware_threads(), unsigned(CPU_COUNT(&allowed)));
        CPU_ZERO(&one);
        for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
            if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
        EXPECT_EQ(hardware_threads(), 1U);
    }).join();
}

}  // namespace
}  // namespace warpscope::emulator
