#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/stage/stage.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// Keeps what the window showed before a lesson, and the experiments and sources that lessons have
/// replaced. Gives them back when a person leaves the lesson.
class Room {
  public:
    Room(Stage& stage, ViewOptions& options) : stage_(stage), options_(options) {}

    /// A lesson is about to show this experiment, or another launch file in the place of the newest
    /// one. Of an experiment it also changes the source, kernels/`file`.cu.
    void keep(const experiments::SharedEntry& entry, const std::string& file);
    /// Puts parameters, run settings, sources and the pause back, and shows what was on show
    /// before.
    void give_back() { give_back(true); }
    /// As give_back(), but what a person has chosen since stays on show.
    void give_back_behind_choice() { give_back(false); }
    /// Whether frames stood still before the lesson.
    bool paused() const { return before_ ? before_->paused : stage_.paused(); }
    /// Once a frame.
    void advance();

  private:
    /// Of an experiment, or of the newest launch file.
    struct Kept {
        experiments::SharedEntry entry;
        std::vector<experiments::Assignment> values;
        std::string file;  ///< of the source; empty: of a launch file, whose source stays
        SharedText text;
    };
    struct Before {
        experiments::SharedEntry entry;
        compute::RunSettings run;
        bool paused = false, editor = false;
        std::string kernel_path;
        std::map<std::string, Kept> kept;  ///< by experiment
    };
    void give_back(bool shows);
    void put_back(const Kept& kept);

    Stage& stage_;
    ViewOptions& options_;
    std::optional<Before> before_;  ///< nullopt: no lesson is open
    /// Whether the editor was open, until the experiment of before is on show again.
    std::optional<bool> editor_;
    bool is_back_ = false;  ///< it is on show, in the newest frame
};

}  // namespace warpscope::ui
