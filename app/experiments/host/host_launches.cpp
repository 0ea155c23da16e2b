#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/host/host_calls.h"
#include "experiments/host/host_values.h"

namespace warpscope::experiments {

using compiler::TokenText;

std::vector<std::string> HostCalls::sizes(const std::string& text) const {
    std::string all = text;
    for (int depth = 0; depth < 8; ++depth) {
        if (const auto known = dimensions_.find(all); known != dimensions_.end())
            return known->second;
        const auto value = program_.value_of(all);
        if (!value) break;
        if (!value->starts_with("dim3 ") && value->find(' ') != value->npos) break;
        all = *value;
    }
    const TokenText tokens(all);
    if (!tokens.is(0, "dim3") && !tokens.is(0, "{")) return {text};
    const std::size_t open = tokens.is(0, "{") ? 0 : 1;
    const auto after = open < tokens.size() ? tokens.after_closing(open) : std::nullopt;
    if (after != tokens.size()) return {text};
    std::vector<std::string> found{""};
    for (std::size_t t = open + 1; t + 1 < tokens.size(); ++t) {
        if (tokens.is(t, "(") && tokens.after_closing(t)) {
            for (const std::size_t end = *tokens.after_closing(t) - 1; t < end; ++t)
                found.back() += std::string(tokens.text(t)) + " ";
        } else if (tokens.is(t, ",")) {
            found.emplace_back();
            continue;
        }
        found.back() += std::string(tokens.text(t)) + " ";
    }
    return found;
}

/// The word before the arguments of a template that end before `i`.
std::optional<std::size_t> HostCalls::kernel_before(std::size_t i) const {
    if (!text_.is(i, ">")) return text_.is_word(i) ? std::optional(i) : std::nullopt;
    int depth = 0;
    for (std::size_t steps = 0; i > 0 && steps < longest; ++steps) {
        if (text_.is(i, ">")) ++depth;
        if (text_.is(i, "<") && --depth == 0)
            return text_.is_word(i - 1) ? std::optional(i - 1) : std::nullopt;
        --i;
    }
    return std::nullopt;
}

/// The element that "kernels[1]" names, whose "]" is here. Empty: it is not known.
std::string HostCalls::element_before(std::size_t i) const {
    std::size_t open = i;
    while (open > 0 && !text_.is(open, "[") && !text_.is(open, ";")) --open;
    if (!text_.is(i, "]") || !text_.is(open, "[")) return "";
    const auto array = program_.variables.find(name_now(at(open - 1)));
    const auto index = HostValues(program_).number(words(open + 1, i));
    if (array == program_.variables.end() || !index || real(*index) < 0) return "";
    const auto& elements = array->second.elements;
    const auto k = std::size_t(real(*index));
    return k < elements.size() ? elements[k] : "";
}

void HostCalls::set_kernel(HostLaunch& launch, std::size_t kernel, std::size_t open) const {
    launch.kernel = text_.text(kernel);
    if (kernel + 1 < open) {
        launch.templates = parts(kernel + 2, open - 1);
    } else {
        name_kernel(launch, name_now(launch.kernel));
    }
    for (std::string& argument : launch.templates) argument = template_argument(argument);
}

/// A pointer to a function: its name, "&", casts, "lib::" and arguments of a template.
void HostCalls::name_kernel(HostLaunch& launch, std::string pointer) const {
    for (auto value = program_.values.find(pointer);
         value != program_.values.end() && pointer != value->second;
         value = program_.values.find(pointer)) {
        pointer = value->second;
        if (pointer.size() > longest) return;
    }
    const TokenText tokens(pointer);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        if (tokens.is_word(t) && tokens.text(t).ends_with("_cast"))
            while (t < tokens.size() && !tokens.is(t, ">")) ++t;
        if (tokens.is_word(t)) launch.kernel = tokens.text(t);
        if (!tokens.is(t, "<")) continue;
        const std::string list = pointer.substr(tokens.token(t).end);
        launch.templates = split(list.substr(0, list.rfind('>')));
        break;
    }
}

/// The value of "n++", "--n" and "n += 2" where they are arguments. The next statements have the
/// new value of n.
static std::string value_of_step(const std::string& text) {
    const TokenText tokens(text);
    const std::size_t n = tokens.size(), name = tokens.is_word(0) ? 0 : 2;
    const std::size_t sign = name == 0 ? 1 : 0;
    if (n < 3 || !tokens.is_word(name) || (!tokens.is(sign, "+") && !tokens.is(sign, "-")))
        return text;
    const bool is_twice = n == 3 && tokens.text(sign) == tokens.text(sign + 1);
    if (is_twice && name == 0) return std::string(tokens.text(name));
    if (is_twice) return fmt::format("{} {} 1", tokens.text(name), tokens.text(sign));
    if (name != 0 || n < 4 || !tokens.is(2, "=")) return text;
    return fmt::format("{} {} ( {} )", tokens.text(0), tokens.text(sign),
                       text.substr(tokens.token(3).begin));
}

/// A launch depends on an assumption where it is made, and where one of its values is.
void HostCalls::note_assumed(HostLaunch& launch) const {
    if (!assumed_.empty()) launch.assumed.insert(assumed_);
    std::set<std::string, std::less<>> seen;
    const auto follow = [&](const auto& self, const std::string& text, int depth) -> void {
        const TokenText tokens(text);
        for (std::size_t t = 0; t < tokens.size() && depth < 12; ++t) {
            if (!tokens.is_word(t) || !seen.insert(std::string(tokens.text(t))).second) continue;
            const auto assumed = assumed_of_.find(tokens.text(t));
            if (assumed != assumed_of_.end()) launch.assumed.insert(assumed->second);
            if (const auto value = program_.value_of(tokens.text(t))) self(self, *value, depth + 1);
            if (const auto array = program_.arrays.find(tokens.text(t));
                array != program_.arrays.end())
                self(self, array->second.bytes, depth + 1);
        }
    };
    if (assumed_of_.empty()) return;
    for (const auto* texts : {&launch.grid, &launch.block, &launch.arguments, &launch.templates})
        for (const std::string& text : *texts) follow(follow, text, 0);
    follow(follow, launch.shared, 0);
}

/// "streams[k]" of a loop are several streams.
void HostCalls::add_stream(const std::string& stream) {
    const bool is_default = stream.empty() || stream == "0" || stream == "nullptr" ||
                            stream == "NULL" || stream == "cudaStreamLegacy";
    program_.streams.insert(is_default ? "" : stream);
    if (stream.find('[') != stream.npos) program_.streams.insert(stream + " of another pass");
}

void HostCalls::add_launch(HostLaunch launch, std::size_t i) {
    if (const auto kernel = kernel_templates_.find(launch.kernel);
        kernel != kernel_templates_.end())
        deduce_templates(kernel->second.names, kernel->second.parameters, launch.arguments,
                         launch.templates);
    for (const std::string& argument : launch.arguments)
        launched_.insert(place_of(program_, argument).array);
    note_bad_pointers(launch, i);
    note_shared(launch, i);
    note_assumed(launch);
    program_.launches.push_back(std::move(launch));
}

/// cudaLaunchKernel(kernel, grid, block, arguments, shared, stream): the arguments are an array of
/// pointers to them, "void *arguments[] = {&a, &n}".
void HostCalls::read_launch_call(std::size_t i) {
    const auto after = text_.after_closing(i + 1);
    if (!after) return;
    const std::vector<std::string> given = parts(i + 2, *after - 1);
    if (given.size() < 4 || program_.launches.size() >= most_launches) return;
    HostLaunch launch;
    name_kernel(launch, given[0]);
    for (std::string& argument : launch.templates) argument = template_argument(argument);
    launch.grid = sizes(given[1]);
    launch.block = sizes(given[2]);
    if (given.size() > 4) launch.shared = given[4];
    add_stream(given.size() > 5 ? given[5] : "");
    const auto array = program_.variables.find(place_of(program_, given[3]).array);
    if (array != program_.variables.end())
        for (const std::string& pointer : array->second.elements) {
            const std::size_t sign = pointer.rfind("& ");
            launch.arguments.push_back(sign == pointer.npos ? pointer : pointer.substr(sign + 2));
        }
    add_launch(std::move(launch), i);
}

void HostCalls::read_launch(std::size_t open) {
    if (is_launch_call(open)) return read_launch_call(open);
    const auto kernel = kernel_before(open - 1);
    const std::string element = kernel ? "" : element_before(open - 1);
    if ((!kernel && element.empty()) || program_.launches.size() >= most_launches) return;
    HostLaunch launch;
    if (kernel)
        set_kernel(launch, *kernel, open);
    else
        name_kernel(launch, element);
    std::string stream;
    std::size_t begin = open + 3, part = 0;
    const std::size_t last = std::min(text_.size(), open + longest);
    for (std::size_t i = begin; i < last && !text_.is(i, ";"); ++i) {
        if (text_.is(i, "(") || text_.is(i, "{")) {
            const auto after = text_.after_closing(i);
            if (!after) return;
            i = *after - 1;
            continue;
        }
        const bool ends = is_three(i, ">");
        if (!ends && !text_.is(i, ",")) continue;
        const std::string value = words(begin, i);
        if (part == 0) launch.grid = sizes(value);
        if (part == 1) launch.block = sizes(value);
        if (part == 2) launch.shared = value;
        if (part == 3) stream = value;
        ++part;
        begin = i + 1;
        if (!ends) continue;
        const auto after = text_.is(i + 3, "(") ? text_.after_closing(i + 3) : std::nullopt;
        if (after && *after > i + 5) launch.arguments = parts(i + 4, *after - 1);
        for (std::string& argument : launch.arguments) argument = value_of_step(argument);
        if (after) is_harmless(open, *after);
        add_stream(stream);
        return add_launch(std::move(launch), kernel.value_or(open - 1));
    }
}

}  // namespace warpscope::experiments
