#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "compute/emulated/emulated_device.h"
#include "compute/pick_device.h"
#include "emulator/counters/access_counters.h"
#include "emulator/observe/observer_list.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/races/race_detector.h"
#include "experiments/framework/experiment.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "gl/context.h"
#include "gl/picture_zoom.h"
#include "gl/pixel_buffer.h"
#include "gl/recording.h"
#include "gl/texture.h"

namespace warpscope::bench {
namespace {

double frames_per_second(const experiments::Entry& entry) {
    const auto device = compute::pick_device("emulator");
    const auto experiment = entry.make(*device);
    const experiments::Size size = experiment->picture_size({1280, 720});
    const std::size_t pixels = std::size_t(size.width) * size.height;
    compute::Buffer<experiments::Rgba> target(*device, pixels);
    const auto frame = [&] {
        experiment->step();
        if (pixels) experiment->render_into({target.pointer(), size});
        device->synchronize();
    };
    std::vector<double> times;
    frame();
    for (int i = 0; i < 15; ++i) times.push_back(milliseconds_of(frame));
    return 1000 / median(times);
}

void bench_presentation(std::vector<BenchRow>& rows, compute::Device& device) {
    constexpr int side = 1024, frames = 500, warm_up = 20;
    const int ordinal = device.info().ordinal;
    const gl::OffscreenContext context(ordinal >= 0 ? std::optional(ordinal) : std::nullopt);
    gl::PixelBuffer pixels(device, side, side);
    const gl::Framebuffer framebuffer(side, side);
    gl::ZoomedPicture view;
    framebuffer.bind();
    const gl::Rect everything{0, 0, side, side};
    const auto frame = [&] {
        pixels.map();
        pixels.unmap();
        pixels.upload();
        view.draw({pixels.texture()->id(), side, side}, gl::fit_view(side, side, everything),
                  everything, side);
    };
    // The thread submits a frame and can begin the next one. The GPU then switches between CUDA and
    // OpenGL, which takes time that a program cannot avoid.
    std::vector<double> submitted, drawn;
    for (int i = 0; i < warm_up + frames; ++i) {
        const double thread_us = milliseconds_of(frame) * 1e3;
        const double wait_us = milliseconds_of([] { gl::read_framebuffer(1, 1); }) * 1e3;
        if (i < warm_up) continue;
        submitted.push_back(thread_us);
        drawn.push_back(thread_us + wait_us);
    }
    const bool interop = pixels.path() == gl::PixelBuffer::Path::interop;
    rows.push_back(
        {.name = "presentation_us",
         .label = fmt::format("a 1024² frame without its kernel, {}", gl::to_string(pixels.path())),
         .value = median(submitted),
         .unit = "µs",
         .bound = interop ? BenchRow::Bound::at_most : BenchRow::Bound::none,
         .wanted = interop ? 60.0 : 0.0,
         .note = pixels.reason()});
    rows.push_back({.name = "presentation_drawn_us",
                    .label = "a 1024² frame without its kernel, until a pixel is read",
                    .value = median(drawn),
                    .unit = "µs"});
}

/// A frame of a recording, all of which has changed. A thread beside the window compresses it.
void bench_recording(std::vector<BenchRow>& rows) {
    constexpr int width = 1920, height = 1080, frames = 8;
    std::vector<std::uint8_t> rgba(std::size_t(width) * height * 4, 255);
    const auto draw = [&](int frame) {
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const float wave = std::sin(std::hypot(float(x), float(y)) / 9 - float(frame));
                rgba[(std::size_t(y) * width + std::size_t(x)) * 4 + 1] =
                    std::uint8_t(128 + 127 * wave);
            }
    };
    gl::Recording recording(std::filesystem::temp_directory_path() / "warpscope-bench.png", {});
    std::vector<double> times;
    for (int frame = 0; frame < frames; ++frame) {
        draw(frame);
        times.push_back(milliseconds_of([&] {
            recording.add(width, height, rgba, gl::Rows::bottom_first,
                          std::chrono::milliseconds(33));
        }));
    }
    rows.push_back({.name = "recorded_frame_ms",
                    .label = "a frame of 1920×1080 into an animated PNG",
                    .value = median(times),
                    .unit = "ms",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 66});
}

}  // namespace

void bench_frames(std::vector<BenchRow>& rows, compute::Device& device) {
    for (const experiments::Entry& entry : experiments::registry()) {
        rows.push_back({.name = entry.id + "_default_frames_per_second",
                        .label = entry.id + ", default parameters, emulated",
                        .value = frames_per_second(entry),
                        .unit = "frames/s",
                        .bound = BenchRow::Bound::at_least,
                        .wanted = 30});
    }
    bench_presentation(rows, device);
    bench_recording(rows);
}

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
class MeasuredFrames {
  public:
    MeasuredFrames(const experiments::Entry& entry, const std::vector<Assignment>& settings)
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
void measure(std::vector<BenchRow>& rows, const std::string& label, MeasuredFrames& frames) {
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
        MeasuredFrames frames(experiments::find_experiment(id), settings);
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
        MeasuredFrames frames(*experiments::launch_entry(experiments::gallery_file(kernel.name)),
                              {});
        measure(rows, std::string(kernel.name), frames);
    }
    emulator::Launcher::set_execution(before);
}

}  // namespace warpscope::bench
