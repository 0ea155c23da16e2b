#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compiler {

/// A token of C++, or a whole preprocessing directive with its continued lines.
struct SourceToken {
    enum class Kind { word, number, text, sign, directive };
    Kind kind;
    std::size_t begin, end;  ///< bytes of the source
};

/// The tokens of a source, without comments and spaces. A sign is one character. A text that does
/// not end reaches to the end of its line or, if raw, of the source.
std::vector<SourceToken> tokens_of(std::string_view source);

/// A text with its tokens and the pairs of its brackets. The text must outlive it.
class TokenText {
  public:
    explicit TokenText(std::string_view text);

    std::size_t size() const { return tokens_.size(); }
    const SourceToken& token(std::size_t i) const { return tokens_[i]; }
    std::string_view text(std::size_t i) const;
    bool is(std::size_t i, std::string_view what) const;  ///< a word, number or sign
    bool is_word(std::size_t i) const;
    bool is_directive(std::size_t i) const;
    /// The token after the bracket that closes the one at `open`, or nullopt. Brackets in the
    /// branches of an #if have common closing brackets where the branches leave equally many open.
    std::optional<std::size_t> after_closing(std::size_t open) const;

  private:
    std::string_view text_;
    std::vector<SourceToken> tokens_;
    std::vector<std::size_t> closing_;  ///< by token: the closing bracket, 0: none
};

/// A declaration at namespace scope: the tokens [begin, end).
struct Declaration {
    enum class Kind {
        function,         ///< also an explicit instantiation
        type,             ///< struct, class, union, enum
        alias,            ///< typedef, using A = B, namespace A = B
        constant,         ///< const or constexpr; also a constexpr function
        assertion,        ///< static_assert
        using_directive,  ///< using namespace A
        variable,
    };
    struct Tokens {
        std::size_t begin, end;
        std::string name;
    };
    Kind kind = Kind::variable;
    std::size_t begin = 0, end = 0;
    std::string name;
    std::string scope;                       ///< its namespaces: "lib::detail::"
    std::vector<std::string_view> declares;  ///< the names by which other code uses it
    bool on_device = false;                  ///< it has a word such as __global__
    std::vector<Tokens> host_members;        ///< functions in a type that only the host can call
};

/// The declarations of a text, those in namespaces too. Where brackets do not match, the rest of
/// the text is in none. `is_device_word` says whether a word is __device__ or the like, or a macro
/// for it.
std::vector<Declaration> declarations_of(
    const TokenText& text, const std::function<bool(std::string_view)>& is_device_word);

}  // namespace warpscope::compiler
