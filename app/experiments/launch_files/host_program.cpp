#include "experiments/launch_files/host_program.h"

#include <algorithm>
#include <set>

#include "compiler/host/declarations.h"
#include "experiments/launch_files/host_calls.h"
#include "experiments/launch_files/host_values.h"

namespace warpscope::experiments {
namespace {

using compiler::Declaration;
using compiler::TokenText;

/// Calls that are followed within each other, and statements of all: a program may call itself.
constexpr int deepest_call = 8;
constexpr std::size_t most_steps = 50'000;

/// Reads the statements of the host functions of a source.
class HostReader : public HostCalls {
  public:
    explicit HostReader(std::string_view source) : HostCalls(source) {}

    HostProgram read() {
        read_declarations();
        program_.values["argc"] = "1";  // the program is started without arguments
        enter_file();
        if (const auto main = bodies_.find("main"); main != bodies_.end())
            walk(main->second.open + 1, main->second.end - 1);
        // Functions that main() does not call, and those of classes.
        for (std::size_t i = 1; i < text_.size(); ++i)
            if (is_launch(i) && !read_.contains(i)) read_around(i);
        return std::move(program_);
    }

  private:
    struct Body {
        std::size_t begin, open, end;         ///< of the function, of its "{", and behind its "}"
        std::vector<std::string> parameters;  ///< and template parameters
        std::vector<std::string> templates;
        std::vector<std::string> defaults{};      ///< of the parameters
        std::vector<std::size_t> declarations{};  ///< the first tokens of the parameters
    };

    void read_declarations() {
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
                if (text_.is_word(name) && name > declaration.begin + 1)
                    assign(std::string(text_.text(name)), words(declaration.begin + 1, name));
                continue;
            }
            if (declaration.kind == Declaration::Kind::type) {
                read_values(declaration.begin, declaration.end);
                continue;
            }
            const auto open = body_of(declaration);
            if (!open) {
                if (!declaration.on_device) read_values(declaration.begin, declaration.end);
                continue;
            }
            for (std::size_t i = declaration.begin; i < declaration.end; ++i)
                if (text_.is_directive(i)) read_macro(text_.text(i));
            read_function(declaration, *open);
        }
        for (; last < text_.size(); ++last)
            if (text_.is_directive(last)) read_macro(text_.text(last));
    }

    /// The "{" of a function.
    std::optional<std::size_t> body_of(const Declaration& declaration) const {
        if (declaration.kind != Declaration::Kind::function &&
            declaration.kind != Declaration::Kind::constant)
            return std::nullopt;
        for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
            if (text_.is(i, "{")) return i;
            if (text_.is(i, "=") || text_.is(i, ";")) return std::nullopt;
            if (text_.is(i, "(")) i = text_.after_closing(i).value_or(declaration.end) - 1;
        }
        return std::nullopt;
    }

    void read_function(const Declaration& declaration, std::size_t open) {
        Body body{declaration.begin, open, declaration.end, {}, {}};
        std::size_t begin = declaration.begin;
        if (text_.is(begin, "template") && text_.is(begin + 1, "<")) {
            const std::size_t close = after_angles(begin + 1, open);
            body.templates = names_of(plain_parts(begin + 2, close - 1));
            begin = close;
        }
        while (begin < open && !text_.is(begin, "(")) ++begin;
        const std::size_t after = text_.after_closing(begin).value_or(open);
        if (begin < open && after > begin + 2) {
            body.parameters = names_of(plain_parts(begin + 1, after - 1));
            for (const Range& one : ranges(begin + 1, after - 1))
                body.declarations.push_back(one.first);
        }
        for (const std::string& parameter : after > begin + 2 && begin < open
                                                ? plain_parts(begin + 1, after - 1)
                                                : std::vector<std::string>()) {
            const std::size_t sign = parameter.find('=');
            body.defaults.push_back(sign == std::string::npos ? "" : parameter.substr(sign + 1));
        }
        // A function that only returns an expression is one, for the device too.
        if (text_.is(open + 1, "return")) {
            std::size_t end = open + 2;
            while (end < declaration.end && !text_.is(end, ";")) ++end;
            if (end + 2 == declaration.end)
                program_.functions[declaration.name] = {body.parameters,
                                                        plain_words(open + 2, end)};
        }
        if (declaration.on_device && !body.templates.empty())
            kernel_templates_[declaration.name] = {body.templates,
                                                   begin < open && after > begin + 2
                                                       ? plain_parts(begin + 1, after - 1)
                                                       : std::vector<std::string>()};
        if (!declaration.on_device) bodies_.emplace(declaration.name, std::move(body));
    }

    /// "n" of "const int n = 4".
    static std::vector<std::string> names_of(const std::vector<std::string>& declarations) {
        std::vector<std::string> names;
        for (const std::string& one : declarations) {
            const std::string_view head = std::string_view(one).substr(0, one.find_first_of("=["));
            const TokenText tokens(head);
            names.emplace_back();
            for (std::size_t i = 0; i < tokens.size(); ++i)
                if (tokens.is_word(i)) names.back() = tokens.text(i);
        }
        return names;
    }

    /// The function, or the class, around a launch that main() does not reach.
    void read_around(std::size_t launch) {
        for (const auto& [name, body] : bodies_)
            if (body.open < launch && launch < body.end) {
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

    void walk(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && steps_ < most_steps; ++steps_) i = step(i, end);
    }

    /// Reads what begins at a token; returns the token to go on from.
    std::size_t step(std::size_t i, std::size_t end) {
        if (text_.is_directive(i)) {
            read_macro(text_.text(i));
            return i + 1;
        }
        if (is_launch(i)) {
            read_.insert(i);
            read_launch(i);
            return i + 3;
        }
        if (!text_.is_word(i)) return i + 1;
        if (text_.is(i, "for") && text_.is(i + 1, "(")) return pass_loop(i, end);
        if (text_.is(i, "while") && text_.is(i + 1, "(")) return pass_loop(i, end);
        if (text_.is(i, "if") && text_.is(i + 1, "(")) return choose(i, end);
        if (text_.is(i, "switch") && text_.is(i + 1, "(")) return choose_case(i, end);
        if (text_.is(i, "typedef")) {
            while (i < end && !text_.is(i, ";")) ++i;
            return i;
        }
        read_call(i);
        if (const auto after = follow_call(i)) return *after;
        read_value(i);
        return i + 1;
    }

    /// The token after the statement that begins here.
    std::size_t statement_end(std::size_t i, std::size_t end) const {
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

    std::size_t pass_loop(std::size_t i, std::size_t end) {
        const std::size_t head_end = text_.after_closing(i + 1).value_or(end);
        const std::size_t body_end = statement_end(head_end, end);
        std::size_t first = i + 2;  // the first ";" of the head
        while (first < head_end && !text_.is(first, ";")) ++first;
        walk(i + 2, std::min(first, head_end));
        std::string counter;
        for (std::size_t t = i + 2; t < first && first < head_end; ++t)
            if (text_.is_word(t) && text_.is(t + 1, "=")) counter = name_now(text_.text(t));
        if (!counter.empty()) loops_.push_back(counter);
        walk(head_end, body_end);
        if (!counter.empty()) loops_.pop_back();
        // What it has after all passes is not known.
        for (std::size_t t = i; t < body_end; ++t)
            if (text_.is_word(t) && changes(t)) forget(std::string(text_.text(t)));
        return body_end;
    }

    /// "n = …", "n += …", "n++", "++n"
    bool changes(std::size_t i) const {
        const auto is_one_of = [&](std::size_t t, std::string_view signs) {
            return !at(t).empty() && signs.find(at(t)) != std::string_view::npos;
        };
        if (text_.is(i + 1, "=")) return !text_.is(i + 2, "=");
        const bool twice = at(i + 1) == at(i + 2), twice_before = i > 1 && at(i - 1) == at(i - 2);
        if ((twice && is_one_of(i + 1, "+-")) || (twice_before && is_one_of(i - 1, "+-")))
            return true;
        if (is_one_of(i + 1, "+-*/%&|^") && text_.is(i + 2, "=")) return true;
        return twice && is_one_of(i + 1, "<>") && text_.is(i + 3, "=");
    }

    /// The launches between these tokens are not made.
    void skip(std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            if (is_launch(t)) read_.insert(t);
    }

    std::size_t choose(std::size_t i, std::size_t end) {
        const std::size_t head_end = text_.after_closing(i + 1).value_or(end);
        const std::size_t yes_end = statement_end(head_end, end);
        const bool has_else = text_.is(yes_end, "else");
        const std::size_t no_end = has_else ? statement_end(yes_end + 1, end) : yes_end;
        walk(i + 2, head_end - 1);  // it may call cudaMalloc()
        const auto condition = HostValues(program_).number(words(i + 2, head_end - 1));
        if (condition) {
            const bool yes = real(*condition) != 0;
            skip(yes ? yes_end : head_end, yes ? no_end : yes_end);
            if (yes)
                walk(head_end, yes_end);
            else if (has_else)
                walk(yes_end + 1, no_end);
            return no_end;
        }
        const Scope before = scope_;
        walk(head_end, yes_end);
        const Scope taken = std::exchange(scope_, before);
        if (has_else) walk(yes_end + 1, no_end);
        for (const auto& [name, meaning] : taken)
            if (!program_.values.contains(scope_[name])) scope_[name] = meaning;
        return no_end;
    }

    std::size_t choose_case(std::size_t i, std::size_t end) {
        const std::size_t open = text_.after_closing(i + 1).value_or(end);
        const std::size_t after = text_.is(open, "{") ? text_.after_closing(open).value_or(end)
                                                      : statement_end(open, end);
        const auto value = HostValues(program_).number(words(i + 2, open - 1));
        std::optional<std::size_t> chosen, otherwise;
        const auto next = [&](std::size_t t) {  // at this depth
            return text_.is(t, "{") ? text_.after_closing(t).value_or(after) : t + 1;
        };
        for (std::size_t t = open + 1; t < after; t = next(t)) {
            if (text_.is(t, "default")) otherwise = t + 2;
            if (!text_.is(t, "case")) continue;
            std::size_t colon = t + 1;
            while (colon < after && !text_.is(colon, ":")) ++colon;
            const auto label = HostValues(program_).number(words(t + 1, colon));
            const bool is_it = value && label && real(*value) == real(*label);
            if (is_it && !chosen) chosen = colon + 1;
            if (!value && !otherwise) otherwise = colon + 1;
        }
        const auto from = chosen ? chosen : otherwise;
        if (!from) return after;
        std::size_t last = *from;
        while (last < after && !text_.is(last, "break") && !text_.is(last, "return"))
            last = next(last);
        walk(*from, std::min(last, after));
        skip(open, after);  // the other cases
        return after;
    }

    /// Where a function of the source is called whose statements matter: the token after the call.
    std::optional<std::size_t> follow_call(std::size_t i) {
        const auto found = bodies_.find(text_.text(i));
        if (found == bodies_.end() || depth_ >= deepest_call) return std::nullopt;
        const Body& body = found->second;
        std::size_t open = i + 1;
        std::vector<std::string> templates;
        if (text_.is(open, "<")) {
            const std::size_t close = after_angles(open, text_.size());
            templates = parts(open + 1, close - 1);
            open = close;
        }
        if (!text_.is(open, "(") || !matters(body)) return std::nullopt;
        const auto after = text_.after_closing(open);
        if (!after) return std::nullopt;
        std::vector<std::string> given;
        if (*after > open + 2) given = parts(open + 1, *after - 1);
        const Scope before = scope_;
        enter_file();
        const auto pass = [&](const auto& names, const auto& values) {
            for (std::size_t p = 0; p < names.size(); ++p)
                if (p < values.size())
                    assign(names[p], values[p]);
                else
                    forget(names[p]);
        };
        for (std::size_t p = given.size(); p < body.defaults.size(); ++p)
            if (p == given.size() && !body.defaults[p].empty()) given.push_back(body.defaults[p]);
        pass(body.templates, templates);
        pass(body.parameters, given);
        for (const std::size_t one : body.declarations) declare_parameter(one);
        ++depth_;
        walk(body.open + 1, body.end - 1);
        --depth_;
        scope_ = before;
        return after;
    }

    /// Whether it launches, allocates or copies.
    bool matters(const Body& body) const {
        for (std::size_t i = body.open; i < body.end; ++i)
            if (is_launch(i) || is_known_call(i) ||
                (text_.is_word(i) && text_.is(i + 1, "(") && bodies_.contains(text_.text(i))) ||
                (text_.is_word(i) && text_.is(i + 1, "<") && bodies_.contains(text_.text(i))))
                return true;
        return false;
    }

    std::map<std::string, Body, std::less<>> bodies_;
    std::set<std::size_t> read_;  ///< launches
    std::size_t steps_ = 0;
    int depth_ = 0;
};

}  // namespace

HostProgram read_host_program(std::string_view source) {
    return HostReader(source).read();
}

}  // namespace warpscope::experiments
