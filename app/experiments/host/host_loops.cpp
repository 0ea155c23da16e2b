#include <algorithm>
#include <set>
#include <utility>

#include "experiments/host/host_reader.h"

// Loops are passed once, but for those whose counter chooses what is launched.
namespace warpscope::experiments {

namespace {

/// The passes of a loop that are read one by one.
constexpr std::size_t most_passes = 8;

}  // namespace

/// The parts of a loop.
struct HostReader::Loop {
    TokenRange all, condition, step, body;
};

std::size_t HostReader::pass_loop(std::size_t i, std::size_t end) {
    const std::size_t head_end = text_.after_closing(i + 1).value_or(end);
    const std::size_t body_end = statement_end(head_end, end), shadowed = shadowed_.size();
    std::size_t first = i + 2;  // the first ";" of the head
    while (first < head_end && !text_.is(first, ";")) ++first;
    walk(i + 2, std::min(first, head_end));
    std::size_t second = first + 1;
    while (second < head_end && !text_.is(second, ";")) ++second;
    if (first < head_end)
        repeat(
            {{i, body_end}, {first + 1, second}, {second + 1, head_end - 1}, {head_end, body_end}});
    else if (text_.is(i, "while"))
        repeat({{i, body_end}, {i + 2, head_end - 1}, {}, {head_end, body_end}});
    else
        pass_elements({i + 2, head_end - 1}, {head_end, body_end});
    end_shadows(shadowed);
    return body_end;
}

/// "do {…} while (…);"
std::size_t HostReader::pass_do(std::size_t i, std::size_t end) {
    const std::size_t body_end = text_.after_closing(i + 1).value_or(end);
    if (!text_.is(body_end, "while") || !text_.is(body_end + 1, "(")) return i + 1;
    const std::size_t head_end = text_.after_closing(body_end + 1).value_or(end);
    if (head_end == body_end + 4 && text_.is(body_end + 2, "0")) {  // of a macro
        walk(i + 2, body_end - 1);
        return head_end;
    }
    repeat({{i, head_end}, {body_end + 2, head_end - 1}, {}, {i + 1, body_end}});
    return head_end;
}

/// "for (int size : {128, 256})", "for (auto& x : v)": once, or once for each element that is known
/// where it chooses what is launched.
void HostReader::pass_elements(TokenRange head, TokenRange body) {
    std::size_t colon = head.first;
    while (colon < head.second &&
           (!text_.is(colon, ":") || text_.is(colon + 1, ":") || text_.is(colon - 1, ":")))
        ++colon;
    const std::string word(colon > head.first ? at(colon - 1) : "");
    std::vector<std::string> elements;
    if (text_.is(colon + 1, "{"))
        elements = parts(colon + 2, head.second - 1);
    else if (const auto array = program_.variables.find(name_now(at(colon + 1)));
             array != program_.variables.end() && colon + 2 == head.second)
        elements = array->second.elements;
    const bool is_unrolled = !word.empty() && elements.size() <= most_passes &&
                             !leaves_in(body.first, body.second) && chooses(word, body, 0);
    if (!is_unrolled) {
        if (!elements.empty()) assign(word, elements[0]);
        read_range_loop(head.first, head.second);
        return repeat({{head.first, body.second}, head, {}, body});
    }
    for (const std::string& element : elements) {
        assign(word, element);
        walk(body.first, body.second);
    }
}

/// The token of a name that goes up or down by 1 in a loop whose condition has it. The last token:
/// there is none.
std::size_t HostReader::counter_of(const Loop& loop) const {
    for (std::size_t t = loop.all.first; t < loop.all.second; ++t)
        if (text_.is_word(t) && counts(t))
            for (std::size_t c = loop.condition.first; c < loop.condition.second; ++c)
                if (text_.text(c) == text_.text(t)) return t;
    return text_.size();
}

/// Reads the body of a loop once, or in each pass where the counter chooses what is launched.
void HostReader::repeat(const Loop& loop) {
    const std::size_t counter = counter_of(loop);
    const bool is_do = loop.body.first < loop.condition.first;
    const bool is_passed =
        (is_do || condition(loop.condition.first, loop.condition.second).value_or(false)) &&
        !leaves_in(loop.body.first, loop.body.second);
    const std::size_t before = program_.launches.size(), changed = changed_.size();
    std::size_t stepped = loop.step.first;  // "k" of "k += 2"
    while (stepped < loop.step.second && !(text_.is_word(stepped) && changes(stepped))) ++stepped;
    const bool is_unrolled = is_passed && stepped < loop.step.second &&
                             chooses(at(stepped), loop.body, 0) && unroll(loop);
    if (!is_unrolled) {
        if (counter < text_.size()) loops_.push_back(name_now(at(counter)));
        ++depth_of_loops_;
        if (is_passed)
            walk(loop.body.first, loop.body.second);
        else
            walk_perhaps(loop.body.first, loop.body.second);
        --depth_of_loops_;
        if (counter < text_.size()) loops_.pop_back();
        for (std::size_t k = before; k < program_.launches.size(); ++k) {
            program_.launches[k].repeats = true;
            note_further_passes(program_.launches[k], loop);
        }
    }
    // What it has after all passes is not known.
    for (std::size_t t = loop.all.first; t < loop.all.second; ++t)
        if (text_.is_word(t) && changes(t)) forget(std::string(text_.text(t)));
    for (; changed_.size() > changed; changed_.pop_back())
        if (is_member(changed_.back()))
            set_member(changed_.back(), "?");
        else
            forget(changed_.back());
}

/// Where a launch depends on what the loop changes, its further passes, which are not read, may
/// write other parts of its arrays.
void HostReader::note_further_passes(const HostLaunch& launch, const Loop& loop) {
    std::set<std::string, std::less<>> words(changed_.begin(), changed_.end()), seen;
    for (std::size_t t = loop.all.first; t < loop.all.second; ++t)
        if (text_.is_word(t) && (changes(t) || text_.is(t + 1, ":"))) words.emplace(text_.text(t));
    const auto depends = [&](const auto& self, const std::string& text) -> bool {
        const compiler::TokenText tokens(text);
        for (std::size_t t = 0; t < tokens.size(); ++t) {
            const std::string_view name = tokens.text(t);
            if (!tokens.is_word(t) || !seen.emplace(name).second) continue;
            if (words.contains(name) || words.contains(name.substr(0, name.find('$')))) return true;
            const auto value = program_.value_of(name);
            if (value && self(self, *value)) return true;
        }
        return false;
    };
    bool is_dependent = false;
    for (const auto* texts : {&launch.arguments, &launch.grid})
        for (const std::string& text : *texts)
            is_dependent = is_dependent || depends(depends, text);
    for (const std::string& text : launch.arguments)
        if (is_dependent) touch_array(place_of(program_, text).array);
}

/// Reads a loop pass by pass, as long as its condition is known to hold. False: it has too many
/// passes, and none is read.
bool HostReader::unroll(const Loop& loop) {
    const auto holds = [&] {
        return condition(loop.condition.first, loop.condition.second).value_or(false);
    };
    const auto step = [&] {
        const auto outer = std::exchange(loops_, {});
        read_values(loop.step.first, loop.step.second);
        loops_ = outer;
    };
    const Scope before = scope_;
    std::size_t passes = 0;
    for (; holds() && passes <= most_passes; ++passes) step();
    scope_ = before;
    if (passes > most_passes) return false;
    for (; holds() && passes > 0; --passes) {
        walk(loop.body.first, loop.body.second);
        step();
    }
    return true;
}

/// The value of a word decides which statements of these launch kernels, or which kernel they
/// launch.
bool HostReader::chooses(std::string_view word, TokenRange range, int depth) const {
    const auto names = [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            if (text_.is(t, word)) return true;
        return false;
    };
    for (std::size_t t = range.first; t < range.second; ++t) {
        const std::size_t after = text_.is(t + 1, "(") ? text_.after_closing(t + 1).value_or(t) : t;
        if (text_.is(t, "if") || text_.is(t, "switch")) {
            bool launches = false;
            for (std::size_t k = after; k < statement_end(after, range.second); ++k)
                launches = launches || is_launch(k) || bodies_.contains(at(k));
            if (launches && names(t + 2, after)) return true;
        } else if (is_launch(t) && text_.is(t - 1, "]")) {  // kernels[word]<<<…>>>
            std::size_t open = t - 1;
            while (open > range.first && !text_.is(open, "[")) --open;
            if (names(open, t)) return true;
        } else if (const auto called = bodies_.find(at(t));
                   called != bodies_.end() && after > t + 3 && depth < 3) {
            const Body& body = called->second;
            const auto given = ranges(t + 2, after - 1);
            for (std::size_t p = 0; p < given.size() && p < body.parameters.size(); ++p)
                if (given[p].second == given[p].first + 1 && text_.is(given[p].first, word) &&
                    chooses(body.parameters[p], {body.open, body.end}, depth + 1))
                    return true;
        }
    }
    return false;
}

/// "n++", "--n", "n += 1", "n = n + 1"
bool HostReader::counts(std::size_t i) const {
    const auto is_step = [&](std::size_t t) { return text_.is(t, "+") || text_.is(t, "-"); };
    const auto is_twice = [&](std::size_t t) { return is_step(t) && at(t) == at(t + 1); };
    if (is_twice(i + 1) || (i > 1 && is_twice(i - 2))) return true;
    if (is_step(i + 1) && text_.is(i + 2, "=")) return text_.is(i + 3, "1");
    return text_.is(i + 1, "=") && at(i + 2) == at(i) && is_step(i + 3) && text_.is(i + 4, "1");
}

/// "n = …", "n += …", "n++", "++n"
bool HostReader::changes(std::size_t i) const {
    const auto is_one_of = [&](std::size_t t, std::string_view signs) {
        return !at(t).empty() && signs.find(at(t)) != std::string_view::npos;
    };
    if (text_.is(i + 1, "=")) return !text_.is(i + 2, "=");
    const bool twice = at(i + 1) == at(i + 2), twice_before = i > 1 && at(i - 1) == at(i - 2);
    if ((twice && is_one_of(i + 1, "+-")) || (twice_before && is_one_of(i - 1, "+-"))) return true;
    if (is_one_of(i + 1, "+-*/%&|^") && text_.is(i + 2, "=")) return true;
    return twice && is_one_of(i + 1, "<>") && text_.is(i + 3, "=");
}

}  // namespace warpscope::experiments
