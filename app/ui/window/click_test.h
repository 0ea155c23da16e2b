#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ui/widgets/widget_map.h"
#include "ui/window/gui.h"

namespace warpscope::ui {

/// Presses tabs and toggles of the window at random moments and measures how long each takes to
/// change on screen. The window asks it for input once a frame, as it asks the mouse.
class ClickTest {
  public:
    using Clock = std::chrono::steady_clock;

    explicit ClickTest(std::chrono::duration<double> length) : length_(length) {}

    /// Seconds until something happens that ends the window's wait for input.
    double seconds_until_input(Clock::time_point now) const;
    /// The input that has happened since the last call. The first call starts the test.
    std::vector<InputEvent> input(Clock::time_point now);
    /// Tells the test that a frame with these widgets is on screen.
    void frame_drawn(const WidgetMap& widgets, Clock::time_point now);
    bool over(Clock::time_point now) const { return start_ && now >= *start_ + length_; }

    /// Milliseconds from each press to the end of the first frame that showed its effect.
    const std::vector<double>& latencies() const { return latencies_; }
    /// The number of presses without an effect within `patience`.
    std::uint64_t lost() const { return lost_; }
    /// The rate from the first press to the newest frame; 0 without a press.
    double frames_per_second() const;

    static constexpr std::chrono::seconds patience{5};

  private:
    struct Press {
        std::string id, value;  ///< the widget, and its value before the press
        Clock::time_point at;
    };
    void press(Clock::time_point at);

    std::chrono::duration<double> length_;
    std::mt19937 random_;
    WidgetMap widgets_;  ///< the widgets of the newest frame
    std::optional<Press> waiting_;
    std::optional<Clock::time_point> start_, first_frame_, newest_frame_;
    Clock::time_point next_;  ///< the time of the next press
    std::vector<InputEvent> events_;
    std::uint64_t frames_ = 0, lost_ = 0;
    std::vector<double> latencies_;
};

}  // namespace warpscope::ui
