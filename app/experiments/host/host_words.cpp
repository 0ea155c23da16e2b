#include <algorithm>

#include "experiments/host/host_calls.h"

// The tokens of a host program as texts, in which names stand for what they mean now.
namespace warpscope::experiments {

/// The "," or ";" after a value, or the bracket that closes what is around it.
std::size_t HostCalls::end_of_value(std::size_t i) const {
    for (const std::size_t last = std::min(text_.size(), i + longest); i < last;) {
        if (text_.is(i, ";") || text_.is(i, ",") || text_.is(i, ")") || text_.is(i, "}")) break;
        const bool opens = text_.is(i, "(") || text_.is(i, "{") || text_.is(i, "[");
        i = opens ? text_.after_closing(i).value_or(last) : i + 1;
    }
    return std::min(i, text_.size());
}

std::vector<HostCalls::TokenRange> HostCalls::ranges(std::size_t begin, std::size_t end) const {
    std::vector<TokenRange> found;
    for (std::size_t i = begin; i < end; ++i) {
        if (text_.is(i, "(") || text_.is(i, "{") || text_.is(i, "["))
            i = std::min(text_.after_closing(i).value_or(end), end) - 1;
        // The arguments of a template: "kernel<float, 2>,", "Map<int, float> &m".
        const std::size_t after =
            text_.is(i, "<") && i > begin && text_.is_word(i - 1) ? after_angles(i, end) : end;
        const bool is_list = text_.is(after, ",") || text_.is(after, "(") || text_.is(after, "{") ||
                             text_.is(after, "*") || text_.is(after, "&") || text_.is_word(after);
        if (after < end && is_list) i = after - 1;
        if (!text_.is(i, ",")) continue;
        found.emplace_back(begin, i);
        begin = i + 1;
    }
    found.emplace_back(begin, end);
    return found;
}

std::vector<std::string> HostCalls::parts(std::size_t begin, std::size_t end) const {
    std::vector<std::string> found;
    for (const TokenRange& range : ranges(begin, end))
        found.push_back(words(range.first, range.second));
    return found;
}

std::vector<std::string> HostCalls::plain_parts(std::size_t begin, std::size_t end) const {
    std::vector<std::string> found;
    for (const TokenRange& range : ranges(begin, end))
        found.push_back(plain_words(range.first, range.second));
    return found;
}

std::string HostCalls::plain_words(std::size_t begin, std::size_t end) const {
    std::string all;
    for (std::size_t i = begin; i < end; ++i)
        if (!text_.is_directive(i)) all += (all.empty() ? "" : " ") + std::string(text_.text(i));
    return all;
}

std::string HostCalls::words(std::size_t begin, std::size_t end) const {
    std::string all;
    for (std::size_t i = begin; i < end; ++i) {
        if (text_.is_directive(i)) continue;
        if (!all.empty()) all += " ";
        if (!text_.is_word(i)) {
            all += text_.text(i);
            continue;
        }
        all += member_at(i, end);
    }
    return all;
}

std::string HostCalls::member_at(std::size_t& i, std::size_t end) const {
    std::string name = name_now(text_.text(i));
    for (;;) {
        const std::string element = element_behind(i);
        const std::size_t sign = i + (element.empty() ? 1 : 4);
        const bool is_arrow = text_.is(sign, "-") && text_.is(sign + 1, ">");
        const std::size_t member = sign + (is_arrow ? 2 : 1);
        if ((!is_arrow && !text_.is(sign, ".")) || member >= end || !text_.is_word(member))
            return name;
        name += element + "$" + std::string(text_.text(member));
        i = member;
    }
}

std::string HostCalls::element_behind(std::size_t i) const {
    const std::string_view index = at(i + 2);
    const bool is_number = index.find_first_not_of("0123456789") == index.npos && !index.empty();
    if (!is_number || !text_.is(i + 1, "[") || !text_.is(i + 3, "]")) return "";
    return "$at" + std::string(index);
}

std::size_t HostCalls::after_angles(std::size_t open, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = open; i < std::min(end, open + longest); ++i) {
        if (text_.is(i, "(")) i = text_.after_closing(i).value_or(end) - 1;
        if (text_.is(i, "<")) ++depth;
        if (text_.is(i, ">") && --depth == 0) return i + 1;
        if (text_.is(i, ";") || text_.is(i, "{")) break;
    }
    return end;
}

/// "n = …", "n += …", "n++", "++n"
bool HostCalls::changes(std::size_t i) const {
    const auto is_one_of = [&](std::size_t t, std::string_view signs) {
        return !at(t).empty() && signs.find(at(t)) != std::string_view::npos;
    };
    if (text_.is(i + 1, "=")) return !text_.is(i + 2, "=");
    const bool twice = at(i + 1) == at(i + 2), twice_before = i > 1 && at(i - 1) == at(i - 2);
    if ((twice && is_one_of(i + 1, "+-")) || (twice_before && is_one_of(i - 1, "+-"))) return true;
    if (is_one_of(i + 1, "+-*/%&|^") && text_.is(i + 2, "=")) return true;
    return twice && is_one_of(i + 1, "<>") && text_.is(i + 3, "=");
}

}  // namespace warpscope::experiments
