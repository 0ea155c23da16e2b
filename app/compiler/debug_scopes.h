#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/signature.h"

namespace warpscope::compiler {

/// Where a variable lies while the lines [begin, end) of the PTX are executed: in a register, or so
/// many bytes behind the beginning of a variable of the PTX. Without a name, `offset` is its value.
struct DebugPlace {
    std::uint64_t begin = 0, end = ~std::uint64_t(0);
    std::string name{};  ///< of the register, with its "%", or of the variable
    std::uint64_t offset = 0;
};
/// A variable or a parameter.
struct DebugVariable {
    std::string name{};   ///< in the source, without namespaces
    std::string entry{};  ///< its name in the PTX, or else in the source
    std::shared_ptr<const Type> type{};
    /// The lines [low, high) of the PTX in which it is known; 0, 0: it is one of the module.
    std::uint64_t low = 0, high = 0;
    unsigned inlined = 0;  ///< how many calls around it the compiler has inlined
    int line = 0;          ///< of the source, where it is declared
    std::vector<DebugPlace> places{};
    bool is_known_at(std::uint64_t ptx_line) const { return low <= ptx_line && ptx_line < high; }
};
/// A call that the compiler has inlined into the lines [low, high) of the PTX.
struct InlinedCall {
    std::string function;
    std::uint64_t low = 0, high = 0;
    int file = 0, line = 0;  ///< of the call
    bool is_at(std::uint64_t ptx_line) const { return low <= ptx_line && ptx_line < high; }
};
struct DebugScopes {
    std::vector<DebugVariable> variables;      ///< those of inner scopes come before those around
    std::vector<InlinedCall> inlined;          ///< inner ones first
    std::map<std::string, std::string> texts;  ///< see DebugInfo::texts()
};
/// The variables of a PTX and what is inlined in it. Throws as read_signatures() does.
DebugScopes read_scopes(std::string_view ptx);

}  // namespace warpscope::compiler
