#include "compiler/host/template_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/host/declarations.h"

namespace warpscope::compiler {
namespace {

/// Arguments for the parameters of the list that begins with the "<" at `i`, up to the first one
/// that has a default: "float, 16". Moves `i` behind the list.
std::string arguments_for(const TokenText& text, std::size_t& i, std::size_t end) {
    std::string all, one = "16";
    bool has_default = false, ends = false;
    for (int depth = 0; i < end && !ends; ++i) {
        if (text.is(i, "(")) i = text.after_closing(i).value_or(end) - 1;
        if (text.is(i, "<")) ++depth;
        if (depth == 1) {
            if (text.is(i, "typename") || text.is(i, "class")) one = "float";
            if (text.is(i, "bool")) one = "true";
            has_default = has_default || text.is(i, "=");
        }
        ends = text.is(i, ">") && --depth == 0;
        if (!ends && (depth != 1 || !text.is(i, ","))) continue;
        if (!has_default) all += (all.empty() ? "" : ", ") + one;
        one = "16";
    }
    return all;
}

/// Returns the name expression of the declaration; nullopt: it is no template of a kernel.
std::optional<std::string> name_expression(const TokenText& text, const Declaration& declaration) {
    std::size_t i = declaration.begin + 1;
    const bool is_template = text.is(declaration.begin, "template") && text.is(i, "<");
    if (!is_template || text.is(i + 1, ">") || declaration.name.empty()) return std::nullopt;
    const std::string arguments = arguments_for(text, i, declaration.end);
    while (i < declaration.end && !text.is(i, "__global__") && !text.is(i, "{")) ++i;
    if (i == declaration.end || text.is(i, "{")) return std::nullopt;
    return fmt::format("{}{}<{}>", declaration.scope, declaration.name, arguments);
}

}  // namespace

std::string_view template_name(std::string_view name_expression) {
    name_expression = name_expression.substr(0, name_expression.find('<'));
    const std::size_t colon = name_expression.rfind(':');
    return colon == std::string_view::npos ? name_expression : name_expression.substr(colon + 1);
}

std::vector<std::string> template_kernels(std::string_view source) {
    constexpr std::size_t most_templates = 64;
    const TokenText text(source);
    std::vector<std::string> found;
    const auto is_device_word = [](std::string_view word) { return word == "__global__"; };
    for (const Declaration& declaration : declarations_of(text, is_device_word)) {
        if (declaration.kind != Declaration::Kind::function) continue;
        if (found.size() == most_templates) break;
        if (auto name = name_expression(text, declaration)) found.push_back(std::move(*name));
    }
    return found;
}

}  // namespace warpscope::compiler
