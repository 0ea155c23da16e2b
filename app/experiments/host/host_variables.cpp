#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "experiments/host/host_calls.h"
#include "experiments/host/host_values.h"

namespace warpscope::experiments {

using compiler::TokenText;

namespace {

/// Words of types that may stand beside others.
constexpr std::string_view number_words[]{"unsigned", "signed", "long",  "short",
                                          "int",      "char",   "double"};
constexpr std::string_view qualifiers[]{
    "const",    "static",   "struct",      "volatile",   "constexpr",    "typename",
    "extern",   "inline",   "__managed__", "__device__", "__constant__", "__shared__",
    "__host__", "explicit", "friend",      "virtual",    "union",        "class"};
constexpr std::string_view no_types[]{"return", "delete", "goto", "else", "using", "new", "throw"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

}  // namespace

/// The type at the beginning of a declaration.
struct HostCalls::Declared {
    HostVariable variable;
    bool on_device = false;  ///< __device__, __constant__ or __managed__
    std::size_t end = 0;     ///< the token behind it
};

std::optional<HostCalls::Declared> HostCalls::read_type(std::size_t i) const {
    Declared found;
    for (; text_.is_word(i) && is_one_of(text_.text(i), qualifiers); ++i)
        found.on_device =
            found.on_device || (text_.text(i).ends_with("__") && !text_.is(i, "__host__"));
    while (text_.is_word(i) && text_.is(i + 1, ":") && text_.is(i + 2, ":")) i += 3;
    if (!text_.is_word(i) || is_one_of(text_.text(i), no_types)) return std::nullopt;
    found.variable.type = name_now(text_.text(i));
    found.end = i + 1;
    if (is_one_of(text_.text(i), number_words)) {
        for (; is_one_of(at(found.end), number_words); ++found.end)
            found.variable.type += " " + std::string(at(found.end));
    } else if (text_.is(i + 1, "<")) {
        found.end = after_angles(i + 1, text_.size());
        const std::vector<std::string> given = parts(i + 2, found.end - 1);
        const bool is_array = text_.is(i, "array") && given.size() == 2;
        const bool is_container = is_array || text_.text(i).ends_with("vector");
        found.variable.arguments = given;
        if (is_container) {
            found.variable.type = given[0];
            found.variable.container = text_.text(i);
        }
        if (is_array) found.variable.extents = {given[1]};
        if (is_container && !is_array) found.variable.pointers = 1;
        // With an allocator of its own a vector may be anywhere.
        const bool is_of_host =
            is_array || text_.is(i, "host_vector") || (text_.is(i, "vector") && given.size() == 1);
        if (is_of_host && given[0].find('*') == std::string::npos)
            found.variable.owner =
                (text_.is(i, "host_vector") ? "thrust::" : "std::") + std::string(at(i));
    }
    return found;
}

/// The name of a declarator, "*rows[4]", is at the token that is returned. Behind the last token:
/// it has none.
std::size_t HostCalls::read_declarator(std::size_t i, HostVariable& variable) const {
    for (; text_.is(i, "*") || text_.is(i, "&") || text_.is(i, "const") ||
           text_.is(i, "__restrict__");
         ++i) {
        variable.pointers += std::size_t(text_.is(i, "*"));
        variable.is_reference = variable.is_reference || text_.is(i, "&");
    }
    if (!text_.is_word(i)) return text_.size();
    std::size_t end = i + 1;
    while (text_.is(end, "[")) {
        const auto after = text_.after_closing(end);
        if (!after) return text_.size();
        variable.extents.push_back(words(end + 1, *after - 1));
        end = *after;
    }
    if (text_.is(end, "=") && text_.is(end + 1, "{"))
        if (const auto after = text_.after_closing(end + 1); after && *after > end + 3)
            variable.elements = parts(end + 2, *after - 1);
    if (!variable.extents.empty() && variable.extents[0].empty()) {
        const auto text = text_of(program_, at(end + 1));
        variable.extents[0] = std::to_string(text ? text->size() + 1 : variable.elements.size());
    }
    return i;
}

void HostCalls::for_declarators(
    std::size_t i,
    const std::function<void(std::size_t name, const HostVariable& variable)>& found) const {
    const auto declared = read_type(i);
    if (!declared) return;
    for (i = declared->end; i < text_.size(); ++i) {
        HostVariable variable = declared->variable;
        i = read_declarator(i, variable);
        if (i == text_.size()) return;
        found(i, variable);
        i = end_of_value(i + 1);
        if (!text_.is(i, ",")) return;
    }
}

/// The elements of "{3, 1, 2}" by their index: "$i == 0 ? 3 : $i == 1 ? 1 : $i == 2 ? 2 : 0".
/// Empty: they are no numbers, or too many.
std::string HostCalls::fill_of(const std::vector<std::string>& elements) const {
    constexpr std::size_t most = 32;
    std::string all;
    for (std::size_t i = 0; i < elements.size() && elements.size() <= most; ++i) {
        const auto number = HostValues(program_).number(elements[i]);
        if (!number) return "";
        all += fmt::format("$i == {} ? {} : ", i, to_string(*number));
    }
    if (elements == std::vector<std::string>{"0"}) return "0";
    return all.empty() ? "" : all + "0";
}

/// "(*kernel)(float *) = add", "(*kernels[])(float *) = {add, scale}"
void HostCalls::declare_function_pointer(std::size_t open) {
    const std::size_t name = open + 2, close = text_.after_closing(open).value_or(text_.size());
    const std::size_t sign = text_.after_closing(close).value_or(text_.size());
    if (!text_.is_word(name) || !text_.is(close, "(") || !text_.is(sign, "=")) return;
    const std::string own = made(std::string(text_.text(name)));
    if (text_.is(sign + 1, "{"))
        program_.variables[own].elements =
            parts(sign + 2, text_.after_closing(sign + 1).value_or(sign + 3) - 1);
    else
        program_.values[own] = words(sign + 1, end_of_value(sign + 1));
}

/// "float *a, b[4];": their names are those of this function. With a value a variable gets its name
/// when that is read.
void HostCalls::declare(std::size_t i) {
    const auto declared = read_type(i);
    if (declared && text_.is(declared->end, "(") && text_.is(declared->end + 1, "*"))
        return declare_function_pointer(declared->end);
    for_declarators(i, [&](std::size_t at, const HostVariable& variable) {
        const std::string name(text_.text(at));
        const bool is_call = text_.is(at + 1, "(") || text_.is(at + 1, "{");
        const std::size_t after = is_call ? text_.after_closing(at + 1).value_or(0) : 0;
        shadow(name);
        const bool is_const_reference = text_.is(i, "const") && variable.is_reference;
        const bool is_alias = variable.is_reference && !is_const_reference;
        if (is_alias && text_.is(at + 1, "="))
            forget_argument({at + 2, end_of_value(at + 2)}, true);
        for (std::size_t t = at + 2; text_.is(at + 1, "=") && t < end_of_value(at + 2); ++t)
            if (text_.is_word(t) && (is_alias || (variable.pointers == 1 && text_.is(t - 1, "&"))))
                forget_number(std::string(text_.text(t)));
        const std::string own = text_.is(at + 1, "=") ? next_name(name) : made(name);
        program_.variables[own] = variable;
        is_harmless(at, at + 1);
        if (variable.pointers > declared->variable.pointers) program_.variables[own].owner.clear();
        const bool is_array = !variable.extents.empty() && variable.pointers == 0;
        if (is_array && declared->variable.container.empty() && !declared->on_device)
            program_.variables[own].owner = variable.type + "[]";
        program_.variables[own].is_unset = variable.pointers > 0 && variable.extents.empty() &&
                                           !variable.is_reference &&
                                           declared->variable.container.empty() && !in_file_ &&
                                           (text_.is(at + 1, ";") || text_.is(at + 1, ","));
        if (!declared->variable.container.empty()) return fill_container(at + 1, own);
        if (text_.is(at + 1, "[") && !variable.elements.empty())
            program_.arrays[own].fill = fill_of(variable.elements);
        const std::size_t value = end_of_value(at + 1) - 1;  // char s[] = "text"
        const auto text = text_of(program_, this->at(value));
        if (text_.is(at + 1, "[") && text) {
            program_.values[own] = this->at(value);
            program_.arrays[own].fill = letters_of(*text);
        }
        // "int n(4)", "int n{4}"
        const bool is_number =
            HostValues(program_).number("sizeof ( " + variable.type + " )").has_value();
        if (after > at + 3 && variable.pointers == 0 && is_number)
            program_.values[own] = words(at + 2, after - 1);
    });
}

std::optional<std::string> text_of(const HostProgram& program, std::string_view text) {
    const bool is_literal = text.starts_with('"');
    const std::string value =
        is_literal ? std::string(text) : program.value_of(name_in(text)).value_or("");
    const TokenText tokens(value);
    if (tokens.size() != 1 || !value.starts_with('"')) return std::nullopt;
    const std::string_view literal = tokens.text(0);
    std::string found;
    for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
        if (literal[i] == '\\' && literal[++i] != '\\' && literal[i] != '"') {
            if (literal[i] != 'n') return std::nullopt;  // numbers may have any digits
            found += '\n';
        } else {
            found += literal[i];
        }
    }
    return found;
}

/// The elements that an array of these characters has.
std::string HostCalls::letters_of(const std::string& text) const {
    std::vector<std::string> elements;
    for (const char c : text) elements.push_back(std::to_string(int(c)));
    elements.emplace_back("0");
    return fill_of(elements);
}

/// The member "d$n" of an object, where the name is "m$n" and m is a pointer or a reference to it.
std::string HostCalls::own_name(const std::string& name, int depth) const {
    constexpr int deepest = 12;  // references may name each other
    if (name.size() > longest_name) return name;
    for (std::size_t end = name.size();
         depth < deepest && is_member(std::string_view(name).substr(0, end));) {
        end = name.rfind('$', end - 1);
        const std::string object = name.substr(0, end);
        const auto value = program_.values.find(object);
        const auto variable = program_.variables.find(object);
        if (value == program_.values.end()) continue;
        const bool is_reference =
            variable != program_.variables.end() && variable->second.is_reference;
        if (is_reference || value->second.starts_with("& "))
            return own_name(name_in(value->second) + name.substr(end), depth + 1);
    }
    return name;
}

void HostCalls::declare_parameter(std::size_t i) {
    const auto declared = read_type(i);
    if (!declared) return;
    HostVariable variable = declared->variable;
    i = read_declarator(declared->end, variable);
    if (i == text_.size()) return;
    if (text_.is(i + 1, "[") && !variable.extents.empty()) {  // a pointer, as in C
        variable.extents.erase(variable.extents.begin());
        ++variable.pointers;
    }
    program_.variables[name_now(text_.text(i))] = std::move(variable);
}

void HostCalls::shadow(const std::string& word) {
    if (const auto known = scope_.find(word); known != scope_.end())
        shadowed_.emplace_back(word, known->second);
}

void HostCalls::end_shadows(std::size_t first) {
    for (; shadowed_.size() > first; shadowed_.pop_back())
        scope_[shadowed_.back().first] = shadowed_.back().second;
}

/// Behind the name of a std::vector or std::array: "(n, 1)", "{1, 2}", "= std::vector<int>(n)".
void HostCalls::fill_container(std::size_t i, const std::string& name) {
    const auto& extents = program_.variables[name].extents;
    if (text_.is(i, "="))
        while (i < text_.size() && !text_.is(i, "(") && !text_.is(i, "{") && !text_.is(i, ";")) ++i;
    const bool opens = text_.is(i, "(") || text_.is(i, "{");
    const std::size_t after = opens ? text_.after_closing(i).value_or(i) : i;
    const std::vector<std::string> given =
        after > i + 2 ? parts(i + 1, after - 1) : std::vector<std::string>();
    if (!extents.empty())
        set_size(name, extents[0], opens && given.empty() ? "0" : "");
    else if (text_.is(i, "(") && !given.empty())
        set_size(name, given[0], given.size() > 1 ? given[1] : "0");
    else if (!given.empty())
        set_size(name, std::to_string(given.size()), "");
}

void HostCalls::set_size(const std::string& name, const std::string& size,
                         const std::string& value) {
    program_.values[name + "$size"] = size;
    const std::string& type = program_.variables[name].type;
    program_.arrays[name] = {fmt::format("( {} ) * sizeof ( {} )", size, type), value};
}

/// "v.resize(n)", "v.assign(n, 1)", "v.fill(1)", and "v.push_back(1)", of which the number of calls
/// is not known.
void HostCalls::call_member(std::size_t i) {
    std::string name = name_now(text_.text(i));
    const auto after = text_.after_closing(i + 3);
    if (const std::string array = place_of(program_, name).array; program_.arrays.contains(array))
        name = array;  // of a reference
    const bool has_arguments = after && *after > i + 5;
    if ((!has_arguments && !text_.is(i + 2, "pop_back")) || !program_.variables.contains(name))
        return;
    const std::vector<std::string> given = parts(i + 4, *after - 1);
    if (text_.is(i + 2, "resize") || text_.is(i + 2, "assign"))
        set_size(name, given[0], given.size() > 1 ? given[1] : "0");
    if (text_.is(i + 2, "fill")) fill(name, given[0]);
    static constexpr std::string_view others[]{"push_back", "emplace_back", "insert", "erase",
                                               "pop_back",  "swap",         "emplace"};
    if (is_one_of(at(i + 2), others)) set_size(name, "?", "");
}

}  // namespace warpscope::experiments
