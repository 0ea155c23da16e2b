#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "experiments/host/host_calls.h"
#include "experiments/host/host_values.h"

// Pointers that a launch passes and that lead to no memory of the device.
namespace warpscope::experiments {

using compiler::TokenText;

/// The arrays to which an object has pointers, by the names of these.
std::vector<std::string> HostCalls::arrays_in(std::string object) const {
    std::vector<std::string> found;
    for (int depth = 0; depth < 8 && !object.empty(); ++depth) {
        const std::string first = object + "$";
        for (auto one = program_.values.lower_bound(first);
             one != program_.values.end() && one->first.starts_with(first); ++one)
            if (is_member(one->first)) found.push_back(one->first);
        for (auto one = program_.arrays.lower_bound(first);
             one != program_.arrays.end() && one->first.starts_with(first); ++one)
            if (is_member(one->first)) found.push_back(one->first);
        object = name_in(program_.value_of(object).value_or(""));
    }
    return found;
}

/// Whether the program makes memory of the host known to the device, or has a `new` of its own.
bool HostCalls::shares_host_memory() const {
    for (std::size_t i = 0; i < text_.size(); ++i)
        if (text_.is(i, "cudaHostRegister") || text_.is(i, "cuMemHostRegister") ||
            (text_.is(i, "operator") && text_.is(i + 1, "new")))
            return true;
    return false;
}

/// What has allocated memory that only the host can use: "malloc()", "std::vector". Empty: the
/// device may have this memory, too.
std::string HostCalls::owner_of(const std::string& array) const {
    if (shares_host_memory_) return "";
    const auto variable = program_.variables.find(array);
    if (variable != program_.variables.end() && !variable->second.owner.empty())
        return variable->second.owner;
    const HostArray* const memory = find_array(program_, array);
    const auto value = program_.values.find(array);
    if (value == program_.values.end() || (memory && !memory->bytes.empty())) return "";
    const TokenText tokens(value->second);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        if (tokens.is(t, "new")) return "new";
        const bool is_call = tokens.is(t, "malloc") || tokens.is(t, "calloc") ||
                             tokens.is(t, "realloc") || tokens.is(t, "aligned_alloc");
        if (is_call && tokens.is(t + 1, "(")) return fmt::format("{}()", tokens.text(t));
        // Before the call there are only the words and signs of casts.
        const bool is_cast = tokens.is_word(t) || tokens.is(t, "(") || tokens.is(t, ")") ||
                             tokens.is(t, "*") || tokens.is(t, "<") || tokens.is(t, ">") ||
                             tokens.is(t, ":");
        if (!is_cast) return "";
    }
    return "";
}

/// nullopt: it leads to memory of the device, or nobody knows where it leads.
std::optional<HostBadPointer> HostCalls::bad_pointer(const std::string& pointer) const {
    using Memory = HostBadPointer::Memory;
    HostBadPointer found{.name = source_name(name_in(pointer))};
    const std::string array = place_of(program_, pointer).array;
    if (const auto freed = freed_.find(array); freed != freed_.end()) {
        found.line = freed->second.line;
        found.certain = freed->second.certain;
        return found;
    }
    if (array.empty() || pointer.starts_with('*')) return std::nullopt;
    found.certain = !uncertain_.contains(array);
    found.owner = owner_of(array);
    found.memory = found.owner.empty() ? Memory::none : Memory::of_host;
    if (!found.owner.empty()) return found;
    const auto variable = program_.variables.find(array);
    const bool is_unset = variable != program_.variables.end() && variable->second.is_unset &&
                          !program_.arrays.contains(array) && !program_.values.contains(array);
    return is_unset ? std::optional(found) : std::nullopt;
}

/// Lists the arguments of a launch, and the variables of the device, that are bad pointers.
void HostCalls::note_bad_pointers(HostLaunch& launch, std::size_t i) const {
    std::set<std::tuple<std::string, std::size_t, std::string>> known;
    const auto add = [&](const std::string& pointer, const HostBadPointer& of) {
        auto found = bad_pointer(pointer);
        const std::string array = place_of(program_, pointer).array;
        if (!found || !known.insert({of.variable, of.argument, array}).second) return;
        found->variable = of.variable;
        found->argument = of.argument;
        found->launch = line_of(i);
        launch.bad_pointers.push_back(std::move(*found));
    };
    const auto add_all = [&](const std::string& text, const HostBadPointer& of) {
        add(text, of);
        if (text.find(' ') == text.npos)
            for (const std::string& pointer : arrays_in(text)) add(pointer, of);
        for (std::size_t m = 0; m < 16; ++m)
            if (const std::string member = member_of(program_, text, m, ""); !member.ends_with('$'))
                add(member, of);
    };
    for (std::size_t a = 0; a < launch.arguments.size(); ++a)
        add_all(launch.arguments[a], {.argument = a});
    for (const std::string& symbol : symbols_) {
        const HostArray* const array = find_array(program_, symbol);
        std::string text = array ? array->fill : "";
        if (text.starts_with("& ")) text.erase(0, 2);
        if (!text.empty()) add_all(text, {.variable = symbol});
    }
}

/// A launch fails that asks for more dynamic shared memory than a kernel has without an attribute.
void HostCalls::note_shared(const HostLaunch& launch, std::size_t i) {
    constexpr double most = 48 * 1024;
    const auto bytes = HostValues(program_).number(launch.shared);
    if (!bytes || real(*bytes) <= most) return;
    for (std::size_t t = 0; t < text_.size(); ++t)
        if (at(t).find("FuncSetAttribute") != std::string_view::npos) return;  // also in a macro
    add_fault(i, launch.kernel,
              fmt::format("The launch of {} fails: it asks for {} bytes of dynamic shared memory, "
                          "and more than 49152 need cudaFuncSetAttribute() with "
                          "cudaFuncAttributeMaxDynamicSharedMemorySize.",
                          launch.kernel, to_string(*bytes)));
}

}  // namespace warpscope::experiments
