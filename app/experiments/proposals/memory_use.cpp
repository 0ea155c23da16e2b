#include "experiments/proposals/memory_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/program/error.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/ptx_syntax.h"
#include "experiments/arrays/expression.h"
#include "experiments/launch_files/element_types.h"

namespace warpscope::experiments {
namespace {

using compiler::MemoryUse;
using compiler::Signature;
using compiler::Type;
using emulator::KernelSyntax;
using emulator::OpcodeKind;
using emulator::Operand;
using emulator::Statement;

/// The variables that a kernel names, among other symbols.
std::set<std::string_view> names_in(const KernelSyntax& kernel) {
    std::set<std::string_view> names;
    for (const Statement& statement : kernel.statements)
        for (const Operand& operand : statement.operands) {
            const Operand& base = emulator::base_of(operand);
            if (base.kind == Operand::symbol) names.insert(base.name);
        }
    return names;
}

/// How a statement that reads or writes a texture or a surface does so.
compiler::ImageUse image_use(const Statement& statement) {
    struct Word {
        std::string_view modifier, number;
    };
    // A texture of integers without a sign is most often an image of bytes. A surface has bits.
    static constexpr Word of_textures[] = {
        {"f32", "float"}, {"u32", "unsigned char"}, {"s32", "int"}};
    static constexpr Word of_surfaces[] = {
        {"b8", "unsigned char"}, {"b16", "unsigned short"}, {"b32", "float"}};
    const bool is_texture = statement.name == "tex";
    compiler::ImageUse use;
    if (!statement.has("level"))
        use.dimensions = statement.has("1d") ? 1 : statement.has("2d") ? 2 : 0;
    // The type of the elements stands before that of the coordinates.
    for (const std::string& modifier : statement.modifiers)
        for (const Word& word : is_texture ? of_textures : of_surfaces)
            if (use.number.empty() && modifier == word.modifier) use.number = word.number;
    if (!is_texture) use.lanes = statement.has("v4") ? 4 : statement.has("v2") ? 2 : 1;
    return use;
}

/// Follows the pointers that a kernel gets through its registers, and those to variables of the
/// module.
class PointerFlow {
  public:
    PointerFlow(const KernelSyntax& kernel, const emulator::ModuleSyntax& module,
                const Signature& signature)
        : kernel_(kernel),
          from_(kernel.registers.size()),
          loaded_(kernel.registers.size()),
          use_(kernel.parameters.size()) {
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
            add_pointers(kernel.parameters[p].name, *signature.parameters[p].type, 0, Set(1) << p);
        // A header declares more variables than can be followed.
        const std::set<std::string_view> named = names_in(kernel);
        for (const emulator::Variable& variable : module.variables) {
            if (use_.size() == most_parameters) break;
            if (variable.space == emulator::Space::shared || !named.contains(variable.name))
                continue;
            variables_[variable.name] = Set(1) << use_.size();
            in_structures_ |= Set(1) << use_.size();
            use_.emplace_back();
        }
        while (changed_) {
            changed_ = false;
            for (const Statement& statement : kernel_.statements) follow(statement);
        }
    }

    /// Returns the use by parameter. Empty: not known.
    std::vector<MemoryUse> use() const {
        if (escapes_) return {};
        return {use_.begin(), use_.begin() + std::ptrdiff_t(kernel_.parameters.size())};
    }
    std::map<std::string, MemoryUse> variables() const {
        std::map<std::string, MemoryUse> uses;
        for (const auto& [name, set] : variables_)
            uses[name] = use_[std::size_t(std::countr_zero(set))];
        return uses;
    }

    /// How the kernel reads each parameter that is a texture or a surface.
    std::vector<std::optional<compiler::ImageUse>> images() const {
        std::vector<std::optional<compiler::ImageUse>> uses(kernel_.parameters.size());
        Set differ = 0;
        for (const Statement& statement : kernel_.statements) {
            const OpcodeKind kind = statement.opcode->kind;
            if (kind != OpcodeKind::reads_image && kind != OpcodeKind::writes_image) continue;
            const compiler::ImageUse use = image_use(statement);
            const bool is_known = use.dimensions > 0 && !use.number.empty();
            const Set set = in_addresses(statement, from_);
            for (std::size_t p = 0; p < uses.size(); ++p) {
                if (set != 0 && (set >> p & 1) == 0) continue;  // 0: it may be any of them
                if (!is_known || (uses[p] && *uses[p] != use)) differ |= Set(1) << p;
                uses[p] = use;
            }
        }
        for (std::size_t p = 0; p < uses.size(); ++p)
            if (differ >> p & 1) uses[p].reset();
        return uses;
    }

    static constexpr std::size_t most_parameters = 64;

  private:
    using Set = std::uint64_t;  ///< of parameters

    /// Adds a parameter that is a pointer or the handle of a texture, or the pointers in a
    /// structure, which count as one.
    void add_pointers(const std::string& name, const Type& type, std::size_t offset, Set set) {
        const bool is_handle = is_image(type);
        if (type.kind == Type::Kind::pointer || is_handle) pointers_[name][offset] = set;
        if (is_handle) in_structures_ |= set;  // functions may get it, too
        if (type.kind == Type::Kind::pointer || is_handle) return;
        for (const compiler::Member& member : type.members)
            add_pointers(name, *member.type, offset + member.offset, set);
        if (type.kind == Type::Kind::array && type.target)
            for (std::size_t i = 0; i < std::min(type.count, most_parameters); ++i)
                add_pointers(name, *type.target, offset + i * type.target->bytes, set);
        in_structures_ |= set;
    }

    void follow(const Statement& statement) {
        const OpcodeKind kind = statement.opcode->kind;
        const Set named = named_in(statement);
        const Set address = in_addresses(statement, from_) | named;
        // Functions such as sinf() have tables in other memory.
        const bool is_own = statement.has("local") || statement.has("const");
        if (!is_own) mark(in_addresses(statement, loaded_), &MemoryUse::steers);
        if (statement.guard >= 0) mark(loaded_[std::size_t(statement.guard)], &MemoryUse::steers);
        if (kind == OpcodeKind::reads_image || kind == OpcodeKind::writes_image) {
            const bool reads = kind == OpcodeKind::reads_image;
            mark(address, reads ? &MemoryUse::reads : &MemoryUse::writes);
            if (reads) add(statement, address, loaded_);
            return;
        }
        const bool is_passed =
            statement.has("shared") || statement.has("local") || statement.has("param");
        if (kind == OpcodeKind::loads) {
            mark(address, &MemoryUse::reads);
            const bool of_parameter = statement.has("param") && statement.operands.size() > 1;
            if (of_parameter) add(statement, parameter_at(statement), from_);
            // What shared and local memory and arguments of functions hold may come from anywhere.
            if (!is_of_kernel(statement)) add(statement, is_passed ? stored_ : address, loaded_);
            return;
        }
        Set sources = named, numbers = 0;
        for (const std::int32_t index : emulator::sources_of(statement)) {
            sources |= from_[std::size_t(index)];
            numbers |= loaded_[std::size_t(index)];
        }
        if (kind == OpcodeKind::stores || kind == OpcodeKind::updates_memory) {
            mark(address, &MemoryUse::writes);
            const Set stored = sources & ~address;
            escapes_ = escapes_ || (stored & ~in_structures_) != 0;
            mark(stored & in_structures_, &MemoryUse::steers);
            if (is_passed) stored_ |= numbers;
            if (kind == OpcodeKind::updates_memory)
                add(statement, is_passed ? stored_ : address | numbers, loaded_);
            return;
        }
        if (kind == OpcodeKind::branches_by_index) mark(numbers, &MemoryUse::steers);
        add(statement, sources, from_);
        add(statement, numbers, loaded_);
    }

    /// Whether a statement loads a parameter of the kernel, not one of a function.
    bool is_of_kernel(const Statement& load) const {
        if (!load.has("param") || load.operands.size() < 2) return false;
        const Operand& address = load.operands[1];
        return address.kind == Operand::address && !address.elements.empty() &&
               std::ranges::find(kernel_.parameters, address.elements[0].name,
                                 &emulator::Parameter::name) != kernel_.parameters.end();
    }

    /// The variables of the module that a statement names.
    Set named_in(const Statement& statement) const {
        Set found = 0;
        for (const Operand& operand : statement.operands) {
            const Operand& base = emulator::base_of(operand);
            const auto variable =
                base.kind == Operand::symbol ? variables_.find(base.name) : variables_.end();
            if (variable != variables_.end()) found |= variable->second;
        }
        return found;
    }

    static Set in_addresses(const Statement& statement, const std::vector<Set>& sets) {
        Set found = 0;
        for (const Operand& operand : statement.operands)
            if (operand.kind == Operand::address && !operand.elements.empty() &&
                operand.elements[0].kind == Operand::register_)
                found |= sets[std::size_t(operand.elements[0].index)];
        return found;
    }

    /// The pointers that a load of parameters reads, of up to 8 bytes a register.
    Set parameter_at(const Statement& load) const {
        const Operand& operand = load.operands[1];
        const bool is_wide = load.has("u64") || load.has("b64") || load.has("s64");
        if (!is_wide || operand.kind != Operand::address || operand.elements.empty()) return 0;
        const auto found = pointers_.find(operand.elements[0].name);
        if (found == pointers_.end()) return 0;
        const std::int64_t bytes = 8 * std::int64_t(emulator::destinations_of(load).size());
        const std::int64_t first = operand.value + operand.elements[0].value;
        Set all = 0;
        for (const auto& [offset, set] : found->second)
            if (std::int64_t(offset) >= first && std::int64_t(offset) < first + bytes) all |= set;
        return all;
    }

    void add(const Statement& statement, Set set, std::vector<Set>& sets) {
        for (const std::int32_t index : emulator::destinations_of(statement)) {
            Set& known = sets[std::size_t(index)];
            changed_ = changed_ || (set & ~known) != 0;
            known |= set;
        }
    }

    void mark(Set set, bool MemoryUse::*what) {
        for (std::size_t p = 0; p < use_.size(); ++p)
            if (set >> p & 1) use_[p].*what = true;
    }

    const KernelSyntax& kernel_;
    /// By parameter of the PTX, and by offset in bytes.
    std::map<std::string, std::map<std::size_t, Set>> pointers_;
    std::map<std::string, Set> variables_;
    Set in_structures_ = 0;
    std::vector<Set> from_;    ///< by register: the pointers that it may come from
    std::vector<Set> loaded_;  ///< and those behind which its value was read
    Set stored_ = 0;  ///< and those whose values are in shared or local memory, or in arguments
    std::vector<MemoryUse> use_;
    bool changed_ = true;
    bool escapes_ = false;  ///< a pointer is stored, or passed to a function
};

/// The alignment of the array in dynamic shared memory that a kernel names, as its largest element
/// has it; 0: it names none.
std::size_t dynamic_shared(const KernelSyntax& kernel, const emulator::ModuleSyntax& module) {
    const std::set<std::string_view> named = names_in(kernel);
    std::size_t align = 0;
    for (const emulator::Variable& variable : module.variables)
        if (variable.dynamic && named.contains(variable.name))
            align = std::max<std::size_t>(align, variable.align);
    return align;
}

/// Bytes of the arrays in shared memory with fixed sizes that a kernel names.
std::uint64_t fixed_shared(const KernelSyntax& kernel, const emulator::ModuleSyntax& module) {
    const std::set<std::string_view> named = names_in(kernel);
    std::uint64_t bytes = 0;
    for (const auto* variables : {&module.variables, &kernel.variables})
        for (const emulator::Variable& variable : *variables)
            if (variable.space == emulator::Space::shared && named.contains(variable.name))
                bytes += variable.bytes;
    return bytes;
}

/// Whether it or a function of the module reads one of these special registers, "%ctaid".
bool reads(std::string_view name, const KernelSyntax& kernel,
           const emulator::ModuleSyntax& module) {
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

void read_memory_use(std::string_view ptx, std::span<Signature> signatures) {
    emulator::ModuleSyntax module;
    try {
        module = emulator::parse_ptx(ptx, "");
    } catch (const emulator::Error&) {
        return;  // the kernels do not run in the emulator, which then says why
    }
    for (Signature& signature : signatures) {
        const auto kernel = std::ranges::find(module.kernels, signature.entry, &KernelSyntax::name);
        if (kernel == module.kernels.end() ||
            kernel->parameters.size() != signature.parameters.size() ||
            kernel->parameters.size() > PointerFlow::most_parameters)
            continue;
        // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 7.5.
        constexpr std::uint64_t most_shared = 65536;
        if (const std::uint64_t bytes = fixed_shared(*kernel, module); bytes > most_shared)
            throw LaunchError(
                fmt::format("source: the arrays of kernel {} in shared memory have {} bytes: a "
                            "block has at most {}",
                            signature.name, bytes, most_shared));
        const PointerFlow flow(*kernel, module, signature);
        signature.traits.memory = flow.use();
        signature.traits.images = flow.images();
        signature.traits.variables = flow.variables();
        signature.traits.reads_block_index = reads("%ctaid", *kernel, module);
        signature.traits.reads_grid_size = reads("%nctaid", *kernel, module);
        signature.traits.synchronises_grid = reads("%envreg", *kernel, module);
        if (signature.traits.dynamic_shared == 0)
            signature.traits.dynamic_shared = dynamic_shared(*kernel, module);
    }
}

}  // namespace warpscope::experiments
