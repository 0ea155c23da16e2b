#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host/declarations.h"
#include "experiments/host/preprocessor/preprocessor.h"

// The branches of #if, #ifdef and #else that a compiler of the host leaves out.
namespace warpscope::experiments {
namespace {

using compiler::SourceToken;
using compiler::TokenText;

using Definitions = std::map<std::string, std::string, std::less<>>;

/// Of NVCC for the host, on 64-bit Linux.
const Definitions predefined{{"__CUDACC__", "1"},
                             {"__NVCC__", "1"},
                             {"__linux__", "1"},
                             {"__unix__", "1"},
                             {"__x86_64__", "1"},
                             {"__GNUC__", "12"},
                             {"__cplusplus", "201703"},
                             {"__LP64__", "1"},
                             {"CUDART_VERSION", "13000"},
                             {"CUDA_VERSION", "13000"},
                             {"__CUDACC_VER_MAJOR__", "13"}};

/// The condition of an #if (C++ standard, 15.2). Names that are no macros are 0.
class Condition {
  public:
    Condition(std::string_view text, const Definitions& macros, int depth = 0)
        : text_(text), macros_(macros), depth_(depth) {}

    /// nullopt: it calls a function, or it is no expression of integers.
    std::optional<std::int64_t> value() {
        const std::int64_t found = binary(0);
        return failed_ || i_ < text_.size() ? std::nullopt : std::optional(found);
    }

  private:
    static constexpr int most_calls = 5000;  ///< of these functions: conditions of people are short

    bool take(std::string_view sign) {
        for (std::size_t k = 0; k < sign.size(); ++k)
            if (!text_.is(i_ + k, sign.substr(k, 1))) return false;
        i_ += sign.size();
        return true;
    }

    /// Operators of this precedence and of higher ones.
    std::int64_t binary(std::size_t precedence) {
        if (++calls_ > most_calls) return fail();
        static const std::vector<std::vector<std::string_view>> operators{
            {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};
        if (precedence == operators.size()) return unary();
        std::int64_t left = binary(precedence + 1);
        for (bool goes_on = true; goes_on && !failed_;) {
            goes_on = false;
            for (const std::string_view sign : operators[precedence]) {
                if (!take(sign)) continue;
                left = result(sign, left, binary(precedence + 1));
                goes_on = true;
                break;
            }
        }
        return left;
    }

    std::int64_t result(std::string_view sign, std::int64_t a, std::int64_t b) {
        if (sign == "||") return (a != 0 || b != 0) ? 1 : 0;
        if (sign == "&&") return (a != 0 && b != 0) ? 1 : 0;
        if (sign == "==") return a == b ? 1 : 0;
        if (sign == "!=") return a != b ? 1 : 0;
        if (sign == "<=") return a <= b ? 1 : 0;
        if (sign == ">=") return a >= b ? 1 : 0;
        if (sign == "<") return a < b ? 1 : 0;
        if (sign == ">") return a > b ? 1 : 0;
        const auto x = std::uint64_t(a), y = std::uint64_t(b);  // they may wrap around
        if (sign == "+") return std::int64_t(x + y);
        if (sign == "-") return std::int64_t(x - y);
        if (sign == "*") return std::int64_t(x * y);
        failed_ = failed_ || b == 0 || b == -1;  // nobody divides by -1, and it may not fit
        if (failed_) return 0;
        return sign == "/" ? a / b : a % b;
    }

    std::int64_t unary() {
        if (++calls_ > most_calls) return fail();
        if (take("!")) return unary() == 0 ? 1 : 0;
        if (take("-")) return std::int64_t(0 - std::uint64_t(unary()));
        if (take("(")) {
            const std::int64_t inner = binary(0);
            failed_ = failed_ || !take(")");
            return inner;
        }
        if (i_ >= text_.size()) return fail();
        if (text_.token(i_).kind == SourceToken::Kind::number) return number(text_.text(i_++));
        if (!text_.is_word(i_)) return fail();
        const std::string_view word = text_.text(i_++);
        if (word == "defined") {
            const bool opens = take("(");
            const std::string_view name = text_.is_word(i_) ? text_.text(i_++) : "";
            failed_ = failed_ || name.empty() || (opens && !take(")"));
            return macros_.contains(name) ? 1 : 0;
        }
        if (text_.is(i_, "(")) return fail();  // __has_include(…), or a macro with parameters
        const auto macro = macros_.find(word);
        if (macro == macros_.end()) return 0;
        constexpr int deepest = 8;
        const auto inner =
            depth_ < deepest ? Condition(macro->second, macros_, depth_ + 1).value() : std::nullopt;
        return inner ? *inner : fail();
    }

    std::int64_t number(std::string_view literal) {
        try {
            return std::stoll(std::string(literal), nullptr, 0);
        } catch (const std::exception&) {
            return fail();
        }
    }

    std::int64_t fail() {
        failed_ = true;
        return 0;
    }

    TokenText text_;
    const Definitions& macros_;
    int depth_, calls_ = 0;
    std::size_t i_ = 0;
    bool failed_ = false;
};

/// Follows the directives of a source.
class Branches {
  public:
    explicit Branches(std::string& text) : text_(text) {}

    /// The directive is these bytes of the text.
    void read(std::size_t begin, std::size_t end) {
        const std::string directive = text_.substr(begin, end - begin);
        const TokenText tokens(std::string_view(directive).substr(1));
        if (tokens.size() == 0) return;
        const std::string_view word = tokens.text(0);
        const std::string rest(std::string_view(directive).substr(1 + tokens.token(0).end));
        if (word == "if" || word == "ifdef" || word == "ifndef") return open(word, rest, end);
        if (word == "elif" || word == "else") return go_on(word, rest, begin, end);
        if (word == "endif") return close(begin);
        if (!is_active() || tokens.size() < 2) return;
        if (word == "undef") macros_.erase(std::string(tokens.text(1)));
        if (word == "define")
            macros_[std::string(tokens.text(1))] =
                directive.substr(1 + tokens.token(1).end, directive.npos);
    }

  private:
    struct Branch {
        bool is_outside_active = true;
        bool is_known = true;  ///< the conditions until now; else all branches are active
        bool is_taken = false, is_active = false;
        std::size_t begin = 0;  ///< behind the directive
    };

    bool is_active() const { return branches_.empty() || branches_.back().is_active; }

    std::optional<bool> holds(std::string_view word, const std::string& condition) const {
        const TokenText tokens(condition);
        if (word == "ifdef" || word == "ifndef") {
            if (tokens.size() == 0) return std::nullopt;
            return macros_.contains(tokens.text(0)) == (word == "ifdef");
        }
        const auto value = Condition(condition, macros_).value();
        return value ? std::optional(*value != 0) : std::nullopt;
    }

    void open(std::string_view word, const std::string& condition, std::size_t end) {
        Branch branch{.is_outside_active = is_active(), .begin = end};
        choose(branch, holds(word, condition));
        branches_.push_back(branch);
    }

    void go_on(std::string_view word, const std::string& condition, std::size_t begin,
               std::size_t end) {
        if (branches_.empty()) return;
        Branch& branch = branches_.back();
        clear(branch, begin);
        branch.begin = end;
        choose(branch, word == "else" ? std::optional(true) : holds("if", condition));
    }

    static void choose(Branch& branch, std::optional<bool> condition) {
        branch.is_known = branch.is_known && (branch.is_taken || condition);
        branch.is_active = branch.is_outside_active &&
                           (!branch.is_known || (!branch.is_taken && condition.value_or(false)));
        branch.is_taken = branch.is_taken || branch.is_active;
    }

    void close(std::size_t begin) {
        if (branches_.empty()) return;
        clear(branches_.back(), begin);
        branches_.pop_back();
    }

    /// The lines of an inactive branch become empty.
    void clear(const Branch& branch, std::size_t end) {
        if (branch.is_active) return;
        std::replace_if(
            text_.begin() + std::ptrdiff_t(branch.begin), text_.begin() + std::ptrdiff_t(end),
            [](char c) { return c != '\n'; }, ' ');
    }

    std::string& text_;
    Definitions macros_ = predefined;
    std::vector<Branch> branches_;
};

}  // namespace

std::string without_inactive_branches(std::string_view source) {
    std::string text(source);
    Branches branches(text);
    const TokenText tokens(source);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (tokens.is_directive(i)) branches.read(tokens.token(i).begin, tokens.token(i).end);
    return text;
}

}  // namespace warpscope::experiments
