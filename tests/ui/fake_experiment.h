#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/framework/experiment.h"
#include "support/host_device.h"
#include "ui/stage/live_experiment.h"

namespace warpscope::ui {

class FakeDevice final : public tests::HostDevice {
  public:
    explicit FakeDevice(compute::DeviceKind kind = compute::DeviceKind::emulator) {
        info_.kind = kind;
        info_.name = kind == compute::DeviceKind::emulator ? "SIMT emulator" : "A GPU";
        info_.reason = "This machine has no CUDA driver, so the kernels run in the emulator.";
        info_.ordinal = kind == compute::DeviceKind::emulator ? -1 : 0;
    }
};

struct FakeParameters final : experiments::ParameterSet {
    FakeParameters() {
        speed.only_shows();
        delay.only_when([this] { return layout.text() == "padded"; });
        group("Kernel", {&sync, &layout, &kernel});
        group("Picture", {&level, &bodies, &speed, &file, &pixels});
        group("Race laboratory", {&delay});
    }
    std::string kernel_file() const override { return "ripple"; }
    double work() const override { return 1e8 * double(bodies); }
    const experiments::Toggle* barrier_switch() const override { return &sync; }
    bool has_barrier_if(std::string_view name) const override { return name != "barrier" || sync; }

    experiments::Toggle sync{*this, "sync", "__syncthreads()", "The barrier.", true};
    experiments::Choice layout{*this,
                               "layout",
                               "Tile layout",
                               "How the tile lies.",
                               {{"xy", "[tx][ty]"}, {"yx", "[ty][tx]"}, {"padded", "padded rows"}}};
    experiments::Choice kernel{
        *this,
        "kernel",
        "Kernel",
        "Which one.",
        {{"a", "float3, from global memory"}, {"b", "float4"}, {"c", "tiled"}},
        2};
    experiments::Integer level{*this, "level", "Level", "Of green.", 64, 1, 255};
    experiments::Integer bodies{*this, "bodies", "Bodies", "How many.", 4096, 1, 1 << 20};
    experiments::Real speed{*this, "speed", "Speed", "Of time.", 1, 0, 10, "1/s"};
    experiments::Text file{*this, "file", "File", "A path."};
    experiments::Toggle pixels{*this, "pixels", "Pixels", "A picture, or a tree.", true};
    experiments::Integer delay{*this, "delay", "Delay", "Of padded tiles.", 5, 0, 10};
};

/// One parameter of each type, a picture of one colour a frame (red = frame, green = level), or a
/// tree where `pixels` is off.
class FakeExperiment : public experiments::Experiment {
  public:
    using Parameters = FakeParameters;
    explicit FakeExperiment(compute::Device& device) : Experiment(device) {}

    const Parameters& parameters() const override { return parameters_; }
    void launch_kernel() override {}
    experiments::Size picture_size(experiments::Size) const override {
        return parameters_.pixels ? experiments::Size{64, 48} : experiments::Size{};
    }
    void render_into(const experiments::PixelTarget& target) override {
        if (fail_render) throw compute::DeviceError("the picture's kernel failed");
        auto* pixels = reinterpret_cast<experiments::Rgba*>(target.pixels.address);
        const auto level = std::uint8_t(std::int64_t(parameters_.level));
        for (int i = 0; i < target.size.width * target.size.height; ++i)
            pixels[i] = {std::uint8_t(frame()), level, std::uint8_t(i % 64), 255};
        ++renders;
    }
    experiments::Report report() override {
        ++reports;
        using experiments::Verdict;
        return {{"wrong_pixels", "Wrong pixels", 41.8, "%", 0.0,
                 parameters_.sync ? Verdict::pass : Verdict::finding,
                 "4 of 10 pixels come from another thread's turn: the barrier is missing."},
                {"value", "Value", 25723564731392.0, "", 25723564731392.0, Verdict::pass, ""}};
    }
    std::optional<experiments::Comparison> compare() override {
        return experiments::Comparison{
            "Kernels, side by side",
            "interactions/s",
            "interaction",
            "time in a tutorial",
            {{"a", "float3", 9.1, 1.2e9, 3e-7, experiments::Verdict::pass, "3383.6 ms"},
             {"c", "tiled", 5.2, 1.75e9, 2e-7, experiments::Verdict::pass, "3198.6 ms"}}};
    }
    const experiments::Tree* tree() override {
        if (parameters_.pixels) return nullptr;
        // Eight elements, added by halves; the second step's element 1 is wrong on purpose.
        tree_ = {"cache[] of block 0",
                 {{"loaded", {1, 2, 3, 4, 5, 6, 7, 8}, std::vector<bool>(8, true), {}},
                  {"after barrier 1",
                   {6, 8, 10, 12, 5, 6, 7, 8},
                   {true, true, true, true, false, false, false, false},
                   {{0, 0}, {4, 0}, {1, 1}, {5, 1}, {2, 2}, {6, 2}, {3, 3}, {7, 3}}},
                  {"after barrier 2",
                   {16, 21, 10, 12, 5, 6, 7, 8},
                   {true, true, false, false, false, false, false, false},
                   {{0, 0}, {2, 0}, {1, 1}, {3, 1}}}}};
        return &tree_;
    }

    std::shared_ptr<const experiments::LaunchPlan> plan() const override { return launch_plan; }

    std::shared_ptr<const experiments::LaunchPlan> launch_plan;  ///< null: of no launch file
    int renders = 0, reports = 0;
    bool fail_step = false, fail_render = false, lose_device = false;

  protected:
    void changed(std::span<experiments::Parameter* const>) override {
        if (parameters_.file.value() == "missing")
            throw std::runtime_error("missing: no such file");
    }
    void do_step() override {
        if (lose_device) throw compute::DeviceLost("the GPU is gone");
        if (fail_step) throw compute::DeviceError("the step's kernel failed");
        device().timings().record("ripple_sync", {64, 64, 1}, {16, 16, 1}, {1024},
                                  {4.0 * 1024 * 1024, 0, 0}, 4.41F);
    }
    void do_reset() override {}

  private:
    Parameters parameters_;
    experiments::Tree tree_;
};

inline const experiments::Entry& fake_entry() {
    static const experiments::Entry entry = experiments::entry_of<FakeExperiment>(
        "fake", "Ripple bitmap", "A picture that passes through shared memory.");
    return entry;
}

/// The fake experiment on a fake device.
inline std::unique_ptr<LiveExperiment> fake_live_experiment() {
    experiments::Running running{std::make_shared<FakeDevice>(), nullptr};
    running.experiment = fake_entry().make(*running.device);
    return std::make_unique<LiveExperiment>(experiments::unowned(fake_entry()), std::move(running));
}

}  // namespace warpscope::ui
