#include "bench/bench_emulator.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "emulator/machine/parallel.h"

namespace warpscope::bench {
namespace {

/// Writes scripts in place of the program that measures PoCL.
class PoclTest : public testing::Test {
  protected:
    ~PoclTest() override { std::filesystem::remove(program_); }

    std::optional<PoclTimes> measured_by(const std::string& script) {
        std::ofstream(program_) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
        return measure_pocl("nbody", program_);
    }

    const std::string program_ =
        std::filesystem::temp_directory_path() / ("warpscope-pocl" + std::to_string(::getpid()));
};

TEST_F(PoclTest, TimesOfTheNamedKernelOnAllThreads) {
    const auto times =
        measured_by(R"(echo "{\"version\": \"$1 $2\", \"default_ms\": 3.5, \"relaxed_ms\": 4}")");
    ASSERT_TRUE(times);
    EXPECT_EQ(times->version, "nbody " + std::to_string(emulator::hardware_threads()));
    EXPECT_EQ(times->default_ms, 3.5);
    EXPECT_EQ(times->relaxed_ms, 4);
    EXPECT_EQ(times->best_ms(), 3.5);
    EXPECT_EQ((PoclTimes{.version = "", .default_ms = 3, .relaxed_ms = 2}.best_ms()), 2);
}

TEST_F(PoclTest, AProgramThatFailsGivesNoTimes) {
    const std::string right = R"(echo '{"version": "3.1", "default_ms": 3.5, "relaxed_ms": 4}';)";
    ASSERT_TRUE(measured_by(right));
    EXPECT_FALSE(measured_by(right + "exit 1"));
    EXPECT_FALSE(measured_by(right + "kill -9 $$"));
    EXPECT_FALSE(measured_by(right + "echo more"));
    EXPECT_FALSE(measured_by(R"(echo '{"version": "3.1", "default_ms": 3.5}')"));
    EXPECT_FALSE(measured_by(R"(echo '{"version": 3, "default_ms": "3.5", "relaxed_ms": 4}')"));
    EXPECT_FALSE(measured_by("true"));
}

TEST_F(PoclTest, WithoutTheProgramThereAreNoTimes) {
    EXPECT_FALSE(measure_pocl("nbody", ""));
    EXPECT_FALSE(measure_pocl("nbody", "/nonexistent/warpscope_opencl"));
}

}  // namespace
}  // namespace warpscope::bench
