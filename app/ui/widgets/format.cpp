#include "ui/widgets/format.h"

#include <fmt/format.h>

namespace warpscope::ui {

std::string dimensions(const compute::Dim3& size) {
    if (size.z > 1) return fmt::format("{}×{}×{}", size.x, size.y, size.z);
    if (size.y > 1) return fmt::format("{}×{}", size.x, size.y);
    return fmt::format("{}", size.x);
}

std::string grid_by_block(const compute::Dim3& grid, const compute::Dim3& block) {
    // Launches that are timed together, such as a library's call, have no common configuration.
    const auto none = [](const compute::Dim3& size) { return size == compute::Dim3{}; };
    if (none(grid) && none(block)) return "-";
    return dimensions(grid) + " · " + dimensions(block);
}

std::string rounded(double value, double low, double high) {
    std::string text = fmt::format("{:.3g}", value);
    const double read = std::stod(text);
    if (read < low) text = fmt::format("{}", low);
    if (read > high) text = fmt::format("{}", high);
    return text;
}

std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\t' || c == '\n';
        if (!blank)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    return line;
}

}  // namespace warpscope::ui
