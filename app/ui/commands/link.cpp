#include "ui/commands/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <functional>
#include <map>

#include "compute/device/enum_words.h"

namespace warpscope::ui {
namespace {

/// Characters that an address may have as they are after '#', without those that divide a link.
bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~,@:/").find(c) != std::string_view::npos;
}

std::string encoded(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", unsigned(std::uint8_t(c)));
    return out;
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned code = 0;
        const char *digits = text.data() + i + 1, *end = digits + 2;
        const bool coded = text[i] == '%' && i + 2 < text.size() &&
                           std::from_chars(digits, end, code, 16).ptr == end;
        out += coded ? char(code) : text[i];
        if (coded) i += 2;
    }
    return out;
}

template <class Enum>
void read_word(Enum& value, std::string_view text) {
    value = compute::parse<Enum>(text);
}

void read_word(std::uint64_t& value, std::string_view text) {
    std::uint64_t read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error == std::errc() && end == text.data() + text.size()) value = read;
}

template <class Value>
std::string setting_word(const Value& value) {
    if constexpr (std::is_enum_v<Value>)
        return std::string(compute::name(value));
    else
        return std::to_string(value);
}

/// Calls `visit` with the name and the value of each setting of a run that a link has.
template <class Run, class Visit>
void for_each_setting(Run& run, Visit&& visit) {
    visit("run.math", run.math);
    visit("run.schedule", run.schedule);
    visit("run.seed", run.seed);
    visit("run.barriers", run.barriers);
    visit("run.landing", run.landing);
}

void read_setting(Link& link, const std::string& id, const std::string& text) {
    if (id == "microscope") {
        link.microscope = read_place(text);
        return;
    }
    if (!id.starts_with("run.")) return link.values.push_back({id, text});
    for_each_setting(link.run, [&](std::string_view name, auto& value) {
        try {
            if (name == id) read_word(value, text);
        } catch (const std::exception&) {
            // It stays at its default.
        }
    });
}

}  // namespace

std::string link_text(const Stage& stage, const Microscope& microscope) {
    const experiments::Entry& entry = stage.entry();
    std::string out = encoded(entry.launch_file.empty() ? entry.id : entry.launch_file);
    char divider = '?';
    const auto add = [&](std::string_view name, std::string_view value) {
        out += fmt::format("{}{}={}", std::exchange(divider, '&'), name, encoded(value));
    };
    for (const auto& [id, value] : stage.parameters().assignments(false)) add(id, value);
    std::map<std::string_view, std::string> defaults;
    const compute::RunSettings usual;
    for_each_setting(usual, [&](std::string_view name, const auto& value) {
        defaults[name] = setting_word(value);
    });
    for_each_setting(stage.run(), [&](std::string_view name, const auto& value) {
        if (setting_word(value) != defaults[name]) add(name, setting_word(value));
    });
    if (microscope.is_open())
        if (const auto place = microscope.place()) add("microscope", place->text());
    return out;
}

Link read_link(std::string_view text) {
    Link link;
    const std::size_t question = std::min(text.find('?'), text.size());
    link.experiment = decoded(text.substr(0, question));
    text.remove_prefix(std::min(question + 1, text.size()));
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view word = text.substr(0, end);
        const std::size_t equals = word.find('=');
        if (equals != std::string_view::npos)
            read_setting(link, decoded(word.substr(0, equals)), decoded(word.substr(equals + 1)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return link;
}

}  // namespace warpscope::ui
