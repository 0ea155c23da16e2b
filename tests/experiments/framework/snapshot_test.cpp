#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "experiments/live.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

using compute::RunSettings;
using tests::Live;
using tests::reading;
using tests::runs;

/// An experiment of the same kind on a device of its own.
class Other {
  public:
    explicit Other(const Entry& entry, const RunSettings& run = {})
        : device_(compute::make_emulated_device("")) {
        device_->set(run);
        experiment_ = entry.make(*device_);
    }
    Experiment& operator*() { return *experiment_; }
    Experiment* operator->() { return experiment_.get(); }
    std::vector<Rgba> picture() { return Live::picture_of(*experiment_); }

  private:
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<Experiment> experiment_;
};

std::string texts(const Experiment& experiment) {
    std::string all;
    for (const Parameter* p : experiment.parameters().all()) all += p->id() + "=" + p->text() + ' ';
    return all;
}

bool equal(const std::vector<Rgba>& a, const std::vector<Rgba>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Rgba)) == 0;
}

void expect_same_settings(Experiment& other, Experiment& live) {
    EXPECT_EQ(texts(other), texts(live));
    EXPECT_EQ(other.frame(), live.frame());
    EXPECT_EQ(other.changed_since_reset(), live.changed_since_reset());
}

struct Case {
    std::string id;
    std::vector<Assignment> settings;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    out << c.id;
    for (const Assignment& a : c.settings) out << ' ' << a.id << '=' << a.text;
    return out;
}

class SnapshotOfAPicture : public testing::TestWithParam<Case> {};

TEST_P(SnapshotOfAPicture, ACopyDrawsEqualPicturesAtThisAndLaterFrames) {
    for (const RunSettings& run : runs) {
        Live live(GetParam().id, GetParam().settings, run);
        Other other(live.entry(), run);
        other->step();  // its earlier frames must not matter
        other->resume(live.experiment().snapshot());
        expect_same_settings(*other, live.experiment());
        EXPECT_TRUE(equal(other.picture(), live.picture()));
        live.experiment().step();
        other->step();
        EXPECT_TRUE(equal(other.picture(), live.picture())) << "a frame later";
    }
}

INSTANTIATE_TEST_SUITE_P(
    Experiments, SnapshotOfAPicture,
    testing::Values(
        Case{"ripple", {{"size", "100"}, {"pattern", "ripple"}}},
        Case{"ripple", {{"size", "100"}, {"pattern", "ripple"}, {"sync", "off"}}},
        Case{"ripple",
             {{"size", "100"}, {"layout", "stamped"}, {"sync", "off"}, {"view", "stale"}}},
        Case{"ripple", {{"size", "100"}, {"layout", "stamped"}, {"sync", "off"}, {"delay", "200"}}},
        Case{"nbody", {{"bodies", "100"}, {"block", "32"}}},
        Case{"nbody", {{"bodies", "70"}, {"kernel", "float3"}, {"start", "collision"}}},
        Case{"nbody", {{"bodies", "70"}, {"kernel", "float4"}, {"dt", "0.02"}}},
        Case{"own", {{"width", "50"}, {"height", "40"}, {"mouse_x", "9"}}},
        Case{"single_buffer", {{"width", "50"}, {"height", "40"}}},
        Case{"life", {{"width", "50"}, {"height", "40"}}},
        Case{"life", {{"width", "50"}, {"height", "40"}, {"mouse_z", "1"}}}));

TEST(Snapshot, TheRacyPictureDiffersFromTheRightOne) {
    Live live("ripple", {{"size", "100"}, {"sync", "off"}});
    const std::vector<Rgba> racy = live.picture();
    const Assignment on{"sync", "on"};
    live.experiment().set({&on, 1});
    EXPECT_FALSE(equal(live.picture(), racy)) << "otherwise the cases above prove little";
}

TEST(Snapshot, KeepsParametersThatChangedAfterFrameZero) {
    Live live("ripple", {{"size", "64"}, {"pattern", "ripple"}});
    const Assignment faster{"speed", "3"};
    live.experiment().set({&faster, 1});
    live.experiment().step();
    ASSERT_TRUE(live.experiment().changed_since_reset());
    Other other(live.entry());
    other->resume(live.experiment().snapshot());
    expect_same_settings(*other, live.experiment());
    EXPECT_TRUE(equal(other.picture(), live.picture()));
}

// Reports of one launch. Racy sums are equal too, because a race reads memory that was zeroed.
class SnapshotOfASum : public testing::TestWithParam<Case> {};

TEST_P(SnapshotOfASum, ACopyReportsEqualValuesAtThisAndLaterFrames) {
    for (const RunSettings& run : runs) {
        Live live(GetParam().id, GetParam().settings, run);
        Other other(live.entry(), run);
        other->step();
        other->resume(live.experiment().snapshot());
        expect_same_settings(*other, live.experiment());
        for (int frame = 0; frame < 2; ++frame) {
            EXPECT_EQ(reading(other->report(), "value").value,
                      reading(live.experiment().report(), "value").value);
            live.experiment().step();
            other->step();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Experiments, SnapshotOfASum,
    testing::Values(Case{"dot", {{"launches", "1"}}},
                    Case{"dot", {{"launches", "1"}, {"kernel", "no_barriers"}}},
                    Case{"dot", {{"launches", "1"}, {"kernel", "no_loop_barrier"}, {"n", "999"}}},
                    Case{"reduction", {{"n", "3000"}, {"block", "100"}}},
                    Case{"reduction", {{"n", "3000"}, {"kernel", "shuffle"}}}));

std::string last_kernel(Experiment& experiment) {
    // The launch that a frozen device holds back is the last one.
    auto& device = dynamic_cast<compute::EmulatedDevice&>(experiment.device());
    return device.freeze_last([&] { experiment.launch_kernel(); }).kernel->name;
}

TEST(LaunchKernel, LaunchesTheExperimentsOwnKernelLast) {
    const auto kernel = [](const char* id, std::vector<Assignment> settings) {
        Live live(id, settings);
        return last_kernel(live.experiment());
    };
    EXPECT_EQ(kernel("ripple", {{"size", "64"}}), "ripple_txty");
    EXPECT_EQ(kernel("ripple", {{"size", "64"}, {"sync", "off"}, {"layout", "stamped"}}),
              "ripple_stamped_nosync");
    EXPECT_EQ(kernel("nbody", {{"bodies", "64"}, {"kernel", "float3"}}), "nbody_float3");
    EXPECT_EQ(kernel("dot", {{"kernel", "no_barriers"}}), "dot_no_barriers");
    EXPECT_EQ(kernel("dot", {{"kernel", "divergent_bounded"}}), "dot_divergent_bounded");
    EXPECT_EQ(kernel("reduction", {{"n", "1000"}, {"kernel", "first_add"}}), "reduce_first_add");
}

TEST(LaunchKernel, OfNBodyIsTheNextStep) {
    Live live("nbody", {{"bodies", "100"}, {"block", "32"}});
    Other other(live.entry());
    other->resume(live.experiment().snapshot());
    other->launch_kernel();
    EXPECT_FALSE(equal(other.picture(), live.picture()));
    live.experiment().step();
    EXPECT_TRUE(equal(other.picture(), live.picture()));
}

TEST(LaunchKernel, OfTheRacySumRepeatsTheLaunchOfTheFrame) {
    for (const RunSettings& run : runs) {
        Live live("dot", {{"launches", "1"}, {"kernel", "no_barriers"}}, run);
        const double value = reading(live.experiment().report(), "value").value;
        Other other(live.entry(), run);
        other->resume(live.experiment().snapshot());
        other->launch_kernel();
        EXPECT_EQ(reading(other->report(), "value").value, value);
    }
}

// The file of the live experiment is gone, so its bodies cannot be loaded again.
TEST(Snapshot, AnErrorWhileResumingLeavesTheExperimentUsable) {
    const std::string file = testing::TempDir() + "/followed" + std::to_string(::getpid()) + ".csv";
    std::ofstream(file) << "x,y,z,vx,vy,vz,mass\n0,0,0,0,0,0,1\n1,0,0,0,1,0,1\n";
    Live live("nbody", {{"start", "file"}, {"file", file}});
    std::remove(file.c_str());
    Other other(live.entry());
    const Assignment bodies{"bodies", "50"};
    other->set({&bodies, 1});
    other->step();
    const std::string before = texts(*other);
    const std::vector<Rgba> picture = other.picture();
    EXPECT_THROW(other->resume(live.experiment().snapshot()), std::exception);
    EXPECT_EQ(texts(*other), before);
    EXPECT_EQ(other->frame(), 1u);
    EXPECT_TRUE(equal(other.picture(), picture));
}

TEST(Snapshot, ASnapshotOfAnotherExperimentIsAnError) {
    Live ripple("ripple", {{"size", "64"}});
    Other nbody(find_experiment("nbody"));
    const std::string before = texts(*nbody);
    EXPECT_THROW(nbody->resume(ripple.experiment().snapshot()), ParameterError);
    EXPECT_EQ(texts(*nbody), before);
}

}  // namespace
}  // namespace warpscope::experiments
