#include "ui/stage/inspector.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "experiments/launch/launch_plan.h"
#include "support/gate.h"
#include "ui/fake_experiment.h"

namespace warpscope::ui {
namespace {

using experiments::Entry;
using experiments::Experiment;
using experiments::Inspection;
using namespace std::chrono_literals;

/// An inspector whose jobs say what they saw, and end when the test lets them.
class InspectorTest : public testing::Test {
  protected:
    ~InspectorTest() override { gate_.set_open(true); }

    Inspector::Work work() {
        return {[this](const Entry&, Experiment& live, std::size_t memory_bytes,
                       std::stop_token stop) -> Inspector::Job<Inspection> {
                    if (fail_copy_) throw compute::DeviceError("no such kernel");
                    if (copy_bytes_ > memory_bytes) throw compute::OutOfMemory("no room");
                    ++copies_;
                    copied_on_ = std::this_thread::get_id();
                    return [this, stop, level = live.parameters().find("level").text()] {
                        most_ = std::max(most_.load(), ++running_);
                        gate_.pass(obeys_ ? stop : std::stop_token());
                        --running_;
                        if (level == "13") throw std::runtime_error("no luck");
                        Inspection inspection;
                        inspection.kernel = "level " + level;
                        inspection.counters.resize(1);
                        inspection.counters[0].kernel = "k" + level.substr(0, 1);
                        inspection.counters[0].barriers = std::stoul(level);
                        return inspection;
                    };
                },
                [this](const Entry&, Experiment&,
                       std::stop_token) -> Inspector::Job<Inspector::Policies> {
                    return [this] {
                        most_ = std::max(most_.load(), ++running_);
                        --running_;
                        return Inspector::Policies(3);
                    };
                }};
    }
    void set_level(const std::string& level) {
        const experiments::Assignment one{"level", level};
        experiment_.set({&one, 1});
    }
    void follow() { inspector_.follow(fake_entry(), experiment_, automatic_); }
    void wait() { inspector_.wait(fake_entry(), experiment_, automatic_); }

    tests::Gate gate_{true};
    std::atomic<int> running_{0}, most_{0};
    int copies_ = 0;
    std::size_t copy_bytes_ = 0;
    bool fail_copy_ = false, automatic_ = true;
    std::atomic<bool> obeys_{false};
    std::thread::id copied_on_;
    FakeDevice device_;
    FakeExperiment experiment_{device_};
    Inspector inspector_{work(), 0ms};
};

TEST_F(InspectorTest, ForgetsTheFindingsOfTheFileBefore) {
    auto first = std::make_shared<experiments::LaunchPlan>();
    first->file.file = "first.launch.json";
    auto other = std::make_shared<experiments::LaunchPlan>(*first);
    other->file.file = "other.launch.json";
    experiment_.launch_plan = first;
    wait();
    gate_.set_open(false);
    set_level("65");
    follow();
    EXPECT_NE(inspector_.checks().inspection, nullptr) << "of the settings before";
    experiment_.launch_plan = other;
    follow();
    EXPECT_EQ(inspector_.checks().inspection, nullptr);
    EXPECT_TRUE(inspector_.checks().checking);
    gate_.set_open(true);
    wait();
    ASSERT_NE(inspector_.checks().inspection, nullptr);
}

TEST_F(InspectorTest, ChecksTheStateOnShow) {
    EXPECT_EQ(inspector_.checks().inspection, nullptr);
    wait();
    ASSERT_NE(inspector_.checks().inspection, nullptr);
    EXPECT_EQ(inspector_.checks().inspection->kernel, "level 64");
    EXPECT_TRUE(inspector_.checks().current);
    EXPECT_FALSE(inspector_.busy());
    EXPECT_EQ(copied_on_, std::this_thread::get_id());
}

TEST_F(InspectorTest, AStateIsCheckedOnce) {
    wait();
    experiment_.step();
    wait();
    wait();
    EXPECT_EQ(copies_, 1);
}

TEST_F(InspectorTest, AResetAndOtherRunSettingsAreCheckedAnew) {
    experiment_.step();
    wait();
    experiment_.reset();
    wait();
    EXPECT_EQ(copies_, 2);
    device_.set({.seed = 7});
    wait();
    EXPECT_EQ(copies_, 3);
}

TEST_F(InspectorTest, AnotherViewIsNotCheckedAnew) {
    wait();
    const experiments::Assignment view{"speed", "3"};
    experiment_.set({&view, 1});
    wait();
    EXPECT_EQ(copies_, 1);
    EXPECT_TRUE(inspector_.checks().current);
}

TEST_F(InspectorTest, ALargeCopyIsMadeOnlyOnRequest) {
    copy_bytes_ = Inspector::automatic_bytes + 1;
    inspector_.try_policies();
    wait();
    EXPECT_EQ(copies_, 0);
    EXPECT_TRUE(inspector_.checks().too_large);
    EXPECT_EQ(inspector_.checks().error.rfind("Too large to check automatically", 0), 0U);
    EXPECT_EQ(inspector_.checks().policies, nullptr);
    EXPECT_FALSE(inspector_.busy());
    inspector_.inspect();
    wait();
    EXPECT_EQ(copies_, 1);
    EXPECT_FALSE(inspector_.checks().too_large);
    EXPECT_EQ(inspector_.checks().error, "");
    ASSERT_NE(inspector_.checks().inspection, nullptr);
    EXPECT_TRUE(inspector_.checks().current);
}

TEST_F(InspectorTest, AfterSeveralChangesDuringAJobOnlyTheNewestStateIsChecked) {
    gate_.set_open(false);
    follow();
    for (const char* level : {"70", "71", "72"}) {
        set_level(level);
        follow();
    }
    EXPECT_TRUE(inspector_.checks().checking);
    EXPECT_EQ(copies_, 1);
    gate_.set_open(true);
    wait();
    EXPECT_EQ(copies_, 2);
    EXPECT_EQ(inspector_.checks().inspection->kernel, "level 72");
    EXPECT_EQ(most_, 1);
}

TEST_F(InspectorTest, AChangeStopsTheCheckOfTheOldState) {
    gate_.set_open(false);
    obeys_ = true;
    follow();
    set_level("70");
    follow();
    while (copies_ < 2) follow();
    EXPECT_EQ(inspector_.checks().inspection, nullptr);  // the first one was stopped
    gate_.set_open(true);
    wait();
    EXPECT_EQ(copies_, 2);
    EXPECT_EQ(inspector_.checks().inspection->kernel, "level 70");
}

TEST_F(InspectorTest, ClosingStopsTheCheck) {
    gate_.set_open(false);
    obeys_ = true;
    Inspector closing(work(), 0ms);
    closing.follow(fake_entry(), experiment_, true);
    EXPECT_TRUE(closing.busy());
}

TEST_F(InspectorTest, OtherKernelsAreChecked) {
    wait();
    auto edit = std::make_shared<compute::KernelEdit>();
    edit->file = "ripple";
    device_.set_edits({{"ripple", edit}});
    wait();
    EXPECT_EQ(copies_, 2);
    wait();
    EXPECT_EQ(copies_, 2);
}

TEST_F(InspectorTest, ResultsStayUntilNewOnesArrive) {
    wait();
    gate_.set_open(false);
    set_level("70");
    follow();
    EXPECT_EQ(inspector_.checks().inspection->kernel, "level 64");
    EXPECT_FALSE(inspector_.checks().current);
    EXPECT_TRUE(inspector_.checks().checking);
}

TEST_F(InspectorTest, ACheckBeginsOnlyAfterATimeWithoutChanges) {
    Inspector patient(work(), 1h);
    patient.follow(fake_entry(), experiment_, true);
    EXPECT_EQ(copies_, 0);
    EXPECT_TRUE(patient.checks().checking);
    patient.wait(fake_entry(), experiment_, true);
    EXPECT_EQ(copies_, 1);
    EXPECT_FALSE(patient.checks().checking);
}

TEST_F(InspectorTest, WithoutAutomaticChecksOnlyARequestStartsOne) {
    automatic_ = false;
    wait();
    EXPECT_EQ(copies_, 0);
    EXPECT_FALSE(inspector_.checks().checking);
    inspector_.inspect();
    wait();
    EXPECT_EQ(copies_, 1);
    set_level("70");
    wait();
    EXPECT_EQ(copies_, 1);
    EXPECT_FALSE(inspector_.checks().current);
    EXPECT_FALSE(inspector_.checks().checking);
}

TEST_F(InspectorTest, AnErrorBecomesASentence) {
    set_level("13");
    wait();
    EXPECT_EQ(inspector_.checks().inspection, nullptr);
    EXPECT_EQ(inspector_.checks().error, "no luck");
    fail_copy_ = true;
    set_level("14");
    wait();
    EXPECT_EQ(inspector_.checks().error, "no such kernel");
    fail_copy_ = false;
    set_level("15");
    wait();
    EXPECT_EQ(inspector_.checks().error, "");
    EXPECT_NE(inspector_.checks().inspection, nullptr);
}

TEST_F(InspectorTest, CountersOfEveryKernelAreKept) {
    wait();
    set_level("70");
    wait();
    set_level("65");
    wait();
    ASSERT_EQ(inspector_.checks().counters.size(), 2U);
    EXPECT_EQ(inspector_.checks().counters[0].kernel, "k6");
    EXPECT_EQ(inspector_.checks().counters[0].barriers, 65U);
    EXPECT_EQ(inspector_.checks().counters[1].barriers, 70U);
}

TEST_F(InspectorTest, AnotherExperimentBeginsWithoutResults) {
    wait();
    gate_.set_open(false);
    set_level("70");
    follow();
    Entry other = fake_entry();
    other.id = "other";
    inspector_.follow(other, experiment_, true);
    EXPECT_EQ(inspector_.checks().inspection, nullptr);
    EXPECT_TRUE(inspector_.checks().counters.empty());
    gate_.set_open(true);
    inspector_.wait(other, experiment_, true);
    // What still ran for the other one is not shown for this one.
    EXPECT_EQ(inspector_.checks().counters.size(), 1U);
    EXPECT_EQ(copies_, 3);
}

TEST_F(InspectorTest, PoliciesAreTriedOnRequestAndNotDuringAnInspection) {
    wait();
    EXPECT_EQ(inspector_.checks().policies, nullptr);
    set_level("70");
    inspector_.try_policies();
    EXPECT_TRUE(inspector_.checks().trying_policies);
    wait();
    ASSERT_NE(inspector_.checks().policies, nullptr);
    EXPECT_EQ(inspector_.checks().policies->size(), 3U);
    EXPECT_TRUE(inspector_.checks().policies_current);
    EXPECT_EQ(most_, 1);
    set_level("71");
    follow();
    EXPECT_FALSE(inspector_.checks().policies_current);
}

}  // namespace
}  // namespace warpscope::ui
