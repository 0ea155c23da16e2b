#include <fmt/format.h>

#include "experiments/experiment.h"
#include "gl/framebuffer.h"
#include "gl/offscreen_context.h"
#include "gl/picture_view.h"
#include "gl/pixel_buffer.h"
#include "jobs/bench.h"

namespace warpscope::jobs {

namespace {

constexpr int measured_frames = 60;

void add_timing(std::vector<BenchRow>& rows, const std::string& experiment,
                const compute::KernelTiming& kernel) {
    std::string note;
    if (kernel.interactions_per_second() > 0) {
        note = fmt::format("{:.4g} G interactions/s", kernel.interactions_per_second() / 1e9);
    } else if (kernel.bytes_per_second() > 0) {
        note = fmt::format("{:.4g} GB/s", kernel.bytes_per_second() / 1e9);
    }
    rows.push_back({.name = experiment + "." + kernel.name,
                    .label = fmt::format("{}, {}", experiment, kernel.name),
                    .value = kernel.median_ms() * 1e3,
                    .unit = "µs",
                    .note = note});
}

void add_comparison(std::vector<BenchRow>& rows, const std::string& experiment,
                    const experiments::Comparison& comparison) {
    for (const auto& row : comparison.rows) {
        rows.push_back({.name = experiment + ".compare." + row.id,
                        .label = fmt::format("{}, {}", experiment, row.label),
                        .value = row.rate / 1e9,
                        .unit = "G" + comparison.rate_unit,
                        .note = fmt::format("{:.4f} ms, error {:.2g}", row.median_ms, row.error)});
    }
}

}  // namespace

void bench_kernels(std::vector<BenchRow>& rows, compute::Device& device) {
    for (const experiments::Entry& entry : experiments::registry()) {
        const auto experiment = entry.make(device);
        const experiments::Size size = experiment->picture_size({1280, 720});
        const std::size_t pixels = std::size_t(size.width) * size.height;
        compute::Buffer<experiments::Rgba> target(device, pixels);
        device.synchronize();
        device.timings().clear();
        for (int i = 0; i < measured_frames; ++i) {
            experiment->step();
            if (pixels) experiment->render_into({target.pointer(), size});
        }
        device.synchronize();
        for (const auto& kernel : device.timings().kernels()) add_timing(rows, entry.id, kernel);
        if (const auto comparison = experiment->compare()) {
            add_comparison(rows, entry.id, *comparison);
        }
    }
}

void bench_presentation(std::vector<BenchRow>& rows, compute::Device& device) {
    constexpr int side = 1024, batch = 200, batches = 11;
    const int ordinal = device.info().ordinal;
    const gl::OffscreenContext context(ordinal >= 0 ? std::optional(ordinal) : std::nullopt);
    gl::PixelBuffer pixels(device, side, side);
    const gl::Framebuffer framebuffer(side, side);
    gl::PictureView view;
    framebuffer.bind();
    const gl::Rect everything{0, 0, side, side};
    const auto frames = [&] {
        for (int i = 0; i < batch; ++i) {
            pixels.map();
            pixels.unmap();
            pixels.upload();
            view.draw({pixels.texture(), side, side}, gl::fit_view(side, side, everything),
                      everything, side);
        }
        // Ends when all is drawn; one pixel's way back is shared by the whole batch.
        gl::read_framebuffer(1, 1);
    };
    frames();
    std::vector<double> times;
    for (int i = 0; i < batches; ++i) times.push_back(milliseconds_of(frames) * 1e3 / batch);
    const bool interop = pixels.path() == gl::PixelBuffer::Path::interop;
    rows.push_back(
        {.name = "presentation_us",
         .label = fmt::format("a 1024² frame without its kernel, {}", gl::to_string(pixels.path())),
         .value = median(times),
         .unit = "µs",
         .bound = interop ? BenchRow::Bound::at_most : BenchRow::Bound::none,
         .wanted = interop ? 60.0 : 0.0,
         .note = pixels.reason()});
}

}  // namespace warpscope::jobs
