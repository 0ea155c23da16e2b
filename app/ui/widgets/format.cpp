#include "ui/widgets/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace warpscope::ui {
namespace {

struct Scaled {
    double value;
    std::string_view prefix;
};

/// 999.5 and more would print as "1000", so it already takes the next prefix.
Scaled scaled(double value) {
    constexpr std::array<std::string_view, 6> prefixes{"", "k", "M", "G", "T", "P"};
    std::size_t i = 0;
    while (std::abs(value) >= 999.5 && i + 1 < prefixes.size()) {
        value /= 1000;
        ++i;
    }
    return {value, prefixes[i]};
}

std::string three_digits(double value) {
    const double size = std::abs(value);
    if (size == 0) return "0";
    if (size < 1e-3) return fmt::format("{:.1e}", value);
    if (size >= 99.95) return fmt::format("{:.0f}", value);
    if (size >= 9.995) return fmt::format("{:.1f}", value);
    if (size >= 0.9995) return fmt::format("{:.2f}", value);
    return fmt::format("{:.3f}", value);
}

/// "25 723 564 731 392"
std::string grouped(double value) {
    std::string digits = fmt::format("{:.0f}", std::abs(value));
    for (int i = int(digits.size()) - 3; i > 0; i -= 3) digits.insert(std::size_t(i), 1, ' ');
    return value < 0 ? "-" + digits : digits;
}

bool whole(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15;
}

std::string plain(double value) {
    if (whole(value)) return grouped(value);
    const double size = std::abs(value);
    if (size < 1e-3) return fmt::format("{:.2e}", value);
    if (size >= 1e5) return fmt::format("{:.7g}", value);
    return fmt::format("{:.5g}", value);
}

bool takes_prefix(std::string_view unit) {
    return unit == "B" || unit.ends_with("/s");
}

}  // namespace

std::string si(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "not a number" : "infinite";
    const Scaled s = scaled(value);
    const std::string number = three_digits(s.value);
    return s.prefix.empty() ? number : fmt::format("{} {}", number, s.prefix);
}

std::string quantity(double value, std::string_view unit) {
    if (!std::isfinite(value)) return std::isnan(value) ? "not a number" : "infinite";
    if (unit.empty()) return plain(value);
    if (takes_prefix(unit)) {
        const Scaled s = scaled(value);
        if (unit == "1/s") unit = "/s";
        // "GB/s" is one word, "G interactions/s" two.
        const bool joined =
            unit.starts_with("B") || unit.starts_with("/") || unit.starts_with("flop");
        const std::string_view gap = joined || s.prefix.empty() ? "" : " ";
        return fmt::format("{} {}{}{}", three_digits(s.value), s.prefix, gap, unit);
    }
    if (unit == "%" || unit == "ms") return fmt::format("{} {}", three_digits(value), unit);
    return fmt::format("{} {}", plain(value), unit);
}

std::string compact(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (whole(value) && std::abs(value) < 99'999.5) return fmt::format("{:.0f}", value);
    const double size = std::abs(value);
    if (size < 1e-2) return fmt::format("{:.0e}", value);
    if (size < 1000) return fmt::format("{:.3g}", value);
    if (size < 99'999.5) return fmt::format("{:.0f}", value);
    const Scaled s = scaled(value);
    return three_digits(s.value) + std::string(s.prefix);
}

std::string milliseconds(double value) {
    if (!std::isfinite(value)) return "-";
    if (value >= 99.95) return fmt::format("{:.0f}", value);
    if (value >= 9.995) return fmt::format("{:.1f}", value);
    if (value >= 0.9995) return fmt::format("{:.2f}", value);
    return fmt::format("{:.3f}", value);
}

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

std::string rate(const compute::KernelTiming& timing) {
    if (timing.work.interactions > 0 && timing.interactions_per_second() > 0)
        return quantity(timing.interactions_per_second(), "int/s");
    if (timing.work.bytes > 0 && timing.bytes_per_second() > 0)
        return quantity(timing.bytes_per_second(), "B/s");
    if (timing.work.flops > 0 && timing.flops_per_second() > 0)
        return quantity(timing.flops_per_second(), "flop/s");
    return {};
}

}  // namespace warpscope::ui
