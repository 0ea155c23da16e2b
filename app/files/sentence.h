#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpscope::files {

/// The words of a sentence, with {} in the places of so many values.
template <std::size_t values>
struct Form {
    consteval Form(const char* text) : words(text) {
        std::size_t holes = 0, at = 0;
        for (; (at = words.find("{}", at)) != words.npos; at += 2) ++holes;
        if (holes != values) throw "the form has another number of values";
    }
    std::string_view words;
};

/// A sentence as a value: a form and its values, which are sentences too. A sentence without values
/// is a text, such as a name or a number. The window puts it into its language where it is drawn.
class Sentence {
  public:
    Sentence() = default;
    Sentence(std::string text) : words_(std::move(text)) {}
    Sentence(std::string_view text) : words_(text) {}
    Sentence(const char* text) : words_(text) {}
    /// `form` has a {} for each value.
    Sentence(std::string_view form, std::vector<Sentence> values)
        : words_(form), values_(std::move(values)) {}

    /// A value of a sentence. What is no text is written as {fmt} writes it.
    template <class Value>
    static Sentence value(Value&& value) {
        if constexpr (std::is_convertible_v<Value, Sentence>)
            return std::forward<Value>(value);
        else
            return fmt::to_string(value);
    }

    bool empty() const { return words_.empty(); }
    const std::string& words() const { return words_; }  ///< the form; without values the text
    const std::vector<Sentence>& values() const { return values_; }
    std::string english() const;
    operator std::string() const { return english(); }
    /// Calls change(std::string&) for each text that is no form.
    template <class Change>
    Sentence& change_texts(Change&& change) {
        if (values_.empty()) change(words_);
        for (Sentence& value : values_) value.change_texts(change);
        return *this;
    }
    /// Adds what follows, with what stands between the two; to an empty sentence without it.
    Sentence& add(Sentence next, std::string_view between = " ");

    friend bool operator==(const Sentence& a, const Sentence& b) {
        return a.english() == b.english();
    }

  private:
    std::string words_;
    std::vector<Sentence> values_;
};

/// Makes a sentence. Here languages/update finds the forms.
template <class... Values>
Sentence sentence(Form<sizeof...(Values)> form, Values&&... values) {
    return {form.words, {Sentence::value(std::forward<Values>(values))...}};
}

inline std::vector<std::string> english(const std::vector<Sentence>& sentences) {
    return {sentences.begin(), sentences.end()};
}

/// An error whose text is a sentence.
class SentenceError : public std::runtime_error {
  public:
    SentenceError(Sentence sentence)
        : std::runtime_error(sentence.english()), words(std::move(sentence)) {}
    Sentence words;
};
/// What an error says.
inline Sentence words_of(const std::exception& error) {
    const auto* const known = dynamic_cast<const SentenceError*>(&error);
    return known ? known->words : Sentence(error.what());
}

/// As JSON a text is itself, and a sentence with values is a list: the form and its values.
template <class Json>
void to_json(Json& json, const Sentence& sentence) {
    if (sentence.values().empty()) {
        json = sentence.words();
        return;
    }
    json = Json::array({sentence.words()});
    for (const Sentence& value : sentence.values()) json.push_back(value);
}
template <class Json>
void from_json(const Json& json, Sentence& sentence) {
    if (!json.is_array()) {
        sentence = json.template get<std::string>();
        return;
    }
    std::vector<Sentence> values;
    for (std::size_t k = 1; k < json.size(); ++k)
        values.push_back(json[k].template get<Sentence>());
    sentence = {json.at(0).template get<std::string>(), std::move(values)};
}

}  // namespace warpscope::files

template <>
struct fmt::formatter<warpscope::files::Sentence> : fmt::formatter<std::string> {
    template <class Context>
    auto format(const warpscope::files::Sentence& sentence, Context& context) const {
        return fmt::formatter<std::string>::format(sentence.english(), context);
    }
};
