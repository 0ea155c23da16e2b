#include "experiments/launch_files/host_values.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/host/source_tokens.h"

namespace warpscope::experiments {
namespace {

using compiler::SourceToken;
using compiler::tokens_of;

/// Of names that stand for other names, and of an expression.
constexpr int deepest = 8;
constexpr std::size_t longest = 1000;

/// Words of types with their bytes. `int`, `unsigned` and `signed` say nothing beside another.
constexpr std::array<std::pair<std::string_view, int>, 12> types{{{"int", 0},
                                                                  {"unsigned", 0},
                                                                  {"signed", 0},
                                                                  {"char", 1},
                                                                  {"bool", 1},
                                                                  {"short", 2},
                                                                  {"half", 2},
                                                                  {"float", 4},
                                                                  {"size_t", 8},
                                                                  {"long", 8},
                                                                  {"double", 8},
                                                                  {"float4", 16}}};
/// Functions of the host, or macros, that expressions have by another name or by the same one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> functions{
    {{"min", "min"},
     {"max", "max"},
     {"MIN", "min"},
     {"MAX", "max"},
     {"sqrt", "sqrt"},
     {"sqrtf", "sqrt"},
     {"ceil", "ceil"},
     {"ceilf", "ceil"}}};

template <class Table>
auto find(const Table& table, std::string_view key) {
    return std::ranges::find(table, key, [](const auto& row) { return row.first; });
}

bool is_name(std::string_view text) {
    const auto tokens = tokens_of(text);
    return tokens.size() == 1 && tokens[0].kind == SourceToken::Kind::word;
}

class Words {
  public:
    explicit Words(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}
    std::size_t size() const { return tokens_.size(); }
    bool is(std::size_t t, SourceToken::Kind kind) const { return tokens_[t].kind == kind; }
    /// Empty behind the last one.
    std::string_view operator[](std::size_t t) const {
        if (t >= tokens_.size()) return {};
        return text_.substr(tokens_[t].begin, tokens_[t].end - tokens_[t].begin);
    }

  private:
    std::string_view text_;
    std::vector<SourceToken> tokens_;
};

struct TypeInParentheses {
    int bytes = 0;
    bool real = false;
    std::size_t end = 0;  ///< the token ")"
};

/// "(unsigned int)"
std::optional<TypeInParentheses> type_at(const Words& words, std::size_t open) {
    TypeInParentheses type{.end = open + 1};
    if (words[open] != "(") return std::nullopt;
    for (; words[type.end] != ")"; ++type.end) {
        const auto row = find(types, words[type.end]);
        if (row == types.end()) return std::nullopt;
        type.bytes = std::max(type.bytes, row->second);
        type.real = row->first == "float" || row->first == "double";
    }
    if (type.end == open + 1) return std::nullopt;
    if (type.bytes == 0) type.bytes = 4;
    return type;
}

std::string_view without_suffix(std::string_view number) {
    if (number.starts_with("0x")) return number;
    return number.substr(0, number.find_last_not_of("uUlLfF") + 1);
}

/// Without those around the whole text.
std::string_view without_parentheses(std::string_view text) {
    while (text.starts_with('(') && text.ends_with(')')) {
        int depth = 0;
        for (std::size_t i = 0; i + 1 < text.size(); ++i) {
            depth += int(text[i] == '(') - int(text[i] == ')');
            if (depth == 0) return text;
        }
        text = text.substr(1, text.size() - 2);
    }
    return text;
}

}  // namespace

void HostValues::is_scalar(std::size_t index, const std::string& scalar) {
    if (index < launch_.arguments.size() && is_name(launch_.arguments[index]))
        scalars_.emplace(launch_.arguments[index], scalar);
}

std::optional<Expression> HostValues::expression(const std::string& text) const {
    std::string words;
    if (!append(text, words, 0)) return std::nullopt;
    try {
        Expression found(without_parentheses(words));
        if (found.names().empty()) return Expression(to_string(found.value(Names())));
        return found;
    } catch (const LaunchError&) {
        return std::nullopt;
    }
}

std::optional<std::vector<Expression>> HostValues::expressions(
    const std::vector<std::string>& texts) const {
    std::vector<Expression> all;
    for (const std::string& text : texts) {
        const auto one = expression(text);
        if (!one) return std::nullopt;
        all.push_back(*one);
    }
    if (all.empty()) return std::nullopt;
    return all;
}

std::optional<Expression> HostValues::argument(std::size_t index) const {
    if (index >= launch_.arguments.size()) return std::nullopt;
    const std::string& text = launch_.arguments[index];
    const auto known = launch_.values.find(text);
    if (known != launch_.values.end()) return expression(known->second);
    if (is_name(text)) return std::nullopt;  // it is the scalar itself
    return expression(text);
}

/// Appends the text with names replaced by what they mean. False: one has no meaning here.
bool HostValues::append(std::string_view text, std::string& to, int depth) const {
    if (depth > deepest) return false;
    const Words words(text);
    for (std::size_t t = 0; t < words.size(); ++t) {
        if (to.size() > longest) return false;
        if (const auto cast = type_at(words, t)) {
            if (cast->real) to += "1.0 * ";
            t = cast->end;
        } else if (words[t] == "sizeof") {
            const auto type = type_at(words, t + 1);
            if (!type) return false;
            to += std::to_string(type->bytes);
            t = type->end;
        } else if (words.is(t, SourceToken::Kind::number)) {
            to += without_suffix(words[t]);
        } else if (words.is(t, SourceToken::Kind::word)) {
            if (!append_name(words[t], to, depth)) return false;
        } else if (words[t] == ",") {
            to += ", ";
        } else if (std::string_view("+-*/%").find(words[t]) != std::string_view::npos && t > 0) {
            to += " " + std::string(words[t]) + " ";
        } else {
            to += words[t];
        }
    }
    return true;
}

bool HostValues::append_name(std::string_view name, std::string& to, int depth) const {
    if (const auto scalar = scalars_.find(name); scalar != scalars_.end()) {
        to += scalar->second;
        return true;
    }
    if (const auto function = find(functions, name); function != functions.end()) {
        to += function->second;
        return true;
    }
    const auto value = launch_.values.find(name);
    if (value == launch_.values.end()) return false;
    std::string meant;
    if (!append(value->second, meant, depth + 1)) return false;
    to += tokens_of(meant).size() == 1 ? meant : "(" + meant + ")";
    return true;
}

}  // namespace warpscope::experiments
