#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/host/host_calls.h"
#include "experiments/host/host_values.h"

// The arguments of the templates of kernels and functions.
namespace warpscope::experiments {

using compiler::TokenText;

namespace {

/// The type of a literal: "float" of "1.0f". Empty: it is none.
std::string type_of_literal(const TokenText& text) {
    if (text.size() == 1 && (text.is(0, "true") || text.is(0, "false"))) return "bool";
    if (text.size() != 1 || text.token(0).kind != compiler::SourceToken::Kind::number) return {};
    const std::string_view number = text.text(0);
    const bool is_hexadecimal = number.starts_with("0x") || number.starts_with("0X");
    if (!is_hexadecimal && number.find_first_of(".eE") != number.npos)
        return number.ends_with('f') || number.ends_with('F') ? "float" : "double";
    return number.find_first_of("uU") != number.npos ? "unsigned" : "int";
}

/// The token behind the qualifiers and namespaces that begin at this token.
std::size_t behind_qualifiers(const TokenText& text, std::size_t i) {
    while (text.is(i, "const") || text.is(i, "typename") || text.is(i, "volatile")) ++i;
    while (text.is(i + 1, ":") && text.is(i + 2, ":")) i += 3;
    return i;
}

/// Compares a parameter "Csr < I , V > m" with a type "Csr<int,double>", and returns what the name
/// of a template parameter stands for: "double" of V. Empty: it does not follow.
std::string meaning_of(const std::string& name, const TokenText& parameter, const TokenText& type) {
    std::size_t p = behind_qualifiers(parameter, 0), t = behind_qualifiers(type, 0);
    for (int depth = 0; p < parameter.size() && t < type.size();) {
        std::size_t end = t;  // of the argument that begins here
        for (int inner = 0; end < type.size(); ++end) {
            inner += int(type.is(end, "<")) - int(type.is(end, ">"));
            if (depth > 0 && (inner < 0 || (inner == 0 && type.is(end, ",")))) break;
        }
        if (parameter.is(p, name)) {
            std::string found;
            for (; t < end; ++t) found += (found.empty() ? "" : " ") + std::string(type.text(t));
            return found;
        }
        const bool is_sign = parameter.is(p, "<") || parameter.is(p, ">") || parameter.is(p, ",");
        depth += int(parameter.is(p, "<")) - int(parameter.is(p, ">"));
        if (parameter.text(p) == type.text(t))
            ++t;
        else if (is_sign || depth == 0)
            return {};
        else
            t = end;  // another parameter of the template, or a type
        p = behind_qualifiers(parameter, p + 1);
    }
    return {};
}

}  // namespace

/// An argument as a name expression has it: without names that only the host program knows.
std::string HostCalls::template_argument(std::string text) const {
    for (int depth = 0; depth < 8; ++depth) {
        const auto value = program_.values.find(text);
        const bool is_of_file = file_scope_.contains(text);
        if (value == program_.values.end() || is_of_file) break;
        text = value->second;
        while (text.ends_with(' ')) text.pop_back();
    }
    const TokenText tokens(text);
    if (tokens.size() > 1)
        if (const auto number = HostValues(program_).number(text)) return to_string(*number);
    std::string joined;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        if (t > 0 && tokens.is_word(t) && tokens.is_word(t - 1)) joined += " ";
        joined += tokens.text(t);
    }
    return joined;
}

/// Returns the class of an object that is made where it is passed: "Plus < T > ( )" is a
/// Plus<float>. Empty: the text is something else.
std::string HostCalls::class_of_temporary(const std::string& text) const {
    const TokenText tokens(text);
    const std::size_t n = tokens.size();
    if (n < 3 || !tokens.is_word(0)) return {};
    std::size_t made = n - 2;  // the bracket behind the name, "Scale{2}", "Scale()"
    for (std::size_t t = n - 2; t > 0 && tokens.is(n - 1, "}"); --t)
        if (tokens.is(t, "{") && tokens.after_closing(t) == n) made = t;
    const bool is_made = tokens.is(made, "{") || (tokens.is(made, "(") && tokens.is(n - 1, ")"));
    if (!is_made) return {};
    const std::string name = text.substr(0, tokens.token(made).begin);
    const std::size_t open = name.find('<'), close = name.rfind('>');
    if (open == name.npos || close == name.npos) return template_argument(name);
    std::vector<std::string> arguments = split(name.substr(open + 1, close - open - 1));
    for (std::string& argument : arguments) {
        const auto value = program_.values.find(argument);
        if (value != program_.values.end()) argument = value->second;
        // An enumerator of a class must keep its name.
        if (argument.find(':') == argument.npos) argument = template_argument(argument);
    }
    return fmt::format("{}<{}>", template_argument(name.substr(0, open)),
                       fmt::join(arguments, ","));
}

/// The type of an argument for a parameter that has this many "*": "Csr<int,double>", "float".
/// Empty: not known.
std::string HostCalls::type_of(const std::string& argument, std::size_t stars, int depth) const {
    if (const std::string type = type_of_literal(TokenText(argument)); !type.empty()) return type;
    const std::string name = place_of(program_, argument).array;
    const auto variable = program_.variables.find(name);
    if (variable == program_.variables.end()) return class_of_temporary(argument);
    const HostVariable& is = variable->second;
    if (is.type == "auto") {
        const std::string value = program_.value_of(name).value_or(name);
        return depth > 0 ? type_of(value, stars, depth - 1) : "";
    }
    const bool is_all = !is.container.empty() && argument == name;  // not "v.data()"
    std::string type = is_all ? is.container : template_argument(is.type);
    for (int depth = 0; depth < 4 && program_.values.contains(type); ++depth) {  // "using V = …"
        const std::string& meant = program_.values.find(type)->second;
        if (meant.find('<') == meant.npos) break;
        type = meant;
    }
    std::vector<std::string> arguments;
    for (const std::string& one : is.arguments) arguments.push_back(template_argument(one));
    if (!arguments.empty() && (is_all || is.container.empty()))
        type += fmt::format("<{}>", fmt::join(arguments, ","));
    if (is_all) return type;
    for (std::size_t depth = is.pointers + is.extents.size(); depth > stars; --depth) type += "*";
    return type;
}

void HostCalls::deduce_templates(const std::vector<std::string>& names,
                                 const std::vector<std::string>& parameters,
                                 const std::vector<std::string>& arguments,
                                 std::vector<std::string>& templates) const {
    // What one argument says of a name.
    const auto meaning = [&](const std::string& name, const TokenText& parameter,
                             const std::string& argument) {
        std::size_t stars = 0;
        for (std::size_t t = 0; t < parameter.size(); ++t)
            stars += std::size_t(parameter.is(t, "*"));
        const std::string type = type_of(argument, stars);
        const std::string found = meaning_of(name, parameter, TokenText(type));
        return found.empty() ? found : template_argument(found);
    };
    while (templates.size() < names.size()) {
        const std::string& name = names[templates.size()];
        std::string deduced;
        for (std::size_t p = 0; p < parameters.size() && p < arguments.size(); ++p) {
            const TokenText parameter(parameters[p]);
            if (parameter.size() > 3 && parameter.is(parameter.size() - 2, ".")) {
                for (; p < arguments.size() && &name == &names.back(); ++p)
                    templates.push_back(meaning(name, parameter, arguments[p]));
                return;
            }
            if (deduced.empty()) deduced = meaning(name, parameter, arguments[p]);
        }
        if (deduced.empty()) return;
        templates.push_back(deduced);
    }
}

}  // namespace warpscope::experiments
