#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "compute/emulated/emulated_device.h"
#include "experiments/framework/experiment.h"
#include "experiments/settings.h"
#include "support/stop_at_launch.h"

// A stop request may come in every launch of every member function. The experiment must then go on
// as if the function had not been called.
namespace warpscope::experiments {
namespace {

using tests::set;
using tests::StopAtLaunch;

struct CancelCase {
    std::string experiment;
    std::vector<Assignment> settings;
    std::string name;
};

void PrintTo(const CancelCase& c, std::ostream* out) {
    *out << c.name;
}

/// Readings that are not times.
std::string words_of(const Report& report) {
    std::string words;
    for (const Reading& r : report)
        if (r.unit != "ms" && !r.unit.ends_with("/s"))
            words += r.name + " " + std::to_string(r.value) + " " + r.sentence.english() + "\n";
    return words;
}

class CancelEverywhere : public testing::TestWithParam<CancelCase> {
  protected:
    using Action = std::function<std::string(Experiment&)>;

    static std::string picture(Experiment& experiment) {
        const Size size = experiment.picture_size({64, 48});
        compute::Buffer<Rgba> pixels(experiment.device(),
                                     std::size_t(size.width) * std::size_t(size.height));
        experiment.render_into({pixels.pointer(), size});
        const std::vector<Rgba> values = pixels.download();
        return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Rgba)};
    }
    static std::vector<Action> actions() {
        const Action step = [](Experiment& e) { return e.step(), std::to_string(e.frame()); };
        const Action report = [](Experiment& e) { return words_of(e.report()); };
        const Action draw = [](Experiment& e) { return picture(e); };
        const Action tree = [](Experiment& e) {
            std::string words;
            if (const Tree* found = e.tree())
                for (const Tree::Row& row : found->rows)
                    for (const float value : row.values) words += std::to_string(value) + " ";
            return words;
        };
        const Action compare = [](Experiment& e) {
            std::string words;
            if (const auto comparison = e.compare())
                for (const auto& row : comparison->rows)
                    words += row.id + " " + std::to_string(row.error) + "\n";
            return words;
        };
        const Action timeline = [](Experiment& e) {
            const auto times = e.timeline();
            return times ? std::to_string(times->end) : std::string();
        };
        const Action barriers = [](Experiment& e) {
            const auto measured = e.measure_barriers();
            return measured ? words_of(*measured) : std::string();
        };
        return {step,     draw, report, step,    step,   report,   draw,  tree,
                timeline, step, draw,   compare, report, barriers, report};
    }

    /// The results of all actions. In each of them a stop comes at launch `at`; then it is
    /// repeated.
    std::vector<std::string> run(std::uint64_t at) {
        const auto device = compute::make_emulated_device("", std::size_t(1) << 28);
        StopAtLaunch stop(*device);
        const auto experiment = tests::entry_of(GetParam().experiment)->make(*device);
        experiment->set(GetParam().settings);
        std::vector<std::string> results;
        for (const Action& action : actions()) {
            stop.arm(at);
            device->set_launch_limits({.stop = stop.token()});
            const std::uint64_t frame = experiment->frame();
            try {
                results.push_back(action(*experiment));
                EXPECT_FALSE(stop.requested()) << "the stop was not obeyed";
            } catch (const compute::Cancelled&) {
                EXPECT_EQ(experiment->frame(), frame);
                ++stops_;
                device->set_launch_limits({});
                results.push_back(action(*experiment));
            }
        }
        return results;
    }
    int stops_ = 0;
};

std::vector<CancelCase> cancel_cases() {
    const Assignment small{"size", "64"};
    return {
        {"ripple", {small}, "ripple"},
        {"ripple", {small, {"sync", "off"}, {"view", "split"}, {"window", "3"}}, "ripple_nosync"},
        {"ripple", {small, {"layout", "stamped"}, {"delay", "50"}}, "ripple_stamped"},
        {"nbody", {{"bodies", "200"}, {"block", "32"}}, "nbody"},
        {"nbody", {{"bodies", "200"}, {"kernel", "fast"}}, "nbody_fast"},
        {"dot", {{"n", "3000"}, {"launches", "4"}}, "dot"},
        {"dot", {{"n", "3000"}, {"launches", "4"}, {"kernel", "no_barriers"}}, "dot_racy"},
        {"dot",
         {{"n", "900"}, {"block", "64"}, {"launches", "2"}, {"kernel", "divergent_bounded"}},
         "dot_bounded"},
        {"dot", {{"n", "3000"}, {"launches", "1"}, {"kernel", "single_pass"}}, "dot_single"},
        {"reduction", {{"n", "3000"}}, "reduction"},
        {"reduction", {{"n", "3000"}, {"kernel", "single_pass"}}, "reduction_single"},
        {"life", {{"width", "48"}, {"height", "32"}}, "life"},
        {"single_buffer", {{"width", "48"}, {"height", "32"}}, "racy"}};
}
INSTANTIATE_TEST_SUITE_P(Of, CancelEverywhere, testing::ValuesIn(cancel_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(CancelEverywhere, TheExperimentGoesOnAsIfNothingHadHappened) {
    const std::vector<std::string> undisturbed = run(StopAtLaunch::never);
    EXPECT_EQ(stops_, 0);
    for (const std::uint64_t at : {0, 1, 2, 3, 7, 20}) {
        SCOPED_TRACE(at);
        EXPECT_EQ(run(at), undisturbed);
    }
    EXPECT_GT(stops_, 10);
}

/// On a device whose stop was requested.
class CancelOnTheHost : public testing::Test {
  protected:
    void stop() {
        std::stop_source source;
        source.request_stop();
        device_->set_launch_limits({.stop = source.get_token()});
    }
    void go_on() { device_->set_launch_limits({}); }
    std::unique_ptr<compute::EmulatedDevice> device_ =
        compute::make_emulated_device("", std::size_t(1) << 28);
};

TEST_F(CancelOnTheHost, AChangeOfTheSizeIsUndone) {
    for (const auto& [id, parameter, from, to] :
         {std::tuple{"nbody", "bodies", "100", "200"}, std::tuple{"dot", "n", "1000", "2000"},
          std::tuple{"reduction", "n", "1000", "2000"}}) {
        SCOPED_TRACE(id);
        const auto experiment = find_experiment(id).make(*device_);
        set(*experiment, {{parameter, from}});
        experiment->step();
        const std::string before = words_of(experiment->report());
        stop();
        EXPECT_THROW(set(*experiment, {{parameter, to}}), compute::Cancelled);
        go_on();
        EXPECT_EQ(experiment->parameters().find(parameter).text(), from);
        EXPECT_EQ(experiment->frame(), 1U);
        EXPECT_EQ(words_of(experiment->report()), before);
        set(*experiment, {{parameter, to}});
        EXPECT_NE(words_of(experiment->report()), before);
    }
}

TEST_F(CancelOnTheHost, EveryStartOfTheBodiesCanBeStopped) {
    const auto experiment = find_experiment("nbody").make(*device_);
    set(*experiment, {{"bodies", "100"}});
    const std::string file =
        testing::TempDir() + "cancelled_bodies" + std::to_string(::getpid()) + ".csv";
    std::FILE* csv = std::fopen(file.c_str(), "w");
    std::fputs("-1,0,0,0,0,0,1\n1,0,0,0,1,0,1\n", csv);
    std::fclose(csv);
    for (const char* start : {"disk", "collision", "cold", "file"}) {
        SCOPED_TRACE(start);
        stop();
        EXPECT_THROW(set(*experiment, {{"start", start}, {"file", file}}), compute::Cancelled);
        go_on();
        EXPECT_EQ(experiment->parameters().find("start").text(), "plummer");
        EXPECT_NO_THROW(set(*experiment, {{"start", start}, {"file", file}}));
        set(*experiment, {{"start", "plummer"}});
    }
}

TEST_F(CancelOnTheHost, AReportInDoublePrecisionIsStopped) {
    const auto experiment = find_experiment("nbody").make(*device_);
    set(*experiment, {{"bodies", "100"}});
    stop();
    EXPECT_THROW(experiment->report(), compute::Cancelled);
    go_on();
    EXPECT_EQ(experiment->report().size(), 7U);
}

}  // namespace
}  // namespace warpscope::experiments
