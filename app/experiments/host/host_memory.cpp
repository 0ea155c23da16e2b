#include <fmt/format.h>

#include <algorithm>

#include "experiments/host/host_calls.h"
#include "experiments/host/host_values.h"

// The memory that a host program allocates and frees.
namespace warpscope::experiments {

using compiler::TokenText;

namespace {

/// The text with `to` in place of the word `from`.
std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
    if (text.find(from) == text.npos) return text;
    const TokenText tokens(text);
    std::string all;
    for (std::size_t t = 0; t < tokens.size(); ++t)
        all += (t > 0 ? " " : "") + (tokens.is(t, from) ? to : std::string(tokens.text(t)));
    return all;
}

}  // namespace

std::string source_name(std::string_view name) {
    std::string text;
    for (std::size_t begin = 0; begin < name.size();) {
        const std::size_t end = std::min(name.find('$', begin), name.size());
        const std::string_view part = name.substr(begin, end - begin);
        const bool is_number =
            begin > 0 && part.find_first_not_of("0123456789") == std::string_view::npos;
        const bool is_copy = begin > 0 && part.starts_with("copy") && part.size() > 4;  // retire()
        if (begin > 0 && part.starts_with("at") && part.size() > 2)
            text += fmt::format("[{}]", part.substr(2));
        else if (!is_number && !is_copy)
            text += (begin > 0 ? "." : "") + std::string(part);
        begin = end + 1;
    }
    return text;
}

std::string member_of(const HostProgram& program, const std::string& object, std::size_t index,
                      const std::string& member) {
    std::string text = object;
    for (int depth = 0; depth < 8; ++depth) {
        const std::string own = text + "$" + member;
        const auto has = [&](const auto& entries) {
            const auto found = entries.lower_bound(own);
            return found != entries.end() &&
                   (found->first == own || found->first.starts_with(own + "$"));
        };
        if (!member.empty() && (has(program.values) || has(program.arrays))) return own;
        const TokenText tokens(text);
        std::size_t open = 0;
        while (open < tokens.size() && !tokens.is(open, "{") && !tokens.is(open, "(")) ++open;
        if (tokens.is(open, "{") && tokens.after_closing(open) == tokens.size()) {
            const std::size_t begin = tokens.token(open).end;
            const std::string list =
                text.substr(begin, tokens.token(tokens.size() - 1).begin - begin);
            const std::vector<std::string> given = HostCalls::split(list);
            return index < given.size() && !given[index].empty() ? given[index] : "0";
        }
        const bool is_call = tokens.is(1, "(") && tokens.size() == 3;
        const auto value =
            is_call || tokens.size() == 1 ? program.value_of(tokens.text(0)) : std::nullopt;
        if (!value) break;
        text = *value;
    }
    return object + "$" + member;
}

/// The line of the file, or 0 in a header.
int HostCalls::line_of(std::size_t i) const {
    const std::string_view before = source_.substr(0, text_.token(i).begin);
    return std::max(0, 1 + int(std::ranges::count(before, '\n')) - own_);
}

/// Empty: the text names no pointer.
std::string HostCalls::array_of(const std::string& pointer) const {
    const std::string name = own_name(name_in(pointer));
    return is_member(name) && program_.arrays.contains(name) ? name
                                                             : place_of(program_, pointer).array;
}

void HostCalls::allocate(const std::string& pointer, const std::string& bytes) {
    HostPlace place = place_of(program_, pointer);
    if (const std::string name = own_name(name_in(pointer)); is_member(name)) place.array = name;
    if (place.array.empty()) return;
    // "&rows[k]" of an array of pointers
    if (const auto rows = program_.variables.find(place.array);
        !place.offset.empty() && rows != program_.variables.end() &&
        rows->second.pointers + rows->second.extents.size() > 1)
        place.array = fmt::format("{}[ {} ]", place.array, place.offset);
    // Another array for a pointer that had one.
    if (program_.arrays.contains(place.array) &&
        (launched_.contains(place.array) || freed_.contains(place.array))) {
        const auto word =
            std::ranges::find(scope_, place.array, [](const auto& one) { return one.second; });
        if (word != scope_.end() && !is_member(place.array))
            place.array = made(std::string(word->first));
        else
            retire(place.array);
    }
    program_.arrays[place.array] = {bytes, ""};
    // The memory behind a name of the file may be written by functions that are not followed.
    const std::string word = place.array.substr(0, place.array.find('$'));
    if (is_member(place.array) || place.array.find('[') != place.array.npos ||
        file_scope_.contains(word))
        touched_.insert(place.array);
}

void HostCalls::touch(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        if (!text_.is_word(i) || harmless_.contains(i)) continue;
        const std::string name = name_now(text_.text(i));
        if (const auto variable = program_.variables.find(name);
            variable != program_.variables.end())
            variable->second.is_unset = false;
        const std::string array = place_of(program_, name).array;
        const bool is_address = i > 0 && text_.is(i - 1, "&");  // before its allocation, too
        if (is_address || program_.arrays.contains(array)) touched_.insert(array);
    }
}

void HostCalls::forget_written() {
    const auto is_in_macro = [&](std::string_view word) {
        for (std::size_t i = 0; i < text_.size(); ++i)
            if (text_.is_directive(i) && text_.text(i).find(word) != std::string_view::npos)
                return true;
        return false;
    };
    for (auto& [name, array] : program_.arrays)
        if (touched_.contains(name) || is_in_macro(name.substr(0, name.find('$'))))
            array.written.clear();
}

std::string HostCalls::free_name(const std::string& name) const {
    for (int k = 2;; ++k)
        if (std::string free = fmt::format("{}${}", name, k);
            !program_.values.contains(free) && !program_.arrays.contains(free))
            return free;
}

/// Puts `to` in the place of a name in all texts. A method that returns an expression with the name
/// goes on with it, but what it has returned until now has another name.
void HostCalls::rename(const std::string& name, const std::string& to) {
    const auto change = [&](std::string& text) { text = renamed(text, name, to); };
    std::vector<std::pair<std::string, std::string>> returned;
    for (auto& [key, text] : program_.values) {
        if (!methods_.contains(key))
            change(text);
        else if (std::string old = renamed(text, name, to); old != text && key != name)
            returned.emplace_back(key, std::move(old));
    }
    for (auto& [key, array] : program_.arrays) {
        change(array.bytes);
        change(array.fill);
    }
    for (HostLaunch& launch : program_.launches) {
        for (auto* texts : {&launch.arguments, &launch.grid, &launch.block})
            for (std::string& text : *texts) change(text);
        change(launch.shared);
    }
    for (auto& [method, old] : returned) {
        const std::string free = free_name(method);
        program_.values[free] = std::move(old);
        rename(method, free);
    }
}

void HostCalls::retire(const std::string& name, std::string* value) {
    constexpr int most = 200;
    if (++retired_ > most) return;
    const std::string old = free_name(name);
    const auto move = [&](auto& entries) {
        if (auto entry = entries.extract(name)) {
            entry.key() = old;
            entries.insert(std::move(entry));
        }
    };
    move(program_.values);
    move(program_.arrays);
    move(freed_);
    if (const auto variable = program_.variables.find(name); variable != program_.variables.end())
        program_.variables[old] = variable->second;
    if (launched_.erase(name) > 0) launched_.insert(old);
    if (value) *value = renamed(*value, name, old);
    rename(name, old);
    // What was copied of an object that has this member keeps the old one.
    for (std::size_t end = name.rfind('$'); end != name.npos && end > 0;
         end = name.rfind('$', end - 1)) {
        const std::string object = name.substr(0, end), member = name.substr(end);
        std::string copy;
        const auto keep = [&](std::string& text) {
            if (text != object) return;
            if (copy.empty()) {
                copy = fmt::format("{}$copy{}", object, retired_);
                copies_[object].insert(copy);
            }
            text = copy;
        };
        for (HostLaunch& launch : program_.launches)
            for (std::string& text : launch.arguments) keep(text);
        for (const std::string& symbol : symbols_) keep(program_.arrays[symbol].fill);
        if (!copy.empty()) program_.values[copy] = object;
        for (const std::string& one : copies_[object])
            program_.values.try_emplace(one + member, old);
    }
}

void HostCalls::set_member(const std::string& name, std::string value) {
    const auto known = program_.values.find(name);
    const bool changes = known != program_.values.end() && known->second != value;
    if (is_member(name) && (changes || program_.arrays.contains(name))) retire(name, &value);
    program_.values[name] = std::move(value);
}

void HostCalls::free_array(std::size_t i, const std::string& pointer) {
    const std::string name = array_of(pointer);
    const auto array = program_.arrays.find(name);
    const bool is_here = i < lambda_.first || i >= lambda_.second;
    if (array == program_.arrays.end() || array->second.bytes.empty() || !is_here) return;
    freed_[name] = {line_of(i), !swapped_.contains(name)};
}

/// CUDA refuses a call or a launch of this program.
void HostCalls::add_fault(std::size_t i, const std::string& kernel, std::string sentence) {
    const int line = line_of(i);
    const bool is_known = std::ranges::any_of(program_.faults, [&](const HostFault& other) {
        return other.line == line && other.sentence == sentence;
    });
    if (!is_known && depth_of_doubt_ == 0)
        program_.faults.push_back({kernel, line, std::move(sentence), true});
}

/// More bytes than an array of the device has are an error of the call.
void HostCalls::check_size(std::size_t i, const HostPlace& place, const std::string& bytes) {
    const HostArray* const array = find_array(program_, place.array);
    if (!array || array->bytes.empty() || !place.offset.empty() || !owner_of(place.array).empty())
        return;
    const HostValues values(program_);
    const auto size = values.number(array->bytes), count = values.number(bytes);
    if (size && count && real(*count) > real(*size))
        add_fault(
            i, "",
            fmt::format("{}() fails: it is to copy {} bytes, and {} has {} bytes.", text_.text(i),
                        to_string(*count), source_name(place.array), to_string(*size)));
}

/// A call writes this many bytes. False: it may write other bytes than the first ones of an array.
bool HostCalls::write(std::size_t i, const std::string& pointer, const std::string& bytes) {
    const HostPlace place = place_of(program_, pointer);
    check_size(i, place, bytes);
    const auto array = program_.arrays.find(place.array);
    if (array == program_.arrays.end()) return false;
    // A launch that was read before may come after this call, in another pass of a loop.
    const bool is_first = array->second.written == "0" && !launched_.contains(place.array);
    array->second.written = is_first && place.offset.empty() && depth_of_doubt_ == 0 ? bytes : "";
    return place.offset.empty();
}

}  // namespace warpscope::experiments
