#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/emulated/emulated_device.h"
#include "emulator/counters/access_counters.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "jobs/bench/bench.h"

namespace warpscope::jobs {

namespace {

using emulator::FastPaths;
using experiments::Assignment;

/// All fast paths but one.
struct Switch {
    const char* name;
    FastPaths paths;
};

const Switch switches[] = {
    {"proof", {.proof = false}},
    {"blocks", {.blocks = false}},
    {"model", {.model = false}},
    {"compiled", {.compiled = false}},
};

enum class Watch { nobody, checks, counters };

/// An experiment whose frames are computed with any fast paths, one after the other.
class Frames {
  public:
    Frames(const experiments::Entry& entry, const std::vector<Assignment>& settings)
        : device_(compute::make_emulated_device("measured")) {
        device_->set({.math = compute::Math::fast});
        experiment_ = entry.make(*device_);
        experiment_->set(settings);
        checks_.add(races_);
        checks_.add(grid_races_);
        counts_.add(counters_);
        size_ = experiment_->picture_size({1024, 1024});
        pixels_.emplace(*device_, std::size_t(size_.width) * size_.height);
    }
    double milliseconds(const FastPaths& paths, Watch watch) {
        device_->set(paths);
        if (watch != Watch::nobody) device_->observe(watch == Watch::checks ? &checks_ : &counts_);
        const double ms = milliseconds_of([&] {
            experiment_->step();
            if (size_.width) experiment_->render_into({pixels_->pointer(), size_});
            device_->synchronize();
        });
        device_->observe(nullptr);
        return ms;
    }

  private:
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<experiments::Experiment> experiment_;
    experiments::Size size_;
    emulator::RaceDetector races_;
    emulator::GridRaces grid_races_;
    emulator::AccessCounters counters_;
    emulator::ObserverList checks_, counts_;
    std::optional<compute::Buffer<experiments::Rgba>> pixels_;
};

/// Adds the time of a frame, of its race check and of its counters, and notes by how much each
/// fast path makes it shorter. All run in turns, so that other load slows each of them.
void measure(std::vector<BenchRow>& rows, const std::string& label, Frames& frames) {
    for (const auto& [watch, what] :
         {std::pair(Watch::nobody, "frame"), std::pair(Watch::checks, "race check"),
          std::pair(Watch::counters, "counters")}) {
        std::vector<double> with;
        std::vector<std::vector<double>> without(std::size(switches));
        double total = 0;
        for (int i = -2; i < 15 && (i < 3 || total < 2000); ++i) {
            const double ms = frames.milliseconds({}, watch);
            if (i >= 0) with.push_back(ms), total += ms;
            for (std::size_t s = 0; s < std::size(switches); ++s) {
                const double ms = frames.milliseconds(switches[s].paths, watch);
                if (i >= 0) without[s].push_back(ms), total += ms;
            }
        }
        const double base = median(with);
        std::string note;
        for (std::size_t s = 0; s < std::size(switches); ++s)
            note += fmt::format("{}{} {:.2f}", s ? ", " : "", switches[s].name,
                                median(without[s]) / base);
        rows.push_back({.name = label + "_" + what,
                        .label = label + ", " + what,
                        .value = base,
                        .unit = "ms",
                        .note = note});
    }
}

}  // namespace

void bench_fast_paths(std::vector<BenchRow>& rows) {
    const auto before = emulator::Launcher::execution();
    emulator::Launcher::set_execution(emulator::Execution::compiled);
    const auto of = [&](const char* id, std::vector<Assignment> settings, const char* label) {
        Frames frames(experiments::find_experiment(id), settings);
        measure(rows, label, frames);
    };
    of("ripple", {{"size", "1024"}}, "ripple 1024");
    of("ripple", {{"size", "1024"}, {"sync", "off"}}, "ripple 1024, sync off");
    of("nbody", {{"bodies", "4096"}, {"kernel", "tiled"}}, "n-body tiled 4096");
    of("nbody", {{"bodies", "4096"}, {"kernel", "fast"}}, "n-body fast 4096");
    of("nbody", {{"bodies", "4096"}, {"kernel", "float4"}}, "n-body float4 4096");
    of("dot", {}, "dot default");
    of("dot", {{"n", "1048576"}}, "dot 2^20");
    of("reduction", {{"n", "1048576"}}, "reduction 2^20");
    of("pipeline", {{"copies", "async"}}, "pipeline 1024, cp.async");
    of("pipeline", {{"copies", "bulk"}}, "pipeline 1024, bulk copies");
    for (const experiments::GalleryKernel& kernel : experiments::gallery()) {
        Frames frames(*experiments::launch_entry(experiments::gallery_file(kernel.name)), {});
        measure(rows, std::string(kernel.name), frames);
    }
    emulator::Launcher::set_execution(before);
}

}  // namespace warpscope::jobs
