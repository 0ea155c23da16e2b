#include "experiments/scratch/scratch.h"

#include <fmt/format.h>
#include "compute/device/kernel_source.h"
#include "compute/device/quantity.h"
#include "experiments/framework/edited.h"
#include "experiments/measure/launch_times.h"

#include <algorithm>
#include <cstring>

namespace warpscope::experiments {
namespace {

constexpr unsigned side = 16;  // of a block

/// For larger pictures the reference on the host would take longer than a frame.
constexpr std::size_t most_checked_pixels = std::size_t(1) << 20;

constexpr const char* signature =
    "write extern \"C\" __global__ void scratch(Pixel* pixels, int width, int height, float time, "
    "float3 mouse); add a sixth argument, const Pixel* before, to read the frame before; Pixel is "
    "4 "
    "bytes: r, g, b, a";

}  // namespace

Scratch::Pictures::Pictures(compute::Device& device, Size size)
    : current(device, std::size_t(size.width) * std::size_t(size.height)),
      before(device, current.size()) {
    before.fill(0);
}

Scratch::Scratch(compute::Device& device)
    : Experiment(device),
      entry_(find_entry()),
      show_(device.shipped_kernel<Pixels, Pixels, unsigned>("show", "show")),
      cleaner_(device) {
    pictures_.emplace(device, size());
}

std::variant<Scratch::Alone, Scratch::GoingOn> Scratch::find_entry() {
    const std::string file = kernel_file();
    const auto edit = device().edits().find(file);
    if (edit != device().edits().end() &&
        edit->second->ptx.find(".entry scratch(") == std::string::npos)
        throw compute::DeviceError(
            fmt::format("{} has no kernel scratch: {}", compute::kernel_path(file), signature));
    std::string five;
    try {
        return device().kernel<Pixels, int, int, float, Mouse>(file, "scratch");
    } catch (const compute::DeviceLost&) {
        throw;
    } catch (const compute::DeviceError& error) {
        five = error.what();
    }
    try {
        return device().kernel<Pixels, int, int, float, Mouse, Pixels>(file, "scratch");
    } catch (const compute::DeviceError& six) {
        // If both messages are equal, the error does not concern the arguments.
        if (five == six.what()) throw;
        throw compute::DeviceError(fmt::format(
            "The kernel scratch of kernels/{}.cu has the wrong parameters: {}", file, signature));
    }
}

compute::LaunchShape Scratch::shape() const {
    return {.grid = {unsigned(chosen_.width + side - 1) / side,
                     unsigned(chosen_.height + side - 1) / side},
            .block = {side, side}};
}

Scratch::Mouse Scratch::mouse() const {
    return {float(chosen_.mouse_x), float(chosen_.mouse_y), chosen_.mouse_down ? 1.0f : 0.0f};
}

void Scratch::changed(std::span<Parameter* const> which) {
    if (any_of(which, {&chosen_.start, &chosen_.width, &chosen_.height})) {
        // The steps that can fail come first: an exception leaves the old state unchanged.
        const auto entry = find_entry();
        if (any_of(which, {&chosen_.width, &chosen_.height}))
            pictures_ = Pictures(device(), size());
        entry_ = entry;
        reset();
    }
    drawn_ = false;
}

bool Scratch::leaves_trace(std::span<Parameter* const>) const {
    return goes_on();
}

std::any Scratch::save_state() {
    return pictures_->before.download();
}

void Scratch::load_state(const std::any& state) {
    const auto& before = std::any_cast<const std::vector<Rgba>&>(state);
    // The size may have changed since the state was saved.
    if (before.size() == pictures_->before.size()) pictures_->before.upload(before);
    drawn_ = false;
}

void Scratch::do_step() {
    draw();
    std::swap(pictures_->current, pictures_->before);
    drawn_ = false;
}

void Scratch::do_reset() {
    pictures_->before.fill(0);
    drawn_ = false;
}

void Scratch::launch_kernel() {
    device().begin_frame(frame());
    // The picture must not depend on earlier launches, even where the kernel writes nothing.
    cleaner_.launch();
    pictures_->current.fill(0);
    const auto time = float(double(frame()) / 60.0);
    const Pixels current = pictures_->current.pointer(), before = pictures_->before.pointer();
    const double stored = 4.0 * double(pixels());
    if (const auto* alone = std::get_if<Alone>(&entry_))
        device().launch(*alone, shape(), {.bytes = stored}, current, int(chosen_.width),
                        int(chosen_.height), time, mouse());
    else
        device().launch(std::get<GoingOn>(entry_), shape(), {.bytes = 2 * stored}, current,
                        int(chosen_.width), int(chosen_.height), time, mouse(), before);
}

void Scratch::draw() {
    if (drawn_) return;
    launch_kernel();
    drawn_ = true;
}

void Scratch::render_into(const PixelTarget& target) {
    draw();
    constexpr unsigned block = 256;
    const auto count = unsigned(pixels());
    device().launch(show_, {.grid = {(count + block - 1) / block}, .block = {block}},
                    {.bytes = 8.0 * count}, pictures_->current.pointer(), target.pixels, count);
}

void Scratch::point(const Pointer& pointer) {
    const auto text = [](double at) {
        return fmt::format("{:.1f}",
                           std::clamp(at, -Parameters::farthest_mouse, Parameters::farthest_mouse));
    };
    const std::vector<Assignment> values{{"mouse_x", text(pointer.x)},
                                         {"mouse_y", text(pointer.y)},
                                         {"mouse_down", pointer.down ? "on" : "off"}};
    set(values);
}

std::optional<Reading> Scratch::wrong_pixels() const {
    if (pixels() > most_checked_pixels) return std::nullopt;
    const std::vector<Rgba> before = pictures_->before.download();
    const std::vector<Rgba> right =
        gallery_reference(chosen_.start.text(), {size(), frame(), mouse(), before});
    if (right.empty()) return std::nullopt;
    const std::vector<Rgba> shown = pictures_->current.download();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < shown.size(); ++i)
        wrong += std::memcmp(&shown[i], &right[i], sizeof(Rgba)) != 0;
    Reading reading{"wrong_pixels",
                    "Wrong pixels",
                    100.0 * double(wrong) / double(shown.size()),
                    "%",
                    0.0,
                    Verdict::none,
                    {}};
    judge(reading);
    return reading;
}

void Scratch::judge(Reading& wrong) const {
    if (edited(device(), kernel_file())) {
        wrong.label = "Pixels that differ from the built-in kernel";
        wrong.expected.reset();
        wrong.sentence = wrong.value == 0 ? "Your kernel draws the picture of the built-in kernel."
                                          : "Your kernel draws another picture than the built-in "
                                            "kernel. This may be intended.";
        return;
    }
    const bool racy = chosen_.start.text() == "single_buffer";
    const bool right = wrong.value == 0;
    wrong.verdict = right ? (racy ? Verdict::unproven : Verdict::pass)
                          : (racy ? Verdict::finding : Verdict::fail);
    if (racy && wrong.value == 0)
        wrong.sentence =
            "No pixel is wrong this time. That proves nothing: no barrier orders the reads before "
            "the writes. Other timing gives another picture.";
    else if (racy)
        wrong.sentence = fmt::format(
            "{} of the pixels were overwritten before they were read: the barrier between "
            "reading and writing is missing, on purpose.",
            compute::quantity(wrong.value, "%"));
    else if (wrong.value == 0)
        wrong.sentence = "Every pixel has the value that the host computes.";
    else
        wrong.sentence = fmt::format(
            "{} of the pixels differ from those that the host computes: the device or this "
            "program is broken.",
            compute::quantity(wrong.value, "%"));
}

Report Scratch::report() {
    draw();
    const compute::Dim3 grid = shape().grid;
    Report report;
    if (auto wrong = wrong_pixels()) report.push_back(std::move(*wrong));
    const auto say = [&](const char* name, const char* label, double value, const char* unit,
                         std::string sentence) {
        report.push_back({name, label, value, unit, {}, Verdict::none, std::move(sentence)});
    };
    say("kernel_time", "Kernel time", newest_median_ms(device(), "scratch", 60), "ms",
        "Median of at most 60 launches, the newest ones.");
    say("blocks", "Blocks", double(grid.count()), "",
        fmt::format("{} x {} blocks of {} x {} threads.", grid.x, grid.y, side, side));
    say("threads", "Threads", double(grid.count() * side * side), "",
        fmt::format("For {} pixels.", compute::grouped(double(pixels()))));
    return report;
}

}  // namespace warpscope::experiments
