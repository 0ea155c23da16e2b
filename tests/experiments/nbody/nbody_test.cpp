#include "experiments/nbody/nbody.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "experiments/bodies/bodies_file.h"
#include "experiments/settings.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using tests::reading;
using tests::set;

const std::string galaxy = WARPSCOPE_SOURCE_DIR "/assets/galaxy_20k.tipsy";
constexpr Size view{64, 48};

std::vector<std::uint8_t> picture(NBody& nbody) {
    compute::Buffer<Rgba> pixels(nbody.device(), std::size_t(view.width) * view.height);
    nbody.render_into({pixels.pointer(), view});
    std::vector<std::uint8_t> bytes;
    for (const Rgba& pixel : pixels.download())
        bytes.insert(bytes.end(), {pixel.r, pixel.g, pixel.b, pixel.a});
    return bytes;
}

std::string text_of(const NBody& nbody, std::string_view id) {
    return nbody.parameters().find(id).text();
}

class NBodyExperiment : public tests::OnDevices {
  protected:
    /// 500 bodies where the test says nothing else.
    NBody& nbody() {
        if (!nbody_) {
            nbody_.emplace(device());
            set(*nbody_, {{"bodies", "500"}});
        }
        return *nbody_;
    }

  private:
    std::optional<NBody> nbody_;
};
WARPSCOPE_ON_DEVICES(NBodyExperiment);

TEST_P(NBodyExperiment, ReportsEveryReading) {
    for (const char* kernel :
         {"float3", "float4", "tiled", "rsqrt", "unrolled", "several", "fast", "async", "bulk"}) {
        set(nbody(), {{"kernel", kernel}});
        nbody().step();
        const Report report = nbody().report();
        EXPECT_EQ(reading(report, "bodies").value, 500);
        const Reading& error = reading(report, "relative_error");
        EXPECT_EQ(error.verdict, Verdict::pass);
        EXPECT_GT(error.value, 0) << "floats are never exact here";
        EXPECT_LT(error.value, 1e-5);
        EXPECT_LT(std::abs(reading(report, "energy_drift").value), 1e-2);
        EXPECT_LT(reading(report, "momentum_drift").value, 1e-6);
        EXPECT_GT(reading(report, "interactions_per_second").value, 0);
    }
}

TEST_P(NBodyExperiment, TakesEveryNumberBlockAndStart) {
    for (const char* start : {"plummer", "disk", "collision", "cold"})
        for (const char* bodies : {"1", "2", "33"})
            for (const char* block : {"32", "333", "1024"}) {
                set(nbody(), {{"start", start}, {"bodies", bodies}, {"block", block}});
                nbody().step();
                const Report report = nbody().report();
                EXPECT_FALSE(has_failure(report)) << start << " of " << bodies;
                for (const Reading& value : report) EXPECT_TRUE(std::isfinite(value.value));
            }
}

TEST_P(NBodyExperiment, SeveralAndFastIgnoreTheBlockSize) {
    for (const char* kernel : {"float3", "tiled", "unrolled", "several", "fast", "async", "bulk"}) {
        set(nbody(), {{"kernel", kernel}, {"block", "96"}});
        nbody().step();
        device().synchronize();
        const auto& kernels = device().timings().kernels();
        const auto launched = std::ranges::find_if(kernels, [&](const auto& k) {
            return k.name.starts_with("nbody_" + std::string(kernel));
        });
        ASSERT_NE(launched, kernels.end()) << kernel;
        EXPECT_EQ(nbody().parameters().find("block").matters(), launched->block.x == 96) << kernel;
    }
    EXPECT_TRUE(nbody().parameters().find("bodies").matters());
    EXPECT_FALSE(nbody().parameters().find("file").matters());
}

TEST_P(NBodyExperiment, ResetGivesTheSameFramesAgain) {
    const auto first = picture(nbody());
    for (int i = 0; i < 3; ++i) nbody().step();
    const auto fourth = picture(nbody());
    EXPECT_NE(fourth, first);
    nbody().reset();
    EXPECT_EQ(picture(nbody()), first);
    for (int i = 0; i < 3; ++i) nbody().step();
    EXPECT_EQ(picture(nbody()), fourth);
}

TEST_P(NBodyExperiment, AnotherKernelContinuesFromTheCurrentState) {
    for (int i = 0; i < 20; ++i) nbody().step();
    const auto before = picture(nbody());
    set(nbody(), {{"kernel", "float3"}});
    EXPECT_EQ(nbody().frame(), 20u);
    EXPECT_EQ(picture(nbody()), before);
    EXPECT_NE(reading(nbody().report(), "energy_drift").value, 0) << "still against frame 0";
}

TEST_P(NBodyExperiment, AnotherStartBeginsAtFrameZero) {
    nbody().step();
    set(nbody(), {{"seed", "2"}});
    EXPECT_EQ(nbody().frame(), 0u);
    EXPECT_FALSE(nbody().changed_since_reset());
    EXPECT_EQ(reading(nbody().report(), "energy_drift").value, 0);
    EXPECT_EQ(reading(nbody().report(), "momentum_drift").value, 0);
}

TEST_P(NBodyExperiment, TheViewLeavesNoTrace) {
    nbody().step();
    set(nbody(), {{"yaw", "10"}, {"exposure", "2"}});
    EXPECT_FALSE(nbody().changed_since_reset());
    set(nbody(), {{"dt", "0.01"}});
    EXPECT_TRUE(nbody().changed_since_reset());
}

TEST_P(NBodyExperiment, LoadsTheGalaxy) {
    set(nbody(), {{"start", "file"}, {"file", galaxy}});
    const auto before = picture(nbody());
    EXPECT_NE(before, std::vector<std::uint8_t>(before.size(), 0));
    EXPECT_EQ(nbody().frame(), 0u);
}

TEST_P(NBodyExperiment, ReportsTheTotalMassAndTheUnitsOfAFile) {
    EXPECT_NEAR(reading(nbody().report(), "total_mass").value, 1, 1e-6);
    const auto file = std::filesystem::path(testing::TempDir()) /
                      ("nbody_si_" + std::string(GetParam()) + std::to_string(::getpid()) + ".csv");
    const auto report_of = [&](const char* rows) {
        std::ofstream(file) << "mass,x,y,z,vx,vy,vz\n" << rows;
        set(nbody(), {{"start", "plummer"}});
        set(nbody(), {{"start", "file"}, {"file", file.string()}});
        return nbody().report();
    };
    const Report si = report_of("2e30,0,0,0,0,0,0\n6e24,1.5e11,0,0,0,29780,0\n");
    EXPECT_NEAR(reading(si, "total_mass").value, 1, 1e-6);
    EXPECT_EQ(reading(si, "total_mass").sentence, "The masses in the file add up to 2e+30 kg.");
    // sqrt(1.5e11^3 / (6.6743e-11 * 2.000006e30)), about a year over 2 pi.
    EXPECT_NE(
        reading(si, "bodies")
            .sentence.english()
            .find("the unit of length is 1.5e+11 m, the unit of mass 2e+30 kg, the unit of time "
                  "5.028e+06 s."),
        std::string::npos)
        << reading(si, "bodies").sentence.english();
    const Report massless = report_of("0,0,0,0,0,0,0\n0,4,0,0,0,0,0\n");
    EXPECT_EQ(reading(massless, "total_mass").value, 0);
    EXPECT_EQ(reading(massless, "total_mass").sentence,
              "All masses in the file are 0, so no body pulls another one.");
    std::filesystem::remove(file);
}

TEST_P(NBodyExperiment, ABadFileLeavesTheLastGoodState) {
    for (int i = 0; i < 2; ++i) nbody().step();
    const auto before = picture(nbody());
    const auto bad = std::filesystem::path(testing::TempDir()) /
                     ("nbody_bad_" + std::string(GetParam()) + std::to_string(::getpid()) + ".csv");
    std::ofstream(bad) << "0,0,0,0,0,0,1\n0,nan,0,0,0,0,1\n";

    EXPECT_THROW(set(nbody(), {{"file", bad.string()}, {"start", "file"}}), BodiesFileError);
    EXPECT_THROW(set(nbody(), {{"start", "file"}}), ParameterError) << "no file named";
    EXPECT_THROW(set(nbody(), {{"bodies", "0"}}), ParameterError);
    EXPECT_THROW(set(nbody(), {{"block", "2000"}, {"bodies", "7"}}), ParameterError);
    EXPECT_EQ(text_of(nbody(), "start"), "plummer");
    EXPECT_EQ(text_of(nbody(), "file"), "");
    EXPECT_EQ(text_of(nbody(), "bodies"), "500");
    EXPECT_EQ(nbody().frame(), 2u);
    EXPECT_EQ(picture(nbody()), before);
    nbody().step();
    EXPECT_EQ(reading(nbody().report(), "bodies").value, 500);
    std::filesystem::remove(bad);
}

TEST_P(NBodyExperiment, TheTileSwitchesBetweenTwoKernels) {
    EXPECT_EQ(text_of(nbody(), "tile"), "on");
    set(nbody(), {{"tile", "off"}});
    EXPECT_EQ(text_of(nbody(), "kernel"), "float4");
    nbody().step();
    device().synchronize();
    EXPECT_EQ(device().timings().kernels().back().name, "nbody_float4");
    set(nbody(), {{"tile", "on"}});
    EXPECT_EQ(text_of(nbody(), "kernel"), "tiled");
    set(nbody(), {{"kernel", "float4"}});
    EXPECT_EQ(text_of(nbody(), "tile"), "off");
    // The other kernels have no such partner.
    for (const char* kernel : {"float3", "rsqrt", "fast"}) {
        set(nbody(), {{"kernel", kernel}});
        EXPECT_FALSE(nbody().parameters().find("tile").matters()) << kernel;
        set(nbody(), {{"tile", "on"}});
        set(nbody(), {{"tile", "off"}});
        EXPECT_EQ(text_of(nbody(), "kernel"), kernel);
    }
}

TEST_P(NBodyExperiment, ReportsTheSectorsThatTheTileSaves) {
    set(nbody(), {{"bodies", "512"}, {"block", "128"}});
    const double with = reading(nbody().report(), "sectors_per_interaction").value;
    EXPECT_EQ(with, 1 / 256.0) << "16 bytes, half a sector, for 128 interactions";
    set(nbody(), {{"tile", "off"}});
    const double without = reading(nbody().report(), "sectors_per_interaction").value;
    EXPECT_EQ(without, 1 / 32.0) << "a sector for each warp";
    const auto& tile = nbody().parameters().find("tile");
    EXPECT_EQ(tile.note(),
              "Each warp reads each body: 1/32 of a sector for each interaction. With the tile it "
              "is 1/256.");
    if (device().info().kind != compute::DeviceKind::emulator) return;
    // Each body's position and velocity are also read and written once, 16 bytes each.
    const auto rows = nbody().compare()->rows;
    EXPECT_EQ(rows[1].counts->sectors, without * 512 * 512 + 4 * 512 / 2);
    EXPECT_EQ(rows[2].counts->sectors, with * 512 * 512 + 4 * 512 / 2);
}

TEST_P(NBodyExperiment, ForcesAreWrongWithoutABarrier) {
    const bool emulated = device().info().kind == compute::DeviceKind::emulator;
    for (const char* barrier : {"load_barrier", "reuse_barrier"}) {
        const Parameter& toggle = nbody().parameters().find(barrier);
        EXPECT_FALSE(toggle.remark()) << barrier;
        set(nbody(), {{barrier, "off"}});
        nbody().step();
        Reading error = reading(nbody().report(), "relative_error");
        // On a GPU the warps may happen to run in step.
        EXPECT_TRUE(error.verdict == Verdict::finding ||
                    (!emulated && error.verdict == Verdict::unproven));
        EXPECT_NE(error.sentence.english().find("ithout __syncthreads() at nbody.cu:"),
                  std::string::npos)
            << error.sentence.english();
        ASSERT_TRUE(toggle.remark());
        EXPECT_EQ(toggle.remark()->remedy.id, barrier);
        set(nbody(), {{"kernel", "rsqrt"}});
        EXPECT_FALSE(toggle.remark()) << "this kernel has its barriers";
        EXPECT_EQ(reading(nbody().report(), "relative_error").verdict, Verdict::pass);
        set(nbody(), {{"kernel", "tiled"}, {barrier, "on"}});
        error = reading(nbody().report(), "relative_error");
        EXPECT_EQ(error.verdict, Verdict::pass);
        EXPECT_EQ(error.sentence.english().find("__syncthreads()"), std::string::npos);
    }
    set(nbody(), {{"load_barrier", "off"}, {"reuse_barrier", "off"}});
    const Reading error = reading(nbody().report(), "relative_error");
    EXPECT_NE(error.sentence.english().find(" and "), std::string::npos)
        << "two lines: " << error.sentence.english();
    EXPECT_TRUE(error.verdict == Verdict::finding || !emulated);
}

TEST_P(NBodyExperiment, ComparesEveryKernel) {
    const auto comparison = nbody().compare();
    ASSERT_TRUE(comparison);
    ASSERT_EQ(comparison->rows.size(), 9u);
    const char* ids[] = {"float3",  "float4", "tiled", "rsqrt", "unrolled",
                         "several", "fast",   "async", "bulk"};
    const bool emulated = device().info().kind == compute::DeviceKind::emulator;
    const char* published[] = {"3383.6 ms", "3738.6 ms", "3198.6 ms", "", "", "", "", "", ""};
    for (std::size_t i = 0; i < 9; ++i) {
        const Comparison::Row& row = comparison->rows[i];
        EXPECT_EQ(row.id, ids[i]);
        // The tutorial's times are those of a GPU; the emulator's cannot be compared with them.
        EXPECT_EQ(row.published, emulated ? "" : published[i]);
        EXPECT_EQ(row.counts.has_value(), emulated);
        EXPECT_EQ(row.verdict, Verdict::pass);
        EXPECT_GT(row.median_ms, 0);
        EXPECT_NEAR(row.rate, 500 * 500 / row.median_ms * 1e3, 1e-6 * row.rate);
    }
    EXPECT_EQ(nbody().frame(), 0u);
    EXPECT_EQ(reading(nbody().report(), "energy_drift").value, 0) << "the state hasn't moved";
}

TEST_P(NBodyExperiment, MouseMovesTheCamera) {
    nbody().drag(0.5, 0);
    EXPECT_EQ(text_of(nbody(), "yaw"), "-60");
    nbody().drag(0, 10);
    EXPECT_EQ(text_of(nbody(), "pitch"), "90");
    nbody().scroll(1);
    EXPECT_LT(std::stod(text_of(nbody(), "distance")), 1);
    nbody().scroll(-1000);
    EXPECT_EQ(text_of(nbody(), "distance"), "20");
    EXPECT_FALSE(nbody().changed_since_reset());
}

TEST_P(NBodyExperiment, TheMouseSetsShortNumbers) {
    set(nbody(), {{"yaw", "30"}, {"pitch", "0"}, {"distance", "1"}});
    nbody().drag(0.123456789, -0.00001);  // 30 - 22.2222...; 0 - 0.0018
    EXPECT_EQ(text_of(nbody(), "yaw"), "7.78");
    EXPECT_EQ(text_of(nbody(), "pitch"), "0");
    for (int i = 0; i < 3; ++i) nbody().scroll(1);
    EXPECT_EQ(text_of(nbody(), "distance"), "0.729");  // 0.9^3
}

/// A device too small for many bodies; it can't run anything.
class TinyDevice : public compute::Device {
  public:
    explicit TinyDevice(std::size_t bytes) {
        info_.name = "tiny";
        info_.memory_bytes = bytes;
    }
    std::uint64_t allocate(std::size_t) override { throw std::logic_error("not reached"); }
    void release(std::uint64_t) noexcept override {}
    void upload(std::uint64_t, const void*, std::size_t) override {}
    void download(void*, std::uint64_t, std::size_t) override {}
    void fill(std::uint64_t, std::uint8_t, std::size_t) override {}
    void copy(std::uint64_t, std::uint64_t, std::size_t) override {}
    void synchronize() override {}
    std::uint64_t attach(void*, std::size_t) override { return 0; }
    void detach(std::uint64_t) noexcept override {}

  protected:
    const compute::LoadedKernel& load(std::string_view, std::string_view,
                                      const compute::KernelEdit*) override {
        throw std::logic_error("not reached");
    }
    const compute::LoadedKernel& load_ptx(std::string_view, std::string_view) override {
        throw std::logic_error("not reached");
    }
    compute::DeviceVariable find_variable(std::string_view, const std::string&,
                                          const compute::KernelEdit*) override {
        throw std::logic_error("not reached");
    }
    void launch_packed(const compute::LoadedKernel&, const compute::LaunchShape&,
                       const compute::Work&, std::span<void* const>) override {}
};

TEST(NBodyMemory, TheErrorSaysHowManyBodiesFit) {
    const TinyDevice device(2 * NBodyState::bytes_for(1000));
    EXPECT_NO_THROW(NBodyState::require_room(device, 1000));
    try {
        NBodyState::require_room(device, 1001);
        FAIL();
    } catch (const compute::DeviceError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("1001 bodies"), std::string::npos) << text;
        EXPECT_NE(text.find("tiny"), std::string::npos) << text;
        EXPECT_NE(text.find("choose 1000 or fewer"), std::string::npos) << text;
    }
}

TEST(NBodyCheck, SamplesWhereAllWouldCostTooMuch) {
    const StepReference all = make_reference(plummer_sphere(100, 1), 0.1f, 10000);
    EXPECT_EQ(all.which.size(), 100u);
    const StepReference some = make_reference(plummer_sphere(100, 1), 0.1f, 2500);
    ASSERT_EQ(some.which.size(), 25u);
    EXPECT_EQ(some.which[1] - some.which[0], 4u);
}

}  // namespace
}  // namespace warpscope::experiments
