#include "ui/language/language.h"

#include <fmt/args.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "compute/device/number_text.h"
#include "files/text.h"
#include "files/uncompressed.h"

namespace warpscope::ui {

/// The catalogues that are built in: "zh.po".
std::string_view catalogue(std::string_view name);

namespace {

std::atomic<Language> chosen_language{Language::english};

/// Returns the text between the quotes of a line of a .po file.
std::string unquoted(std::string_view line, int number) {
    const std::size_t begin = line.find('"'), end = line.rfind('"');
    if (begin == end || begin == std::string_view::npos)
        throw std::runtime_error(fmt::format("line {}: a text in quotes is missing", number));
    std::string text;
    for (std::size_t i = begin + 1; i < end; ++i) {
        const bool escaped = line[i] == '\\' && i + 1 < end;
        if (!escaped)
            text += line[i];
        else
            text += line[++i] == 'n' ? '\n' : line[i];
    }
    return text;
}

const Catalogue& catalogue_of(Language language) {
    static const std::array<Catalogue, std::size(languages)> all = [] {
        std::array<Catalogue, std::size(languages)> read;
        for (const LanguageName& one : languages)
            read[std::size_t(one.language)] =
                read_catalogue(files::uncompressed(catalogue(std::string(one.code) + ".po")));
        return read;
    }();
    return all[std::size_t(language)];
}

/// The translation; null where there is none.
const std::string* find(std::string_view english) {
    if (language() == Language::english) return nullptr;
    const Catalogue& entries = catalogue_of(language());
    const auto found = entries.find(english);
    return found == entries.end() ? nullptr : &found->second;
}

}  // namespace

Language language() {
    return chosen_language;
}

void set_language(Language chosen) {
    chosen_language = chosen;
}

const LanguageName& name_of(Language language) {
    return languages[std::size_t(language)];
}

std::string characters_of(Language language) {
    std::string all = name_of(language).name;
    for (const auto& [english, translation] : catalogue_of(language)) all += translation;
    return all;
}

Language language_of(std::string_view code) {
    for (const LanguageName& one : languages) {
        const std::string_view rest = code.substr(0, one.code.size()) == one.code
                                          ? code.substr(one.code.size())
                                          : std::string_view("none");
        if (rest.empty() || rest[0] == '_' || rest[0] == '-' || rest[0] == '.' || rest[0] == ':')
            return one.language;
    }
    return Language::english;
}

Language language_of_locale() {
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
        const char* locale = std::getenv(name);
        if (!locale || !*locale) continue;
        const std::string_view said = locale;
        if (said == "C" || said == "POSIX" || said.starts_with("C.")) return Language::english;
        // As in GNU gettext, LANGUAGE goes before a locale that is not C.
        const char* list = std::getenv("LANGUAGE");
        return language_of(list && *list ? list : said);
    }
    return Language::english;
}

Catalogue read_catalogue(std::string_view text) {
    Catalogue entries;
    std::string id, translation, *part = nullptr;
    const auto keep = [&] {
        if (!id.empty() && !translation.empty()) entries.emplace(id, translation);
        id.clear();
        translation.clear();
    };
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = files::take_line(text);
        if (line.empty() || line[0] == '#') continue;
        if (line.starts_with("msgid ")) {
            keep();
            part = &id;
        } else if (line.starts_with("msgstr ")) {
            part = &translation;
        } else if (line[0] != '"' || !part) {
            throw std::runtime_error(
                fmt::format("line {}: it is no msgid, no msgstr and no text in quotes", number));
        }
        *part += unquoted(line, number);
    }
    keep();
    return entries;
}

const char* tr(const char* english) {
    const std::string* found = find(english);
    return found ? found->c_str() : english;
}

std::string tr(const files::Sentence& english) {
    const std::string* const found = find(english.words());
    if (english.values().empty()) return found ? *found : english.words();
    fmt::dynamic_format_arg_store<fmt::format_context> values;
    for (const files::Sentence& value : english.values()) values.push_back(tr(value));
    std::string text = fmt::vformat(found ? *found : english.words(), values);
    // Chinese has no blank between two sentences.
    constexpr std::string_view end = "。", blank = "。 ";
    for (std::size_t at = 0; (at = text.find(blank, at)) != text.npos;)
        text.replace(at, blank.size(), end);
    return text;
}

std::string counted(std::uint64_t n, std::string_view noun, std::string number) {
    if (number.empty()) number = std::to_string(n);
    if (language() == Language::english)
        return fmt::format("{} {}", number, compute::noun(n, noun));
    return fmt::vformat(tr(fmt::format("{{}} {}", noun)), fmt::make_format_args(number));
}

}  // namespace warpscope::ui
