#include "emulator/checks/undefined_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/handlers/handlers.h"
#include "emulator/lower/uniformity.h"
#include "emulator/ptx/effects.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

const Operand* address_of(const Statement& statement) {
    for (const Operand& operand : statement.operands)
        if (operand.kind == Operand::address) return &operand;
    return nullptr;
}

/// True where a lane names a lane in its member mask that has not come yet.
bool waits(const Warp& warp, const Instruction& shuffle, std::uint32_t mask) {
    std::uint32_t named = 0;
    for (std::uint32_t m = mask; m; m &= m - 1)
        named |= warp.get<std::uint32_t>(shuffle.operands[5], unsigned(std::countr_zero(m)));
    return !warp.has_all(named);
}

}  // namespace

UndefinedValues::RegisterUse UndefinedValues::use_of(const Statement& statement) {
    RegisterUse use{&statement, {}, destinations_of(statement)};
    for (std::size_t k = destination_count(statement); k < statement.operands.size(); ++k)
        collect_registers(statement.operands[k], use.sources);
    return use;
}

bool UndefinedValues::are_possible(const Kernel& kernel, Source source) {
    if (source == Source::unset) return !kernel.cleared.empty() || kernel.cleared_local_bytes > 0;
    return std::ranges::any_of(kernel.code, [&](const Instruction& i) {
        const auto names_all = [&](const std::pair<std::uint32_t, std::uint64_t>& constant) {
            return (constant.first | uniform_operand) == i.operands[5] &&
                   std::uint32_t(constant.second) == all_lanes;
        };
        return i.operation == Operation::shfl && std::ranges::none_of(kernel.constants, names_all);
    });
}

void UndefinedValues::begin_launch(const Kernel& kernel, const LaunchShape& launch) {
    launch_.begin(kernel, launch);
    of_others_.clear();
    const KernelSyntax& syntax = kernel.origin->syntax;
    is_on_ = are_possible(kernel, source_) && syntax.statements.size() == kernel.statements.size();
    if (!is_on_) return;
    std::vector<bool> used(syntax.registers.size());
    for (const Statement& s : syntax.statements)
        for (const auto& registers : {sources_of(s), destinations_of(s)})
            for (const std::int32_t r : registers) used[std::size_t(r)] = true;
    uses_.clear();
    for (std::uint32_t pc = 0; pc < kernel.lines.size(); ++pc) {
        const Statement* const statement = statement_at(kernel, pc);
        uses_.push_back(statement ? use_of(*statement) : RegisterUse{});
    }
    is_predicate_.clear();
    for (const RegisterSyntax& r : syntax.registers) is_predicate_.push_back(r.type == Type::pred);
    // Kernel::registers has the registers that are used, in their order.
    slots_.assign(used.size(), 0);
    auto next = kernel.registers.begin();
    for (std::size_t r = 0; r < used.size() && next != kernel.registers.end(); ++r)
        if (used[r]) slots_[r] = next++->slot;
}

void UndefinedValues::begin_block(std::uint32_t block) {
    block_ = block;
    if (!is_on_) return;
    const Kernel& kernel = launch_.kernel();
    const std::vector<bool>& live = kernel.origin->uniformity.live_at_entry;
    const std::size_t warps = (launch_.threads() + lanes_per_warp - 1) / lanes_per_warp;
    state_.registers.assign(warps * live.size(), 0);
    const bool is_unset = source_ == Source::unset;
    for (std::size_t k = 0; k < state_.registers.size() && is_unset; ++k)
        if (live[k % live.size()]) state_.registers[k] = all_lanes;
    state_.local.assign(std::size_t(warps) * lanes_per_warp * kernel.cleared_local_bytes, is_unset);
    state_.origins.assign(is_unset ? 0 : warps * lanes_per_warp, {});
}

void UndefinedValues::on_block_turn(std::uint32_t block) {
    if (block == block_) return;
    of_others_[block_] = std::move(state_);
    state_ = std::move(of_others_[block]);
    block_ = block;
}

UndefinedValues::Lanes UndefinedValues::undefined_of(const Operand& operand) {
    Lanes lanes = operand.kind == Operand::register_ ? undefined(operand.index) : 0;
    for (const Operand& element : operand.elements) lanes |= undefined_of(element);
    return lanes;
}

UndefinedValues::Lanes UndefinedValues::predicate(const Operand& operand, const Warp& warp) const {
    const Lanes holds = warp.predicate(slots_[std::size_t(operand.index)]);
    return operand.negated ? ~holds : holds;
}

// A defined operand with the value `decides` makes the result known: false for and, true for or.
UndefinedValues::Lanes UndefinedValues::logic(const RegisterUse& use, const Warp& warp,
                                              bool decides) {
    Lanes all = 0, known = 0;
    for (std::size_t k = 1; k < use.statement->operands.size(); ++k) {
        const Operand& operand = use.statement->operands[k];
        if (operand.kind != Operand::register_) continue;
        all |= undefined(operand.index);
        if (!is_predicate_[std::size_t(operand.index)]) continue;
        const Lanes holds = predicate(operand, warp);
        known |= ~undefined(operand.index) & (decides ? holds : ~holds);
    }
    return all & ~known;
}

// What is undefined of the result of a computation, where its operands are.
UndefinedValues::Lanes UndefinedValues::result_of(const RegisterUse& use, const Warp& warp) {
    const Statement& s = *use.statement;
    Lanes any = 0;
    for (const std::int32_t r : use.sources) any |= undefined(r);
    if (!any) return 0;
    const bool compares = s.opcode->operation == Operation::setp;
    const bool selects = s.opcode->operation == Operation::selp;
    if (selects && s.operands[3].kind == Operand::register_) {  // else it is a constant
        const Lanes first = predicate(s.operands[3], warp);
        return undefined_of(s.operands[3]) | (first & undefined_of(s.operands[1])) |
               (~first & undefined_of(s.operands[2]));
    }
    if (s.opcode->operation == Operation::and_ || (compares && s.has("and")))
        return logic(use, warp, false);
    if (s.opcode->operation == Operation::or_ || (compares && s.has("or")))
        return logic(use, warp, true);
    return any;
}

void UndefinedValues::define(const Operand& operand, Lanes lanes) {
    if (operand.kind == Operand::register_) undefined(operand.index) &= ~lanes;
    for (const Operand& element : operand.elements) define(element, lanes);
}

void UndefinedValues::report(const Operand& operand, Lanes lanes, const Warp& warp,
                             std::uint32_t pc, Use does) {
    if (!lanes) return;
    define(operand, lanes);
    const bool is_unset = source_ == Source::unset;
    const auto lane = std::uint32_t(std::countr_zero(lanes));
    const std::uint32_t at = is_unset ? pc : state_.origins[warp.index * lanes_per_warp + lane].pc;
    // The second pc keeps this finding apart from other findings of masks at this instruction.
    const auto kind = is_unset ? FindingKind::undefined : FindingKind::members;
    log_->add({&launch_.kernel(), at, is_unset ? pc : ~1u, kind, Severity::error},
              lane_count(lanes), [&] { return finding(lanes, warp, pc, does); });
}

Finding UndefinedValues::finding(Lanes lanes, const Warp& warp, std::uint32_t pc, Use does) const {
    const std::uint32_t begin = warp.index * lanes_per_warp;
    const std::uint32_t user = begin + std::uint32_t(std::countr_zero(lanes));
    const ThreadAtLine use = launch_.at(pc, user, block_);
    Finding f;
    f.kernel = launch_.kernel().name;
    if (source_ == Source::unset) {
        f.kind = FindingKind::undefined;
        f.first = use;
        const files::Form<3> form =
            does == Use::stores ? files::Form<3>(
                                      "Thread {} of block {} stores an undefined value "
                                      "to global memory at {}.")
            : does == Use::branches
                ? files::Form<3>("Thread {} of block {} branches by an undefined value at {}.")
                : files::Form<3>(
                      "Thread {} of block {} uses an undefined value as an address at "
                      "{}.");
        f.sentence =
            files::sentence(form, name_of(use.thread), name_of(use.block), use.where_in_full());
        f.sentence.add(
            files::sentence("It has never set this value, or the variable or the element of a "
                            "local array from which it is computed."));
        return f;
    }
    const Origin& origin = state_.origins[user];
    f.kind = FindingKind::members;
    f.first = launch_.at(origin.pc, begin + origin.lane, block_);
    const auto say = [&](auto form, const auto&... mask) {
        return files::sentence(form, name_of(f.first.thread), name_of(f.first.block), origin.lane,
                               warp.index, origin.outsider, f.first.where_in_full(), mask...);
    };
    const bool is_member = origin.members >> origin.outsider & 1;
    f.sentence =
        is_member ? say(files::Form<6>("Thread {} of block {} (lane {} of warp {}) reads the value "
                                       "of lane {} at {}, but that lane does not execute the "
                                       "shuffle."))
                  : say(files::Form<7>("Thread {} of block {} (lane {} of warp {}) reads the value "
                                       "of lane {} at {}, but that lane is not in the member mask "
                                       "{}."),
                        fmt::format("{:#010x}", origin.members));
    const files::Form<2> form =
        does == Use::stores ? files::Form<2>(
                                  "The result is undefined, and thread {} stores what "
                                  "is computed of it at {}.")
        : does == Use::branches ? files::Form<2>(
                                      "The result is undefined, and thread {} branches "
                                      "by an undefined value at {}.")
        : does == Use::addresses
            ? files::Form<2>(
                  "The result is undefined, and thread {} uses an undefined value as an "
                  "address at {}.")
            : files::Form<2>(
                  "The result is undefined, and thread {} changes memory by what is "
                  "computed of it at {}.");
    f.sentence.add(files::sentence(form, name_of(use.thread), use.where_in_full()));
    return f;
}

std::optional<std::uint64_t> local_address(const Warp& warp, unsigned lane, std::uint32_t pc) {
    const Kernel& kernel = *warp.block->kernel;
    const InstructionInfo& info = kernel.lines[pc];
    if (info.space != Space::local && info.space != Space::generic) return std::nullopt;
    const Instruction& i = kernel.code[pc];
    const std::uint32_t operand = i.operands[info.address_operand];
    std::uint64_t address =
        AccessForm(i.target).wide_address
            ? warp.get<std::uint64_t>(operand, lane) + std::uint64_t(i.immediate)
            : warp.get<std::uint32_t>(operand, lane) + std::uint32_t(i.immediate);
    if (info.space == Space::generic) {
        if (address - local_window >= window_size) return std::nullopt;
        address -= local_window;
    }
    return address;
}

std::optional<std::size_t> UndefinedValues::local_place(const Warp& warp, unsigned lane,
                                                        std::uint32_t pc) const {
    const Kernel& kernel = launch_.kernel();
    const std::uint64_t size = kernel.cleared_local_bytes, bytes = kernel.lines[pc].bytes;
    const auto address = local_address(warp, lane, pc);
    if (!address || *address >= size || bytes > size - *address) return std::nullopt;
    return (warp.index * lanes_per_warp + lane) * size + *address;
}

void UndefinedValues::load(const RegisterUse& use, const Warp& warp, Lanes mask, std::uint32_t pc) {
    for (const std::int32_t r : use.destinations) undefined(r) &= ~mask;
    const std::size_t elements = use.destinations.size();
    if (elements == 0) return;
    const std::size_t bytes = launch_.kernel().lines[pc].bytes / elements;
    for (Lanes m = mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const auto place = local_place(warp, lane, pc);
        if (!place) continue;
        for (std::size_t k = 0; k < elements; ++k) {
            const auto first = state_.local.begin() + std::ptrdiff_t(*place + k * bytes);
            if (std::find(first, first + std::ptrdiff_t(bytes), true) !=
                first + std::ptrdiff_t(bytes))
                undefined(use.destinations[k]) |= 1u << lane;
        }
    }
}

void UndefinedValues::store(const RegisterUse& use, const Warp& warp, Lanes mask,
                            std::uint32_t pc) {
    const InstructionInfo& info = launch_.kernel().lines[pc];
    const Operand& value = use.statement->operands[1];
    const bool is_vector = value.kind == Operand::vector;
    const std::size_t elements = is_vector ? value.elements.size() : 1;
    const std::size_t bytes = info.bytes / elements;
    const bool is_unset = source_ == Source::unset;
    const bool is_use = info.space == Space::global || info.space == Space::generic ||
                        (info.space == Space::shared && !is_unset);
    Lanes in_global = is_use ? mask : 0;
    for (std::size_t k = 0; k < elements; ++k) {
        const Lanes lanes = undefined_of(is_vector ? value.elements[k] : value);
        for (Lanes m = mask; m; m &= m - 1) {
            const auto lane = unsigned(std::countr_zero(m));
            const auto place = local_place(warp, lane, pc);
            if (!place) continue;
            in_global &= ~(1u << lane);
            std::fill_n(state_.local.begin() + std::ptrdiff_t(*place + k * bytes), bytes,
                        (lanes >> lane & 1) != 0);
        }
    }
    Lanes all = in_global, any = 0;
    for (std::size_t k = 0; k < elements; ++k) {
        all &= undefined_of(is_vector ? value.elements[k] : value);
        any |= undefined_of(is_vector ? value.elements[k] : value);
    }
    report(value, is_unset ? all : any & in_global, warp, pc, Use::stores);
}

UndefinedValues::Lanes UndefinedValues::exchanged(const RegisterUse& use, const Warp& warp,
                                                  Lanes mask, std::uint32_t pc) {
    if (source_ == Source::unset) return 0;
    const Instruction& i = launch_.kernel().code[pc];
    if (i.operation != Operation::shfl) return result_of(use, warp) & mask ? mask : 0;
    const Lanes before = undefined_of(use.statement->operands[1]);
    Origin* const origins = &state_.origins[warp.index * lanes_per_warp];
    const std::vector<Origin> old(origins, origins + lanes_per_warp);
    Lanes result = 0;
    for (Lanes m = mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const auto value = [&](unsigned k) { return warp.get<std::uint32_t>(i.operands[k], lane); };
        const unsigned from =
            shuffle_source(ShuffleMode(i.detail), lane, value(3), value(4)).value_or(lane);
        // A lane that is not in its own mask is reported by BarrierCheck.
        const bool is_member = value(5) >> lane & 1;
        const bool takes_part = !is_member || (warp.mask & value(5)) >> from & 1;
        if (takes_part && !(before >> from & 1)) continue;
        result |= 1u << lane;
        if (before >> lane & 1) continue;  // a sum keeps its first origin
        origins[lane] = takes_part ? old[from] : Origin{pc, lane, from, value(5)};
    }
    return result;
}

void UndefinedValues::follow(const Warp& warp, std::uint32_t mask, std::uint32_t pc,
                             FindingLog& log) {
    if (!is_on_ || !uses_[pc].statement) return;
    log_ = &log;
    const RegisterUse& use = uses_[pc];
    const Statement& s = *use.statement;
    warp_begin_ = warp.index * is_predicate_.size();
    if (s.guard >= 0) {
        const Operand guard{.kind = Operand::register_, .index = s.guard};
        report(guard, undefined(s.guard) & mask, warp, pc, Use::branches);
    }
    const Instruction& i = launch_.kernel().code[pc];
    // Some lanes wait for others, and execute it with these.
    if (i.operation == Operation::shfl && source_ == Source::outsiders && waits(warp, i, mask))
        return;
    const bool accesses = launch_.kernel().lines[pc].access != MemoryAccess::none;
    const Lanes addressing = accesses && !accesses_image(i.operation)
                                 ? AccessForm(i.target).addressing_lanes()
                                 : all_lanes;
    if (const Operand* address = address_of(s))
        report(*address, undefined_of(*address) & mask & addressing, warp, pc, Use::addresses);
    Lanes result = 0;
    switch (s.opcode->kind) {
        case OpcodeKind::loads:
            return load(use, warp, mask, pc);
        case OpcodeKind::stores:
        case OpcodeKind::writes_image:
            return store(use, warp, mask, pc);
        case OpcodeKind::branches_by_index:
            report(s.operands[0], undefined_of(s.operands[0]) & mask, warp, pc, Use::branches);
            break;
        case OpcodeKind::updates_memory:
            if (source_ == Source::outsiders)
                for (std::size_t k = destination_count(s) + 1; k < s.operands.size(); ++k)
                    report(s.operands[k], undefined_of(s.operands[k]) & mask, warp, pc,
                           Use::updates);
            break;
        case OpcodeKind::exchanges:
            result = exchanged(use, warp, mask, pc);
            break;
        case OpcodeKind::computes:
        case OpcodeKind::carries:
            result = result_of(use, warp);
            break;
        default:
            break;
    }
    for (const std::int32_t r : use.destinations) {
        undefined(r) = (undefined(r) & ~mask) | (result & mask);
        if (i.operation == Operation::shfl) result = 0;  // whether it was in range is known
    }
}

}  // namespace warpscope::emulator
