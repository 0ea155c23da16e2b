#include "ui/window/click_test.h"

#include <algorithm>
#include <utility>

namespace warpscope::ui {
namespace {

/// Tabs that are not chosen, and toggles of the experiment, can be pressed.
bool can_be_pressed(const Widget& widget) {
    if (!widget.visible || !widget.enabled || widget.h < 4) return false;
    if (widget.id.starts_with("dock.")) return widget.value == "off";
    return (widget.value == "on" || widget.value == "off") && widget.id.ends_with(".sync");
}

}  // namespace

std::vector<InputEvent> ClickTest::input(Clock::time_point now) {
    if (!start_) {
        start_ = now;
        next_ = now + std::chrono::seconds(1);
    }
    if (waiting_ && now > waiting_->at + patience) {
        ++lost_;
        waiting_.reset();
        next_ = now;
    }
    // The press counts from its planned moment, even if the window was busy with a frame then.
    if (!waiting_ && now >= next_) press(next_);
    return std::exchange(events_, {});
}

double ClickTest::seconds_until_input(Clock::time_point now) const {
    const Clock::time_point next = waiting_ ? waiting_->at + patience : next_;
    return std::max(0.0, std::chrono::duration<double>(next - now).count());
}

void ClickTest::press(Clock::time_point at) {
    std::vector<const Widget*> choice;
    for (const Widget& widget : widgets_.widgets())
        if (can_be_pressed(widget)) choice.push_back(&widget);
    if (choice.empty()) return;
    const Widget& widget = *choice[random_() % choice.size()];
    waiting_ = {widget.id, widget.value, at};
    using Kind = InputEvent::Kind;
    events_.push_back({.kind = Kind::move,
                       .x = float(widget.x + widget.w / 2),
                       .y = float(widget.y + widget.h / 2)});
    events_.push_back({.kind = Kind::button, .down = true});
    events_.push_back({.kind = Kind::button, .down = false});
}

void ClickTest::frame_drawn(const WidgetMap& widgets, Clock::time_point now) {
    widgets_ = widgets;
    if (!first_frame_) first_frame_ = now;
    newest_frame_ = now;
    ++frames_;
    if (!waiting_) return;
    const Widget* widget = widgets.find(waiting_->id);
    if (widget && widget->value == waiting_->value) return;
    latencies_.push_back(std::chrono::duration<double, std::milli>(now - waiting_->at).count());
    waiting_.reset();
    next_ = now + std::chrono::milliseconds(100 + random_() % 300);
}

double ClickTest::frames_per_second() const {
    if (frames_ < 2) return 0;
    return double(frames_ - 1) /
           std::chrono::duration<double>(*newest_frame_ - *first_frame_).count();
}

}  // namespace warpscope::ui
