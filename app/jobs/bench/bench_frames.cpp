#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "compute/pick_device.h"
#include "experiments/framework/experiment.h"
#include "gl/framebuffer.h"
#include "gl/offscreen_context.h"
#include "gl/picture_zoom.h"
#include "gl/pixel_buffer.h"
#include "gl/recording/recording.h"
#include "jobs/bench/bench.h"

namespace warpscope::jobs {

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

}  // namespace warpscope::jobs
