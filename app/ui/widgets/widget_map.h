#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::ui {

/// A widget as drawn in the newest frame, for tests to click and to read.
struct Widget {
    std::string id;  ///< "ripple.sync", "ripple.layout:padded" (an entry of a list), "message"
    double x = 0, y = 0, w = 0, h = 0;  ///< in window pixels, clipped to what can be seen
    std::string value;                  ///< "on", "padded", the text of a label
    bool enabled = true;
    bool visible = true;  ///< false: scrolled out of sight, the rectangle is empty
    bool operator==(const Widget&) const = default;
};

/// The widgets of a frame. End-to-end tests read their places here instead of fixed coordinates.
class WidgetMap {
  public:
    void begin_frame() { now_.clear(); }
    void add(Widget widget) { now_.push_back(std::move(widget)); }
    Widget& last() { return now_.back(); }
    /// Marks the widgets from index `first` on as disabled.
    void disable_from(std::size_t first) {
        for (std::size_t i = first; i < now_.size(); ++i) now_[i].enabled = false;
    }
    const std::vector<Widget>& widgets() const { return now_; }
    const Widget* find(std::string_view id) const;

    /// A JSON list of {id, x, y, w, h, value, enabled, visible}.
    std::string json() const;
    /// Writes the list if it differs from the list written last, whole or not at all. Throws
    /// std::runtime_error where the file can't be written.
    void write_if_changed(const std::filesystem::path& file);

  private:
    std::vector<Widget> now_, written_;
    bool ever_written_ = false;
};

}  // namespace warpscope::ui
