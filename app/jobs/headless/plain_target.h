#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "experiments/framework/experiment.h"
#include "experiments/framework/metadata.h"
#include "gl/recording/recording.h"

namespace warpscope::jobs {

/// Receives the picture of an experiment's frames where OpenGL is not used.
class PlainTarget {
  public:
    PlainTarget(compute::Device& device, experiments::Size size)
        : pixels_(device, std::size_t(size.width) * size.height), size_(size) {}

    void draw(experiments::Experiment& experiment) {
        experiment.render_into({pixels_.pointer(), size_});
    }
    /// Throws gl::Error.
    void save(const std::filesystem::path& file, const experiments::Metadata& metadata) const;
    /// Throws gl::Error.
    std::vector<std::uint8_t> png(const experiments::Metadata& metadata) const;
    /// Throws gl::Error.
    void add_to(gl::Recording& recording) const;

  private:
    compute::Buffer<experiments::Rgba> pixels_;
    experiments::Size size_;
};

/// The picture of the current frame as a PNG with its settings; empty: the experiment has a tree
/// and no picture. Throws gl::Error.
std::vector<std::uint8_t> png_of(experiments::Experiment& experiment,
                                 const experiments::Entry& entry, experiments::Size view);

/// Records the picture of every frame of an experiment, with the settings of the first one.
class FrameRecorder {
  public:
    /// `view`: the size of the window or view that the picture is for. Throws UsageError where the
    /// experiment has a tree and no picture.
    FrameRecorder(experiments::Experiment& experiment, const experiments::Entry& entry,
                  experiments::Size view, std::filesystem::path file);

    /// Adds the current frame. Throws gl::Error.
    void add();
    /// Completes the file. Throws gl::Error.
    void finish();

  private:
    experiments::Experiment& experiment_;
    const experiments::Entry& entry_;
    const experiments::Size view_;
    const std::filesystem::path file_;
    std::optional<PlainTarget> target_;
    std::optional<gl::Recording> recording_;  ///< made with the first frame
};

}  // namespace warpscope::jobs
