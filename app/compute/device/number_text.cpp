#include "compute/device/number_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace warpscope::compute {
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

std::string grouped(double value) {
    std::string digits = fmt::format("{:.0f}", std::abs(value));
    for (int i = int(digits.size()) - 3; i > 0; i -= 3) digits.insert(std::size_t(i), 1, ' ');
    return value < 0 ? "-" + digits : digits;
}

std::string si(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "not a number" : "infinite";
    const Scaled s = scaled(value);
    const std::string number = three_digits(s.value);
    return s.prefix.empty() ? number : fmt::format("{} {}", number, s.prefix);
}

std::string count(double value) {
    return value < 100'000 && whole(value) ? grouped(value) : si(value);
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
    if (unit == "%" || unit == "ms" || unit == "x")
        return fmt::format("{} {}", three_digits(value), unit);
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

std::string multiple(double value, double first) {
    const double times = value / first;
    if (!std::isfinite(times)) return {};
    return "×" + (times < 999.5 ? fmt::format("{:.3g}", times) : grouped(times));
}

std::string relative_error(double value) {
    return value == 0 ? "0" : fmt::format("{:.1e}", value);
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

std::string noun(std::uint64_t n, std::string_view singular) {
    const bool hisses =
        singular.ends_with('s') || singular.ends_with("ch") || singular.ends_with("sh");
    return fmt::format("{}{}", singular, n == 1 ? "" : hisses ? "es" : "s");
}

std::string plural(std::uint64_t n, std::string_view singular) {
    return fmt::format("{} {}", n, noun(n, singular));
}

std::string sentence(std::string words) {
    if (!words.ends_with('.')) words += '.';
    return words;
}

}  // namespace warpscope::compute
