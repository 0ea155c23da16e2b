#include "experiments/framework/frame_cost.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "emulator/machine/parallel.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

const compute::DeviceInfo emulator{.kind = compute::DeviceKind::emulator};
const compute::DeviceInfo gpu{
    .kind = compute::DeviceKind::cuda, .ordinal = 0, .multiprocessors = 100};

TEST(FrameCosts, BeforeAnyMeasurementTheRateIsThatOfAUsualMachine) {
    const FrameCosts costs;
    const double threads = emulator::hardware_threads();
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", emulator, 1e11), 20 / threads);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", gpu, 2.2e13), 2);
    EXPECT_EQ(costs.seconds("nbody", gpu, 0), 0);
}

TEST(FrameCosts, TheRateIsThatOfTheLargestFrame) {
    FrameCosts costs;
    costs.measured("nbody", emulator, 1000, 0.010);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", emulator, 4000), 0.040);
    costs.measured("nbody", emulator, 100, 0.005);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", emulator, 4000), 0.040) << "a smaller frame tells less";
    costs.measured("nbody", emulator, 2000, 0.010);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", emulator, 4000), 0.020);
    costs.measured("nbody", emulator, 1500, 0.015);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", emulator, 4000), 0.040) << "a newer one of its size";
}

TEST(FrameCosts, AFrameOfALittleWorkTellsNothingAboutAHundredTimesMore) {
    FrameCosts costs;
    costs.measured("nbody", gpu, 1e9, 1);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", gpu, 1e11), 100);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", gpu, 1.1e11), 0.01);
}

TEST(FrameCosts, ExperimentsAndDevicesHaveRatesOfTheirOwn) {
    FrameCosts costs;
    costs.measured("nbody", gpu, 1000, 1);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", gpu, 2000), 2);
    EXPECT_LT(costs.seconds("nbody", emulator, 2000), 0.001);
    EXPECT_LT(costs.seconds("ripple", gpu, 2000), 0.001);
}

TEST(FrameCosts, FramesThatTellNothingAreIgnored) {
    FrameCosts costs;
    costs.measured("nbody", gpu, 1000, 0.004);
    costs.measured("nbody", gpu, 0, 10);
    EXPECT_DOUBLE_EQ(costs.seconds("nbody", gpu, 1.1e13), 1);
}

TEST(DurationWords, HaveAUnitThatFits) {
    EXPECT_EQ(duration_words(0.00031), "310 µs");
    EXPECT_EQ(duration_words(0.0412), "41.2 ms");
    EXPECT_EQ(duration_words(0.9999), "1 s");
    EXPECT_EQ(duration_words(13.14), "13.1 s");
    EXPECT_EQ(duration_words(59.94), "59.9 s");
    EXPECT_EQ(duration_words(60), "1 min");
    EXPECT_EQ(duration_words(719), "12 min");
    EXPECT_EQ(duration_words(3600), "1 h");
    EXPECT_EQ(duration_words(7.2 * 3600), "7 h");
    EXPECT_EQ(duration_words(72 * 3600), "3 days");
}

TEST(Work, OfAFileOfBodiesIsEstimatedFromItsSize) {
    const auto parameters = find_experiment("nbody").make_parameters();
    const std::string file =
        testing::TempDir() + "work_bodies" + std::to_string(::getpid()) + ".csv";
    std::FILE* csv = std::fopen(file.c_str(), "w");
    for (int i = 0; i < 1000; ++i)
        std::fprintf(csv, "%.7f,%.7f,%.7f,%.7f,%.7f,%.7f,%.7f\n", i * 0.1, 0.1, 0.2, 0.3, 0.4, 0.5,
                     0.001);
    std::fclose(csv);
    const std::vector<Assignment> of_file{{"start", "file"}, {"file", file}};
    parameters->parse(of_file);
    const double estimated = parameters->work();
    const std::vector<Assignment> generated{{"start", "plummer"}, {"bodies", "1000"}};
    parameters->parse(generated);
    EXPECT_GT(estimated, 0.5 * parameters->work());
    EXPECT_LT(estimated, 2 * parameters->work());
    const std::vector<Assignment> missing{{"start", "file"}, {"file", file + "x"}};
    parameters->parse(missing);
    EXPECT_EQ(parameters->work(), 0);
}

}  // namespace
}  // namespace warpscope::experiments
