#include "experiments/host/host_program.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "emulator/machine/machine.h"
#include "experiments/host/host_functions.h"
#include "experiments/host/host_values.h"

namespace warpscope::experiments {
namespace {

/// Statements of all: a program may call itself.
constexpr std::size_t most_steps = 50'000;

/// Reads the statements of the host functions of a source.
class HostReader : public HostFunctions {
  public:
    HostReader(std::string_view source, int own) : HostFunctions(source, own) {}

    HostProgram read() {
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

  private:
    /// The function, or the class, around a launch that main() does not reach.
    void read_around(std::size_t launch) {
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

    void walk(std::size_t begin, std::size_t end) override {
        for (std::size_t i = begin; i < end && steps_ < most_steps; ++steps_) i = step(i, end);
    }

    /// Reads statements that the program may skip: behind them, what they free is perhaps freed. It
    /// is not, where they end the function or the program.
    void walk_perhaps(std::size_t begin, std::size_t end) {
        const auto before = freed_;
        const bool had_left = std::exchange(leaves_, false);
        ++depth_of_doubt_;
        walk(begin, end);
        --depth_of_doubt_;
        leaves_ = leaves_ || leaves_in(begin, end);
        for (auto one = freed_.begin(); one != freed_.end();) {
            const bool is_new = !before.contains(one->first);
            if (is_new) one->second.certain = false;
            one = is_new && leaves_ ? freed_.erase(one) : std::next(one);
        }
        leaves_ = had_left;
    }

    bool is_one_of(std::size_t t, std::initializer_list<std::string_view> words) const {
        return std::ranges::find(words, at(t)) != words.end();
    }
    /// One of the statements leaves the block that they are in.
    bool leaves_in(std::size_t begin, std::size_t end) const {
        for (std::size_t t = begin; t < end; ++t)
            if (is_one_of(t, {"return", "goto", "break", "continue"}) || leaves_program(t))
                return true;
        return false;
    }
    bool leaves_program(std::size_t t) const {
        return is_one_of(t, {"exit", "_Exit", "quick_exit", "abort", "terminate", "throw"});
    }

    /// What a condition says. nullopt: it is not known. A pointer to memory is true.
    std::optional<bool> condition(std::size_t begin, std::size_t end) const {
        if (const auto value = HostValues(program_).number(words(begin, end)))
            return real(*value) != 0;
        const bool is_compared = end > begin + 3 && text_.is(end - 3, "!") &&
                                 text_.is(end - 2, "=") &&
                                 (text_.is(end - 1, "nullptr") || text_.is(end - 1, "NULL"));
        const std::string name =
            place_of(program_, words(begin, is_compared ? end - 3 : end)).array;
        const HostArray* const array = find_array(program_, name);
        const bool is_pointer = end == begin + 1 || is_compared;
        if (is_pointer && array && !array->bytes.empty()) return true;
        return std::nullopt;
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
        if (text_.is(i, "[")) note_lambda(i);
        if (!text_.is_word(i)) return i + 1;
        touch(i, i + 1);
        leaves_ = leaves_ || leaves_program(i);
        if (text_.is(i, "for") && text_.is(i + 1, "(")) return pass_loop(i, end);
        if (text_.is(i, "while") && text_.is(i + 1, "(")) return pass_loop(i, end);
        if (text_.is(i, "do") && text_.is(i + 1, "{")) return pass_do(i, end);
        if (text_.is(i, "if") && text_.is(i + 1, "(")) return choose(i, end);
        if (text_.is(i, "switch") && text_.is(i + 1, "(")) return choose_case(i, end);
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
        read_value(i);
        construct(i);
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
        read_range_loop(i + 2, head_end - 1);
        std::size_t second = first + 1;
        while (second < head_end && !text_.is(second, ";")) ++second;
        const bool is_while = first >= head_end;
        repeat({i, body_end},
               is_while ? TokenRange(i + 2, head_end - 1) : TokenRange(first + 1, second),
               {head_end, body_end});
        return body_end;
    }

    /// "do {…} while (…);"
    std::size_t pass_do(std::size_t i, std::size_t end) {
        const std::size_t body_end = text_.after_closing(i + 1).value_or(end);
        if (!text_.is(body_end, "while") || !text_.is(body_end + 1, "(")) return i + 1;
        const std::size_t head_end = text_.after_closing(body_end + 1).value_or(end);
        if (head_end == body_end + 4 && text_.is(body_end + 2, "0")) {  // of a macro
            walk(i + 2, body_end - 1);
            return head_end;
        }
        repeat({i, head_end}, {body_end + 2, head_end - 1}, {i + 1, body_end});
        return head_end;
    }

    /// Reads the body of a loop once.
    void repeat(TokenRange loop, TokenRange condition_range, TokenRange body) {
        std::string counter;  // goes up or down by 1, and the condition names it
        for (std::size_t t = loop.first; t < loop.second && counter.empty(); ++t)
            if (text_.is_word(t) && counts(t))
                for (std::size_t c = condition_range.first; c < condition_range.second; ++c)
                    if (text_.text(c) == text_.text(t)) counter = name_now(text_.text(t));
        if (!counter.empty()) loops_.push_back(counter);
        const std::size_t before = program_.launches.size();
        bool is_passed = body.first < condition_range.first;  // "do"
        if (!is_passed)
            is_passed = condition(condition_range.first, condition_range.second).value_or(false);
        is_passed = is_passed && !leaves_in(body.first, body.second);
        ++depth_of_loops_;
        if (is_passed)
            walk(body.first, body.second);
        else
            walk_perhaps(body.first, body.second);
        --depth_of_loops_;
        for (std::size_t k = before; k < program_.launches.size(); ++k)
            program_.launches[k].repeats = true;
        if (!counter.empty()) loops_.pop_back();
        // What it has after all passes is not known.
        for (std::size_t t = loop.first; t < loop.second; ++t)
            if (text_.is_word(t) && changes(t)) forget(std::string(text_.text(t)));
    }

    /// "n++", "--n", "n += 1", "n = n + 1"
    bool counts(std::size_t i) const {
        const auto is_step = [&](std::size_t t) { return text_.is(t, "+") || text_.is(t, "-"); };
        const auto is_twice = [&](std::size_t t) { return is_step(t) && at(t) == at(t + 1); };
        if (is_twice(i + 1) || (i > 1 && is_twice(i - 2))) return true;
        if (is_step(i + 1) && text_.is(i + 2, "=")) return text_.is(i + 3, "1");
        return text_.is(i + 1, "=") && at(i + 2) == at(i) && is_step(i + 3) && text_.is(i + 4, "1");
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
        if (const auto known = condition(i + 2, head_end - 1)) {
            const bool yes = *known;
            skip(yes ? yes_end : head_end, yes ? no_end : yes_end);
            const TokenRange taken = yes        ? TokenRange(head_end, yes_end)
                                     : has_else ? TokenRange(yes_end + 1, no_end)
                                                : TokenRange(no_end, no_end);
            if (leaves_in(taken.first, taken.second))
                walk_perhaps(taken.first, taken.second);
            else
                walk(taken.first, taken.second);
            return no_end;
        }
        const Scope before = scope_;
        walk_perhaps(head_end, yes_end);
        const Scope taken = std::exchange(scope_, before);
        if (has_else) walk_perhaps(yes_end + 1, no_end);
        for (const auto& [name, meaning] : taken)
            if (!program_.values.contains(scope_[name])) scope_[name] = meaning;
        return no_end;
    }

    /// Reads statements that the program may skip, and notes what is assumed.
    void assume(const std::string& what, std::size_t begin, std::size_t end) {
        const std::string outer = std::exchange(assumed_, what);
        const auto before = program_.values;
        walk_perhaps(begin, end);
        assumed_ = outer;
        for (const auto& [name, value] : program_.values)
            if (const auto was = before.find(name); was == before.end() || was->second != value)
                assumed_of_[name] = what;
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
        if (chosen)
            walk(*from, std::min(last, after));
        else
            assume("the case of switch (" + plain_words(i + 2, open - 1) + ")", *from,
                   std::min(last, after));
        skip(open, after);  // the other cases
        if (!chosen) touch(open, after);
        return after;
    }

    /// A lambda that begins here, and has no name: "[&](int n) {…}".
    void note_lambda(std::size_t i) {
        const bool is_index =
            i > 0 && (text_.is_word(i - 1) || text_.is(i - 1, ")") || text_.is(i - 1, "]"));
        std::size_t open = is_index ? 0 : text_.after_closing(i).value_or(0);
        if (text_.is(open, "(")) open = text_.after_closing(open).value_or(0);
        while (open > 0 && text_.is_word(open)) ++open;  // "mutable"
        if (open > 0 && text_.is(open, "{"))
            lambda_ = {open, text_.after_closing(open).value_or(open)};
    }

    std::set<std::size_t> read_;  ///< launches
    bool leaves_ = false;         ///< the statements end the program
    std::size_t steps_ = 0;
};

}  // namespace

std::optional<std::string> device_limit(std::string_view name) {
    if (name == "multiProcessorCount" || name == "cudaDevAttrMultiProcessorCount")
        return std::to_string(emulator::Machine::default_virtual_sms);
    if (name == "warpSize" || name == "cudaDevAttrWarpSize") return "32";
    if (name == "maxThreadsPerBlock" || name == "cudaDevAttrMaxThreadsPerBlock") return "1024";
    if (name == "sharedMemPerBlock" || name == "cudaDevAttrMaxSharedMemoryPerBlock") return "49152";
    if (name == "pageableMemoryAccess" || name == "cudaDevAttrPageableMemoryAccess") return "0";
    return std::nullopt;
}

std::optional<std::string> HostProgram::value_of(std::string_view name) const {
    if (const auto known = values.find(name); known != values.end()) return known->second;
    if (!is_member(name)) return std::nullopt;
    const std::size_t sign = name.rfind('$');
    if (auto limit = device_limit(name.substr(sign + 1))) return limit;
    auto object = value_of(name.substr(0, sign));
    if (object && object->starts_with("& ")) object->erase(0, 2);
    if (!object || object->find(' ') != std::string::npos) return std::nullopt;
    return *object + std::string(name.substr(sign));
}

std::string first_name(const HostProgram& program, std::string name) {
    for (int depth = 0; depth < 8; ++depth) {
        const auto value = program.value_of(name);
        const bool is_name =
            value && !value->empty() && (std::isalpha((*value)[0]) || (*value)[0] == '_');
        if (!is_name || value->find(' ') != value->npos || *value == "nullptr" || *value == "NULL")
            break;
        name = *value;
    }
    return name;
}

HostProgram read_host_program(std::string_view source, std::size_t own) {
    const auto lines = std::ranges::count(source.substr(0, own), '\n');
    const std::string text = with_launching_macros(source);
    return HostReader(text, int(lines)).read();
}

}  // namespace warpscope::experiments
