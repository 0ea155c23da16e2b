#include "experiments/framework/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compute/pick_device.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

using tests::reading;
using tests::set;

struct ProbeParameters : ParameterSet {
    std::string kernel_file() const override { return "ripple"; }
    Integer a{*this, "a", "A", "Help.", 1, 0, 100};
    Integer b{*this, "b", "B", "Help.", 2, 0, 100};
};

/// Throws for b == 13 after the parameters were set, as a device without memory does.
class Probe : public Experiment {
  public:
    explicit Probe(compute::Device& device) : Experiment(device) {}
    const ProbeParameters& parameters() const override { return parameters_; }
    void launch_kernel() override {}
    Size picture_size(Size) const override { return {}; }
    void render_into(const PixelTarget&) override {}
    Report report() override { return {}; }

    std::vector<std::string> changes;
    int steps = 0;
    bool traceless = false;

  private:
    void changed(std::span<Parameter* const> which) override {
        if (parameters_.b == 13) throw compute::DeviceError("no memory");
        std::string ids;
        for (const Parameter* parameter : which) ids += parameter->id();
        changes.push_back(ids);
    }
    bool leaves_trace(std::span<Parameter* const>) const override { return !traceless; }
    void do_step() override { ++steps; }
    void do_reset() override { steps = 0; }

    ProbeParameters parameters_;
};

class ExperimentBase : public testing::Test {
  protected:
    std::unique_ptr<compute::Device> device_ = compute::pick_device("emulator");
    Probe probe_{*device_};

    std::string values() const {
        return probe_.parameters().find("a").text() + " " + probe_.parameters().find("b").text();
    }
};

TEST_F(ExperimentBase, ChangedReceivesTheChangedParameters) {
    set(probe_, {{"a", "5"}, {"b", "2"}});
    set(probe_, {{"a", "5"}});
    set(probe_, {{"b", "7"}, {"a", "6"}, {"b", "8"}});
    EXPECT_EQ(probe_.changes, (std::vector<std::string>{"a", "ba"}));
    EXPECT_EQ(values(), "6 8");
}

TEST_F(ExperimentBase, AnIllegalAssignmentChangesNoParameter) {
    set(probe_, {{"a", "5"}});
    EXPECT_THROW(set(probe_, {{"a", "9"}, {"b", "101"}}), ParameterError);
    EXPECT_THROW(set(probe_, {{"a", "9"}, {"c", "1"}}), ParameterError);
    EXPECT_THROW(set(probe_, {{"a", "9"}, {"a", "10"}, {"b", "13"}}), compute::DeviceError);
    EXPECT_EQ(values(), "5 2");
    EXPECT_EQ(probe_.changes, std::vector<std::string>{"a"});
}

TEST_F(ExperimentBase, CountsFramesAndChangesSinceReset) {
    set(probe_, {{"a", "5"}});
    EXPECT_FALSE(probe_.changed_since_reset()) << "a change at frame 0 does not count";
    probe_.step();
    probe_.step();
    EXPECT_EQ(probe_.frame(), 2u);
    EXPECT_THROW(set(probe_, {{"b", "13"}}), compute::DeviceError);
    EXPECT_FALSE(probe_.changed_since_reset());
    probe_.traceless = true;
    set(probe_, {{"a", "6"}});
    EXPECT_FALSE(probe_.changed_since_reset());
    probe_.traceless = false;
    set(probe_, {{"a", "7"}});
    EXPECT_TRUE(probe_.changed_since_reset());
    probe_.reset();
    EXPECT_EQ(probe_.frame(), 0u);
    EXPECT_EQ(probe_.steps, 0);
    EXPECT_FALSE(probe_.changed_since_reset());
}

TEST_F(ExperimentBase, AChangeOfAViewLeavesNoTraceAndTheLaunch) {
    const std::vector<std::string> before = probe_.parameters().of_launch();
    EXPECT_EQ(before, (std::vector<std::string>{"a=1", "b=2"}));
    probe_.parameters().find("b").only_shows();
    probe_.step();
    set(probe_, {{"b", "5"}});
    EXPECT_FALSE(probe_.changed_since_reset());
    EXPECT_EQ(probe_.parameters().of_launch(), std::vector<std::string>{"a=1"});
    set(probe_, {{"b", "6"}, {"a", "2"}});
    EXPECT_TRUE(probe_.changed_since_reset());
    probe_.parameters().find("a").only_when([] { return false; });
    EXPECT_TRUE(probe_.parameters().of_launch().empty());
}

TEST(Registry, ViewParametersOfTheBodiesDoNotChangeTheLaunch) {
    const auto device = compute::pick_device("emulator");
    const auto nbody = find_experiment("nbody").make(*device);
    const std::vector<std::string> before = nbody->parameters().of_launch();
    nbody->drag(0.1, 0.1);
    nbody->scroll(1);
    nbody->parameters().find("exposure").parse("2");
    EXPECT_EQ(nbody->parameters().of_launch(), before);
    nbody->parameters().find("softening").parse("0.1");
    EXPECT_NE(nbody->parameters().of_launch(), before);
}

TEST(Registry, EveryParameterIsInOneGroup) {
    for (const Entry& entry : registry()) {
        const auto parameters = entry.make_parameters();
        std::map<const Parameter*, int> groups;
        for (const ParameterGroup& group : parameters->groups()) {
            EXPECT_FALSE(group.title.empty());
            for (const Parameter* parameter : group.parameters) ++groups[parameter];
        }
        for (const Parameter* parameter : parameters->all())
            EXPECT_EQ(groups[parameter], 1) << entry.id << "." << parameter->id();
    }
}

TEST(Registry, AGroupMattersIfOneOfItsParametersDoes) {
    const auto ripple = find_experiment("ripple").make_parameters();
    const auto delays = std::find_if(ripple->groups().begin(), ripple->groups().end(),
                                     [](const auto& g) { return g.title == "Race laboratory"; });
    ASSERT_NE(delays, ripple->groups().end());
    EXPECT_FALSE(delays->matters());
    ripple->find("layout").parse("stamped");
    EXPECT_TRUE(delays->matters());
}

TEST(Registry, StaleReadsOfAnotherTileAreRemarkedWithARemedy) {
    const auto ripple = find_experiment("ripple").make_parameters();
    EXPECT_FALSE(ripple->find("view").remark());
    ripple->find("view").parse("stale");
    const auto remark = ripple->find("view").remark();
    ASSERT_TRUE(remark);
    EXPECT_EQ(remark->sentence, "Only the stamped tile detects stale reads.");
    ripple->find(remark->remedy.id).parse(remark->remedy.text);
    EXPECT_FALSE(ripple->find("view").remark());
}

TEST(Registry, MakesEveryExperimentAndDescribesIt) {
    const auto device = compute::pick_device("emulator");
    for (const Entry& entry : registry()) {
        const auto experiment = entry.make(*device);
        EXPECT_FALSE(entry.title.empty());
        EXPECT_FALSE(entry.summary.empty());
        EXPECT_FALSE(experiment->parameters().all().empty());
        EXPECT_EQ(experiment->kernel_file(), entry.make_parameters()->kernel_file());
        for (Parameter* parameter : experiment->parameters().all()) {
            EXPECT_FALSE(parameter->label().empty()) << entry.id << '.' << parameter->id();
            EXPECT_TRUE(parameter->help().ends_with('.')) << entry.id << '.' << parameter->id();
            EXPECT_EQ(parameter->text(), parameter->default_text());
            EXPECT_NO_THROW(parameter->parse(parameter->default_text()));
        }
    }
}

TEST(Registry, ParametersMadeWithoutADeviceAreThoseOfTheExperiment) {
    const auto device = compute::pick_device("emulator");
    const auto declaration = [](const Parameter& p) {
        return p.id() + '\n' + p.label() + '\n' + p.help() + '\n' + p.type() + '\n' + p.range() +
               '\n' + p.default_text() + (p.is_view() ? "\nview" : "") +
               (p.matters() ? "\nmatters" : "");
    };
    for (const Entry& entry : registry()) {
        const auto declared = entry.make_parameters();
        const auto experiment = entry.make(*device);
        const auto& made = experiment->parameters().all();
        ASSERT_EQ(declared->all().size(), made.size()) << entry.id;
        for (std::size_t i = 0; i < made.size(); ++i)
            EXPECT_EQ(declaration(*declared->all()[i]), declaration(*made[i]));
    }
}

TEST(Registry, OneExperimentIsMadeFromALaunchFile) {
    EXPECT_EQ(std::ranges::count_if(registry(), [](const Entry& one) { return !!one.compile; }), 1);
    EXPECT_EQ(&find_experiment("launch"), &launch_experiment());
    EXPECT_EQ(launch_experiment().launch_file, "own");
    EXPECT_FALSE(find_experiment("ripple").compile);
}

TEST(Registry, AnUnknownExperimentIsAnErrorThatNamesTheKnownOnes) {
    EXPECT_EQ(find_experiment("dot").id, "dot");
    try {
        find_experiment("dots");
        FAIL();
    } catch (const ParameterError& error) {
        EXPECT_NE(std::string(error.what()).find("ripple"), std::string::npos) << error.what();
    }
}

TEST(Reports, OnlyTheVerdictFailIsAFailure) {
    Report report{{"a", "A", 1, "", {}, Verdict::pass, {}},
                  {"b", "B", 2, "", {}, Verdict::finding, {}}};
    EXPECT_FALSE(has_failure(report));
    report.push_back({"c", "C", 3, "", {}, Verdict::fail, {}});
    EXPECT_TRUE(has_failure(report));
    EXPECT_EQ(reading(report, "b").value, 2);
    EXPECT_EQ(find(report, "d"), nullptr);
}

}  // namespace
}  // namespace warpscope::experiments
