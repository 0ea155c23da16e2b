#pragma once

#include <any>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/parameter.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

struct Size {
    int width = 0;
    int height = 0;
    bool operator==(const Size&) const = default;
};

/// Bytes r, g, b, a, top row first.
struct Rgba {
    std::uint8_t r, g, b, a;
};

/// Where a picture goes: width*height pixels in device memory, row after row, top row first.
struct PixelTarget {
    compute::DevicePointer<Rgba> pixels;
    Size size;
};

/// Where an experiment stands, in host memory: enough to go on from, on any device.
struct Snapshot {
    std::vector<Assignment> parameters;
    std::uint64_t frame = 0;
    bool changed_since_reset = false;
    std::any state;  ///< the experiment's own
};

/// The mouse over the picture: pixels of it from the top left, also outside of it.
struct Pointer {
    double x = 0, y = 0;
    bool down = false;  ///< the left button
    bool operator==(const Pointer&) const = default;
};

/// A kernel family that a person can play with: parameters, state on a device, a report.
/// Used from one thread; the device outlives it.
class Experiment {
  public:
    explicit Experiment(compute::Device& device) : device_(device) {}
    Experiment(const Experiment&) = delete;
    Experiment& operator=(const Experiment&) = delete;
    virtual ~Experiment() = default;

    compute::Device& device() { return device_; }
    const compute::Device& device() const { return device_; }
    /// Always the same set, a member of the experiment.
    virtual const ParameterSet& parameters() const = 0;
    std::string kernel_file() const { return parameters().kernel_file(); }

    /// Sets all values or none. Throws ParameterError for a value that is not legal, and
    /// DeviceError or the error of a file if the state can't be made; then values and state stay as
    /// they were.
    void set(std::span<const Assignment> assignments);

    /// Frames since the last reset, and whether a parameter changed since: then the picture can't
    /// be had again from the parameters and the frame number alone.
    std::uint64_t frame() const { return frame_; }
    bool changed_since_reset() const { return changed_since_reset_; }

    /// Computes the next frame. Frames are 1/60 s of the experiment's own time.
    void step();
    /// Back to frame 0 and the start state.
    void reset();

    /// Launches the kernel that the experiment is about as the current frame did (n-body: as the
    /// next one will), with the same seeds and with what has to run before it; that kernel's launch
    /// is the last. For copies that are only looked at: state and report may move on with it.
    virtual void launch_kernel() = 0;

    /// Waits for the device.
    Snapshot snapshot();
    /// Takes over where another of the same kind stood, on whatever device. On a throw it is still
    /// whole.
    void resume(const Snapshot& snapshot);

    /// Pixels that the picture wants for a view of this size; {0, 0}: no pixels, see tree().
    virtual Size picture_size(Size view) const = 0;
    /// Draws the current frame; the size is what picture_size gave.
    virtual void render_into(const PixelTarget& target) = 0;
    /// The current frame's readings; may wait for the device.
    virtual Report report() = 0;
    /// Measures every variant now (may take seconds); nullopt where there is nothing to compare.
    virtual std::optional<Comparison> compare() { return std::nullopt; }
    /// The tree of the current settings, or null; made anew after a change.
    virtual const Tree* tree() { return nullptr; }
    /// When one block's warps did what in the newest launch, measured by the kernel itself on the
    /// device in use; nullopt: the kernel of the current settings takes no times.
    virtual std::optional<Timeline> timeline() { return std::nullopt; }

    /// What the barriers of the device in use do about threads that skip one and have ended, and
    /// about such that live on, found out now with kernels that end on their own: a reading each,
    /// with a sentence that names the device. nullopt: the experiment has no such kernels.
    virtual std::optional<Report> measure_barriers() { return std::nullopt; }

    /// Mouse over the picture, in fractions of its height; false: the canvas pans and zooms itself.
    virtual bool drag(double dx, double dy) { return (void)dx, (void)dy, false; }
    virtual bool scroll(double notches) { return (void)notches, false; }
    /// The same as it moves and presses; false: the experiment has no use for it.
    virtual bool point(const Pointer& pointer) { return (void)pointer, false; }

  protected:
    /// Whether `which` holds one of these parameters.
    static bool any_of(std::span<Parameter* const> which,
                       std::initializer_list<const Parameter*> parameters);
    /// Makes the state fit the parameters; on a throw the old state must still be whole.
    virtual void changed(std::span<Parameter* const> which) = 0;
    /// Whether the frames before a change of `which`, none of them a view, go on showing after it.
    virtual bool leaves_trace(std::span<Parameter* const> which) const { return (void)which, true; }
    /// What a snapshot holds beyond parameters and frame, and taking that over after a reset.
    virtual std::any save_state() { return {}; }
    virtual void load_state(const std::any& state) { (void)state; }
    virtual void do_step() = 0;
    virtual void do_reset() = 0;

  private:
    compute::Device& device_;
    std::uint64_t frame_ = 0;
    bool changed_since_reset_ = false;
};

/// How the app lists and makes its experiments.
struct Entry {
    std::string id;       ///< "ripple"
    std::string title;    ///< "Ripple bitmap"
    std::string summary;  ///< a sentence
    std::unique_ptr<ParameterSet> (*make_parameters)();
    std::unique_ptr<Experiment> (*make)(compute::Device&);
};

/// The entry of an experiment class that names the class of its parameters as Parameters.
template <class T>
Entry entry_of(std::string id, std::string title, std::string summary) {
    return {std::move(id), std::move(title), std::move(summary),
            []() -> std::unique_ptr<ParameterSet> {
                return std::make_unique<typename T::Parameters>();
            },
            [](compute::Device& device) -> std::unique_ptr<Experiment> {
                return std::make_unique<T>(device);
            }};
}

/// Every experiment, in the order of the tabs. A new one is one line in registry.cpp.
std::span<const Entry> registry();
/// Throws ParameterError that names the known ids.
const Entry& find_experiment(std::string_view id);

}  // namespace warpscope::experiments
