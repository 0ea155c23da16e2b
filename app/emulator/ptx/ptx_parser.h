#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/ptx/ptx_lexer.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// A recursive-descent parser of PTX. ptx_parser.cpp parses the module level, ptx_statement.cpp the
/// body of a kernel or function, ptx_location.cpp its source lines.
class Parser {
  public:
    Parser(std::string_view text, const std::string& name) : lexer_(text, name) {
        module_.name = name;
    }
    ModuleSyntax parse();

  private:
    struct Scope {
        std::map<std::string, std::int32_t, std::less<>> registers;
        std::map<std::string, std::string, std::less<>>
            parameters;  ///< .param name to its unique name
    };
    struct VariableHead {
        std::uint32_t align = 0;
        std::uint32_t lanes = 1;
        Type type = Type::b8;
    };

    /// Of a .loc: what tells a place where a function was inlined from others.
    struct Position {
        std::int32_t file = -1, line = 0, column = 0;
        auto operator<=>(const Position&) const = default;
    };
    /// Code of other files, inlined into a line of the kernel's file.
    struct Inlining {
        std::int32_t line = 0;        ///< of the kernel's file; 0 where it is not known
        std::vector<FileLine> lines;  ///< see SourceLine::inlined
    };

    void module_directive();
    void skip_line_of_words();
    void skip_braces();
    void file_directive();
    void loc_directive();
    Position position();
    Inlining inlining_at(const Position& caller) const;
    void function();
    void entry();
    void begin(KernelSyntax& kernel);
    std::vector<Parameter> parameter_list();
    Parameter parameter();
    void variables(Space space, bool external, std::vector<Variable>& into);
    std::uint32_t alignment();
    VariableHead variable_head();
    void initialiser(Variable& variable, Type type);
    void initial_value(Variable& variable, Type type);
    void initial_address(Variable& variable, Type type);
    void body();
    void registers(const Token& type_word);  ///< such as .b32
    void call_parameters();
    void label(const Token& name);
    void statement();
    void call_operands(Statement& s);
    Operand operand();
    Operand address_operand();
    Operand word_operand();
    Operand number_operand(bool negative);
    std::optional<std::int32_t> find_register(std::string_view name) const;

    Lexer lexer_;
    ModuleSyntax module_;
    KernelSyntax* kernel_ = nullptr;
    std::vector<Scope> scopes_;
    SourceLine source_;
    std::int32_t kernel_file_ = -1;
    std::map<Position, Inlining> inlined_;  ///< the newest .loc of each position, in other files
};

}  // namespace warpscope::emulator
