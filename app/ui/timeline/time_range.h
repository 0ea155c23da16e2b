#pragma once

#include "ui/timeline/strip.h"

namespace warpscope::ui {

/// The part of a timeline that is on show, in steps or in the unit of a measured timeline.
struct TimeRange {
    double first = 0, count = 0;  ///< none: all of it
    bool operator==(const TimeRange&) const = default;
    double end() const { return first + count; }
};

/// The range inside a timeline that is `whole` long; one that is longer, or none, is all of it.
TimeRange inside(const TimeRange& range, double whole);
/// The range that has `factor` times the length, at least `least`, with `fixed` at its place.
TimeRange zoomed(const TimeRange& range, double fixed, double factor, double least, double whole);

/// Call it behind the item of a strip. The wheel zooms, a drag with the right button moves along
/// the timeline, and a double click shows all of it.
void move_by_mouse(TimeRange& range, const Strip& strip, double least, double whole);

}  // namespace warpscope::ui
