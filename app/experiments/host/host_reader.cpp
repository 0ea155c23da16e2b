#include "experiments/host/host_reader.h"

#include <algorithm>

namespace warpscope::experiments {

HostProgram HostReader::read() {
    read_declarations();
    program_.values["argc"] = "1";  // the program is started without arguments
    enter_file();
    if (const auto main = bodies_.find("main"); main != bodies_.end())
        walk(main->second.open + 1, main->second.end - 1);
    // Functions that main() does not call, and those of classes.
    for (std::size_t i = 1; i < text_.size(); ++i)
        if (is_launch(i) && !read_.contains(i)) read_around(i);
    if (steps_ < most_steps)
        forget_written();
    else
        for (auto& [name, array] : program_.arrays) array.written.clear();
    return std::move(program_);
}

/// The function, or the class, around a launch that main() does not reach.
void HostReader::read_around(std::size_t launch) {
    freed_.clear();                // nobody knows which function comes first
    const Body* around = nullptr;  // the innermost one: a lambda stands in a function
    for (const auto& [name, body] : bodies_)
        if (body.open < launch && launch < body.end && (!around || body.open > around->open))
            around = &body;
    if (around) {
        const Body body = *around;
        enter_file();
        for (const std::string& parameter : body.parameters) forget(parameter);
        for (const std::string& parameter : body.templates) forget(parameter);
        for (const std::size_t one : body.declarations) declare_parameter(one);
        return walk(body.open + 1, body.end - 1);
    }
    std::size_t begin = launch;
    int depth = 0;
    for (; begin > 0 && depth < 1; --begin)
        depth += int(text_.is(begin, "{")) - int(text_.is(begin, "}"));
    walk(begin, text_.after_closing(begin + 1).value_or(launch + 3));
}

void HostReader::walk(std::size_t begin, std::size_t end) {
    if (++nested_ <= deepest_statement)
        for (std::size_t i = begin; i < end && steps_ < most_steps; ++steps_) i = step(i, end);
    --nested_;
}

/// Reads what begins at a token; returns the token to go on from.
std::size_t HostReader::step(std::size_t i, std::size_t end) {
    if (text_.is_directive(i)) {
        read_macro(text_.text(i));
        return i + 1;
    }
    if (is_launch(i)) {
        read_.insert(i);
        read_launch(i);
        return i + 3;
    }
    if (text_.is(i, "{") && is_one_of(i - 1, {";", "{", "}", ")", "else", "do"})) {
        const std::size_t after = text_.after_closing(i).value_or(end);
        (void)walk_block(i, after);
        return after;
    }
    if (text_.is(i, "[")) note_lambda(i);
    if (!text_.is_word(i)) return i + 1;
    touch(i, i + 1);
    leaves_ = leaves_ || leaves_program(i);
    if (text_.is(i, "for") && text_.is(i + 1, "(")) return pass_loop(i, end);
    if (text_.is(i, "while") && text_.is(i + 1, "(")) return pass_loop(i, end);
    if (text_.is(i, "do") && text_.is(i + 1, "{")) return pass_do(i, end);
    if (text_.is(i, "if") && text_.is(i + 1, "(")) return choose(i, end);
    if (text_.is(i, "switch") && text_.is(i + 1, "(")) return choose_case(i, end);
    if (text_.is(i + 1, ":") && is_one_of(i - 1, {";", "{", "}"})) read_label(i);
    if (text_.is(i, "typedef")) {
        while (i < end && !text_.is(i, ";")) ++i;
        return i;
    }
    if (const auto after = read_lambda(i)) {
        touch(i, *after);
        return *after;
    }
    const auto own = bodies_.find(text_.text(i));
    if (own == bodies_.end() || !own->second.is_lambda) read_call(i);
    if (const auto after = follow_call(i)) return *after;
    pass_to_unknown(i);
    forget_read(i);
    read_value(i);
    construct(i);
    return i + 1;
}

/// What changes between a label and a goto behind it changes more than once.
void HostReader::read_label(std::size_t i) {
    std::size_t jump = i;
    while (jump < text_.size() && !(text_.is(jump, "goto") && text_.is(jump + 1, at(i)))) ++jump;
    for (std::size_t t = i; jump < text_.size() && t < jump; ++t)
        if (text_.is_word(t) && changes(t)) forget(std::string(at(t)));
}

/// The token after the statement that begins here.
std::size_t HostReader::statement_end(std::size_t i, std::size_t end) const {
    for (int depth = 0; depth < 100; ++depth) {
        if (text_.is(i, "{")) return std::min(end, text_.after_closing(i).value_or(end));
        const bool heads = text_.is(i, "for") || text_.is(i, "while") || text_.is(i, "if") ||
                           text_.is(i, "switch");
        if (!heads || !text_.is(i + 1, "(")) break;
        const bool is_if = text_.is(i, "if");
        i = text_.after_closing(i + 1).value_or(end);
        if (!is_if) continue;
        const std::size_t after = statement_end(i, end);
        if (!text_.is(after, "else")) return after;
        i = after + 1;
    }
    while (i < end && !text_.is(i, ";")) {
        const bool opens = text_.is(i, "(") || text_.is(i, "{");
        i = opens ? text_.after_closing(i).value_or(end) : i + 1;
    }
    return std::min(i + 1, end);
}

/// The launches between these tokens are not made, but for those that have been read. False: there
/// are none.
bool HostReader::skip(std::size_t begin, std::size_t end) {
    bool has_launches = false;
    for (std::size_t t = begin; t < end; ++t)
        if (is_launch(t)) has_launches = read_.insert(t).second || has_launches;
    return has_launches;
}

/// A lambda that begins here, and has no name: "[&](int n) {…}".
void HostReader::note_lambda(std::size_t i) {
    const bool is_index =
        i > 0 && (text_.is_word(i - 1) || text_.is(i - 1, ")") || text_.is(i - 1, "]"));
    std::size_t open = is_index ? 0 : text_.after_closing(i).value_or(0);
    if (text_.is(open, "(")) open = text_.after_closing(open).value_or(0);
    while (open > 0 && text_.is_word(open)) ++open;  // "mutable"
    if (open > 0 && text_.is(open, "{")) lambda_ = {open, text_.after_closing(open).value_or(open)};
}

}  // namespace warpscope::experiments
