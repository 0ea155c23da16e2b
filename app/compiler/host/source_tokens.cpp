#include "compiler/host/source_tokens.h"

#include <algorithm>
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

}  // namespace warpscope::compiler
