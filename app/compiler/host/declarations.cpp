#include "compiler/host/declarations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace warpscope::compiler {

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

class Scanner {
  public:
    explicit Scanner(std::string_view source) : source_(source) {}

    std::vector<SourceToken> scan() {
        while (at_ < source_.size()) next();
        return std::move(tokens_);
    }

  private:
    using Kind = SourceToken::Kind;

    std::string_view rest() const { return source_.substr(at_); }
    std::size_t find(std::string_view what, std::size_t from) const {
        return std::min(source_.find(what, from), source_.size());
    }
    void add(Kind kind, std::size_t end) {
        tokens_.push_back({kind, at_, end});
        at_ = end;
        line_begins_ = false;
    }

    void next() {
        const char c = source_[at_];
        if (c == '\n') {
            line_begins_ = true;
            ++at_;
        } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\\') {
            ++at_;
        } else if (rest().starts_with("//")) {
            at_ = end_of_line(at_);
        } else if (rest().starts_with("/*")) {
            at_ = std::min(find("*/", at_ + 2) + 2, source_.size());
        } else if (c == '#' && line_begins_) {
            add(Kind::directive, end_of_directive());
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            add(Kind::number, end_of_number());
        } else if (is_word(c)) {
            word();
        } else if (c == '"' || c == '\'') {
            add(Kind::text, end_of_text(at_));
        } else {
            add(Kind::sign, at_ + 1);
        }
    }

    void word() {
        std::size_t end = at_;
        while (end < source_.size() && is_word(source_[end])) ++end;
        const std::string_view text = source_.substr(at_, end - at_);
        const bool prefix =
            text == "R" || text == "u8R" || text == "uR" || text == "UR" || text == "LR";
        if (prefix && end < source_.size() && source_[end] == '"')
            add(Kind::text, end_of_raw_text(end));
        else
            add(Kind::word, end);
    }

    std::size_t end_of_line(std::size_t from) const {
        std::size_t end = find("\n", from);
        while (end < source_.size() && end > 0 && source_[end - 1] == '\\')
            end = find("\n", end + 1);
        return end;
    }

    /// A comment that begins in a directive may continue on the next line.
    std::size_t end_of_directive() const {
        const std::size_t end = end_of_line(at_);
        const std::string_view text = source_.substr(0, end);
        for (std::size_t open = text.find("/*", at_); open < end;
             open = text.find("/*", open + 2)) {
            const std::size_t close = find("*/", open + 2);
            if (close >= end) return end_of_line(close);
            open = close;
        }
        return end;
    }

    /// Digits, letters, points, signs of exponents, and the ' between digits.
    std::size_t end_of_number() const {
        std::size_t end = at_;
        while (end < source_.size()) {
            const char c = source_[end];
            const char before = end > at_ ? source_[end - 1] : '0';
            const bool sign = (c == '+' || c == '-') &&
                              std::string_view("eEpP").find(before) != std::string_view::npos;
            const bool separator =
                c == '\'' && end + 1 < source_.size() && is_word(source_[end + 1]);
            if (!is_word(c) && c != '.' && !sign && !separator) break;
            ++end;
        }
        return end;
    }

    std::size_t end_of_text(std::size_t quote) const {
        for (std::size_t end = quote + 1; end < source_.size(); ++end) {
            if (source_[end] == '\\')
                ++end;
            else if (source_[end] == source_[quote])
                return end + 1;
            else if (source_[end] == '\n')
                return end;
        }
        return source_.size();
    }

    std::size_t end_of_raw_text(std::size_t quote) const {
        const std::size_t open = find("(", quote);
        std::string close(1, ')');
        close.append(source_.substr(quote + 1, open - quote - 1)).append(1, '"');
        return std::min(find(close, open) + close.size(), source_.size());
    }

    std::string_view source_;
    std::vector<SourceToken> tokens_;
    std::size_t at_ = 0;
    bool line_begins_ = true;
};

}  // namespace

std::vector<SourceToken> tokens_of(std::string_view source) {
    return Scanner(source).scan();
}

namespace {

constexpr std::array<std::string_view, 4> type_words{"struct", "class", "union", "enum"};
/// Words with parentheses that are no parameters.
constexpr std::array<std::string_view, 7> attribute_words{
    "alignas",    "__align__", "__attribute__",   "__launch_bounds__",
    "__declspec", "decltype",  "__cluster_dims__"};
constexpr std::array<std::string_view, 3> access_words{"public", "protected", "private"};

template <class Words>
bool contains(const Words& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

class Parser {
  public:
    Parser(const TokenText& text, const std::function<bool(std::string_view)>& is_device_word)
        : text_(text), is_device_word_(is_device_word) {}

    std::vector<Declaration> all() {
        std::vector<Declaration> found;
        std::vector<std::string> scopes{""};
        for (std::size_t i = 0; i < text_.size();) {
            if (text_.is_directive(i) || text_.is(i, ";") || text_.is(i, "}")) {
                if (text_.is(i, "}") && scopes.size() > 1) scopes.pop_back();
                ++i;
            } else if (const auto body = scope_body(i)) {
                scopes.push_back(scopes.back() + namespaces(i, *body));
                i = *body;
            } else {
                const auto outline = outline_of(i, text_.size());
                if (!outline) break;
                found.push_back(declaration(*outline));
                found.back().scope = scopes.back();
                i = outline->end;
            }
        }
        return found;
    }

  private:
    /// Where the parts of a declaration are.
    struct Outline {
        std::size_t begin, first, end;          ///< `first`: after "template <…>"
        std::optional<std::size_t> parameters;  ///< "("
        std::optional<std::size_t> value;       ///< "="
        std::optional<std::size_t> body;        ///< "{" of a function or type
        bool names_type = false;                ///< "struct" and so on before all of these
        std::size_t head_end() const {
            return std::min({parameters.value_or(end), value.value_or(end), body.value_or(end)});
        }
    };

    bool is_one_of(std::size_t i, const auto& words) const {
        return text_.is_word(i) && contains(words, text_.text(i));
    }

    /// The token after "namespace name {" or "extern "C" {".
    std::optional<std::size_t> scope_body(std::size_t i) const {
        if (text_.is(i, "extern") && text_.is(i + 2, "{") &&
            text_.token(i + 1).kind == SourceToken::Kind::text)
            return i + 3;
        if (text_.is(i, "inline")) ++i;
        if (!text_.is(i, "namespace")) return std::nullopt;
        for (++i; i < text_.size() && !text_.is(i, ";") && !text_.is(i, "="); ++i)
            if (text_.is(i, "{")) return i + 1;
        return std::nullopt;
    }

    /// "lib::detail::" of "namespace lib::detail {"; empty where it has no name.
    std::string namespaces(std::size_t begin, std::size_t body) const {
        std::string all;
        const bool is_named = text_.is(begin, "namespace") || text_.is(begin, "inline");
        for (std::size_t i = begin; is_named && i < body; ++i)
            if (text_.is_word(i) && !text_.is(i, "inline") && !text_.is(i, "namespace"))
                all += std::string(text_.text(i)) + "::";
        return all;
    }

    /// The token after "template <…>", as often as it stands there.
    std::size_t after_template(std::size_t i, std::size_t end) const {
        while (text_.is(i, "template") && text_.is(i + 1, "<")) {
            int depth = 0;
            for (++i; i < end; ++i) {
                if (text_.is(i, "<")) ++depth;
                if (text_.is(i, ">") && --depth == 0) break;
                if (text_.is(i, "(") || text_.is(i, "{"))
                    i = text_.after_closing(i).value_or(end) - 1;
            }
            ++i;
        }
        return std::min(i, end);
    }

    /// nullopt where brackets do not match.
    std::optional<Outline> outline_of(std::size_t begin, std::size_t end) const {
        Outline outline{begin, after_template(begin, end), end, {}, {}, {}};
        bool initializes_members = false;
        for (std::size_t i = outline.first; i < end;) {
            if (text_.is(i, ";")) return ended(outline, i + 1);
            if (is_one_of(i, attribute_words) && text_.is(i + 1, "("))
                ++i;
            else if (text_.is(i, "(") && !outline.value && !outline.parameters && !outline.body)
                outline.parameters = i;
            if (is_one_of(i, type_words) && !outline.parameters && !outline.value)
                outline.names_type = true;
            if (text_.is(i, "=") && !text_.is(i - 1, "operator") && !outline.value)
                outline.value = i;
            if (text_.is(i, ":") && outline.parameters) initializes_members = true;
            if (!text_.is(i, "{") && !text_.is(i, "(") && !text_.is(i, "[")) {
                ++i;
                continue;
            }
            const auto after = text_.after_closing(i);
            if (!after || *after > end) return std::nullopt;
            if (text_.is(i, "{") && !outline.value) {
                const bool of_member =
                    initializes_members && (text_.is_word(i - 1) || text_.is(i - 1, ">"));
                if (!of_member && !outline.body) outline.body = i;
                if (!of_member && outline.parameters) return ended(outline, *after);
                const bool goes_on = outline.names_type || of_member || text_.is(*after, ";");
                if (!goes_on) return ended(outline, *after);
            }
            const bool is_macro = outline.parameters == i && i == outline.first + 1 &&
                                  text_.is_word(i - 1) && begins_another(*after);
            if (is_macro) return ended(outline, *after);
            i = *after;
        }
        return outline;
    }

    static Outline ended(Outline outline, std::size_t end) {
        outline.end = end;
        return outline;
    }

    /// After the ")" of "NAME(…)" at the beginning of a declaration: whether that was all of it, a
    /// macro without a semicolon.
    bool begins_another(std::size_t i) const {
        return i >= text_.size() || text_.is_directive(i) ||
               (text_.is_word(i) && !text_.is(i, "const") && !text_.is(i, "noexcept"));
    }

    bool has_device_word(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i)
            if (text_.is_word(i) && is_device_word_(text_.text(i))) return true;
        return false;
    }

    bool has(std::size_t begin, std::size_t end, std::string_view word) const {
        for (std::size_t i = begin; i < end; ++i)
            if (text_.is(i, word)) return true;
        return false;
    }

    Declaration declaration(const Outline& outline) const {
        using Kind = Declaration::Kind;
        Declaration made{.begin = outline.begin, .end = outline.end};
        made.kind = kind_of(outline);
        const bool is_function = made.kind == Kind::function || made.kind == Kind::constant;
        // A lambda in a host function may have __device__.
        made.on_device = has_device_word(outline.begin,
                                         is_function && outline.body ? *outline.body : outline.end);
        if (made.kind == Kind::function && outline.body)
            made.on_device = made.on_device || has(*outline.body, outline.end, "__shared__");
        add_names(made, outline);
        if (made.kind == Kind::type && outline.body && !text_.is(outline.first, "enum"))
            made.host_members =
                host_members(*outline.body + 1, text_.after_closing(*outline.body).value() - 1);
        return made;
    }

    Declaration::Kind kind_of(const Outline& outline) const {
        using Kind = Declaration::Kind;
        const std::size_t first = outline.first;
        const bool is_using = text_.is(first, "using");
        if (is_using && text_.is(first + 1, "namespace")) return Kind::using_directive;
        if (is_using || text_.is(first, "typedef") || text_.is(first, "namespace"))
            return Kind::alias;
        if (text_.is(first, "static_assert")) return Kind::assertion;
        if (text_.is(first, "template")) return Kind::function;
        const std::size_t head_end = outline.head_end();
        if (has(first, head_end, "constexpr")) return Kind::constant;
        if (outline.parameters) return Kind::function;
        const bool is_forward = outline.end - first == (text_.is(first, "enum") ? 4 : 3);
        if (outline.names_type && (outline.body || is_forward)) return Kind::type;
        return is_constant(first, head_end) ? Kind::constant : Kind::variable;
    }

    /// Not the pointer to a constant.
    bool is_constant(std::size_t begin, std::size_t end) const {
        for (std::size_t i = end; i-- > begin;) {
            if (text_.is(i, "const")) return true;
            if (text_.is(i, "*")) return false;
        }
        return false;
    }

    void add_names(Declaration& made, const Outline& outline) const {
        using Kind = Declaration::Kind;
        const std::size_t first = outline.first, head_end = outline.head_end();
        if (made.kind == Kind::assertion) return;
        const auto declare = [&](std::size_t i) {
            if (!text_.is_word(i) || contains(type_words, text_.text(i))) return;
            made.declares.push_back(text_.text(i));
        };
        if (made.kind == Kind::type) {
            for (std::size_t i = first; i < head_end && !text_.is(i, ":") && !text_.is(i, "<"); ++i)
                declare(i);
            if (!made.declares.empty()) made.name = made.declares.back();
        }
        const bool is_enum = text_.is(first, "enum") || text_.is(first + 1, "enum");
        for (std::size_t i = first; i + 1 < outline.end; ++i) {
            if (outline.body == i && !is_enum) i = text_.after_closing(i).value() - 1;
            const bool ends = std::ranges::any_of(
                std::array{"=", "[", ";", ",", "{", "(", ")"}, [&](std::string_view sign) {
                    return text_.is(i + 1, sign) && i + 1 <= outline.end;
                });
            if (ends || (is_enum && outline.body && i > *outline.body)) declare(i);
            // What follows is the parameters of a function, or a type.
            const bool is_typedef = text_.is(first, "typedef");
            if (!is_typedef && outline.parameters == i + 1) break;
            if (made.kind == Kind::alias && outline.value == i + 1) break;
            if (text_.is(i + 1, "=")) i = end_of_value(i + 2, outline.end) - 1;
        }
        if (outline.parameters && *outline.parameters > first && made.kind != Kind::alias)
            made.name = text_.text(*outline.parameters - 1);
        if (made.name.empty() && !made.declares.empty())
            made.name = made.kind == Kind::alias ? made.declares.back() : made.declares.front();
        if (made.name.empty()) made.name = text_.text(outline.begin);
    }

    /// The "," or ";" after a value.
    std::size_t end_of_value(std::size_t i, std::size_t end) const {
        while (i < end && !text_.is(i, ",") && !text_.is(i, ";"))
            i = text_.after_closing(i).value_or(i + 1);
        return i;
    }

    /// Returns the tokens of the member functions that only the host can call, also those of nested
    /// classes. [begin, end): the tokens between the braces of a class.
    std::vector<Declaration::Tokens> host_members(std::size_t begin, std::size_t end) const {
        std::vector<Declaration::Tokens> found;
        for (std::size_t i = begin; i < end;) {
            if (text_.is_directive(i) || text_.is(i, ";") || text_.is(i, "}") || text_.is(i, ":") ||
                is_one_of(i, access_words)) {
                ++i;
                continue;
            }
            const auto outline = outline_of(i, end);
            if (!outline) break;
            const bool is_type = outline->names_type && outline->body && !outline->parameters;
            if (is_type && !text_.is(outline->first, "enum")) {
                i = *outline->body + 1;
                continue;
            }
            if (is_host_function(*outline))
                found.push_back({outline->begin, outline->end,
                                 std::string(text_.text(*outline->parameters - 1))});
            i = outline->end;
        }
        return found;
    }

    bool is_host_function(const Outline& outline) const {
        if (!outline.parameters || text_.is(*outline.parameters + 1, "*")) return false;
        if (text_.is(outline.first, "using") || text_.is(outline.first, "typedef") ||
            text_.is(outline.first, "static_assert") || text_.is(outline.first, "friend"))
            return false;
        // "= default", "= delete", "= 0"
        if (outline.value && !outline.body) return false;
        return !has(outline.first, *outline.parameters, "constexpr") &&
               !has_device_word(outline.begin, outline.body.value_or(outline.end));
    }

    const TokenText& text_;
    const std::function<bool(std::string_view)>& is_device_word_;
};

/// Pairs the brackets of tokens.
class Brackets {
  public:
    explicit Brackets(const TokenText& text) : text_(text), closing_(text.size()) {}

    std::vector<std::size_t> pairs() {
        for (std::size_t i = 0; i < text_.size(); ++i) {
            if (text_.is_directive(i))
                branch(text_.text(i));
            else if (text_.is(i, "(") || text_.is(i, "[") || text_.is(i, "{"))
                open_.push_back({text_.text(i)[0], {i}});
            else if (text_.is(i, ")") || text_.is(i, "]") || text_.is(i, "}"))
                close(i);
        }
        return std::move(closing_);
    }

  private:
    struct Open {
        char bracket;
        std::vector<std::size_t> tokens;  ///< more than one: in branches of an #if
        bool operator==(const Open&) const = default;
    };
    struct Branches {
        std::vector<Open> before;                ///< open at the #if
        std::optional<std::vector<Open>> first;  ///< open at the end of the first branch
    };
    static constexpr std::size_t most_nested = 64;

    void close(std::size_t i) {
        const char wanted = text_.is(i, ")") ? '(' : text_.is(i, "]") ? '[' : '{';
        if (wanted == '{')
            while (!open_.empty() && open_.back().bracket != '{') open_.pop_back();
        if (open_.empty() || open_.back().bracket != wanted) return;
        for (const std::size_t token : open_.back().tokens) closing_[token] = i;
        open_.pop_back();
    }

    void branch(std::string_view directive) {
        const std::size_t at = directive.find_first_not_of(" \t", 1);
        const std::string_view word = directive.substr(std::min(at, directive.size()));
        const bool fits = branches_.size() < most_nested && open_.size() < most_nested;
        if (word.starts_with("if")) {
            if (ignored_ == 0 && fits)
                branches_.push_back({open_, {}});
            else
                ++ignored_;
        } else if (word.starts_with("endif") && ignored_ > 0) {
            --ignored_;
        } else if (ignored_ > 0 || branches_.empty()) {
            return;
        } else if (word.starts_with("el")) {
            if (!branches_.back().first) branches_.back().first = open_;
            open_ = branches_.back().before;
        } else if (word.starts_with("endif")) {
            if (branches_.back().first) join(*branches_.back().first);
            branches_.pop_back();
        }
    }

    void join(const std::vector<Open>& first) {
        if (!std::ranges::equal(first, open_, {}, &Open::bracket, &Open::bracket)) return;
        for (std::size_t i = 0; i < open_.size(); ++i)
            if (first[i] != open_[i]) {
                auto& tokens = open_[i].tokens;
                tokens.insert(tokens.end(), first[i].tokens.begin(), first[i].tokens.end());
            }
    }

    const TokenText& text_;
    std::vector<std::size_t> closing_;
    std::vector<Open> open_;
    std::vector<Branches> branches_;
    int ignored_ = 0;
};

}  // namespace

TokenText::TokenText(std::string_view text) : text_(text), tokens_(tokens_of(text)) {
    closing_ = Brackets(*this).pairs();
}

std::string_view TokenText::text(std::size_t i) const {
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
}

bool TokenText::is(std::size_t i, std::string_view what) const {
    return i < tokens_.size() && tokens_[i].kind != SourceToken::Kind::text && !is_directive(i) &&
           text(i) == what;
}

bool TokenText::is_word(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == SourceToken::Kind::word;
}

bool TokenText::is_directive(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == SourceToken::Kind::directive;
}

std::optional<std::size_t> TokenText::after_closing(std::size_t open) const {
    if (open >= closing_.size() || closing_[open] == 0) return std::nullopt;
    return closing_[open] + 1;
}

std::vector<Declaration> declarations_of(
    const TokenText& text, const std::function<bool(std::string_view)>& is_device_word) {
    return Parser(text, is_device_word).all();
}

}  // namespace warpscope::compiler
