#pragma once

#include <any>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/host/host_code.h"
#include "compute/device/device.h"
#include "experiments/framework/parameter.h"
#include "experiments/framework/report.h"
#include "launches/arrays/array.h"

namespace warpscope::compute {
class Helpers;
class Processes;
}  // namespace warpscope::compute

namespace warpscope::experiments {

struct BufferContents;
struct LaunchPlan;

/// A buffer that people see, such as pixels or sums, and what the kernel should leave in it.
struct KnownResult {
    std::string name;           ///< "pixel": an element is "pixel[41, 35]"
    std::uint64_t address = 0;  ///< on the device
    launches::ElementType type;
    std::vector<std::size_t> shape;
    double absolute = 0, relative = 0;  ///< tolerances: see out_of_tolerance()
    bool is_picture = false;            ///< of colours r, g, b, a
    /// What it should hold; null: nobody knows. May launch other kernels, which do not change the
    /// buffer.
    std::function<launches::Array()> right;
    /// `right` is what a program's launch has left: the result of one order of its threads, which
    /// is wrong where that launch has raced.
    bool is_captured = false;
};

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

/// The saved state of an experiment, in host memory. Any device can continue from it.
struct Snapshot {
    std::vector<Assignment> parameters;
    std::uint64_t frame = 0;
    bool changed_since_reset = false;
    std::any state;  ///< of a type that the experiment chooses
};

/// A file that a run writes.
struct OutputFile {
    std::filesystem::path path;
    std::string content;
};

/// The mouse in pixels of the picture, from its top left corner. It may be outside of the picture.
struct Pointer {
    double x = 0, y = 0;
    bool down = false;  ///< the left button
    bool operator==(const Pointer&) const = default;
};

/// The movements of the mouse over the picture that an experiment uses.
struct MouseUse {
    bool drag = false, scroll = false, point = false;
};

/// A family of kernels with parameters, state on a device, a picture or a tree, and a report.
/// Used from one thread; the device outlives it.
class Experiment {
  public:
    explicit Experiment(compute::Device& device) : device_(device) {}
    Experiment(const Experiment&) = delete;
    Experiment& operator=(const Experiment&) = delete;
    virtual ~Experiment() = default;

    compute::Device& device() { return device_; }
    const compute::Device& device() const { return device_; }
    /// A member of the experiment.
    virtual const ParameterSet& parameters() const = 0;
    std::string kernel_file() const { return parameters().kernel_file(); }

    /// Sets all values or none. Throws ParameterError for a value that is not legal, and
    /// DeviceError or the error of a file if the state cannot be made. After a throw, values and
    /// state are unchanged.
    void set(std::span<const Assignment> assignments);
    /// set(), for values that ParameterSet::read() has returned.
    void change(std::span<const NewValue> values);

    /// frame(): frames since the last reset. changed_since_reset(): whether a parameter changed
    /// since then, so that parameters and frame number alone do not determine the picture.
    std::uint64_t frame() const { return frame_; }
    bool changed_since_reset() const { return changed_since_reset_; }

    /// Computes the next frame. Frames are 1/60 s of the experiment's own time. A step that throws
    /// leaves the frame unchanged, so that the next step computes the frame that it would have.
    ///
    /// Like every member function that launches kernels or computes for long, it throws
    /// compute::Cancelled soon after the stop request of the device's launch limits. After that,
    /// and with other limits, the experiment continues as if the function had not been called.
    void step();
    /// Back to frame 0 and the start state.
    void reset();

    /// Repeats the launch of the experiment's kernel for the current frame (n-body: for the next
    /// frame) with its seeds. Launches that the kernel needs come before it; the kernel's launch
    /// is the last. State and report may change, so this is for copies of an experiment.
    virtual void launch_kernel() = 0;

    /// Waits for the device.
    Snapshot snapshot();
    /// Continues from a snapshot of an experiment of its kind, from any device. After a throw, it
    /// can still be used.
    void resume(const Snapshot& snapshot);

    /// What launch_kernel() should leave in memory, as far as that is known.
    virtual std::vector<KnownResult> known_results() { return {}; }
    /// known_results(), and what else launch_kernel() leaves in memory that people look at.
    virtual std::vector<KnownResult> results() { return known_results(); }
    /// For each element of the first of the results(), which has `values`, where it is in a picture
    /// of this size with the parameters `now`; outside of the picture: nowhere.
    using Places = std::function<std::vector<Pointer>(const ParameterSet& now, Size,
                                                      const launches::Array& values)>;
    /// May outlive the experiment. Null: the elements are its pixels, or have no place.
    virtual Places places() { return {}; }

    /// Size of the picture for a view of this size. {0, 0}: it has a tree() instead of a picture.
    virtual Size picture_size(Size view) const = 0;
    /// Draws the current frame. `target` has the size that picture_size() returned.
    virtual void render_into(const PixelTarget& target) = 0;
    /// The current frame's readings; may wait for the device.
    virtual Report report() = 0;
    /// Measures every variant, which may take seconds. nullopt if there is nothing to compare.
    virtual std::optional<Comparison> compare() { return std::nullopt; }
    /// The launch file that describes it; null: none does.
    virtual std::shared_ptr<const LaunchPlan> plan() const { return nullptr; }
    /// The buffer of its launch file that is chosen, after the current frame. Null: there is none,
    /// or it has more than `most_bytes`.
    virtual std::shared_ptr<const BufferContents> contents(std::size_t most_bytes) {
        return (void)most_bytes, nullptr;
    }
    /// The files that its settings ask for, with what they hold after the current frame.
    virtual std::vector<OutputFile> output_files() { return {}; }
    /// The tree of the current settings, or null. A change of parameters invalidates it.
    virtual const Tree* tree() { return nullptr; }
    /// The timeline of the warps of one block in the newest launch, measured by the kernel on the
    /// device in use. nullopt if the current kernel measures no times.
    virtual std::optional<Timeline> timeline() { return std::nullopt; }

    /// Measures whether a barrier on the device in use waits for threads that have ended without
    /// reaching it, and for threads that skip it and continue. It runs kernels that end on any
    /// device. Returns one reading for each question, with a sentence that names the device.
    /// nullopt if the experiment has no kernels for this.
    virtual std::optional<Report> measure_barriers() { return std::nullopt; }

    /// Mouse drags and scrolls over the picture, in fractions of its height and notches of the
    /// wheel, and where the mouse is. Only those that mouse_use() names are used; with the others
    /// the canvas pans and zooms.
    virtual MouseUse mouse_use() const { return {}; }
    virtual void drag(double dx, double dy) { (void)dx, (void)dy; }
    virtual void scroll(double notches) { (void)notches; }
    virtual void point(const Pointer& pointer) { (void)pointer; }

  protected:
    /// Whether `which` holds one of these parameters.
    static bool any_of(std::span<Parameter* const> which,
                       std::initializer_list<const Parameter*> parameters);
    /// Updates the state after a change of the parameters `which`. A throw must leave the old state
    /// unchanged.
    virtual void changed(std::span<Parameter* const> which) = 0;
    /// Whether frames before a change of `which` (none of them a view) influence frames after it.
    virtual bool leaves_trace(std::span<Parameter* const> which) const { return (void)which, true; }
    /// The state that a snapshot holds beside parameters and frame. load_state() comes after a
    /// reset.
    virtual std::any save_state() { return {}; }
    virtual void load_state(const std::any& state) { (void)state; }
    virtual void do_step() = 0;
    virtual void do_reset() = 0;
    /// For changed(): the state is now that of a reset.
    void begin_at_frame_0();

  private:
    compute::Device& device_;
    std::uint64_t frame_ = 0;
    bool changed_since_reset_ = false;
};

struct Entry;
using SharedEntry = std::shared_ptr<const Entry>;

/// An experiment with kernels that were compiled from a text of their source.
struct CompiledEntry {
    SharedEntry entry;  ///< its parameters are those that the kernels call for
    std::shared_ptr<const compute::KernelEdit> kernels{};  ///< with all warnings
    std::vector<compiler::LeftOut> left_out{};             ///< host code of the source
    bool begins_anew = false;  ///< another source has taken the place of the one before
    std::shared_ptr<const LaunchPlan> plan{};  ///< the plan of a launch file; else null
};

/// An experiment in the list of the app, or one that a launch file describes.
struct Entry {
    std::string id;           ///< "ripple"
    std::string title;        ///< "Ripple bitmap"
    files::Sentence summary;  ///< a sentence
    std::function<std::unique_ptr<ParameterSet>()> make_parameters;
    std::function<std::unique_ptr<Experiment>(compute::Device&)> make;
    bool has_ranks = false;  ///< several devices share its work; else one does it
    /// The launch file that describes it, or the name of one of the gallery. Empty: it has none, or
    /// one that is not saved.
    std::string launch_file{};
    bool built_in = true;  ///< its kernels are; else it draws nothing until its source is compiled
    /// The entry for its built-in kernels, where this one is for an edit of them. Null: this one
    /// is.
    std::shared_ptr<const Entry> unedited{};
    /// Compiles a source of an experiment that a launch file describes, whose parameters follow
    /// from the source. Null: no launch file describes it.
    /// Throws what compute::Helpers::compile() throws, and std::invalid_argument if the experiment
    /// can't launch the kernels of this source.
    std::function<CompiledEntry(compute::Helpers&, const std::string& source, compute::Math,
                                const std::stop_token&)>
        compile{};
};

/// For an entry that lives as long as the app, such as those of registry().
inline SharedEntry unowned(const Entry& entry) {
    return {SharedEntry(), &entry};
}

/// The entry of an experiment class that names the class of its parameters as Parameters.
template <class T>
Entry entry_of(std::string id, std::string title, files::Sentence summary, bool has_ranks = false) {
    return {std::move(id),
            std::move(title),
            std::move(summary),
            []() -> std::unique_ptr<ParameterSet> {
                return std::make_unique<typename T::Parameters>();
            },
            [](compute::Device& device) -> std::unique_ptr<Experiment> {
                return std::make_unique<T>(device);
            },
            has_ranks};
}

/// Every experiment, in the order of the tabs. A new one is one line in registry.cpp.
std::span<const Entry> registry();
/// The one that launch files describe, with the first kernel of the gallery.
const Entry& launch_experiment();
/// Throws ParameterError that names the known ids.
const Entry& find_experiment(std::string_view id);

/// The device of a wish for an experiment: with all ranks if they can share its work, or else the
/// first device alone. Throws what compute::pick_ranks() throws.
std::unique_ptr<compute::Device> pick_for(const Entry& entry, const std::string& wish,
                                          std::shared_ptr<compute::Processes> processes = nullptr);

/// Whether an edit of kernels/`file`.cu runs on this device.
bool edited(const compute::Device& device, std::string_view file);

/// The verdict on a result that is compared with a known one. A wrong result of an edited kernel is
/// a finding. A wrong result of a built-in kernel is a failure.
Verdict judged(const compute::Device& device, std::string_view file, bool right);

/// Sets the shared memory of every multiprocessor to 0, so that the result of a race does not
/// depend on the kernels that ran before.
class SharedMemoryCleaner {
  public:
    static constexpr const char* kernel_name = "clear_shared";
    explicit SharedMemoryCleaner(compute::Device& device);
    void launch();

  private:
    compute::Device& device_;
    compute::Kernel<int> kernel_;
};

}  // namespace warpscope::experiments
