#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "emulator/program/module.h"
#include "emulator/program/ptx_type.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

// The syntax tree of a PTX text. Register names are resolved to indices, since PTX has nested
// scopes. Names of variables and labels are not resolved.

struct Operand {
    enum Kind : std::uint8_t {
        register_,  ///< index
        special,    ///< name, such as %tid.x
        integer,    ///< value
        float32,    ///< value: the bits of an f32
        float64,    ///< value: the bits of an f64
        symbol,     ///< name + value: a variable or a label
        address,    ///< [elements[0] + value]
        vector,     ///< {elements}
        pair,       ///< elements: p|q
        sink        ///< _
    };
    Kind kind = sink;
    bool negated = false;  ///< !p
    /// Of a register; of an element of the array that a symbol names: array[3]; -1: of none.
    std::int32_t index = -1;
    std::int64_t value = 0;
    std::string name;
    std::vector<Operand> elements;
};

struct Statement {
    std::string name;                                       ///< "ld"
    std::vector<std::string> modifiers;                     ///< "global", "v4", "f32"
    const Opcode* opcode = &opcode_of(Operation::unknown);  ///< the row for name and modifiers
    std::int32_t guard = -1;                                ///< predicate register of @p
    bool guard_negated = false;
    std::vector<Operand> operands;
    SourceLine source;
    std::string text;

    bool has(std::string_view modifier) const {
        for (const std::string& m : modifiers)
            if (m == modifier) return true;
        return false;
    }
    /// The type modifiers, in their order.
    std::vector<Type> types() const {
        std::vector<Type> found;
        for (const std::string& m : modifiers)
            if (const auto type = type_named(m)) found.push_back(*type);
        return found;
    }
};

struct Variable {
    std::string name;
    Space space = Space::global;
    std::uint32_t align = 1;
    std::uint64_t bytes = 0;
    std::uint32_t element_bytes = 1;  ///< of an array
    bool dynamic = false;             ///< .extern .shared x[]
    std::vector<std::byte> initial;   ///< the bytes behind it are zero
    struct Address {                  ///< an initial value that is the address of `name`
        std::uint64_t at = 0;         ///< bytes from the start of the variable
        std::string name;
        std::int64_t offset = 0;
    };
    std::vector<Address> addresses;
};

struct RegisterSyntax {
    std::string name;
    Type type = Type::b32;
    std::uint32_t instance = 0;  ///< see RegisterInfo::instance
};

/// A kernel, or a function that kernels call.
struct KernelSyntax {
    std::string name;
    std::vector<Parameter> results;  ///< of a function
    std::vector<Parameter> parameters;
    std::vector<RegisterSyntax> registers;
    std::vector<Variable> variables;  ///< .shared, .local, and .param of calls
    /// The operands of a call: results (a vector), callee, arguments (a vector).
    std::vector<Statement> statements;
    std::map<std::string, std::uint32_t> labels;  ///< to an index into statements
    std::map<std::string, std::vector<std::string>>
        branch_targets;  ///< .branchtargets lists, for brx.idx
    std::int32_t ptx_line = 0;
    Dim3 cluster{};                     ///< of .reqnctapercluster
    std::uint32_t most_threads = 1024;  ///< of a block, by .maxntid and .reqntid
};

struct ModuleSyntax {
    std::string name;
    std::vector<std::string> files;  ///< by .file index; empty for an index without a file
    std::vector<Variable> variables;
    std::vector<KernelSyntax> kernels;
    std::map<std::string, KernelSyntax> functions;  ///< those with a body
    std::set<std::string> pointed;                  ///< functions whose address other kernels take
};

/// Throws Error, which names the module and the PTX line.
ModuleSyntax parse_ptx(std::string_view text, const std::string& module_name);

}  // namespace warpscope::emulator
