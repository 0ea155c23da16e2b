#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "files/sentence.h"

namespace warpscope::ui {

/// The languages that the window speaks.
enum class Language { english, chinese, russian };

struct LanguageName {
    Language language;
    std::string_view code;  ///< "zh": of --language, of settings, and of the file languages/zh.po
    const char* name;       ///< in the language itself
    const char* english;
    const char* font;  ///< a package of Debian that has a font for it
};

inline constexpr LanguageName languages[] = {
    {Language::english, "en", "English", "English", "fonts-inter"},
    {Language::chinese, "zh", "中文", "Chinese", "fonts-droid-fallback"},
    {Language::russian, "ru", "Русский", "Russian", "fonts-inter"}};

/// The language that tr() translates into, for all threads.
Language language();
void set_language(Language chosen);
const LanguageName& name_of(Language language);
/// The language of a code, or of a locale such as "zh_CN.UTF-8"; English where none is meant.
Language language_of(std::string_view code);
/// The first language that LANGUAGE, LC_ALL, LC_MESSAGES or LANG asks for.
Language language_of_locale();

/// The name and all translations of a language in one text, for the characters that its font needs.
std::string characters_of(Language language);

/// The English sentences of a catalogue, with their translations.
using Catalogue = std::map<std::string, std::string, std::less<>>;
/// Reads the text of a .po file. Entries without a translation are left out. Throws
/// std::runtime_error with the number of a line that it can't read.
Catalogue read_catalogue(std::string_view text);

/// The sentence in the language of the window; in English where the catalogue lacks it. The result
/// stays valid.
const char* tr(const char* english);
/// Likewise, for what is made below the window: each value of a sentence is translated too, and so
/// is a text, such as the label of a parameter.
std::string tr(const files::Sentence& english);
/// Likewise, with values in the places of {}. A translation may name them {0}, {1} in its own
/// order.
template <class First, class... Rest>
std::string tr(fmt::format_string<First, Rest...> english, First&& first, Rest&&... rest) {
    const fmt::string_view words = english;
    const std::string sentence = tr(std::string_view(words.data(), words.size()));
    return fmt::vformat(sentence, fmt::make_format_args(first, rest...));
}

/// "1 lane", "5 lanes". Catalogues have the noun after {}: "{} lane".
/// `number`: how the number is written, if not as plain digits.
std::string counted(std::uint64_t n, std::string_view noun, std::string number = {});

/// Marks words of a table, which tr() translates where they are drawn.
constexpr const char* tr_later(const char* english) {
    return english;
}

}  // namespace warpscope::ui
