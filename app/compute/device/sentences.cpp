#include "compute/device/sentences.h"

#include <fmt/format.h>

namespace warpscope::compute {

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
