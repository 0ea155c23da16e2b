#include "compiler/host/template_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/host/declarations.h"

namespace warpscope::compiler {
namespace {

constexpr std::array<std::string_view, 16> built_in_words{
    "bool", "char",   "short", "int",   "long",   "unsigned", "signed", "float",
    "half", "double", "true",  "false", "float2", "float4",   "int2",   "int4"};

/// The most tokens of a list of arguments, and the most templates of a source.
constexpr std::size_t longest_list = 1000, most_templates = 64;

struct TokenRange {
    std::size_t begin, end;
};

/// The parts between the commas of the list that begins with the "<" at `open`, and the token after
/// its ">". nullopt: the list has no end.
struct List {
    std::vector<TokenRange> parts;
    std::size_t end = 0;
};

std::optional<List> list_at(const TokenText& text, std::size_t open) {
    List list;
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t i = open; i < std::min(text.size(), open + longest_list); ++i) {
        if (text.is(i, "<")) ++depth;
        if (text.is(i, "(")) {
            const auto after = text.after_closing(i);
            if (!after) return std::nullopt;
            i = *after - 1;
        }
        if (text.is(i, ";") || text.is(i, "{")) return std::nullopt;
        const bool ends = text.is(i, ">") && --depth == 0;
        if (ends || (text.is(i, ",") && depth == 1)) {
            if (i > begin) list.parts.push_back({begin, i});
            begin = i + 1;
        }
        if (!ends) continue;
        list.end = i + 1;
        return list;
    }
    return std::nullopt;
}

/// An argument for a parameter of a template: "typename T", "const int size". Empty: it has a
/// default.
std::string argument_for(const TokenText& text, const TokenRange& parameter) {
    bool is_bool = false;
    for (std::size_t i = parameter.begin; i < parameter.end; ++i) {
        if (text.is(i, "=")) return "";
        is_bool = is_bool || text.is(i, "bool");
    }
    if (text.is(parameter.begin, "typename") || text.is(parameter.begin, "class")) return "float";
    return is_bool ? "true" : "16";
}

/// The arguments of a use as the source writes them; empty: they name what is not built in.
std::string literal_arguments(const TokenText& text, const List& list) {
    std::string all;
    for (const TokenRange& part : list.parts) {
        if (!all.empty()) all += ", ";
        for (std::size_t i = part.begin; i < part.end; ++i) {
            const bool known =
                text.token(i).kind == SourceToken::Kind::number ||
                std::ranges::find(built_in_words, text.text(i)) != built_in_words.end();
            if (!known) return "";
            if (i > part.begin) all += " ";
            all += text.text(i);
        }
    }
    return all;
}

std::string first_use(const TokenText& text, std::string_view name, std::size_t count) {
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (!text.is(i, name) || !text.is(i + 1, "<")) continue;
        const auto list = list_at(text, i + 1);
        if (!list || list->parts.size() != count) continue;
        if (const std::string arguments = literal_arguments(text, *list); !arguments.empty())
            return arguments;
    }
    return "";
}

/// Returns the name expression of the declaration; nullopt: it is no template of a kernel.
std::optional<std::string> name_expression(const TokenText& text, const Declaration& declaration) {
    if (!text.is(declaration.begin, "template") || !text.is(declaration.begin + 1, "<"))
        return std::nullopt;
    const auto parameters = list_at(text, declaration.begin + 1);
    if (!parameters || parameters->parts.empty()) return std::nullopt;
    bool is_kernel = false;
    for (std::size_t i = parameters->end; i < declaration.end && !text.is(i, "{"); ++i)
        is_kernel = is_kernel || text.is(i, "__global__");
    if (!is_kernel || declaration.name.empty()) return std::nullopt;
    std::string arguments = first_use(text, declaration.name, parameters->parts.size());
    for (const TokenRange& parameter : parameters->parts) {
        if (!arguments.empty() && &parameter == parameters->parts.data()) break;
        const std::string one = argument_for(text, parameter);
        if (one.empty()) break;
        arguments += (arguments.empty() ? "" : ", ") + one;
    }
    return fmt::format("{}{}<{}>", declaration.scope, declaration.name, arguments);
}

}  // namespace

std::string_view template_name(std::string_view name_expression) {
    name_expression = name_expression.substr(0, name_expression.find('<'));
    const std::size_t colon = name_expression.rfind(':');
    return colon == std::string_view::npos ? name_expression : name_expression.substr(colon + 1);
}

std::vector<std::string> template_kernels(std::string_view source) {
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
