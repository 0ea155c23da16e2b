#pragma once

#include <chrono>
#include <filesystem>
#include <utility>

#include "ui/stage/kernel_folder.h"

namespace warpscope::ui {

/// Edited kernels that are kept from one start of the app to the next, as files: what a person has
/// typed is never lost, and never runs unasked. A text that comes from a watched file is not kept
/// again.
class KeptEdits {
  public:
    /// An empty folder: nothing is kept.
    explicit KeptEdits(std::filesystem::path folder);

    /// Texts of the last time that differ from the build's and that nobody has taken yet.
    const compute::Sources& offered() const { return offered_; }
    /// They are on the screen now.
    void taken() { kept_.merge(std::exchange(offered_, {})); }
    /// Nobody wants them: they are not offered again, but stay as NAME.cu~.
    void decline();

    /// Writes what has changed, once it has been left alone for a while, or `now`. A text of the
    /// last time that nobody took and that is in the way is renamed, NAME.cu~. Throws
    /// std::runtime_error that names the file.
    void keep(KernelTexts& texts, const KernelFolder& watched, bool now = false);

  private:
    using Clock = std::chrono::steady_clock;

    std::filesystem::path file(const std::string& name) const;

    void put_aside(const std::string& name) const;

    std::filesystem::path folder_;
    compute::Sources offered_, kept_;
    std::uint64_t version_ = 0, seen_ = 0;
    Clock::time_point changed_{};
};

}  // namespace warpscope::ui
