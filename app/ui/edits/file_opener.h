#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "ui/documents/opened_file.h"
#include "ui/stage/stage.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

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
