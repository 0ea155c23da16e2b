#include <fmt/format.h>

#include <array>
#include <optional>

#include "launches/files/launch_file.h"

namespace warpscope::launches {
namespace {

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

/// What stands between the parentheses of "NAME(…)".
std::optional<std::string_view> arguments_of(std::string_view text, std::string_view name) {
    if (!text.starts_with(name) || !text.ends_with(')')) return {};
    text.remove_prefix(name.size());
    text = trimmed(text);
    if (!text.starts_with('(')) return {};
    return text.substr(1, text.size() - 2);
}

double number(std::string_view text) {
    return real(Expression(trimmed(text)).value(Names()));
}

RandomFill random_fill(RandomFill::Distribution distribution, std::string_view arguments) {
    RandomFill fill{.distribution = distribution};
    const std::size_t comma = arguments.find(',');
    if (comma == std::string_view::npos)
        throw LaunchError("write two numbers, as in uniform(0, 1) or normal(0, 1, seed 2)");
    const std::string_view rest = arguments.substr(comma + 1);
    const std::size_t second = rest.find(',');
    fill.first = number(arguments.substr(0, comma));
    fill.second = number(rest.substr(0, second));
    if (second == std::string_view::npos) return fill;
    const std::string_view seed = trimmed(rest.substr(second + 1));
    if (!seed.starts_with("seed ")) throw LaunchError("write the seed as in uniform(0, 1, seed 2)");
    fill.seed = std::uint64_t(whole(Expression(seed.substr(5)).value(Names())));
    return fill;
}

}  // namespace

std::string fill_text(const Fill& fill) {
    if (const auto* expression = std::get_if<Expression>(&fill)) return expression->text();
    if (const auto* file = std::get_if<std::filesystem::path>(&fill))
        return fmt::format("file({})", file->string());
    const auto& random = std::get<RandomFill>(fill);
    const bool uniform = random.distribution == RandomFill::Distribution::uniform;
    const std::string seed = random.seed == 1 ? "" : fmt::format(", seed {}", random.seed);
    return fmt::format("{}({}, {}{})", uniform ? "uniform" : "normal", random.first, random.second,
                       seed);
}

Fill parse_fill_text(std::string_view text) {
    text = trimmed(text);
    if (const auto path = arguments_of(text, "file")) return std::filesystem::path(trimmed(*path));
    if (const auto range = arguments_of(text, "uniform"))
        return random_fill(RandomFill::Distribution::uniform, *range);
    if (const auto range = arguments_of(text, "normal"))
        return random_fill(RandomFill::Distribution::normal, *range);
    return Expression(text);
}

}  // namespace warpscope::launches
