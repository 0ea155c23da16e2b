#include <fmt/format.h>

#include "compute/pick_device.h"
#include "experiments/framework/experiment.h"
#include "gl/framebuffer.h"
#include "gl/offscreen_context.h"
#include "gl/picture_zoom.h"
#include "gl/pixel_buffer.h"
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
}

}  // namespace warpscope::jobs
