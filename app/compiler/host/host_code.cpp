#include "compiler/host/host_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "compiler/host/declarations.h"

namespace warpscope::compiler {
namespace {

constexpr std::array<std::string_view, 5> device_words{"__global__", "__device__", "__constant__",
                                                       "__shared__", "__managed__"};

/// Puts blanks in place of tokens of a text, in their order.
class Blanks {
  public:
    Blanks(const std::string& source, const TokenText& tokens)
        : code{source, {}}, tokens_(tokens) {}

    /// Directives in it stay: an #endif there may belong to an #if before it.
    void add(const Declaration::Tokens& what) {
        const int first_line = line_at(tokens_.token(what.begin).begin);
        for (std::size_t i = what.begin; i < what.end; ++i) {
            if (tokens_.is_directive(i)) continue;
            for (std::size_t at = tokens_.token(i).begin; at < tokens_.token(i).end; ++at)
                if (code.source[at] != '\n') code.source[at] = ' ';
        }
        code.left_out.push_back(
            {first_line, line_at(tokens_.token(what.end - 1).end - 1), what.name});
    }

    DeviceCode code;

  private:
    int line_at(std::size_t byte) {
        const auto begin = code.source.begin();
        line_ +=
            int(std::count(begin + std::ptrdiff_t(counted_), begin + std::ptrdiff_t(byte), '\n'));
        counted_ = byte;
        return line_;
    }

    const TokenText& tokens_;
    std::size_t counted_ = 0;  ///< bytes whose lines are in line_
    int line_ = 1;
};

/// The texts of a program, and the words that device code uses.
class Program {
  public:
    Program(std::span<const std::string> texts, std::span<const std::string> names)
        : texts_(texts) {
        for (const std::string& text : texts) parts_.push_back({TokenText(text), {}});
        for (const Part& part : parts_) read_macros(part.tokens);
        for (Part& part : parts_)
            part.declarations = declarations_of(
                part.tokens, [&](std::string_view word) { return is_device_word(word); });
        for (const Part& part : parts_)
            for (const Declaration& declaration : part.declarations)
                for (const std::string_view name : declaration.declares)
                    if (may_stay(part, declaration))
                        declared_.emplace(name, Place{&part, &declaration});
        for (const std::string& name : names) use_words(name);
        for (const Part& part : parts_)
            for (const Declaration& declaration : part.declarations)
                if (declaration.on_device) keep({&part, &declaration});
        while (!open_words_.empty()) follow_word();
    }

    std::vector<DeviceCode> device_code() const {
        std::vector<DeviceCode> found;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            using Tokens = Declaration::Tokens;
            Blanks blanks(texts_[i], parts_[i].tokens);
            for (const Declaration& declaration : parts_[i].declarations)
                if (!stays(parts_[i], declaration))
                    blanks.add({declaration.begin, declaration.end, words_for(declaration)});
                else
                    for (const Tokens& member : declaration.host_members)
                        blanks.add({member.begin, member.end, "the function " + member.name});
            found.push_back(std::move(blanks.code));
        }
        return found;
    }

  private:
    struct Part {
        TokenText tokens;
        std::vector<Declaration> declarations;
    };
    struct Place {
        const Part* part;
        const Declaration* declaration;
    };

    bool is_device_word(std::string_view word) const {
        return std::ranges::find(device_words, word) != device_words.end() ||
               device_macros_.contains(word);
    }

    /// Macros that stand for device code count as its words.
    void read_macros(const TokenText& text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (!text.is_directive(i)) continue;
            const std::string_view directive = text.text(i);
            const auto tokens = tokens_of(directive.substr(1));
            const auto word = [&](std::size_t t) {
                return directive.substr(1 + tokens[t].begin, tokens[t].end - tokens[t].begin);
            };
            if (tokens.size() < 2 || word(0) != "define") continue;
            for (std::size_t t = 2; t < tokens.size(); ++t) {
                if (tokens[t].kind != SourceToken::Kind::word) continue;
                macros_.emplace(word(1), word(t));
                if (is_device_word(word(t))) device_macros_.insert(word(1));
            }
        }
    }

    /// Whether it needs the C++ standard library, which the compiler does not have.
    static bool names_std(const Part& part, const Declaration& declaration) {
        bool found = false;
        each_word({&part, &declaration}, [&](std::size_t i) {
            found = found || (part.tokens.is(i, "std") && !part.tokens.is(i - 1, ":"));
        });
        return found;
    }

    /// If device code uses it.
    static bool may_stay(const Part& part, const Declaration& declaration) {
        using Kind = Declaration::Kind;
        if (declaration.on_device) return true;
        if (declaration.kind == Kind::function || declaration.kind == Kind::variable) return false;
        return !names_std(part, declaration);
    }

    bool stays(const Part& part, const Declaration& declaration) const {
        using Kind = Declaration::Kind;
        if (declaration.kind == Kind::using_directive) return !names_std(part, declaration);
        if (declaration.kind == Kind::assertion) return !names_what_is_left_out(part, declaration);
        return kept_.contains(&declaration);
    }

    bool names_what_is_left_out(const Part& part, const Declaration& assertion) const {
        if (names_std(part, assertion)) return true;
        for (std::size_t i = assertion.begin; i < assertion.end; ++i) {
            if (!part.tokens.is_word(i)) continue;
            const auto [first, last] = declared_.equal_range(part.tokens.text(i));
            const auto is_kept = [&](const auto& named) {
                return kept_.contains(named.second.declaration);
            };
            if (first != last && std::none_of(first, last, is_kept)) return true;
        }
        return false;
    }

    void keep(const Place& place) {
        if (!kept_.insert(place.declaration).second) return;
        each_word(place, [&](std::size_t i) { use(place.part->tokens.text(i)); });
    }

    /// Calls `call` for each word of a declaration, except for those of members of the host.
    static void each_word(const Place& place, auto call) {
        const auto& members = place.declaration->host_members;
        auto member = members.begin();
        for (std::size_t i = place.declaration->begin; i < place.declaration->end; ++i) {
            while (member != members.end() && member->end <= i) ++member;
            const bool in_member = member != members.end() && member->begin <= i;
            if (!in_member && place.part->tokens.is_word(i)) call(i);
        }
    }

    void use(std::string_view word) {
        if (used_.insert(word).second) open_words_.push_back(word);
    }

    void use_words(std::string_view text) {
        for (const SourceToken& token : tokens_of(text))
            if (token.kind == SourceToken::Kind::word)
                use(text.substr(token.begin, token.end - token.begin));
    }

    void follow_word() {
        const std::string_view word = open_words_.back();
        open_words_.pop_back();
        const auto [macro, last_macro] = macros_.equal_range(word);
        for (auto i = macro; i != last_macro; ++i) use(i->second);
        const auto [place, last_place] = declared_.equal_range(word);
        for (auto i = place; i != last_place; ++i) keep(i->second);
    }

    static std::string words_for(const Declaration& declaration) {
        const bool is_function = declaration.kind == Declaration::Kind::function;
        return (is_function ? "the function " : "the declaration of ") + declaration.name;
    }

    std::span<const std::string> texts_;
    std::vector<Part> parts_;
    std::set<std::string_view> device_macros_;
    std::multimap<std::string_view, std::string_view> macros_;  ///< each with each of its words
    std::multimap<std::string_view, Place> declared_;
    std::set<const Declaration*> kept_;
    std::set<std::string_view> used_;
    std::vector<std::string_view> open_words_;  ///< used, not followed yet
};

}  // namespace

bool has_main(std::string_view source) {
    const TokenText text(source);
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (!text.is(i, "main") || !text.is(i + 1, "(")) continue;
        const auto after = text.after_closing(i + 1);
        if (after && *after < text.size() && (text.is(*after, "{") || text.is(*after, "-")))
            return true;
    }
    return false;
}

std::vector<DeviceCode> device_code(std::span<const std::string> texts,
                                    std::span<const std::string> names) {
    return Program(texts, names).device_code();
}

namespace {

/// Arguments for the parameters of the list that begins with the "<" at `i`, up to the first one
/// that has a default: "float, 16". Moves `i` behind the list.
std::string arguments_for(const TokenText& text, std::size_t& i, std::size_t end) {
    std::string all, one = "16";
    bool has_default = false, ends = false;
    for (int depth = 0; i < end && !ends; ++i) {
        if (text.is(i, "(")) i = text.after_closing(i).value_or(end) - 1;
        if (text.is(i, "<")) ++depth;
        if (depth == 1) {
            if (text.is(i, "typename") || text.is(i, "class")) one = "float";
            if (text.is(i, "bool")) one = "true";
            has_default = has_default || text.is(i, "=");
        }
        ends = text.is(i, ">") && --depth == 0;
        if (!ends && (depth != 1 || !text.is(i, ","))) continue;
        if (!has_default) all += (all.empty() ? "" : ", ") + one;
        one = "16";
    }
    return all;
}

/// Returns the name expression of the declaration; nullopt: it is no template of a kernel.
std::optional<std::string> name_expression(const TokenText& text, const Declaration& declaration) {
    std::size_t i = declaration.begin + 1;
    const bool is_template = text.is(declaration.begin, "template") && text.is(i, "<");
    if (!is_template || text.is(i + 1, ">") || declaration.name.empty()) return std::nullopt;
    const std::string arguments = arguments_for(text, i, declaration.end);
    while (i < declaration.end && !text.is(i, "__global__") && !text.is(i, "{")) ++i;
    if (i == declaration.end || text.is(i, "{")) return std::nullopt;
    return fmt::format("{}{}<{}>", declaration.scope, declaration.name, arguments);
}

}  // namespace

std::string_view template_name(std::string_view name_expression) {
    name_expression = name_expression.substr(0, name_expression.find('<'));
    const std::size_t colon = name_expression.rfind(':');
    return colon == std::string_view::npos ? name_expression : name_expression.substr(colon + 1);
}

std::vector<std::string> template_kernels(std::string_view source) {
    constexpr std::size_t most_templates = 64;
    const TokenText text(source);
    std::vector<std::string> found;
    const auto is_device_word = [](std::string_view word) { return word == "__global__"; };
    for (const Declaration& declaration : declarations_of(text, is_device_word)) {
        if (declaration.kind != Declaration::Kind::function) continue;
        if (found.size() == most_templates) break;
        if (auto name = name_expression(text, declaration)) found.push_back(std::move(*name));
    }
    return found;
}

}  // namespace warpscope::compiler
