#include "ui/timeline/time_range.h"

#include <algorithm>
#include <cmath>

namespace warpscope::ui {

TimeRange inside(const TimeRange& range, double whole) {
    if (range.count <= 0 || range.count >= whole) return {0, whole};
    return {std::clamp(range.first, 0.0, whole - range.count), range.count};
}

TimeRange zoomed(const TimeRange& range, double fixed, double factor, double least, double whole) {
    const double count = std::max(range.count * factor, least);
    const double share = range.count > 0 ? (fixed - range.first) / range.count : 0;
    return inside({fixed - share * count, count}, whole);
}

void move_by_mouse(TimeRange& range, const Strip& strip, double least, double whole) {
    if (strip.width() <= 0) return;
    const ImGuiIO& io = ImGui::GetIO();
    const TimeRange shown = inside(range, whole);
    const double unit = shown.count / double(strip.width());
    const double x = std::clamp(double(io.MousePos.x - strip.low.x), 0.0, double(strip.width()));
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        range = {};
    else if (ImGui::IsItemHovered() && io.MouseWheel != 0)
        range = zoomed(shown, shown.first + x * unit, std::pow(0.8, double(io.MouseWheel)), least,
                       whole);
    else if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Right))
        range = inside({shown.first - double(io.MouseDelta.x) * unit, shown.count}, whole);
    if (range.count >= whole) range = {};  // all of it, also when it becomes longer
}

}  // namespace warpscope::ui
