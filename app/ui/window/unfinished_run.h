#pragma once

#include <filesystem>

namespace warpscope::ui {

/// Remembers, in a file beside the settings, that the window is computing its first frame. If the
/// window ends before that frame, for any reason, the next start finds the file.
class UnfinishedRun {
  public:
    /// `settings`: the file of the settings; empty: nothing is remembered.
    explicit UnfinishedRun(const std::filesystem::path& settings);

    /// True if the last run ended before its first frame was there.
    bool before() const { return before_; }
    /// Records that the first frame is there.
    void finish();

  private:
    std::filesystem::path file_;
    bool before_ = false;
    bool finished_ = false;
};

}  // namespace warpscope::ui
