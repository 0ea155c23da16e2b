#include "experiments/proposals/launch_traits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "emulator/program/error.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/ptx_syntax.h"
#include "launches/arrays/expression.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

using compiler::ImageUse;
using compiler::Signature;
using emulator::KernelSyntax;
using emulator::ModuleSyntax;
using emulator::Operand;
using emulator::Statement;

/// How a statement that reads or writes a texture or a surface does so.
ImageUse image_use(const Statement& statement, bool is_texture) {
    struct Word {
        std::string_view modifier, number;
    };
    // A texture of integers without a sign is most often an image of bytes. A surface has bits.
    static constexpr Word of_textures[] = {
        {"f32", "float"}, {"u32", "unsigned char"}, {"s32", "int"}};
    static constexpr Word of_surfaces[] = {
        {"b8", "unsigned char"}, {"b16", "unsigned short"}, {"b32", "float"}};
    ImageUse use;
    if (!statement.has("level"))
        use.dimensions = statement.has("1d") ? 1 : statement.has("2d") ? 2 : 0;
    // The type of the elements stands before that of the coordinates.
    for (const std::string& modifier : statement.modifiers)
        for (const Word& word : is_texture ? of_textures : of_surfaces)
            if (use.number.empty() && modifier == word.modifier) use.number = word.number;
    if (!is_texture) use.lanes = statement.has("v4") ? 4 : statement.has("v2") ? 2 : 1;
    return use;
}

std::optional<ImageUse> image_use(const KernelSyntax& kernel, bool of_textures) {
    std::optional<ImageUse> found;
    for (const Statement& statement : kernel.statements) {
        const bool is_texture = statement.name == "tex";
        if (is_texture != of_textures ||
            (!is_texture && statement.name != "suld" && statement.name != "sust"))
            continue;
        const ImageUse use = image_use(statement, is_texture);
        if (use.dimensions == 0 || use.number.empty() || (found && *found != use)) return {};
        found = use;
    }
    return found;
}

/// Looks at the arrays in shared memory that a kernel names: those of fixed sizes together must fit
/// into a block, and that of a dynamic size has elements as large as its alignment.
void read_shared_arrays(const KernelSyntax& kernel, const ModuleSyntax& module,
                        Signature& signature) {
    std::set<std::string_view> named;
    for (const Statement& statement : kernel.statements)
        for (const Operand& operand : statement.operands)
            if (const Operand& base = emulator::base_of(operand); base.kind == Operand::symbol)
                named.insert(base.name);
    std::uint64_t fixed = 0;
    std::size_t dynamic = 0;
    for (const auto* variables : {&module.variables, &kernel.variables})
        for (const emulator::Variable& variable : *variables) {
            if (!named.contains(variable.name)) continue;
            if (variable.space == emulator::Space::shared) fixed += variable.bytes;
            if (variable.dynamic) dynamic = std::max<std::size_t>(dynamic, variable.align);
        }
    if (signature.traits.dynamic_shared == 0) signature.traits.dynamic_shared = dynamic;
    // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 7.5.
    constexpr std::uint64_t most_shared = 65536;
    if (fixed > most_shared)
        throw LaunchError(
            fmt::format("source: the arrays of kernel {} in shared memory have {} bytes: a "
                        "block has at most {}",
                        signature.name, fixed, most_shared));
}

/// Whether it or a function of the module reads one of these special registers, "%ctaid".
bool reads(std::string_view name, const KernelSyntax& kernel, const ModuleSyntax& module) {
    const auto is_it = [&](const Operand& operand) {
        return operand.kind == Operand::special && operand.name.starts_with(name);
    };
    const auto reads_it = [&](const KernelSyntax& one) {
        return std::ranges::any_of(one.statements, [&](const Statement& statement) {
            return std::ranges::any_of(statement.operands, is_it);
        });
    };
    return reads_it(kernel) || std::ranges::any_of(module.functions, [&](const auto& function) {
               return reads_it(function.second);
           });
}

}  // namespace

void read_launch_traits(std::string_view ptx, std::span<Signature> signatures) {
    ModuleSyntax module;
    try {
        module = emulator::parse_ptx(ptx, "");
    } catch (const emulator::Error&) {
        return;  // the kernels do not run in the emulator, which then says why
    }
    for (Signature& signature : signatures) {
        const auto kernel = std::ranges::find(module.kernels, signature.entry, &KernelSyntax::name);
        if (kernel == module.kernels.end()) continue;
        read_shared_arrays(*kernel, module, signature);
        signature.traits.texture = image_use(*kernel, true);
        signature.traits.surface = image_use(*kernel, false);
        signature.traits.reads_block_index = reads("%ctaid", *kernel, module);
        signature.traits.synchronises_grid = reads("%envreg", *kernel, module);
    }
}

}  // namespace warpscope::experiments
