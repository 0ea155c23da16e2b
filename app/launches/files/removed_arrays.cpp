#include "launches/files/removed_arrays.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "emulator/program/error.h"
#include "emulator/program/source_name.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::launches {
namespace {

using emulator::KernelSyntax;
using emulator::ModuleSyntax;
using emulator::Operand;

/// Calls visit(kernel or function) for all of a module.
template <class Visit>
void for_each_body(const ModuleSyntax& module, Visit visit) {
    for (const KernelSyntax& kernel : module.kernels) visit(kernel);
    for (const auto& [name, function] : module.functions) visit(function);
}

/// Where the module names each symbol first.
std::map<std::string, emulator::SourceLine> first_uses(const ModuleSyntax& module) {
    std::map<std::string, emulator::SourceLine> found;
    for_each_body(module, [&](const KernelSyntax& body) {
        for (const emulator::Statement& statement : body.statements)
            for (const Operand& operand : statement.operands) {
                const Operand& base = emulator::base_of(operand);
                if (base.kind == Operand::symbol) found.try_emplace(base.name, statement.source);
            }
    });
    return found;
}

std::set<std::string> shared_arrays(const ModuleSyntax& module) {
    std::set<std::string> names;
    const auto add = [&](const std::vector<emulator::Variable>& variables) {
        for (const emulator::Variable& variable : variables)
            if (variable.space == emulator::Space::shared) names.insert(variable.name);
    };
    add(module.variables);
    for_each_body(module, [&](const KernelSyntax& body) { add(body.variables); });
    return names;
}

}  // namespace

std::vector<compiler::Diagnostic> removed_arrays(std::string_view optimized,
                                                 std::string_view unoptimized,
                                                 std::string_view source) {
    std::vector<compiler::Diagnostic> notes;
    try {
        const auto kept = first_uses(emulator::parse_ptx(optimized, ""));
        const ModuleSyntax written = emulator::parse_ptx(unoptimized, "");
        const auto uses = first_uses(written);
        for (const std::string& name : shared_arrays(written)) {
            const auto use = uses.find(name);
            if (use == uses.end() || kept.contains(name)) continue;
            // The compiler may split an array into "name_$_0", "name_$_1".
            const auto part = kept.lower_bound(name + "_$_");
            if (part != kept.end() && part->first.starts_with(name + "_$_")) continue;
            const auto [file, line] = std::pair(use->second.file, use->second.line);
            const bool is_here = file >= 0 && written.files[std::size_t(file)] == source;
            notes.push_back(
                {is_here ? line : 0, 0, compiler::Severity::note,
                 fmt::format("the compiler has removed the array {} in shared memory and its "
                             "accesses, since it knows the values or no result needs them: the "
                             "checks do not see them",
                             emulator::source_name(name))});
        }
    } catch (const emulator::Error&) {
        return {};  // the kernels do not run in the emulator, which then says why
    }
    return notes;
}

}  // namespace warpscope::launches
