#include "experiments/host/host_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/host/declarations.h"

namespace warpscope::experiments {
namespace {

using compiler::SourceToken;
using compiler::TokenText;

/// The most characters of an expression.
constexpr std::size_t longest_value = 1000;

/// Functions of the host, or macros, that expressions have by another name or by the same one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> functions{
    {{"min", "min"},
     {"max", "max"},
     {"MIN", "min"},
     {"MAX", "max"},
     {"sqrt", "sqrt"},
     {"sqrtf", "sqrt"},
     {"ceil", "ceil"},
     {"ceilf", "ceil"},
     {"floor", "floor"},
     {"pow", "pow"},
     {"sin", "sin"},
     {"sinf", "sin"},
     {"cos", "cos"},
     {"cosf", "cos"}}};

template <class Table>
auto find(const Table& table, std::string_view key) {
    return std::ranges::find(table, key, [](const auto& row) { return row.first; });
}

bool is_sign(const TokenText& text, std::size_t i, std::string_view signs) {
    return i < text.size() && text.token(i).kind == SourceToken::Kind::sign &&
           signs.find(text.text(i)) != std::string_view::npos;
}

std::string without_suffix(std::string_view number) {
    std::string plain;
    for (const char c : number)
        if (c != '\'') plain += c;
    if (plain.starts_with("0x")) return plain.substr(0, plain.find_last_not_of("uUlL") + 1);
    return plain.substr(0, plain.find_last_not_of("uUlLfF") + 1);
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

/// Returns the number of a literal 'a'. Empty: the text is no literal of a character.
std::string character(std::string_view literal) {
    if (literal.size() == 3 && literal[0] == '\'') return std::to_string(int(literal[1]));
    if (literal == "'\\0'") return "0";
    if (literal == "'\\n'") return "10";
    return "";
}

std::string_view part(const TokenText& text, std::string_view all, std::size_t begin,
                      std::size_t end) {
    if (begin >= end) return {};
    const std::size_t first = text.token(begin).begin;
    return all.substr(first, text.token(end - 1).end - first);
}

/// The token after the operand of a sizeof: "(…)", "*p", "p[0]".
/// Whether a literal with a point stands between the brackets that begin here.
bool is_real(const TokenText& text, std::size_t open) {
    const auto after = text.is(open, "(") ? text.after_closing(open) : std::nullopt;
    for (std::size_t t = open; after && t < *after; ++t)
        if (text.token(t).kind == SourceToken::Kind::number &&
            text.text(t).find('.') != std::string_view::npos)
            return true;
    return false;
}

std::size_t after_operand(const TokenText& text, std::size_t i) {
    while (text.is(i, "*")) ++i;
    if (text.is(i, "(")) return text.after_closing(i).value_or(text.size());
    for (++i; text.is(i, "[");) i = text.after_closing(i).value_or(text.size());
    return std::min(i, text.size());
}

/// The token after the words of a type, "unsigned int", with its bytes.
struct TypeWords {
    std::size_t bytes = 0, end = 0;
    bool real = false;
};

}  // namespace

std::optional<Expression> HostValues::expression(std::string_view text, int depth) const {
    std::string words;
    if (!append(text, words, depth)) return std::nullopt;
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

std::optional<Number> HostValues::number(std::string_view text, int depth) const {
    const auto found = expression(text, depth);
    if (!found || !found->names().empty()) return std::nullopt;
    return found->value(Names());
}

std::optional<Expression> HostValues::elements(std::string_view bytes, std::size_t element) const {
    const TokenText text(bytes);
    // A product with sizeof(T) of this many bytes: what remains are the elements.
    for (std::size_t i = 0; i < text.size() && element > 0; ++i) {
        if (!text.is(i, "sizeof")) continue;
        const std::size_t after = after_operand(text, i + 1);
        const auto variable = variable_bytes(part(text, bytes, i + 1, after));
        const bool is_all = i == 0 && after == text.size();
        if (variable && is_all && variable->starts_with("( ")) return elements(*variable, element);
        const auto size = number(part(text, bytes, i, after));
        const bool first = i == 0 && text.is(after, "*");
        const bool last = i > 1 && after == text.size() && text.is(i - 1, "*");
        // A type that is not known is that of the pointer, as in sizeof(*p).
        if ((size && *size != Number(std::int64_t(element))) || (!first && !last)) continue;
        const std::string_view rest =
            first ? part(text, bytes, after + 1, text.size()) : part(text, bytes, 0, i - 1);
        const TokenText factors(rest);
        int depth = 0;
        bool is_product = true;
        for (std::size_t t = 0; t < factors.size(); ++t) {
            depth += int(is_sign(factors, t, "([{")) - int(is_sign(factors, t, ")]}"));
            if (depth == 0 && is_sign(factors, t, "+-/%<>?:,")) is_product = false;
        }
        if (is_product) return expression(rest);
    }
    if (const std::string name = last_name(bytes); !name.empty() && !scalars_.contains(name))
        if (const auto value = program_.value_of(name); value && last_name(*value).empty())
            return elements(*value, element);
    const auto all = expression(bytes);
    if (!all || element == 0) return std::nullopt;
    const std::string size = std::to_string(element);
    try {
        const Expression quotient("(" + all->text() + ") / " + size);
        if (!all->names().empty()) return quotient;
        return Expression(std::to_string(whole(quotient.value(Names()))));
    } catch (const LaunchError&) {
        return std::nullopt;
    }
}

std::string HostValues::last_name(std::string_view text) const {
    std::string name, meant;
    for (int depth = 0; depth < deepest_name; ++depth) {
        const TokenText words(text);
        if (words.size() != 1 || !words.is_word(0)) break;
        name = words.text(0);
        const auto value = program_.value_of(name);
        if (!value) break;
        meant = *value;
        text = meant;
    }
    return name;
}

/// `cond ? a : b` becomes the one that is chosen, where that is known. nullopt: it is no choice.
std::optional<bool> HostValues::append_choice(std::string_view all, std::string& to,
                                              int depth) const {
    const TokenText text(all);
    std::size_t question = 0, colon = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_sign(text, i, "([{")) i = text.after_closing(i).value_or(text.size()) - 1;
        if (text.is(i, "?") && question == 0) question = i;
        const bool scope = text.is(i, ":") && (text.is(i + 1, ":") || text.is(i - 1, ":"));
        if (text.is(i, ":") && !scope && question > 0 && colon == 0) colon = i;
    }
    if (colon == 0) return std::nullopt;
    const std::string_view yes = part(text, all, question + 1, colon);
    const std::string_view no = part(text, all, colon + 1, text.size());
    if (const auto condition = number(part(text, all, 0, question), depth + 1))
        return append(real(*condition) != 0 ? yes : no, to, depth + 1);
    if (!append(part(text, all, 0, question), to, depth + 1)) return false;
    to += " ? ";
    if (!append(yes, to, depth + 1)) return false;
    to += " : ";
    return append(no, to, depth);  // a shorter text
}

/// Appends the text with names replaced by what they mean. False: one has no meaning here.
bool HostValues::append(std::string_view all, std::string& to, int depth) const {
    if (depth > deepest_name || all.size() > longest_value || to.size() > longest_value)
        return false;
    if (const auto choice = append_choice(all, to, depth)) return *choice;
    const TokenText text(all);
    const auto type_in_parentheses = [&](std::size_t open, char close) -> TypeWords {
        TypeWords type{.end = open + 1};
        for (; type.end < text.size() && !text.is(type.end, std::string(1, close)); ++type.end) {
            const auto bytes = text.is_word(type.end) ? type_bytes(text.text(type.end))
                                                      : std::optional<std::size_t>();
            if (!bytes) return {};
            type.bytes = std::max(type.bytes, *bytes);
            type.real = text.is(type.end, "float") || text.is(type.end, "double");
        }
        if (type.end == open + 1 || type.end == text.size()) return {};
        if (type.bytes == 0) type.bytes = 4;
        return type;
    };
    for (std::size_t t = 0; t < text.size(); ++t) {
        if (to.size() > longest_value) return false;
        const bool has_name = text.is_word(t) && text.is(t + 1, "(");
        if (text.is_word(t) && text.is(t + 1, ":") && text.is(t + 2, ":")) {
            t += 2;
        } else if (const auto cast = type_in_parentheses(t, ')');
                   text.is(t, "(") && cast.end > 0 && cast.end + 1 < text.size()) {
            if (cast.real) to += "1.0 * ";
            t = cast.end;
            if (!cast.real && is_real(text, t + 1)) to += "floor";
        } else if (text.is(t, "static_cast") && text.is(t + 1, "<")) {
            const auto type = type_in_parentheses(t + 1, '>');
            if (type.end == 0) return false;
            if (type.real) to += "1.0 * ";
            t = type.end;
            if (!type.real && is_real(text, t + 1)) to += "floor";
        } else if (text.is(t, "sizeof")) {
            const std::size_t end = after_operand(text, t + 1);
            const auto type = type_in_parentheses(t + 1, ')');
            const auto bytes = variable_bytes(part(text, all, t + 1, end));
            if (bytes) {
                to += "(";
                if (!append(*bytes, to, depth + 1)) return false;
                to += ")";
            } else if (type.end == 0) {
                return false;
            } else {
                to += std::to_string(type.bytes);
            }
            t = end - 1;
        } else if (text.token(t).kind == SourceToken::Kind::number) {
            to += without_suffix(text.text(t));
        } else if (text.token(t).kind == SourceToken::Kind::text) {
            const std::string code = character(text.text(t));
            if (code.empty()) return false;
            to += code;
        } else if (text.is(t, "numeric_limits") && text.is(t + 3, ">") && text.is(t + 7, "(")) {
            const std::string macro = limit_macro(text.text(t + 2), text.text(t + 6));
            if (macro.empty() || !append(macro, to, depth + 1)) return false;
            t += 8;
        } else if (has_name && text.is(t, "strlen")) {
            const std::size_t after = text.after_closing(t + 1).value_or(text.size());
            const auto literal = text_of(program_, part(text, all, t + 2, after - 1));
            if (!literal) return false;
            to += std::to_string(literal->size());
            t = after - 1;
        } else if (has_name && type_bytes(text.text(t))) {  // a cast, "float(n)"
            if (text.is(t, "float") || text.is(t, "double"))
                to += "1.0 * ";
            else if (is_real(text, t + 1))
                to += "floor";
        } else if (find(functions, text.text(t)) != functions.end() &&
                   (has_name || text.is(t + 1, "<"))) {
            to += find(functions, text.text(t))->second;
            while (!text.is(t + 1, "(") && t + 1 < text.size()) ++t;  // min<size_t>(…)
        } else if (has_name && program_.functions.contains(text.text(t))) {
            const auto after = text.after_closing(t + 1);
            if (!after || !append_call(program_.functions.find(text.text(t))->second,
                                       part(text, all, t + 2, *after - 1), to, depth))
                return false;
            t = *after - 1;
        } else if (has_name && text.is(t + 2, ")") && !scalars_.contains(text.text(t))) {
            if (!append_name(text.text(t), to, depth)) return false;  // size()
            t += 2;
        } else if (text.is_word(t)) {
            if (has_name || !append_name(text.text(t), to, depth)) return false;
        } else if (text.is(t, ",")) {
            to += ", ";
        } else if (is_sign(text, t, "+-*/%") && t > 0) {
            to += " " + std::string(text.text(t)) + " ";
        } else {
            to += text.text(t);
        }
    }
    return true;
}

bool HostValues::append_name(std::string_view name, std::string& to, int depth) const {
    if (const auto scalar = scalars_.find(name); scalar != scalars_.end()) {
        to += scalar->second;
        return true;
    }
    if (name == "true" || name == "false") {
        to += name == "true" ? "1" : "0";
        return true;
    }
    const auto value = program_.value_of(name);
    if (const std::string_view limit = limit_of_numbers(name); !value && !limit.empty()) {
        to += limit;
        return true;
    }
    if (!value) return false;
    std::string meant;
    if (!append(*value, meant, depth + 1)) return false;
    const bool is_one = meant.find_first_of(" ,?<>=") == std::string::npos;
    to += is_one ? meant : "(" + meant + ")";
    return true;
}

bool HostValues::append_call(const HostFunction& function, std::string_view arguments,
                             std::string& to, int depth) const {
    const TokenText given(arguments), value(function.value);
    std::vector<std::string> values;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= given.size(); ++i) {
        if (i < given.size() && is_sign(given, i, "([{"))
            i = given.after_closing(i).value_or(given.size()) - 1;
        if (i < given.size() && !given.is(i, ",")) continue;
        std::string& one = values.emplace_back("(");
        one += part(given, arguments, begin, i);
        one += ")";
        begin = i + 1;
    }
    if (values.size() != function.parameters.size()) return false;
    std::string replaced;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto found = std::ranges::find(function.parameters, value.text(i));
        replaced += (i > 0 ? " " : "");
        if (found == function.parameters.end())
            replaced += value.text(i);
        else
            replaced += values[std::size_t(found - function.parameters.begin())];
        if (replaced.size() > longest_value) return false;
    }
    to += "(";
    if (!append(replaced, to, depth + 1)) return false;
    to += ")";
    return true;
}

}  // namespace warpscope::experiments
