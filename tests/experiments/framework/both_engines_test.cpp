#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compute/emulated/emulated_device.h"
#include "emulator/checks/barrier_check.h"
#include "emulator/checks/memory_check.h"
#include "emulator/counters/access_counters.h"
#include "emulator/launcher.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/race_detector.h"
#include "experiments/framework/experiment.h"
#include "support/devices.h"
#include "support/long_tests.h"

/// Each kernel of the app, interpreted and compiled, with one choice of each experiment after the
/// other: pictures, readings, errors, findings and counts must be equal.
namespace warpscope::tests {
namespace {

using emulator::Execution;
using experiments::Assignment;

struct EngineCase {
    std::string experiment;
    std::vector<Assignment> settings;
};

std::ostream& operator<<(std::ostream& out, const EngineCase& c) {
    out << c.experiment;
    for (const Assignment& a : c.settings) out << " " << a.id << "=" << a.text;
    return out;
}

// Small, and no multiple of a block.
std::vector<Assignment> sizes_of(const std::string& experiment, unsigned variant) {
    const auto n = [&](int first, int second, int third) {
        const int values[] = {first, second, third};
        return std::to_string(values[variant % 3]);
    };
    if (experiment == "ripple") return {{"size", n(40, 64, 17)}};
    if (experiment == "nbody") return {{"bodies", n(300, 256, 33)}};
    if (experiment == "dot") return {{"n", n(3000, 4096, 1)}, {"launches", "2"}};
    if (experiment == "reduction") return {{"n", n(5000, 4096, 1)}};
    return {{"width", n(70, 64, 16)}, {"height", n(50, 32, 31)}};
}

// The default of each experiment, and each other word of each of its choices and toggles.
std::vector<EngineCase> engine_cases() {
    std::vector<EngineCase> all;
    unsigned variant = 0;
    for (const experiments::Entry& entry : experiments::registry()) {
        const auto parameters = entry.make_parameters();
        all.push_back({entry.id, sizes_of(entry.id, variant++)});
        for (const experiments::Parameter* p : parameters->all()) {
            std::vector<std::string> words;
            if (const auto* choice = dynamic_cast<const experiments::Choice*>(p))
                for (const auto& word : choice->words()) words.push_back(word.id);
            else if (p->type() == "toggle")
                words = {"on", "off"};
            for (const std::string& word : words) {
                if (word == p->default_text() || word == "file") continue;
                EngineCase c{entry.id, sizes_of(entry.id, variant++)};
                c.settings.push_back({p->id(), word});
                all.push_back(std::move(c));
            }
        }
    }
    return all;
}

/// Two frames of an experiment.
struct Outcome {
    std::vector<std::uint8_t> pixels;
    std::string report, error, findings, counts;
    bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& o) {
    return out << o.pixels.size() << " bytes of pixels\n"
               << o.report << o.error << "\n"
               << o.findings << o.counts;
}

std::string text_of(const experiments::Report& report) {
    std::string text;
    for (const experiments::Reading& r : report)  // times differ from run to run
        if (r.unit.find("/s") == std::string::npos && r.unit != "ms")
            text += fmt::format("{} {} {}\n", r.name, r.value, int(r.verdict));
    return text;
}

std::string text_of(const std::vector<emulator::Finding>& findings) {
    std::string text;
    for (const emulator::Finding& f : findings) text += fmt::format("{} {}\n", f.count, f.sentence);
    return text;
}

std::string text_of(const emulator::AccessCounters& counters) {
    std::string text;
    for (const emulator::KernelCounters& k : counters.kernels()) {
        text += fmt::format("{} {} {} {} {}\n", k.kernel, k.blocks, k.warp_instructions,
                            k.thread_instructions, k.barriers);
        for (const auto& c : {k.global_loads, k.global_stores, k.global_atomics, k.shared_loads,
                              k.shared_stores, k.shared_atomics})
            text += fmt::format("  {} {} {} {} {} {}\n", c.requests, c.bytes, c.sectors,
                                c.wavefronts, c.least_wavefronts, c.degree);
        emulator::ExecutedWork sum;
        for (const emulator::LineCounters& line : k.lines) {
            sum += line;
            text += fmt::format("  {}:{} {} {} {} {} {}\n", line.file, line.line,
                                line.warp_instructions, line.thread_instructions, line.separations,
                                line.global().sectors, line.shared().wavefronts);
        }
        EXPECT_EQ(sum, static_cast<const emulator::ExecutedWork&>(k)) << k.kernel;
    }
    return text;
}

void compute_frames(compute::Device& device, const EngineCase& c, Outcome& outcome) {
    const auto experiment = experiments::find_experiment(c.experiment).make(device);
    experiment->set(c.settings);
    const experiments::Size size = experiment->picture_size({64, 48});
    compute::Buffer<experiments::Rgba> pixels(device, std::size_t(size.width) * size.height);
    for (int frame = 0; frame < 2; ++frame) {
        experiment->step();
        if (size.width == 0) continue;
        experiment->render_into({pixels.pointer(), size});
        for (const experiments::Rgba& p : pixels.download())
            outcome.pixels.insert(outcome.pixels.end(), {p.r, p.g, p.b, p.a});
    }
    outcome.report = text_of(experiment->report());
}

Outcome run(const EngineCase& c, const compute::RunSettings& settings, Execution execution,
            bool observed) {
    emulator::Launcher::set_execution(execution);
    const auto device = compute::make_emulated_device("");
    device->set(settings);
    emulator::RaceDetector races;
    emulator::BarrierCheck barriers;
    emulator::MemoryCheck memory;
    emulator::AccessCounters counters;
    emulator::ObserverList all;
    all.add(races);
    all.add(barriers);
    all.add(memory);
    all.add(counters);
    if (observed) device->observe(&all);
    Outcome outcome;
    try {
        compute_frames(*device, c, outcome);
    } catch (const std::exception& error) {
        outcome.error = error.what();
    }
    device->observe(nullptr);
    emulator::Launcher::set_execution(Execution::automatic);
    outcome.findings =
        text_of(emulator::merged({races.findings(), barriers.findings(), memory.findings()}));
    outcome.counts = text_of(counters);
    return outcome;
}

// The settings of the long run: all schedules with 20 seeds, all barrier policies, both maths.
std::vector<compute::RunSettings> all_settings() {
    using namespace compute;
    std::vector<RunSettings> all;
    for (const Math math : {Math::precise, Math::fast})
        for (const BarrierPolicy policy :
             {BarrierPolicy::volta, BarrierPolicy::before_volta, BarrierPolicy::strict}) {
            for (const Schedule schedule : {Schedule::run_to_barrier, Schedule::reverse})
                all.push_back({math, schedule, 1, policy});
            for (std::uint64_t seed = 1; seed <= 20; ++seed)
                all.push_back({math, Schedule::random, seed, policy});
        }
    return all;
}

class BothEngines : public testing::TestWithParam<EngineCase> {};

// A normal run takes one of the settings for each case, with observed launches in every other case.
TEST_P(BothEngines, AgreeInPicturesReadingsErrorsFindingsAndCounts) {
    if (!OnDevices::llvm_error().empty()) GTEST_SKIP() << OnDevices::llvm_error();
    if (std::ranges::count(kinds_of_device, "compiled") == 0)
        GTEST_SKIP() << "sanitizers do not see into compiled kernels";
    const auto settings = all_settings();
    const std::size_t hash = std::hash<std::string>()(testing::PrintToString(GetParam()));
    const std::size_t runs = long_tests() ? settings.size() : 1;
    for (std::size_t k = 0; k < runs; ++k) {
        const std::size_t turn = hash + 7 * k;  // 7 is no divisor of the number of settings
        const compute::RunSettings& s = settings[turn % settings.size()];
        const bool observed = turn / settings.size() % 2;
        SCOPED_TRACE(fmt::format("math {}, schedule {}, seed {}, policy {}, observed {}",
                                 int(s.math), int(s.schedule), s.seed, int(s.barriers), observed));
        const Outcome interpreted = run(GetParam(), s, Execution::interpreted, observed);
        ASSERT_TRUE(!interpreted.error.empty() || !interpreted.report.empty());
        ASSERT_EQ(interpreted, run(GetParam(), s, Execution::compiled, observed));
    }
}

INSTANTIATE_TEST_SUITE_P(Of, BothEngines, testing::ValuesIn(engine_cases()), [](const auto& info) {
    std::string name = info.param.experiment;
    if (info.param.settings.size() > sizes_of(info.param.experiment, 0).size())
        name += "_" + info.param.settings.back().id + "_" + info.param.settings.back().text;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace warpscope::tests
