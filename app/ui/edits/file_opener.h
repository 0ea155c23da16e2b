#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "compute/device/kernel_files.h"
#include "emulator/witness/schedule_file.h"
#include "experiments/framework/experiment.h"
#include "experiments/framework/metadata.h"
#include "launches/files/launch_file.h"
#include "ui/stage/stage.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// What a file holds that a person has opened.
struct OpenedFile {
    enum class Kind { bodies, launch, picture, order };
    Kind kind = Kind::bodies;
    std::string path;   ///< absolute
    std::string error;  ///< a sentence where it can't be opened; then the rest is empty
    std::size_t bodies = 0;
    std::string kernel;  ///< the source of the launch file, CUDA C++
    launches::LaunchFile launch;
    /// The order of warps that the file is, or that the launch file names; or null.
    std::shared_ptr<const emulator::ScheduleFile> order;

    // What the metadata of a picture say that Warpscope saved. A picture of a launch has the kind
    // `launch`, and the launch file is the one that the metadata name.
    const experiments::Entry* entry = nullptr;
    std::vector<experiments::Assignment> parameters;
    experiments::Metadata metadata;
    std::string frame;
    compute::Sources sources;  ///< edited kernel sources
};

/// Reads a file of bodies (tipsy or CSV), a kernel source (.cu), a launch file (.launch.json,
/// .wslaunch) with its source, an order of warps (.schedule), or a PNG that Warpscope saved, by the
/// end of its name. A kernel
/// source becomes a launch file: the one beside it, NAME.launch.json, or one without launches. It
/// may take seconds, so it is for a background thread. "~/" is the home folder. Throws nothing.
OpenedFile read_file(const std::string& path);

/// The run settings of a picture; what its metadata do not say stays as in `base`. Throws
/// std::invalid_argument for a value that does not exist.
compute::RunSettings run_settings(const experiments::Metadata& metadata,
                                  const compute::RunSettings& base);

/// Opens files that a person drops on the window or chooses: bodies become the start of n-body, a
/// kernel source becomes the own kernel or an experiment of its own, as its launch file says, a
/// picture brings back the settings that it was made with, and its launch file, and in the order of
/// a schedule file the warps of the kernel on show run from then on. Each is read on a
/// thread of its own, one after the other.
class FileOpener {
  public:
    /// The files that ViewOptions::recent_files keeps.
    static constexpr std::size_t most_recent = 8;

    /// `screenshots`: the folder where the window saves them.
    FileOpener(Stage& stage, ViewOptions& options, std::filesystem::path screenshots)
        : stage_(stage), options_(options), screenshots_(std::move(screenshots)) {}

    void open(std::string path);
    /// Opens lessons (.md), which are above this folder. Set by the window's view.
    std::function<void(const std::filesystem::path&)> open_lesson;
    /// Opens programs, sources with a main(). Set by the window's view.
    std::function<void(const std::string& path)> open_program;
    /// Opens the kernels of a program, or the launches that it makes, in a folder.
    void open_part_of_program(const std::string& path);
    /// The prepared states, by name: the PNGs in the folder of the one that was opened last, or
    /// where none was, the screenshots in the folder where they are saved.
    std::vector<std::filesystem::path> states() const;
    /// Opens the next state (`direction` 1) or the one before (-1).
    void open_state(int direction);
    /// Replaces the text of a kernel file by that of a source. Returns why it can't be read; empty:
    /// it was.
    std::string load(const std::string& path, const std::string& file);
    /// Once a frame: shows the file that was read.
    void advance();
    /// A file is being read, or its settings are on their way.
    bool busy() const { return reading_.valid() || !news_.empty(); }

  private:
    void show(const OpenedFile& file);
    bool replaces_edits(const OpenedFile& file) const;
    void show_launch(const OpenedFile& file);
    void show_picture(const OpenedFile& file);
    void show_order(const OpenedFile& file);
    void remember(const std::string& path);

    Stage& stage_;
    ViewOptions& options_;
    std::deque<std::string> waiting_;
    std::future<OpenedFile> reading_;
    std::filesystem::path screenshots_;
    std::filesystem::path picture_;  ///< the PNG that was opened last; empty: none was
    std::string launches_;           ///< a folder of a program, which is no file of the person
    std::string news_;               ///< to say once the stage shows it
};

}  // namespace warpscope::ui
