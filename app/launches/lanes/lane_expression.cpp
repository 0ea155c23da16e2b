#include "launches/lanes/lane_expression.h"

#include <fmt/format.h>

#include <cctype>

#include "files/text.h"

namespace warpscope::launches {

namespace {

bool begins_word(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool continues_word(char c) {
    return begins_word(c) || std::isdigit(static_cast<unsigned char>(c));
}

}  // namespace

/// Takes the terms out of a text and puts the names v0, v1, … in their place.
class LaneExpressionReader {
  public:
    LaneExpressionReader(std::string_view text, std::vector<LaneExpression::Term>& terms)
        : text_(text), terms_(terms) {}

    std::string read() {
        constexpr std::size_t most = 1000;
        if (text_.size() > most) fail("it is too long");
        while (at_ < text_.size()) {
            const char c = text_[at_];
            const bool is_register = c == '%' && wants_operand_ && begins_word(next());
            if (begins_word(c) || is_register)
                word();
            else if (std::isdigit(static_cast<unsigned char>(c)))
                copy_number();
            else
                copy();
        }
        return made_;
    }

  private:
    [[noreturn]] void fail(std::string_view why) const {
        throw LaunchError(fmt::format("\"{}\": {}", text_, why));
    }
    char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

    void copy() {
        const char c = text_[at_++];
        made_ += c;
        if (std::isspace(static_cast<unsigned char>(c)) == 0) wants_operand_ = c != ')';
    }
    void copy_number() {
        while (at_ < text_.size() && (continues_word(text_[at_]) || text_[at_] == '.'))
            made_ += text_[at_++];
        wants_operand_ = false;
    }
    std::string take_word() {
        const std::size_t begin = at_++;
        while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }
    void word() {
        std::string name = take_word();
        wants_operand_ = false;
        const bool is_word = name == "true" || name == "false";
        if (is_word) name = name == "true" ? "1" : "0";
        if (is_word || (at_ < text_.size() && text_[at_] == '(')) {  // a constant or a function
            made_ += name;
            return;
        }
        LaneExpression::Term term;
        term.steps.emplace_back(std::move(name));
        while (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '[' || is_arrow()))
            step(term);
        made_ += fmt::format(" v{} ", terms_.size());
        terms_.push_back(std::move(term));
    }
    bool is_arrow() const { return text_[at_] == '-' && next() == '>'; }
    void step(LaneExpression::Term& term) {
        if (text_[at_] == '[') {
            const std::size_t begin = ++at_;
            for (int depth = 1; depth > 0; ++at_) {
                if (at_ == text_.size()) fail("\"]\" is missing");
                if (text_[at_] == '[') ++depth;
                if (text_[at_] == ']') --depth;
            }
            const auto index = text_.substr(begin, at_ - 1 - begin);
            term.steps.emplace_back(std::make_unique<LaneExpression>(index));
            return;
        }
        if (is_arrow()) term.steps.emplace_back(std::make_unique<LaneExpression>("0"));
        at_ += is_arrow() ? 2 : 1;
        if (at_ == text_.size() || !begins_word(text_[at_]))
            fail("the name of a member is missing");
        term.steps.emplace_back(take_word());
    }

    std::string_view text_;
    std::vector<LaneExpression::Term>& terms_;
    std::string made_;
    std::size_t at_ = 0;
    bool wants_operand_ = true;
};

LaneExpression::LaneExpression(std::string_view text)
    : expression_([&] {
          const std::string made = LaneExpressionReader(text, terms_).read();
          is_path_ = files::trimmed(made) == "v0";
          return Expression(made, text);
      }()) {}

ValuePath LaneExpression::Term::path(const Lookup& lookup) const {
    ValuePath path;
    for (const auto& step : steps) {
        if (const auto* word = std::get_if<std::string>(&step))
            path.emplace_back(*word);
        else
            path.emplace_back(whole(std::get<1>(step)->value(lookup)));
    }
    return path;
}

std::vector<std::string> LaneExpression::names() const {
    std::vector<std::string> names;
    for (const Term& term : terms_) {
        names.push_back(std::get<std::string>(term.steps.at(0)));
        for (const auto& step : term.steps)
            if (const auto* index = std::get_if<std::unique_ptr<LaneExpression>>(&step))
                for (std::string& name : (*index)->names()) names.push_back(std::move(name));
    }
    return names;
}

ValuePath LaneExpression::path(const Lookup& lookup) const {
    return terms_.at(0).path(lookup);
}

Number LaneExpression::value(const Lookup& lookup) const {
    std::vector<Number> values;
    for (const std::string& name : expression_.names()) {
        const auto index = std::size_t(std::stoul(name.substr(1)));
        values.push_back(lookup(terms_.at(index).path(lookup)));
    }
    return expression_.value(values);
}

}  // namespace warpscope::launches
