#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/ptx_lexer.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// The names that a kernel or function declares in nested braces.
class Scopes {
  public:
    void open() { scopes_.emplace_back(); }
    void close() { scopes_.pop_back(); }
    bool is_empty() const { return scopes_.empty(); }
    /// `index`: into KernelSyntax::registers.
    void add_register(std::string name, std::int32_t index);
    /// A .param variable of a call, which has a unique name of its own.
    void add_parameter(std::string name, std::string unique_name);
    std::optional<std::int32_t> find_register(std::string_view name) const;
    /// The unique name of a .param variable; other names stay as they are.
    std::string unique_name(std::string_view name) const;

  private:
    struct Scope {
        std::map<std::string, std::int32_t, std::less<>> registers;
        std::map<std::string, std::string, std::less<>> parameters;
    };
    std::vector<Scope> scopes_;
};

Operand parse_operand(Lexer& lexer, const Scopes& scopes);
/// Parses an operand that is a single word.
Operand parse_word(Lexer& lexer, const Scopes& scopes);

/// Parses the number behind .align.
std::uint32_t parse_alignment(Lexer& lexer);
/// Parses the rest of a statement that declares variables, behind .global, .shared or another state
/// space. `external`: it began with .extern.
void parse_variables(Lexer& lexer, Space space, bool external, std::vector<Variable>& into);

}  // namespace warpscope::emulator
