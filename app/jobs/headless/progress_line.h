#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace warpscope::jobs {

/// One line on a terminal that is rewritten: how far a run is and how long it will still take. It
/// shows nothing for a run that ends soon.
class ProgressLine {
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Clock = std::function<Time()>;
    using Write = std::function<void(const std::string&)>;

    /// `expected_s` is the estimated time of a frame; 0: not known. `columns` is the width of the
    /// terminal.
    ProgressLine(std::uint64_t frames, double expected_s, int columns, Write write, Clock clock);
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    /// Clears the line.
    ~ProgressLine();

    /// Reports that `done` frames are computed.
    void frames_done(std::uint64_t done);
    /// Reports that work begins which follows the frames: "computing the results".
    void say(std::string_view what);

  private:
    void show(const std::string& text);

    std::uint64_t frames_;
    std::size_t columns_;
    Write write_;
    Clock clock_;
    Time began_, next_;
    std::size_t shown_columns_ = 0;
};

/// Returns a line on standard error if that is a terminal, otherwise a line that is never shown.
ProgressLine terminal_line(std::uint64_t frames, double expected_s);

}  // namespace warpscope::jobs
