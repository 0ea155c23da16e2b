#include <algorithm>
#include <utility>

#include "experiments/host/host_functions.h"

namespace warpscope::experiments {

/// The members and methods of a struct or class whose declaration are these tokens.
void HostFunctions::read_class(const std::string& name, std::size_t begin, std::size_t end) {
    std::size_t open = begin;
    Class made{.name = name, .templates = template_names(open, end), .members = {}};
    while (open < end && !text_.is(open, "{") && !text_.is(open, ";")) ++open;
    const auto after = text_.is(open, "{") ? text_.after_closing(open) : std::nullopt;
    if (!after || text_.is(begin, "enum")) return;
    for (std::size_t i = open + 1; i + 1 < *after;) i = read_member(made, i, *after - 1);
    classes_.insert_or_assign(name, std::move(made));
}

/// Returns the token behind the member that begins here.
std::size_t HostFunctions::read_member(Class& type, std::size_t begin, std::size_t end) const {
    if (text_.is_word(begin) && text_.is(begin + 1, ":")) return begin + 2;  // public:
    std::size_t parameters = 0, last = begin;
    bool has_value = false;
    for (; last < end && !text_.is(last, ";"); ++last) {
        if (text_.is(last, "(") && parameters == 0 && !has_value) parameters = last;
        if (text_.is(last, "=")) has_value = true;
        if (!text_.is(last, "(") && !text_.is(last, "{")) continue;
        const std::size_t after = text_.after_closing(last).value_or(end);
        // Behind an initializer "n{count}" of a constructor another one or the body follows.
        const bool is_initializer = text_.is(after, ",") || text_.is(after, "{");
        if (parameters > 0 && text_.is(last, "{") && !is_initializer) {
            std::size_t name = begin;
            while (name + 1 < parameters && !text_.is(name, "operator")) ++name;
            const bool is_destructor = name > begin && text_.is(name - 1, "~");
            type.methods.emplace(is_destructor ? "~" : std::string(text_.text(name)),
                                 read_function(begin, last, after));
            return after;
        }
        last = after - 1;
    }
    if (parameters > 0) return last + 1;  // it is declared only
    for_declarators(begin, [&](std::size_t name, const HostVariable&) {
        type.members.emplace_back(text_.text(name));
        type.declarations.push_back(begin);
    });
    return last + 1;
}

/// The object that a name means, perhaps through a pointer or a reference to it. Null: none.
const HostFunctions::Object* HostFunctions::find_object(std::string name) const {
    for (int depth = 0; depth < 8; ++depth) {
        if (const auto found = objects_.find(name); found != objects_.end()) return &found->second;
        const auto value = program_.value_of(name);
        if (!value) break;
        name = value->starts_with("& ") ? value->substr(2) : *value;
    }
    return nullptr;
}

/// "object.method(…)", "object->method(…)", and "method(…)" within a method.
std::optional<std::size_t> HostFunctions::follow_method(std::size_t i) {
    std::size_t name = i;
    std::string object = name_now("this");
    if (text_.is(i + 1, ".") || text_.is(i + 2, ">")) {
        name = text_.is(i + 1, ".") ? i + 2 : i + 3;
        object = name_now(text_.text(i));
    }
    const std::size_t open =
        text_.is(name + 1, "<") ? after_angles(name + 1, text_.size()) : name + 1;
    const Object* const found =
        text_.is(open, "(") && text_.is_word(name) ? find_object(object) : nullptr;
    if (!found || !found->type->methods.contains(text_.text(name))) return std::nullopt;
    const auto after = text_.after_closing(open);
    if (!after) return std::nullopt;
    const Texts given = *after > open + 2 ? parts(open + 1, *after - 1) : Texts();
    const Texts templates = open > name + 1 ? parts(name + 2, open - 1) : Texts();
    const Body& body = *find_body(found->type->methods, text_.text(name), given.size());
    const auto arguments = given.empty() ? std::vector<TokenRange>() : ranges(open + 1, *after - 1);
    const Scope file_before = file_scope(), before = std::exchange(scope_, found->scope);
    pass(body.templates, templates);
    const std::string result = run(body, given);
    const HostVariable type = result_of(body);
    const Changes changes = changes_of(body, arguments);
    scope_ = before;
    take_over(file_before, changes);
    set_result(i, result, type);
    return after;
}

/// "Class<int> a(4), b{4}, c = Class<int>(4), d;"
void HostFunctions::construct(std::size_t i) {
    const auto found = classes_.find(text_.text(i));
    if (found == classes_.end() || depth_ > 4) return;
    Texts templates;
    std::size_t name = i + 1;
    if (text_.is(name, "<")) {
        name = after_angles(i + 1, text_.size());
        templates = parts(i + 2, name - 1);
    }
    while (text_.is_word(name)) {
        std::size_t open = name + 1;
        std::string object = name_now(text_.text(name));
        if (text_.is(open, "=")) {
            object = next_name(std::string(text_.text(name)));
            ++open;
            const bool is_class = text_.is(open, found->first) && !text_.is(open + 1, ":");
            while (is_class && !text_.is(open, "(") && !text_.is(open, "{") && !text_.is(open, ";"))
                ++open;
            // A copy, or what a function returns, perhaps one of the class.
            if (!is_class && !text_.is(open, "{")) return;
        }
        const auto after = text_.after_closing(open);
        const bool has_arguments = after && !text_.is(open, "[") && *after > open + 2;
        build(found->second, object, templates,
              has_arguments ? parts(open + 1, *after - 1) : Texts());
        locals_.push_back({std::string(text_.text(name)), object});
        const std::size_t end = end_of_value(name + 1);
        if (!text_.is(end, ",")) return;
        name = end + 1;
    }
}

void HostFunctions::build(const Class& type, const std::string& object, const Texts& templates,
                          const Texts& given) {
    const Scope before = scope_;
    enter_file();
    pass(type.templates, templates);
    scope_["this"] = object;
    for (const std::string& member : type.members) scope_[member] = object + "$" + member;
    for (const std::size_t one : type.declarations)
        for_declarators(one, [&](std::size_t name, const HostVariable& variable) {
            const std::string member(text_.text(name)), own = name_now(member);
            program_.variables[own] = variable;
            const auto after = text_.is(name + 1, "{") ? text_.after_closing(name + 1) : name;
            const Texts values =
                after.value_or(0) > name + 3 ? parts(name + 2, *after - 1) : Texts();
            if (variable.type == "dim3" && !text_.is(name + 1, "="))
                set_dimensions(own, values);
            else if (text_.is(name + 1, "=") && !text_.is(name + 2, "{"))
                assign(member, words(name + 2, end_of_value(name + 2)));
            else if (!build_member(one, name, own, {}) && values.size() == 1)
                assign(member, values[0]);
        });
    // Methods that only return an expression are values: "object$size".
    const auto is_value = [&](const Body& method) {
        return method.parameters.empty() && text_.is(method.open + 1, "return");
    };
    for (const auto& [name, method] : type.methods)
        if (is_value(method)) scope_[name] = object + "$" + name;
    for (const auto& [name, method] : type.methods)
        if (const std::string result = returned(method); is_value(method) && !result.empty()) {
            const std::string own = name == "operator" ? object : object + "$" + name;
            program_.values[own] = result;
            methods_.insert(own);
            program_.variables.try_emplace(own, result_of(method));
        }
    const Scope scope = scope_;
    objects_[object] = {&type, scope};
    const Body* const constructor = find_body(type.methods, type.name, given.size());
    if (constructor) {
        pass(constructor->parameters, given);
        initialize(type, *constructor);
        scope_ = scope;
        run(*constructor, given);
    } else {
        for (std::size_t m = 0; m < given.size() && m < type.members.size(); ++m)
            program_.values[object + "$" + type.members[m]] = given[m];
    }
    scope_ = before;
}

/// The member whose type begins at a token is an object, too. False: it is none.
bool HostFunctions::build_member(std::size_t declaration, std::size_t name,
                                 const std::string& object, const Texts& given) {
    std::size_t i = declaration;
    while (i < name && !classes_.contains(text_.text(i))) ++i;
    const bool is_pointer = name > 0 && (text_.is(name - 1, "*") || text_.is(name - 1, "&"));
    if (i == name || is_pointer || depth_ > 4) return false;
    const Texts templates =
        text_.is(i + 1, "<") ? parts(i + 2, after_angles(i + 1, name) - 1) : Texts();
    ++depth_;
    build(classes_.find(text_.text(i))->second, object, templates, given);
    --depth_;
    return true;
}

/// ": n(count), p{nullptr}" of a constructor.
void HostFunctions::initialize(const Class& type, const Body& constructor) {
    std::size_t i = constructor.begin;
    while (i < constructor.open && !text_.is(i, "(")) ++i;
    i = text_.after_closing(i).value_or(constructor.open);
    for (; i < constructor.open; ++i) {
        const bool opens = text_.is(i + 1, "(") || text_.is(i + 1, "{");
        if (!text_.is_word(i) || !opens || i + 1 >= constructor.open) continue;
        const std::size_t after = text_.after_closing(i + 1).value_or(constructor.open);
        const Texts given = after > i + 3 ? parts(i + 2, after - 1) : Texts();
        const std::string member(text_.text(i));
        const std::string own = scope_["this"] + "$" + member;
        i = after - 1;
        if (objects_.contains(own)) {
            const auto found = std::ranges::find(type.members, member);
            std::size_t name = type.declarations[std::size_t(found - type.members.begin())];
            const std::size_t declaration = name;
            while (!text_.is(name, member)) ++name;
            build_member(declaration, name, own, given);
        } else if (program_.variables[own].type == "dim3") {
            set_dimensions(own, given.size() == 1 ? sizes(given[0]) : given);
        } else if (given.size() == 1) {
            program_.values[own] = given[0];
        }
    }
}

}  // namespace warpscope::experiments
