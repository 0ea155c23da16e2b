#include "experiments/host/host_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpscope::experiments {
namespace {

using compiler::SourceToken;
using compiler::TokenText;

/// Calls that allocate, fill or copy arrays, or ask for the device's limits.
constexpr std::array<std::string_view, 36> known_calls{
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeHost",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyFromSymbolAsync",
    "cudaMallocArray",
    "cudaMemcpyToArray",
    "cudaMemcpyToArrayAsync",
    "cudaMemcpy2DToArray",
    "cudaMemcpy2DToArrayAsync",
    "cudaCreateTextureObject",
    "cudaCreateSurfaceObject",
    "cudaDeviceGetAttribute",
    "cudaOccupancyMaxPotentialBlockSize",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaMalloc",
    "cudaMallocManaged",
    "cudaMallocHost",
    "cudaHostAlloc",
    "cudaMallocAsync",
    "cudaMallocPitch",
    "cudaMemset",
    "cudaMemsetAsync",
    "memset",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "memcpy",
    "cudaMemcpyToSymbol",
    "cudaMemcpyToSymbolAsync",
    "fill",
    "fill_n",
    "iota",
    "swap",
    "vector",
    "device_vector",
    "host_vector"};

/// Calls that write into an array what only a run of the program knows.
constexpr std::array<std::string_view, 4> reading_calls{"fread", "read", "fgets", "getline"};

}  // namespace

bool HostCalls::is_known_call(std::size_t i) const {
    return text_.is_word(i) && std::ranges::find(known_calls, text_.text(i)) != known_calls.end();
}

void HostCalls::enter_file() {
    if (in_file_) {
        file_scope_ = scope_;
        for (const auto& [word, name] : scope_) program_.of_file.insert(name);
        shares_host_memory_ = shares_host_memory();
    }
    in_file_ = false;
    scope_ = file_scope_;
}

bool HostCalls::is_three(std::size_t i, const char* sign) const {
    return text_.is(i, sign) && text_.is(i + 1, sign) && text_.is(i + 2, sign) &&
           text_.token(i + 2).begin == text_.token(i).begin + 2;
}

std::string HostCalls::name_now(std::string_view word) const {
    const auto found = scope_.find(word);
    return found == scope_.end() ? std::string(word) : found->second;
}

/// The first name of a word is the word.
std::string HostCalls::next_name(const std::string& word) const {
    const auto known = made_.find(word);
    return known == made_.end() ? word : fmt::format("{}${}", word, known->second + 1);
}

std::string HostCalls::made(const std::string& word) {
    const std::string name = next_name(word);
    ++made_[word];
    const auto known = scope_.find(word), of_file = file_scope_.find(word);
    if (known != scope_.end() && of_file != file_scope_.end() && known->second == of_file->second)
        of_file->second = name;
    scope_[word] = name;
    return name;
}

/// A variable of the file may be one of the device, `__managed__`: then it is an array of one
/// element.
void HostCalls::assign(const std::string& word, std::string value) {
    const std::string now = name_now(word), name = is_member(now) ? now : made(word);
    const auto variable = program_.variables.find(word);
    if (file_scope_.contains(word) && variable != program_.variables.end() &&
        variable->second.pointers == 0 && !in_file_)
        fill(word, value);
    if (value.starts_with("dim3 (")) return set_dimensions(name, sizes(value));
    if (depth_of_doubt_ > 0) uncertain_.insert(name);
    set_member(name, std::move(value));
}

/// #define NAME value, #define NAME(a, b) value
void HostCalls::read_macro(std::string_view directive) {
    const TokenText tokens(directive.substr(1));
    if (tokens.size() < 3 || !tokens.is(0, "define") || !tokens.is_word(1)) return;
    const std::string name(tokens.text(1));
    std::size_t begin = 2;
    HostFunction function;
    const bool has_parameters = tokens.is(2, "(") && tokens.token(2).begin == tokens.token(1).end;
    if (has_parameters) {
        begin = tokens.after_closing(2).value_or(tokens.size());
        for (std::size_t t = 3; t + 1 < begin; ++t)
            if (tokens.is_word(t)) function.parameters.emplace_back(tokens.text(t));
    }
    for (std::size_t t = begin; t < tokens.size(); ++t)
        function.value += (t > begin ? " " : "") + std::string(tokens.text(t));
    if (function.value.empty()) return;
    if (has_parameters)
        program_.functions[name] = std::move(function);
    else
        assign(name, std::move(function.value));
}

void HostCalls::read_values(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
        if (text_.is_word(i)) read_value(i);
}

void HostCalls::read_value(std::size_t i) {
    const auto at_beginning = [&] {
        const bool is_head = i > 1 && text_.is(i - 1, "(") &&
                             (text_.is(i - 2, "for") || text_.is(i - 2, "if") ||
                              text_.is(i - 2, "while") || text_.is(i - 2, "switch"));
        return i == 0 || is_head || text_.is_directive(i - 1) || text_.is(i - 1, ";") ||
               text_.is(i - 1, "{") || text_.is(i - 1, "}");
    };
    if (text_.is(i, "dim3")) return read_dimensions(i + 1);
    if (at_beginning()) declare(i);
    if (text_.is(i + 1, ".") && text_.is_word(i + 2) && text_.is(i + 3, "(")) return call_member(i);
    const bool is_member =
        i > 1 && (text_.is(i - 1, ".") || (text_.is(i - 1, ">") && text_.is(i - 2, "-")));
    if (is_member) return;  // it was read with its object
    if (i > 0 && text_.is(i - 1, "*") && text_.is(i + 1, "=") && !text_.is(i + 2, "=") &&
        (i < 2 || text_.is(i - 2, ";") || text_.is(i - 2, "{") || text_.is(i - 2, "}")))
        return fill(name_now(text_.text(i)), words(i + 2, end_of_value(i + 2)));
    if (read_member_value(i)) return;
    if (text_.is(i + 1, "[")) return read_element(name_now(text_.text(i)), i + 1);
    const std::string name(text_.text(i));
    if (text_.is(i + 1, "=") && !text_.is(i + 2, "=")) {
        std::size_t end = end_of_value(i + 2);
        while (i > 0 && text_.is(i - 1, "using") && text_.is(end, ",")) end = end_of_value(end + 1);
        return assign(name, words(i + 2, end));
    }
    static constexpr std::string_view signs = "+-*/%";
    const bool has_sign = i + 2 < text_.size() && signs.find(at(i + 1)) != signs.npos;
    if (has_sign && text_.is(i + 2, "="))
        return change(name, fmt::format("( {} ) {} ( {} )", name_now(name), text_.text(i + 1),
                                        words(i + 3, end_of_value(i + 3))));
    const bool is_counted_before =  // "++n"
        i > 2 && at(i - 1) == at(i - 2) && (text_.is(i - 1, "+") || text_.is(i - 1, "-")) &&
        !text_.is_word(i - 3) && !text_.is(i - 3, ")") && !text_.is(i - 3, "]");
    if (is_counted_before && !is_counter(name))
        return change(name, fmt::format("{} {} 1", name_now(name), text_.text(i - 1)));
    const bool counts = has_sign && (text_.is(i + 1, "+") || text_.is(i + 1, "-")) &&
                        text_.text(i + 2) == text_.text(i + 1);
    if (counts && !is_counter(name))
        return change(name, fmt::format("{} {} 1", name_now(name), text_.text(i + 1)));
}

void HostCalls::change(const std::string& word, std::string value) {
    const std::string now = name_now(word);
    if (depth_of_loops_ > 0) changed_.push_back(is_member(now) ? now : word);
    assign(word, std::move(value));
}

/// "p.n += 2", "p.n++"
bool HostCalls::change_member(const std::string& name, std::size_t sign) {
    static constexpr std::string_view signs = "+-*/%";
    if (sign + 1 >= text_.size() || signs.find(at(sign)) == signs.npos) return false;
    const bool counts = at(sign) == at(sign + 1) && (text_.is(sign, "+") || text_.is(sign, "-"));
    if (!counts && !text_.is(sign + 1, "=")) return false;
    if (depth_of_loops_ > 0) changed_.push_back(name);
    const std::string by = counts ? "1" : words(sign + 2, end_of_value(sign + 2));
    set_member(name, fmt::format("( {} ) {} ( {} )", name, at(sign), by));
    return true;
}

/// "p.n = value", "p.rows[2].n = value", "p.taps[2] = value"
bool HostCalls::read_member_value(std::size_t i) {
    std::size_t last = i;
    const std::string owner = name_now(text_.text(i));
    const std::string member = member_at(last, text_.size());
    if (last == i) return false;
    std::string element = element_behind(last);
    const std::string word(text_.text(last));
    std::size_t sign = last + 1;
    if (text_.is(sign, "[")) {
        if (element.empty()) element = "$at";  // in a loop: all of them
        sign = text_.after_closing(sign).value_or(text_.size());
    }
    if (change_member(own_name(member + element), sign)) return true;
    if (!text_.is(sign, "=") || text_.is(sign + 1, "=")) return false;
    if (!element.empty()) read_element(own_name(member), last + 1);
    const std::string value = words(sign + 1, end_of_value(sign + 1));
    if (const auto known = dimensions_.find(owner); known != dimensions_.end()) {
        const std::size_t d = word == "x" ? 0 : word == "y" ? 1 : 2;
        std::vector<std::string> sizes = known->second;
        sizes.resize(std::max(sizes.size(), d + 1), "1");
        sizes[d] = value;
        set_dimensions(made(std::string(text_.text(i))), std::move(sizes));
    } else {
        set_member(own_name(member + element), value);
    }
    return true;
}

/// "grid(8), block(32, 8)", "grid = dim3(8)", "grid"
void HostCalls::read_dimensions(std::size_t i) {
    while (text_.is_word(i)) {
        const std::string name(text_.text(i));
        shadow(name);
        std::size_t end = i + 1;
        if (text_.is(end, "(") || text_.is(end, "{")) {
            const auto after = text_.after_closing(end);
            if (!after) return;
            set_dimensions(made(name), parts(end + 1, *after - 1));
            end = *after;
        } else if (text_.is(end, "=")) {
            end = end_of_value(i + 2);
            auto values = sizes(words(i + 2, end));
            set_dimensions(made(name), std::move(values));
        } else if (text_.is(end, ";") || text_.is(end, ",")) {
            set_dimensions(made(name), {"1"});
        }
        if (!text_.is(end, ",")) return;
        i = end + 1;
    }
}

void HostCalls::set_dimensions(const std::string& name, std::vector<std::string> sizes) {
    for (std::size_t d = 0; d < 3; ++d)
        program_.values[name + "$" + "xyz"[d]] = d < sizes.size() ? sizes[d] : "1";
    dimensions_[name] = std::move(sizes);
}

std::vector<std::pair<std::string, std::string>> HostCalls::counters_in(
    const std::string& index) const {
    const TokenText tokens(index);
    const auto is_counter = [&](std::size_t t) {
        return tokens.is_word(t) && std::ranges::find(loops_, tokens.text(t)) != loops_.end();
    };
    const auto name = [&](std::size_t t) { return std::string(tokens.text(t)); };
    const bool is_stepped = tokens.size() == 3 && tokens.text(1) == tokens.text(2);  // "[i++]"
    if ((tokens.size() == 1 || is_stepped) && is_counter(0)) return {{name(0), "$i"}};
    const std::size_t last = tokens.size() - 1;
    if (tokens.size() == 5 && is_counter(0) && tokens.is(1, "*") && tokens.is(3, "+") &&
        is_counter(last))
        return {{name(0), fmt::format("( $i / {} )", name(2))},
                {name(last), fmt::format("( $i % {} )", name(2))}};
    return {};
}

/// "h[i] = value"
void HostCalls::read_element(const std::string& name, std::size_t open) {
    const auto after = text_.after_closing(open);
    if (!after || !text_.is(*after, "=") || text_.is(*after + 1, "=")) return;
    const std::string index = words(open + 1, *after - 1);
    const auto counters = counters_in(index);
    const std::string value = words(*after + 1, end_of_value(*after + 1));
    const bool is_list = value.starts_with('{') || value.starts_with('"');
    if (is_list && program_.variables.contains(name)) return;  // its declaration
    if (index.size() == 1 && std::isdigit(index[0]) != 0) {
        auto& elements = program_.variables[name].elements;
        elements.resize(std::max(elements.size(), std::size_t(index[0] - '0') + 1));
        elements[std::size_t(index[0] - '0')] = value;
    }
    if (counters.empty()) return fill(name, "");
    std::string filled;
    const TokenText tokens(value);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        const auto found =
            std::ranges::find(counters, tokens.text(t), [](const auto& one) { return one.first; });
        filled += (t > 0 ? " " : "");
        filled += found == counters.end() ? tokens.text(t) : std::string_view(found->second);
    }
    fill(name, filled);
}

void HostCalls::fill(const std::string& pointer, const std::string& value) {
    const HostPlace place = place_of(program_, pointer);
    if (place.array.empty() || launched_.contains(place.array)) return;
    program_.arrays[place.array].fill = place.offset.empty() ? value : "";
}

void HostCalls::copy(const std::string& to, const std::string& from) {
    const HostPlace place = place_of(program_, from);
    const HostArray* const source = find_array(program_, place.array);
    // "& n": a number, or a pointer, which is then the address of an array.
    if (from.starts_with("& ") && place.offset.empty() && (!source || !source->bytes.empty()))
        return fill(to, source ? from : place.array);
    if (const auto text = text_of(program_, from); text && !source)
        return fill(to, letters_of(*text));
    fill(to, source && place.offset.empty() ? source->fill : "");
}

void HostCalls::read_call(std::size_t i) {
    const std::string_view call = text_.text(i);
    const bool reads = std::ranges::find(reading_calls, call) != reading_calls.end();
    if ((!is_known_call(i) && !reads) || !text_.is(i + 1, "(")) return;
    const auto after = text_.after_closing(i + 1);
    if (!after || *after == i + 3) return;
    const std::vector<std::string> given = parts(i + 2, *after - 1);
    if (call.starts_with("cudaFree")) {
        is_harmless(i, *after);
        return free_array(i, given[0]);
    }
    if (given.size() < 2) return;
    const auto answer = [&](std::size_t argument, std::string value) {
        const std::string& text = given[argument];
        program_.values[own_name(name_in(text))] = std::move(value);
    };
    if (reads) {
        for (const std::string& array : given) fill(array, "");
    } else if (call == "cudaDeviceGetAttribute") {
        if (auto limit = device_limit(given[1])) answer(0, *limit);
    } else if (call == "cudaOccupancyMaxPotentialBlockSize") {
        answer(0, *device_limit("multiProcessorCount"));
        answer(1, *device_limit("maxThreadsPerBlock"));
    } else if (call == "cudaOccupancyMaxActiveBlocksPerMultiprocessor") {
        answer(0, "1");
    } else if (read_texture_call(call, given)) {
        return;
    } else if (call.starts_with(
                   "cudaMemcpyFromSymbol")) {  // a number, or the address of a function
        const std::string name = own_name(name_in(given[0]));
        const auto word =
            std::ranges::find(scope_, name, [](const auto& one) { return one.second; });
        if (!given[0].starts_with("& ") || given[1].find(' ') != std::string::npos)
            fill(given[0], "");
        else if (word != scope_.end())
            assign(std::string(word->first), given[1]);
        else
            answer(0, given[1]);
    } else if (call == "cudaMallocPitch" && given.size() == 4) {
        // CUDA promises no pitch; GPUs begin rows at multiples of 512 bytes.
        const std::string pitch = fmt::format("( ( {} ) + 511 ) / 512 * 512", given[2]);
        allocate(given[0], fmt::format("( {} ) * ( {} )", pitch, given[3]));
        is_harmless(i, *after);
        if (given[1].starts_with("& ")) program_.values[given[1].substr(2)] = pitch;
    } else if (call.starts_with("cudaMalloc") || call == "cudaHostAlloc") {
        allocate(given[0], given[1]);
        is_harmless(i, *after);
        const bool is_raw = call == "cudaMalloc" || call == "cudaMallocAsync";
        if (const auto array = program_.arrays.find(array_of(given[0]));
            is_raw && array != program_.arrays.end())
            array->second.written = "0";
    } else if (call.ends_with("memset") || call.starts_with("cudaMemset")) {
        if (call.starts_with("cuda") && given.size() > 2 && write(i, given[0], given[2]))
            is_harmless(i, *after);
        fill(given[0], fmt::format("memset ( {} )", given[1]));
    } else if (call.starts_with("cudaMemcpy") || call == "memcpy") {
        if (call.starts_with("cudaMemcpyToSymbol")) symbols_.insert(given[0]);
        const auto all = ranges(i + 2, *after - 1);  // of the second array it only reads
        if (all.size() > 3 && !given[1].starts_with("& ")) is_harmless(all[1].first, all[1].second);
        if (all.size() > 3 && (call == "cudaMemcpy" || call == "cudaMemcpyAsync")) {
            check_size(i, place_of(program_, given[1]), given[2]);
            is_harmless(all[2].first, all[2].second);
            if (write(i, given[0], given[2])) is_harmless(all[0].first, all[0].second);
        }
        copy(given[0], given[1]);
        forget_argument(all[0], false);
    } else if (call == "fill" && given.size() == 3) {
        fill(given[0], given[2]);
    } else if (call == "fill_n" && given.size() == 3) {
        fill(given[0], given[2]);
    } else if (call == "iota" && given.size() == 3) {
        fill(given[0], fmt::format("( {} ) + $i", given[2]));
    } else if (call == "swap") {
        const std::string a(at(i + 2)), b(at(i + 4));
        const std::string was = name_now(a);
        scope_[a] = name_now(b);
        scope_[b] = was;
        if (depth_of_loops_ > 0) swapped_.insert({scope_[a], scope_[b]});
    }
}

}  // namespace warpscope::experiments
