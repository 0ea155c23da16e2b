#include "compiler/host/host_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "compiler/host/source_tokens.h"

namespace warpscope::compiler {
namespace {

using Kind = SourceToken::Kind;

constexpr std::array<std::string_view, 5> device_words{"__global__", "__device__", "__constant__",
                                                       "__shared__", "__managed__"};
constexpr std::array<std::string_view, 4> type_words{"struct", "class", "union", "enum"};

template <class Words>
bool contains(const Words& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

/// Finds the declarations of a source at namespace scope and blanks those of the host.
class HostCode {
  public:
    explicit HostCode(std::string_view source)
        : source_(source), tokens_(tokens_of(source)), result_{std::string(source), {}} {
        for (const SourceToken& token : tokens_)
            if (token.kind == Kind::directive) remember_macro(text(token));
    }

    DeviceCode leave_out() {
        scope(0, tokens_.size());
        return std::move(result_);
    }

  private:
    /// The tokens [begin, end) of a declaration, its body in braces included.
    struct Declaration {
        std::size_t begin, end;
        std::optional<std::size_t> body;  ///< the token "{" of a function's body
    };

    std::string_view text(const SourceToken& token) const {
        return source_.substr(token.begin, token.end - token.begin);
    }
    bool is(std::size_t token, std::string_view what) const {
        return token < tokens_.size() && tokens_[token].kind != Kind::text &&
               tokens_[token].kind != Kind::directive && text(tokens_[token]) == what;
    }

    /// Macros that stand for device code count as its words.
    void remember_macro(std::string_view directive) {
        const auto tokens = tokens_of(directive.substr(1));
        const auto word = [&](std::size_t i) {
            return directive.substr(1 + tokens[i].begin, tokens[i].end - tokens[i].begin);
        };
        if (tokens.size() < 2 || word(0) != "define") return;
        for (std::size_t i = 2; i < tokens.size(); ++i)
            if (contains(device_words, word(i))) device_macros_.insert(word(1));
    }

    /// The token after the bracket that closes the one at `open`, or nullopt.
    std::optional<std::size_t> after_closing(std::size_t open, std::size_t end) const {
        int depth = 0;
        for (std::size_t i = open; i < end; ++i) {
            if (is(i, "{") || is(i, "(") || is(i, "[")) ++depth;
            if (is(i, "}") || is(i, ")") || is(i, "]")) --depth;
            if (depth == 0) return i + 1;
        }
        return std::nullopt;
    }

    void scope(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end;) {
            if (tokens_[i].kind == Kind::directive || is(i, ";")) {
                ++i;
                continue;
            }
            if (const auto open = opens_scope(i, end)) {
                const auto after = after_closing(*open, end);
                if (!after) return;
                scope(*open + 1, *after - 1);
                i = *after;
                continue;
            }
            const auto found = declaration(i, end);
            if (!found) return;
            if (!belongs_to_device(*found)) blank(*found);
            i = found->end;
        }
    }

    /// The brace of "namespace name {" and of "extern "C" {".
    std::optional<std::size_t> opens_scope(std::size_t i, std::size_t end) const {
        if (is(i, "extern") && i + 2 < end && tokens_[i + 1].kind == Kind::text && is(i + 2, "{"))
            return i + 2;
        if (is(i, "inline") && is(i + 1, "namespace")) ++i;
        if (!is(i, "namespace")) return std::nullopt;
        for (++i; i < end && !is(i, ";") && !is(i, "="); ++i)
            if (is(i, "{")) return i;
        return std::nullopt;
    }

    /// nullopt where brackets do not match.
    std::optional<Declaration> declaration(std::size_t begin, std::size_t end) const {
        bool defines_type = false, has_parameters = false, has_value = false;
        for (std::size_t i = after_template(begin, end); i < end;) {
            if (is(i, ";")) return Declaration{begin, i + 1, std::nullopt};
            if (tokens_[i].kind == Kind::word && contains(type_words, text(tokens_[i])))
                defines_type = true;
            if (is(i, "=")) has_value = true;
            if (!is(i, "{") && !is(i, "(") && !is(i, "[")) {
                ++i;
                continue;
            }
            const auto after = after_closing(i, end);
            if (!after) return std::nullopt;
            has_parameters = has_parameters || is(i, "(");
            const bool body = is(i, "{") && has_parameters && !has_value;
            if (body) return Declaration{begin, *after, i};
            const bool alone = is(i, "{") && !defines_type && !has_value;
            if (alone && !is(*after, ";")) return Declaration{begin, *after, i};
            i = *after;
        }
        return Declaration{begin, end, std::nullopt};
    }

    /// The token after "template <…>", as often as it stands there.
    std::size_t after_template(std::size_t i, std::size_t end) const {
        while (is(i, "template") && is(i + 1, "<")) {
            int depth = 0;
            for (++i; i < end; ++i) {
                if (is(i, "<")) ++depth;
                if (is(i, ">") && --depth == 0) break;
            }
            ++i;
        }
        return std::min(i, end);
    }

    bool belongs_to_device(const Declaration& found) const {
        bool names_std = false, is_type = false, is_constant = false, calls = false;
        const std::size_t first = after_template(found.begin, found.end);
        for (std::size_t i = first; i < found.end; ++i) {
            if (is(i, "(") && (!found.body || i < *found.body)) calls = true;
            if (tokens_[i].kind != Kind::word) continue;
            const std::string_view word = text(tokens_[i]);
            if (contains(device_words, word) || device_macros_.contains(word)) return true;
            if (word == "std" && !is(i - 1, ":")) names_std = true;
            const bool in_head = !found.body || i < *found.body;
            if (in_head && contains(type_words, word) && i - first < 2) is_type = true;
            if (in_head && (word == "constexpr" || word == "const")) is_constant = true;
            if (in_head && word == "constexpr" && found.body) is_type = true;
        }
        const bool names_type = is(first, "using") || is(first, "typedef") ||
                                is(first, "static_assert") || is(first, "template") || is_type;
        if (names_type) return !names_std && !(found.body && !is_type);
        return is_constant && !calls && !names_std;
    }

    std::string name_of(const Declaration& found) const {
        std::string name, before_value;
        for (std::size_t i = after_template(found.begin, found.end); i < found.end; ++i) {
            if (is(i, "(")) return "the function " + name;
            if (is(i, "=") || is(i, "[") || is(i, ";") || is(i, "{")) break;
            if (tokens_[i].kind == Kind::word) name = text(tokens_[i]);
        }
        return "the declaration of " + name;
    }

    int line_at(std::size_t byte) const {
        return int(std::count(source_.begin(), source_.begin() + std::ptrdiff_t(byte), '\n')) + 1;
    }

    /// Directives in it stay: an #endif there may belong to an #if before it.
    void blank(const Declaration& found) {
        for (std::size_t i = found.begin; i < found.end; ++i) {
            const SourceToken& token = tokens_[i];
            if (token.kind == Kind::directive) continue;
            for (std::size_t at = token.begin; at < token.end; ++at)
                if (result_.source[at] != '\n') result_.source[at] = ' ';
        }
        result_.left_out.push_back({line_at(tokens_[found.begin].begin),
                                    line_at(tokens_[found.end - 1].end - 1), name_of(found)});
    }

    std::string_view source_;
    std::vector<SourceToken> tokens_;
    DeviceCode result_;
    std::set<std::string_view> device_macros_;
};

}  // namespace

DeviceCode device_code(std::string_view source) {
    return HostCode(source).leave_out();
}

}  // namespace warpscope::compiler
