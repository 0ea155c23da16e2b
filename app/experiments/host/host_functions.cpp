#include "experiments/host/host_functions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace warpscope::experiments {

using compiler::Declaration;
using compiler::TokenText;

void HostFunctions::read_declarations() {
    const auto is_device_word = [](std::string_view word) {
        return word == "__global__" || word == "__device__";
    };
    std::size_t last = 0;
    for (const Declaration& declaration : declarations_of(text_, is_device_word)) {
        for (; last < declaration.begin; ++last)
            if (text_.is_directive(last)) read_macro(text_.text(last));
        last = declaration.end;
        if (text_.is(declaration.begin, "typedef")) {
            const std::size_t name = declaration.end - 2;
            if (!text_.is_word(name) || name <= declaration.begin + 1) continue;
            if (text_.is(name - 1, "}"))
                read_class(std::string(text_.text(name)), declaration.begin, declaration.end);
            else
                assign(std::string(text_.text(name)), words(declaration.begin + 1, name));
            continue;
        }
        if (declaration.kind == Declaration::Kind::type) {
            read_values(declaration.begin, declaration.end);
            read_class(declaration.name, declaration.begin, declaration.end);
            continue;
        }
        const bool may_have_body = declaration.kind == Declaration::Kind::function ||
                                   declaration.kind == Declaration::Kind::constant;
        const auto open =
            may_have_body ? body_of(declaration.begin, declaration.end) : std::nullopt;
        if (!open) {
            if (!declaration.on_device) read_values(declaration.begin, declaration.end);
            continue;
        }
        for (std::size_t i = declaration.begin; i < declaration.end; ++i)
            if (text_.is_directive(i)) read_macro(text_.text(i));
        Body body = read_function(declaration.begin, *open, declaration.end);
        // A function that only returns an expression is one, for the device too.
        if (text_.is(*open + 1, "return")) {
            std::size_t end = *open + 2;
            while (end < declaration.end && !text_.is(end, ";")) ++end;
            if (end + 2 == declaration.end)
                program_.functions[declaration.name] = {body.parameters,
                                                        plain_words(*open + 2, end)};
        }
        if (declaration.on_device && !body.templates.empty())
            kernel_templates_[declaration.name] = {body.templates, parameters_of(body)};
        // "void Class::method(…) {…}"
        std::size_t name = declaration.begin;
        while (name + 1 < *open && !text_.is(name + 1, "(")) ++name;
        const bool is_destructor = name > declaration.begin && text_.is(name - 1, "~");
        const std::size_t sign = is_destructor ? name - 2 : name - 1;
        const bool has_owner = sign > declaration.begin + 1 && text_.is(sign, ":");
        const auto owner = classes_.find(has_owner ? text_.text(sign - 2) : "");
        if (owner != classes_.end())
            owner->second.methods.emplace(is_destructor ? "~" : std::string(text_.text(name)),
                                          std::move(body));
        else if (!declaration.on_device)
            bodies_.emplace(declaration.name, std::move(body));
    }
    for (; last < text_.size(); ++last)
        if (text_.is_directive(last)) read_macro(text_.text(last));
}

/// "const int n" of each parameter.
HostFunctions::Texts HostFunctions::parameters_of(const Body& body) const {
    if (body.declarations.empty()) return {};
    const std::size_t first = body.declarations[0];
    return plain_parts(first, text_.after_closing(first - 1).value_or(body.open) - 1);
}

/// The "{" of a function.
std::optional<std::size_t> HostFunctions::body_of(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
        if (text_.is(i, "{")) return i;
        if (text_.is(i, "=") || text_.is(i, ";")) return std::nullopt;
        if (text_.is(i, "(")) i = text_.after_closing(i).value_or(end) - 1;
    }
    return std::nullopt;
}

/// The names of a "template <…>", behind which `begin` is moved.
HostFunctions::Texts HostFunctions::template_names(std::size_t& begin, std::size_t open) const {
    if (!text_.is(begin, "template") || !text_.is(begin + 1, "<")) return {};
    const std::size_t first = begin + 2;
    begin = after_angles(begin + 1, open);
    return names_of(plain_parts(first, begin - 1));
}

HostFunctions::Body HostFunctions::read_function(std::size_t begin, std::size_t open,
                                                 std::size_t end) const {
    Body body{begin, open, end, {}, {}};
    body.templates = template_names(begin, open);
    while (begin < open && !text_.is(begin, "(")) ++begin;
    const std::size_t after = text_.after_closing(begin).value_or(open);
    const bool is_void = after == begin + 3 && text_.is(begin + 1, "void");
    if (begin == open || after <= begin + 2 || is_void) return body;
    const Texts parameters = plain_parts(begin + 1, after - 1);
    body.parameters = names_of(parameters);
    for (const TokenRange& one : ranges(begin + 1, after - 1))
        body.declarations.push_back(one.first);
    for (const std::string& parameter : parameters) {
        const std::size_t sign = parameter.find('=');
        body.defaults.push_back(sign == std::string::npos ? "" : parameter.substr(sign + 1));
    }
    return body;
}

/// "n" of "const int n = 4".
HostFunctions::Texts HostFunctions::names_of(const Texts& declarations) const {
    Texts names;
    for (const std::string& one : declarations) {
        const std::string_view head = std::string_view(one).substr(0, one.find_first_of("=["));
        const TokenText tokens(head);
        names.emplace_back();
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (tokens.is_word(i)) names.back() = tokens.text(i);
    }
    return names;
}

/// The function of this name that takes as many arguments, or the first one.
const HostFunctions::Body* HostFunctions::find_body(const Bodies& bodies, std::string_view name,
                                                    std::size_t given) const {
    const auto [begin, end] = bodies.equal_range(name);
    for (auto one = begin; one != end; ++one)
        if (one->second.parameters.size() == given) return &one->second;
    return begin == end ? nullptr : &begin->second;
}

std::optional<std::size_t> HostFunctions::follow_call(std::size_t i) {
    if (depth_ >= deepest_call) return std::nullopt;
    if (const auto after = follow_method(i)) return after;
    if (!bodies_.contains(text_.text(i))) return std::nullopt;
    std::size_t open = i + 1;
    Texts templates, given;
    if (text_.is(open, "<")) {
        const std::size_t close = after_angles(open, text_.size());
        templates = parts(open + 1, close - 1);
        open = close;
    }
    const auto after = text_.is(open, "(") ? text_.after_closing(open) : std::nullopt;
    if (!after) return std::nullopt;
    if (*after > open + 2) given = parts(open + 1, *after - 1);
    const Body body = *find_body(bodies_, text_.text(i), given.size());
    const auto arguments = given.empty() ? std::vector<TokenRange>() : ranges(open + 1, *after - 1);
    if (!matters(body)) {
        for (const auto& [word, value] : changes_of(body, arguments)) forget_number(word);
        return std::nullopt;
    }
    set_by_reference(body, arguments);
    const Scope before = scope_, file_before = file_scope();
    if (templates.size() < body.templates.size())
        deduce_templates(body.templates, parameters_of(body), given, templates);
    if (!body.is_lambda) enter_file();
    pass(body.templates, templates);
    const std::string result = run(body, std::move(given));
    const HostVariable type = result_of(body);
    const Changes changes = changes_of(body, arguments);
    leave(body, before);
    take_over(file_before, changes);
    set_result(i, result, type);
    return after;
}

HostFunctions::Passing HostFunctions::passing_of(const Body& body, std::size_t parameter) const {
    Passing passing;
    std::size_t t = body.declarations[parameter];
    for (; t < body.open && !text_.is(t, body.parameters[parameter]); ++t) {
        passing.by_reference = passing.by_reference || text_.is(t, "&");
        passing.by_pointer = passing.by_pointer || text_.is(t, "*");
        passing.is_const = passing.is_const || text_.is(t, "const");
    }
    passing.is_named = t > body.declarations[parameter] && t < body.open;
    return passing;
}

HostFunctions::Changes HostFunctions::changes_of(const Body& body,
                                                 std::span<const TokenRange> arguments) const {
    Changes changes;
    for (std::size_t p = 0; p < arguments.size() && p < body.declarations.size(); ++p) {
        const std::string& parameter = body.parameters[p];
        const Passing passing = passing_of(body, p);
        const bool has_address = text_.is(arguments[p].first, "&");
        const std::size_t word = arguments[p].first + std::size_t(has_address);
        if (word + 1 != arguments[p].second || !text_.is_word(word) || passing.is_const) continue;
        if (has_address) changes.emplace_back(text_.text(word), "");
        if (has_address || !passing.by_reference || !is_changed_in(body, parameter)) continue;
        const std::string now = name_now(parameter);
        const auto value = program_.values.find(now);
        const bool is_known =
            value != program_.values.end() && value->second.find('?') == std::string::npos;
        changes.emplace_back(text_.text(word), is_known ? now : "");
    }
    return changes;
}

/// A function may give a value to pointers that it gets by reference or by their address.
void HostFunctions::set_by_reference(const Body& body, std::span<const TokenRange> arguments) {
    for (std::size_t p = 0; p < arguments.size(); ++p) {
        const bool is_of_pack = p >= body.declarations.size();
        if (is_of_pack || passing_of(body, p).by_reference || text_.is(arguments[p].first, "&"))
            for (std::size_t t = arguments[p].first; t < arguments[p].second; ++t)
                if (const auto known = program_.variables.find(name_now(at(t)));
                    known != program_.variables.end())
                    known->second.is_unset = false;
    }
}

/// Whether a function has a statement that may change a parameter, or hands it on.
bool HostFunctions::is_changed_in(const Body& body, std::string_view word) const {
    for (std::size_t t = body.open; t < body.end; ++t) {
        if (!text_.is(t, word)) continue;
        const bool is_passed =
            (text_.is(t - 1, "(") || text_.is(t - 1, ",") || text_.is(t - 1, "&")) &&
            (text_.is(t + 1, ",") || text_.is(t + 1, ")"));
        const bool is_read = text_.is(t - 1, ">") && text_.is(t - 2, ">");
        if (changes(t) || is_passed || is_read) return true;
    }
    return false;
}

/// The scope of the caller gets what a call has changed there and in the file.
void HostFunctions::take_over(const Scope& file_before, const Changes& changes) {
    for (const auto& [word, name] : file_scope()) {
        const auto before = file_before.find(word);
        const auto here = scope_.find(word);
        const bool is_of_file =
            before != file_before.end() && here != scope_.end() && here->second == before->second;
        if (is_of_file) here->second = name;
    }
    for (const auto& [word, value] : changes) {
        if (value.empty())
            forget_number(word);
        else if (const auto known = program_.values.find(name_now(word));
                 known != program_.values.end() && known->first != value &&
                 program_.values[value] != known->first)
            assign(word, value);
    }
}

/// Takes the scope of the caller again. What a lambda has changed there is not known, but for the
/// arrays that it has allocated.
void HostFunctions::leave(const Body& body, const Scope& before) {
    const Scope inside = std::exchange(scope_, before);
    if (!body.is_lambda) return;
    for (const auto& [word, name] : before) {
        const std::string& now = inside.find(word)->second;
        if (now == name || std::ranges::find(body.parameters, word) != body.parameters.end())
            continue;
        if (program_.arrays.contains(now))
            scope_[word] = now;
        else
            forget(word);
    }
}

std::optional<std::size_t> HostFunctions::read_lambda(std::size_t i) {
    if (!text_.is_word(i) || !text_.is(i + 1, "=") || !text_.is(i + 2, "[")) return std::nullopt;
    const std::size_t begin = text_.after_closing(i + 2).value_or(text_.size());
    const std::size_t end = end_of_value(i + 2);
    std::size_t open = begin;
    bool on_device = false;
    for (; open < end && !text_.is(open, "{"); ++open) {
        on_device = on_device || text_.is(open, "__device__");
        if (text_.is(open, "(")) open = text_.after_closing(open).value_or(end) - 1;
    }
    if (begin > end || open >= end) return std::nullopt;
    const std::string name(text_.text(i));
    assign(name, words(i + 2, end));
    bodies_.erase(name);
    if (on_device) return end;
    Body body = read_function(begin, open, text_.after_closing(open).value_or(end));
    body.is_lambda = true;
    if (const std::string value = returned(body); text_.is(open + 1, "return") && !value.empty())
        program_.functions[name] = {body.parameters, value};
    bodies_.emplace(name, std::move(body));
    return end;
}

void HostFunctions::pass(const Texts& names, const Texts& values) {
    for (std::size_t p = 0; p < names.size(); ++p)
        if (const std::string name = made(names[p]); p < values.size())
            program_.values[name] = values[p];
}

std::string HostFunctions::run(const Body& body, Texts given) {
    for (std::size_t p = given.size(); p < body.defaults.size(); ++p)
        if (p == given.size() && !body.defaults[p].empty()) given.push_back(body.defaults[p]);
    pass(body.parameters, given);
    for (const std::size_t one : body.declarations) declare_parameter(one);
    ++depth_;
    const std::string result = walk_block(body.open, body.end, &body);
    destroy_parameters(body, given);
    --depth_;
    return result;
}

/// What stands behind the last return of a body, in terms of scope_.
std::string HostFunctions::returned(const Body& body) const {
    std::size_t i = body.end - 2;
    if (i <= body.open || !text_.is(i, ";")) return "";
    const auto is_in_value = [&](std::size_t t) {  // the end of "{a, b}"
        return text_.is(t + 1, ";") || text_.is(t + 1, ",") || text_.is(t + 1, ")") ||
               text_.is(t + 1, "}");
    };
    while (--i > body.open)
        if (text_.is(i, "return") || text_.is(i, ";") || (text_.is(i, "}") && !is_in_value(i)))
            break;
    return text_.is(i, "return") ? words(i + 1, body.end - 2) : "";
}

/// What a function returns, as its declaration says.
HostVariable HostFunctions::result_of(const Body& body) const {
    std::size_t begin = body.begin;
    (void)template_names(begin, body.open);
    HostVariable result;
    for_declarators(begin, [&](std::size_t, const HostVariable& variable) {
        if (result.type.empty()) result = variable;
    });
    return result;
}

/// "p = call(…)": p is what the call has returned.
void HostFunctions::set_result(std::size_t call, const std::string& result,
                               const HostVariable& returned) {
    if (call < 2 || !text_.is(call - 1, "=") || !text_.is_word(call - 2) || result.empty()) return;
    std::string target = name_now(text_.text(call - 2));
    if (call > 3 && text_.is(call - 3, "."))
        target = name_now(text_.text(call - 4)) + "$" + std::string(text_.text(call - 2));
    const auto variable = program_.variables.find(target);
    if (variable != program_.variables.end() && variable->second.type == "auto" &&
        !returned.type.empty())
        variable->second = returned;
    const auto type = variable == program_.variables.end() ? classes_.end()
                                                           : classes_.find(variable->second.type);
    const TokenText value(result);
    const std::size_t open = value.is(0, "{") ? 0 : 1;
    const bool is_made = type != classes_.end() && variable->second.pointers == 0 &&
                         value.is(open, "{") && value.after_closing(open) == value.size();
    if (!is_made || !set_members(type->second, target, result.substr(value.token(open).end)))
        program_.values[target] = result;
}

/// The members of an object, from "a, {b, c} }". False: a constructor makes them.
bool HostFunctions::set_members(const Class& type, const std::string& object,
                                std::string_view list) {
    if (type.methods.contains(type.name)) return false;
    const Texts given = split(list.substr(0, list.rfind('}')));
    for (std::size_t m = 0; m < type.members.size(); ++m)
        set_member(object + "$" + type.members[m], m < given.size() ? given[m] : "0");
    return true;
}

/// Whether it launches, allocates, copies, or stores elements.
bool HostFunctions::matters(const Body& body) const {
    static constexpr std::array<std::string_view, 4> resizing{"push_back", "emplace_back", "resize",
                                                              "insert"};
    for (std::size_t i = body.open; i < body.end; ++i) {
        if (is_launch(i) || is_known_call(i)) return true;
        if (std::ranges::find(resizing, at(i)) != resizing.end()) return true;
        const bool is_changed = text_.is_word(i) && changes(i);
        if (is_changed && (body.is_lambda || file_scope().contains(at(i)))) return true;
        if (text_.is(i, "]") && text_.is(i + 1, "=") && !text_.is(i + 2, "=")) return true;
        if (text_.is_word(i) &&
            (classes_.contains(text_.text(i)) ||
             ((text_.is(i + 1, "(") || text_.is(i + 1, "<")) && bodies_.contains(text_.text(i)))))
            return true;
    }
    return false;
}

}  // namespace warpscope::experiments
