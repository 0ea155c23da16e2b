#include "emulator/decode/decode_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "emulator/decode/module_loader.h"
#include "emulator/handlers/handlers.h"
#include "emulator/lower/calls.h"
#include "emulator/lower/uniformity.h"
#include "emulator/program/error.h"
#include "emulator/program/module.h"
#include "emulator/program/special_register.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/ptx/ptx_syntax.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {
namespace {

void check_operand_count(const KernelState& state, const Statement& s) {
    const OperandRoles& roles = s.opcode->operands;
    const std::size_t count = s.operands.size();
    if (roles.any || (count >= roles.least && count <= roles.count)) return;
    const std::string needed = roles.least == roles.count
                                   ? fmt::format("{}", roles.count)
                                   : fmt::format("{} to {}", roles.least, roles.count);
    fail_at(state, s, fmt::format("{} operands where {} are needed", count, needed));
}

/// True for a kernel that asks for the workspace in which the blocks of a grid count who has
/// arrived.
bool uses_grid_workspace(const KernelSyntax& syntax) {
    return std::any_of(syntax.statements.begin(), syntax.statements.end(), [](const Statement& s) {
        return std::any_of(s.operands.begin(), s.operands.end(), [](const Operand& o) {
            return o.kind == Operand::special && special_named(o.name) == Special::envreg2;
        });
    });
}

/// Throws Error for a statement whose opcode, operand count or label is unknown.
void check_statements(const KernelState& state) {
    for (const Statement& s : state.syntax.statements) {
        if (s.opcode->operation == Operation::unknown)
            fail_at(state, s, why_unknown(s.name, s.modifiers));
        if (const std::string_view reason = why_refused(s.name, s.modifiers); !reason.empty())
            fail_at(state, s, std::string(reason));
        check_operand_count(state, s);
        if (s.opcode->kind == OpcodeKind::branches &&
            !state.syntax.labels.contains(s.operands[0].name))
            fail_at(state, s, "a branch to an unknown label");
    }
}

/// Switches the CPU's flush mode on for a kernel in which an operation flushes subnormals.
void choose_float_mode(KernelState& state) {
    if (!cpu_has_float_modes()) return;
    for (const Statement& s : state.syntax.statements) {
        // rsqrt.approx.ftz.f32 flushes subnormals in its own handler.
        const bool by_itself = s.opcode->operation == Operation::frsqrt && s.has("f32");
        state.kernel->flush_subnormals |= s.has("ftz") && !by_itself;
    }
}

// The analyses hold a bit for each pair of a basic block and a statement or register.
constexpr std::uint64_t most_facts = 200'000'000;

/// Turns all control flow into branches, and finds basic blocks and uniform registers.
void analyse_control(KernelState& state) {
    KernelSyntax& syntax = state.syntax;
    lower_control(syntax);
    state.flow = build_control_flow(syntax);
    const std::uint64_t blocks = state.flow.blocks.size();
    if (blocks * syntax.registers.size() > most_facts ||
        blocks * syntax.statements.size() > most_facts)
        throw Error(fmt::format(
            "{}: kernel {} is too large to emulate: {} statements, {} registers and {} branches",
            state.module.name(), syntax.name, syntax.statements.size(), syntax.registers.size(),
            blocks));
    state.uniformity = analyse_uniformity(syntax, state.flow);
}

/// Computes the distances of branches to their targets and joins.
void resolve_branches(KernelState& state) {
    for (const BranchFixup& f : state.fixups) {
        Instruction& i = state.kernel->code[f.instruction];
        i.target = state.block_begin[f.target_block] - f.instruction;
        i.operands[1] = f.join_block == ControlFlow::no_block
                            ? 0
                            : state.block_begin[f.join_block] - f.instruction;
    }
}

/// Writes the final offsets of slots into instructions and into the kernel's list of registers.
void finish_operands(KernelState& state) {
    Kernel& kernel = *state.kernel;
    for (Instruction& i : kernel.code)
        // Operand 1 of a branch is no slot: it is the distance to its join.
        for (unsigned k = 0; k < (is_branch(i.role) ? 1 : 6); ++k)
            i.operands[k] = state.slots.final_operand(i.operands[k]);
    for (std::uint32_t& operand : kernel.further_operands)
        operand = state.slots.final_operand(operand);
    for (RegisterInfo& r : kernel.registers) r.slot = state.slots.final_operand(r.slot);
    for (RegisterInfo& r : kernel.cleared) r.slot = state.slots.final_operand(r.slot);
    state.slots.finish(kernel);
}

std::uint8_t events_of(const Instruction& i, const InstructionInfo& info) {
    if (info.pseudo) return 0;
    // Asynchronous copies tell their accesses themselves.
    const bool accesses = info.access != MemoryAccess::none && !reduces_by_copy(i.operation);
    const bool generic = info.space == Space::generic;
    std::uint8_t events = Instruction::executes;
    const bool shared = info.space == Space::shared || info.space == Space::cluster;
    if (accesses && (generic || shared)) events |= Instruction::shared_access;
    if (accesses && (generic || info.space == Space::global)) events |= Instruction::global_access;
    if (!accesses && info.order != MemoryOrder::weak) events |= Instruction::fences;
    if (i.role == Role::warp_barrier) events |= Instruction::warp_sync;
    const AccessForm form(i.target);
    if (accesses && info.space == Space::shared && !form.wide_address && !form.matrices &&
        is_uniform(i.operands[info.address_operand]))
        events |= Instruction::uniform_shared;
    return events;
}

/// Marks what observers can be told about each instruction.
void mark_events(KernelState& state) {
    Kernel& kernel = *state.kernel;
    for (std::size_t k = 0; k < kernel.code.size(); ++k)
        kernel.code[k].events = events_of(kernel.code[k], kernel.lines[k]);
    for (std::size_t k = kernel.code.size(); k-- > 1;) {
        Instruction& i = kernel.code[k - 1];
        if (is_prefix(i.role)) i.events = std::uint8_t(kernel.code[k].events | Instruction::guards);
    }
}

/// Moves what analyses of the whole kernel need to Kernel::origin.
void keep_origin(KernelState& state) {
    state.kernel->origin = std::make_shared<KernelOrigin>(
        KernelOrigin{std::move(state.syntax), std::move(state.flow), std::move(state.uniformity),
                     std::move(state.block_begin)});
}

}  // namespace

std::unique_ptr<Kernel> decode_kernel(const Module& module, const Symbols& module_symbols,
                                      KernelSyntax syntax) {
    KernelState state{module, module_symbols, std::move(syntax)};
    Kernel& kernel = *state.kernel;
    kernel.name = state.syntax.name;
    kernel.module = &module;
    kernel.parameters = state.syntax.parameters;
    kernel.cluster = state.syntax.cluster;
    kernel.most_threads = state.syntax.most_threads;
    kernel.synchronises_grid = uses_grid_workspace(state.syntax);
    for (const Parameter& p : kernel.parameters)
        kernel.parameter_bytes = std::max(kernel.parameter_bytes, p.offset + p.size);
    kernel.argument_slot = slot_offset(state.slots.uniform(std::max(8u, kernel.parameter_bytes)));

    check_statements(state);
    choose_float_mode(state);
    analyse_control(state);
    place_variables(state);
    find_bases(state);
    find_aliases(state);
    place_registers(state);
    decode_blocks(state);
    resolve_branches(state);
    finish_operands(state);
    mark_events(state);
    keep_origin(state);
    return std::move(state.kernel);
}

void fail_at(const KernelState& state, const Statement& statement, const std::string& what) {
    throw Error(fmt::format("{}: kernel {}, {}: {}: '{}'", state.module.name(), state.syntax.name,
                            load_place(statement.source, state.module.files()), what,
                            statement.text));
}

std::uint32_t SlotAllocator::uniform(std::uint32_t bytes) {
    const std::uint32_t at = uniform_bytes_;
    uniform_bytes_ += (bytes + 7) / 8 * 8;
    return at | uniform_operand;
}

std::uint32_t SlotAllocator::vector(unsigned bits) {
    const std::uint32_t at = vector_bytes_;
    vector_bytes_ += lanes_per_warp * (bits == 64 ? 8 : 4);
    return at | vector_flag;
}

std::uint32_t SlotAllocator::constant(std::uint64_t value) {
    const auto [found, is_new] = constants_.try_emplace(value, 0);
    if (is_new) found->second = uniform();
    return found->second;
}

std::uint32_t SlotAllocator::special(Special special) {
    const auto [found, is_new] = specials_.try_emplace(special, 0);
    if (is_new) found->second = varies_by_lane(special) ? vector(32) : uniform();
    return found->second;
}

std::uint32_t SlotAllocator::final_operand(std::uint32_t operand) const {
    if (!(operand & vector_flag)) return operand;
    return (operand & ~vector_flag) + (uniform_bytes_ + 63) / 64 * 64;
}

void SlotAllocator::finish(Kernel& kernel) const {
    for (const auto& [value, slot] : constants_)
        kernel.constants.push_back({slot_offset(slot), value});
    for (const auto& [special, slot] : specials_)
        kernel.specials.push_back({special, final_operand(slot)});
    kernel.register_bytes = final_operand(vector_flag | vector_bytes_);
}

ModuleLoader::ModuleLoader(std::string_view ptx, const std::string& name)
    : syntax_(parse_ptx(ptx, name)), module_(std::make_shared<Module>()) {
    module_->text_ = ptx;
    module_->name_ = syntax_.name;
    module_->files_ = syntax_.files;
    for (const Variable& v : syntax_.variables)
        if (v.space != Space::shared) place(v);
    find_functions();
    for (const Variable& v : syntax_.variables) set_addresses(v);
    decode_kernels();
}

void ModuleLoader::point(std::string_view ptx) {
    ModuleSyntax other = parse_ptx(ptx, syntax_.name);
    std::swap(other.functions, syntax_.functions);
    other.pointed = std::move(syntax_.pointed);
    syntax_.pointed = pointed_functions(other);
    std::swap(other.functions, syntax_.functions);
}

void ModuleLoader::add(std::string_view ptx) {
    syntax_.kernels = parse_ptx(ptx, syntax_.name).kernels;
    find_functions();
    decode_kernels();
}

void ModuleLoader::find_functions() {
    for (const std::string& name : pointed_functions(syntax_))
        symbols_[name] = {Space::generic, function_address(syntax_, name)};
}

void ModuleLoader::decode_kernels() {
    for (KernelSyntax& kernel : syntax_.kernels) {
        expand_calls(kernel, syntax_);
        add_shared_variables(kernel);
        module_->kernels_.push_back(decode_kernel(*module_, symbols_, std::move(kernel)));
    }
}

void ModuleLoader::place(const Variable& v) {
    constexpr std::size_t most = 512 << 20;
    const std::size_t align = std::max<std::size_t>(64, v.align),
                      whole = (v.bytes + align - 1) / align * align;
    bytes_ += v.bytes;
    if (bytes_ > most)
        throw Error(fmt::format("{}: with '{}' the module's variables have more than {} MiB",
                                syntax_.name, v.name, most >> 20));
    auto storage = std::make_unique<std::byte[]>(whole + align);
    const auto raw = std::uint64_t(storage.get());
    auto* data = reinterpret_cast<std::byte*>((raw + align - 1) / align * align);
    std::copy(v.initial.begin(), v.initial.end(), data);
    module_->variables_.push_back({v.name, data, std::size_t(v.bytes), v.space == Space::constant});
    module_->storage_.push_back(std::move(storage));
    symbols_[v.name] = {v.space, std::uint64_t(data), v.element_bytes};
}

void ModuleLoader::set_addresses(const Variable& v) const {
    for (const Variable::Address& a : v.addresses) {
        const auto found = symbols_.find(a.name);
        if (found == symbols_.end() || v.space == Space::shared)
            throw Error(
                fmt::format("{}: '{}' is initialised with the address of '{}', which "
                            "is not known",
                            syntax_.name, v.name, a.name));
        const std::uint64_t value = found->second.address + std::uint64_t(a.offset);
        std::memcpy(reinterpret_cast<std::byte*>(symbols_.at(v.name).address) + a.at, &value,
                    sizeof(value));
    }
}

// A shared variable of the module takes up shared memory of the kernels that name it.
void ModuleLoader::add_shared_variables(KernelSyntax& kernel) const {
    std::set<std::string> named;
    for (const Statement& s : kernel.statements)
        for (const Operand& o : s.operands) {
            if (o.kind == Operand::symbol) named.insert(o.name);
            for (const Operand& e : o.elements)
                if (e.kind == Operand::symbol) named.insert(e.name);
        }
    for (const Variable& v : syntax_.variables)
        if (v.space == Space::shared && named.contains(v.name)) kernel.variables.push_back(v);
}

std::shared_ptr<const Module> Module::parse(std::string_view ptx, std::string name) {
    return ModuleLoader(ptx, name).module();
}

}  // namespace warpscope::emulator
