#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host/declarations.h"
#include "experiments/host/preprocessor/preprocessor.h"

// Macros that launch kernels: "#define LAUNCH(kernel, n, ...) kernel<<<…>>>(__VA_ARGS__)".
namespace warpscope::experiments {
namespace {

using compiler::TokenText;

/// Macros within each other, and bytes of the text that they become.
constexpr int deepest_macro = 4;
constexpr std::size_t longest_text = std::size_t(1) << 22;

struct Macro {
    std::vector<std::string> parameters;  ///< the last one may be "__VA_ARGS__"
    std::string body;
};
using Macros = std::map<std::string, Macro, std::less<>>;

/// Without newlines, and without the backslashes before them.
std::string on_one_line(std::string_view text) {
    std::string line;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n') continue;
        line += text[i] == '\n' ? ' ' : text[i];
    }
    return line;
}

/// The macro with parameters that a directive defines, with its name.
std::optional<std::pair<std::string, Macro>> macro_of(std::string_view directive) {
    const std::string line = on_one_line(directive.substr(1));
    const TokenText tokens(line);
    const bool has_parameters = tokens.is(0, "define") && tokens.is_word(1) && tokens.is(2, "(") &&
                                tokens.token(2).begin == tokens.token(1).end;
    const auto after = has_parameters ? tokens.after_closing(2) : std::nullopt;
    if (!after || *after >= tokens.size()) return std::nullopt;
    Macro macro;
    for (std::size_t t = 3; t + 1 < *after; ++t) {
        if (tokens.is_word(t)) macro.parameters.emplace_back(tokens.text(t));
        if (tokens.is(t, ".") && tokens.is(t + 1, ".") && tokens.is(t + 2, "."))
            macro.parameters.emplace_back("__VA_ARGS__");
    }
    macro.body = line.substr(tokens.token(*after).begin);
    return std::pair(std::string(tokens.text(1)), std::move(macro));
}

/// The macros that have a launch, or another one of them.
Macros launching_macros(const TokenText& text) {
    Macros all, found;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text.is_directive(i))
            if (auto macro = macro_of(text.text(i))) all.insert(std::move(*macro));
    const auto launches = [&](const Macro& macro) {
        if (macro.body.find("<<<") != macro.body.npos ||
            macro.body.find("cudaLaunchKernel") != macro.body.npos)
            return true;
        return std::ranges::any_of(found, [&](const auto& other) {
            return macro.body.find(other.first) != macro.body.npos;
        });
    };
    for (int depth = 0; depth < deepest_macro; ++depth)
        for (const auto& [name, macro] : all)
            if (launches(macro)) found.emplace(name, macro);
    return found;
}

/// What stands between the commas; the last parameter "__VA_ARGS__" gets all that is left.
std::vector<std::string> arguments_of(std::string_view text, std::size_t parameters) {
    const TokenText tokens(text);
    std::vector<std::string> given;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < tokens.size() && given.size() + 1 < parameters; ++i) {
        if (tokens.is(i, "(")) i = tokens.after_closing(i).value_or(tokens.size()) - 1;
        if (i >= tokens.size() || !tokens.is(i, ",")) continue;
        given.emplace_back(text.substr(begin, tokens.token(i).begin - begin));
        begin = tokens.token(i).end;
    }
    given.emplace_back(text.substr(std::min(begin, text.size())));
    given.resize(std::max(parameters, given.size()));
    return given;
}

std::string expanded(const Macro& macro, std::string_view arguments) {
    const std::vector<std::string> given = arguments_of(arguments, macro.parameters.size());
    const TokenText body(macro.body);
    std::string all;
    std::size_t end = 0;
    for (std::size_t t = 0; t < body.size(); ++t) {
        const auto found = std::ranges::find(macro.parameters, body.text(t));
        const std::string_view before =
            std::string_view(macro.body).substr(end, body.token(t).begin - end);
        end = body.token(t).end;
        all += before;
        if (body.is(t, "#")) continue;  // "##" joins, "#" makes a text
        if (found == macro.parameters.end()) {
            all += body.text(t);
            continue;
        }
        const std::string& argument = given[std::size_t(found - macro.parameters.begin())];
        const bool is_empty = argument.find_first_not_of(" \t\n") == argument.npos;
        if (is_empty)  // ", ##__VA_ARGS__"
            while (all.ends_with(' ') || all.ends_with(',')) all.pop_back();
        all += on_one_line(argument);
    }
    return all;
}

}  // namespace

std::string with_launching_macros(std::string_view source) {
    std::string text(source);
    for (int depth = 0; depth < deepest_macro; ++depth) {
        const TokenText tokens(text);
        const Macros macros = launching_macros(tokens);
        std::string next;
        std::size_t end = 0;
        for (std::size_t i = 0; i + 1 < tokens.size() && !macros.empty(); ++i) {
            const auto macro = tokens.is_word(i) ? macros.find(tokens.text(i)) : macros.end();
            const auto after = macro != macros.end() && tokens.is(i + 1, "(")
                                   ? tokens.after_closing(i + 1)
                                   : std::nullopt;
            if (!after || next.size() > longest_text) continue;
            const std::size_t begin = tokens.token(i + 1).end;
            const std::string_view arguments =
                std::string_view(text).substr(begin, tokens.token(*after - 1).begin - begin);
            next.append(text, end, tokens.token(i).begin - end);
            next += expanded(macro->second, arguments);
            next.append(std::size_t(std::ranges::count(arguments, '\n')), '\n');
            end = tokens.token(*after - 1).end;
            i = *after - 1;
        }
        if (end == 0) break;
        next.append(text, end);
        text = std::move(next);
    }
    return text;
}

}  // namespace warpscope::experiments
