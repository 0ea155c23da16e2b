#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "experiments/framework/experiment.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch.h"
#include "ui/window/click_test.h"
#include "ui/window/window.h"

namespace warpscope::bench {
namespace {

constexpr std::chrono::seconds bench_length{120};

struct Expensive {
    const char* experiment;  ///< or a kernel of the gallery
    std::vector<experiments::Assignment> values;
};

/// Frames of these take from half a second to minutes on two cores.
const std::vector<Expensive>& most_expensive() {
    static const std::vector<Expensive> all{
        {"ripple", {{"size", "4096"}}},
        {"nbody", {{"bodies", "1048576"}, {"kernel", "float3"}}},
        {"dot", {{"n", "67108864"}}},
        {"reduction", {{"n", "67108864"}}},
        {"own", {{"width", "4096"}, {"height", "4096"}}},
    };
    return all;
}

double p99(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[(values.size() * 99 + 99) / 100 - 1];
}

void measure_window(std::vector<BenchRow>& rows, const Expensive& setting) {
    ui::ClickTest clicks(bench_length);
    ui::WindowOptions options;
    options.device = "emulator";
    const bool is_launch = experiments::in_gallery(setting.experiment);
    if (is_launch)
        options.launch = ui::find_launch(setting.experiment);
    else
        options.experiment = setting.experiment;
    const std::string id =
        is_launch ? experiments::launch_experiment().id : std::string(setting.experiment);
    options.assignments = {{id, setting.values}};
    options.size = experiments::Size{1600, 900};
    options.settings.clear();
    options.clicks = &clicks;
    ui::run_window(options);
    const std::string name = setting.experiment;
    std::string values;
    for (const auto& [id, text] : setting.values)
        values += fmt::format("{}{} {}", values.empty() ? "" : ", ", id, text);
    rows.push_back({.name = name + "_window_frames_per_second",
                    .label = fmt::format("{}, frames of the window", name),
                    .value = clicks.frames_per_second(),
                    .unit = "frames/s",
                    .bound = BenchRow::Bound::at_least,
                    .wanted = 30,
                    .note = values});
    rows.push_back({.name = name + "_press_p99_ms",
                    .label = fmt::format("{}, press to its effect, p99", name),
                    .value = p99(clicks.latencies()),
                    .unit = "ms",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 100,
                    .note = fmt::format("{} presses, {} without an effect",
                                        clicks.latencies().size() + clicks.lost(), clicks.lost())});
}

}  // namespace

void bench_window(std::vector<BenchRow>& rows) {
    if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
    for (const Expensive& setting : most_expensive()) measure_window(rows, setting);
}

}  // namespace warpscope::bench
