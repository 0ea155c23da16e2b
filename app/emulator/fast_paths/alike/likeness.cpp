#include "emulator/fast_paths/alike/likeness.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "emulator/fast_paths/alike/block_values.h"
#include "emulator/lower/uniformity.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {
namespace {

/// What the blocks of a launch do alike, by statement: see BlockLikeness.
///
/// A branch is known if every thread decides it as the thread of the same index in any other block:
/// its predicate depends on arguments, dimensions and the thread's index alone. Between an unknown
/// branch and its join nothing is certain. A thread executes all that is certain in every block in
/// the same order, and with equal values where these are known.
struct StatementLikeness {
    std::string obstacle;  ///< see BlockLikeness::obstacle
    struct At {
        BlockLikeness::Access access;
        BlockLikeness::Action action = BlockLikeness::Action::skip;
        bool loads_before_join = false;
        /// For a branch that is not known: the basic block of its join.
        std::uint32_t join = ControlFlow::no_block;
    };
    std::vector<At> statements;
    std::vector<std::string> parameters;  ///< parameters on which addresses or branches depend
};

using Action = BlockLikeness::Action;

enum class AccessKind : std::uint8_t {
    none,
    shared,
    global_store,
    global_load,
    argument,
    private_,
    unclear
};

AccessKind access_kind(const KernelSyntax& kernel, const Statement& s) {
    const bool loads = s.opcode->kind == OpcodeKind::loads;
    if (!loads && s.opcode->kind != OpcodeKind::stores) return AccessKind::none;
    if (s.has("shared") || s.has("shared::cta")) return AccessKind::shared;
    if (s.has("global")) return loads ? AccessKind::global_load : AccessKind::global_store;
    if (s.has("const")) return AccessKind::global_load;
    if (loads && reads_argument(kernel, s)) return AccessKind::argument;
    if (s.has("local")) return AccessKind::private_;
    return AccessKind::unclear;
}

bool has_order(const Statement& s) {
    constexpr std::array words{"volatile", "relaxed", "acquire", "release", "mmio"};
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return s.has(w); });
}

bool reads_clock(const Statement& s) {
    return std::any_of(s.operands.begin(), s.operands.end(), [](const Operand& o) {
        return o.kind == Operand::special && special_named(o.name) == Special::none;
    });
}

/// Says why a statement makes the order of the warps visible, or may do so; null if it does not.
const char* obstacle_of(const KernelSyntax& kernel, const Statement& s) {
    if (reads_clock(s)) return "a clock is read";
    if (works_on_matrices(s)) return "warps work on matrices";
    switch (s.opcode->kind) {
        case OpcodeKind::updates_memory:
            return "there are atomics";
        case OpcodeKind::reads_image:
        case OpcodeKind::writes_image:
            return "there are textures or surfaces";
        case OpcodeKind::asynchronous:
            return "there are asynchronous copies or mbarriers";
        case OpcodeKind::cluster_barrier:
            return "there are barriers of clusters";
        case OpcodeKind::prints:
            return "the kernel prints";
        case OpcodeKind::asserts:
            return "the kernel has assertions";
        case OpcodeKind::reads_warp:
            return "active lanes are read";
        case OpcodeKind::loads:
        case OpcodeKind::stores:
            if (has_order(s)) return "a load or store is volatile or ordered";
            if (s.guard >= 0) return "a load or store has a predicate";
            if (access_kind(kernel, s) == AccessKind::unclear) return "an address is generic";
            return nullptr;
        case OpcodeKind::hints:
            return s.name == "membar" || s.name == "fence" ? "there are fences" : nullptr;
        case OpcodeKind::calls:
        case OpcodeKind::branches_by_index:
        case OpcodeKind::unknown:
            return "control flow is not known";
        default:
            return nullptr;
    }
}

class LikenessAnalysis {
  public:
    LikenessAnalysis(const KernelSyntax& kernel, const ControlFlow& flow,
                     const Uniformity& uniformity)
        : kernel_(kernel), flow_(flow), values_(kernel, flow, uniformity) {
        for (const Statement& s : kernel.statements) kinds_.push_back(access_kind(kernel, s));
    }

    StatementLikeness run() {
        result_.statements.resize(kernel_.statements.size());
        for (std::size_t i = 0; i < kernel_.statements.size(); ++i) {
            if (!flow_.blocks[flow_.block_of[i]].reachable) continue;
            note_obstacle(obstacle_of(kernel_, kernel_.statements[i]));
            note_obstacle(describe(i));
        }
        skip_what_is_not_needed();
        return std::move(result_);
    }

  private:
    void note_obstacle(const char* found) {
        if (found && result_.obstacle.empty()) result_.obstacle = found;
    }
    bool is_certain(std::size_t i) const {
        const std::int32_t guard = kernel_.statements[i].guard;
        return values_.is_certain(flow_.block_of[i]) && (guard < 0 || is_known(values_.of(guard)));
    }
    bool is_in_cycle(std::size_t i) const {
        const std::uint32_t block = flow_.block_of[i];
        const auto& next = flow_.blocks[block].successors;
        return std::any_of(next.begin(), next.end(), [&](std::uint32_t s) -> bool {
            return flow_.region(s, ControlFlow::no_block)[block];
        });
    }

    /// Fills in StatementLikeness of statement i; returns an obstacle or null.
    const char* describe(std::size_t i) {
        const Statement& s = kernel_.statements[i];
        auto& at = result_.statements[i];
        switch (s.opcode->kind) {
            case OpcodeKind::loads:
            case OpcodeKind::stores:
            case OpcodeKind::updates_memory:
                return describe_access(i);
            case OpcodeKind::branches:
                describe_branch(i);
                return nullptr;
            case OpcodeKind::computes:
            case OpcodeKind::carries:
            case OpcodeKind::exits:
            case OpcodeKind::traps:
                at.action = Action::execute;
                return nullptr;
            case OpcodeKind::block_barrier:
                at.action = Action::execute;
                return describe_barrier(i);
            case OpcodeKind::exchanges:
                at.action = Action::exchange;
                return describe_exchange(i);
            case OpcodeKind::warp_barrier:
                at.action = Action::sync_warp;
                return describe_exchange(i);
            default:
                return nullptr;
        }
    }

    const char* describe_access(std::size_t i) {
        const Statement& s = kernel_.statements[i];
        auto& at = result_.statements[i];
        const Operand& address = s.operands[destination_count(s)];
        const BlockValue value = values_.of(address);
        at.access.address = is_known(value)                ? Likeness::equal
                            : value == BlockValue::unknown ? Likeness::unknown
                                                           : Likeness::shifted;
        at.access.certain = is_certain(i);
        Likeness least = Likeness::shifted;
        switch (kinds_[i]) {
            case AccessKind::shared:
                at.action = Action::access_shared;
                least = Likeness::equal;
                break;
            case AccessKind::global_store:
                at.action = Action::store_global;
                break;
            case AccessKind::global_load:
                at.action = Action::load_global;
                return nullptr;
            case AccessKind::argument:
                at.action = Action::execute;
                return nullptr;
            default:
                return nullptr;
        }
        need(address);
        if (at.access.address < least) return "an address is not known before the launch";
        return !at.access.certain && is_in_cycle(i) ? "an unknown branch repeats an access"
                                                    : nullptr;
    }

    const char* describe_barrier(std::size_t i) {
        const Statement& s = kernel_.statements[i];
        const std::size_t number = destination_count(s), reduces = number;
        need(s.operands[number]);
        if (!is_certain(i)) return "an unknown branch leads to a barrier";
        if (s.has("arrive") || s.operands.size() > number + 1 + reduces)
            return "a barrier is not for all threads";
        return values_.of(s.operands[number]) == BlockValue::constant
                   ? nullptr
                   : "the number of a barrier varies";
    }

    const char* describe_exchange(std::size_t i) {
        const Operand& members = kernel_.statements[i].operands.back();
        need(members);
        if (!is_certain(i)) return "an unknown branch leads to an exchange of lanes";
        return is_known(values_.of(members)) ? nullptr : "the lanes of an exchange are not known";
    }

    void describe_branch(std::size_t i) {
        const Statement& s = kernel_.statements[i];
        auto& at = result_.statements[i];
        at.action = Action::execute;
        if (s.guard >= 0 && !is_known(values_.of(s.guard))) {
            at.join = values_.join_of(flow_.block_of[i]);
            at.action = Action::go_to_join;
            const std::vector<bool> between = values_.before_join(flow_.block_of[i]);
            for (std::size_t k = 0; k < kernel_.statements.size(); ++k) {
                if (!between[flow_.block_of[k]]) continue;
                const AccessKind kind = kinds_[k];
                if (kind == AccessKind::shared || kind == AccessKind::global_store)
                    at.action = Action::execute_unknown;
                at.loads_before_join |= kind == AccessKind::global_load;
            }
        }
        if (s.guard >= 0 && at.action != Action::go_to_join) needed_.push_back(s.guard);
    }

    void need(const Operand& o) {
        if (o.kind == Operand::register_) needed_.push_back(o.index);
        for (const Operand& e : o.elements) need(e);
    }

    /// Returns whether a statement computes something from registers and arguments alone.
    bool is_computed(std::size_t i) const {
        const OpcodeKind kind = kernel_.statements[i].opcode->kind;
        return kind == OpcodeKind::computes || kind == OpcodeKind::carries ||
               kinds_[i] == AccessKind::argument;
    }

    // Marks statements on which no address and no branch depends, not even through others.
    void skip_what_is_not_needed() {
        std::vector<bool> needed(kernel_.registers.size(), false);
        for (const std::int32_t r : needed_) needed[std::size_t(r)] = true;
        bool carry_is_needed = false;
        std::vector<bool> executed(kernel_.statements.size(), false);
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = kernel_.statements.size(); i-- > 0;) {
                const Statement& s = kernel_.statements[i];
                if (executed[i] || !is_computed(i)) continue;
                const auto results = destinations_of(s);
                const bool carries = s.opcode->kind == OpcodeKind::carries;
                executed[i] = (carries && carry_is_needed) ||
                              std::any_of(results.begin(), results.end(),
                                          [&](std::int32_t r) { return needed[std::size_t(r)]; });
                if (!executed[i]) continue;
                changed = true;
                carry_is_needed |= carries;
                for (const std::int32_t r : sources_of(s)) needed[std::size_t(r)] = true;
                if (kinds_[i] == AccessKind::argument)
                    result_.parameters.push_back(s.operands[1].elements[0].name);
            }
        }
        for (std::size_t i = 0; i < executed.size(); ++i)
            if (is_computed(i) && !executed[i]) result_.statements[i].action = Action::skip;
    }

    const KernelSyntax& kernel_;
    const ControlFlow& flow_;
    const BlockValues values_;
    std::vector<AccessKind> kinds_;     ///< indexed by statement
    std::vector<std::int32_t> needed_;  ///< registers of addresses and branches
    StatementLikeness result_;
};

// The analysis looks at all statements for each branch.
constexpr std::size_t most_pairs = 20'000'000;

BlockLikeness::Place place_at(const Kernel& kernel, const StatementLikeness& likeness,
                              std::uint32_t pc) {
    BlockLikeness::Place place;
    if (kernel.code[pc].role == Role::join) {
        place.action = Action::execute;
        return place;
    }
    const StatementLikeness::At& at = likeness.statements[kernel.lines[pc].statements - 1];
    const bool is_statement = !kernel.lines[pc].pseudo;
    if (is_statement) place.access = at.access;
    if (is_statement || at.action == Action::execute) place.action = at.action;
    place.loads_before_join = at.loads_before_join;
    if (at.action == Action::go_to_join)
        place.next = at.join == ControlFlow::no_block ? BlockLikeness::no_join
                                                      : kernel.origin->block_begin[at.join];
    return place;
}

SharedLikeness find_likeness(const Kernel& kernel) {
    const KernelOrigin& origin = *kernel.origin;
    if (origin.flow.blocks.size() * origin.syntax.statements.size() > most_pairs) return nullptr;
    const StatementLikeness likeness =
        LikenessAnalysis(origin.syntax, origin.flow, origin.uniformity).run();
    auto result = std::make_shared<BlockLikeness>();
    result->obstacle = likeness.obstacle;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc)
        result->places.push_back(place_at(kernel, likeness, pc));
    std::uint32_t next = std::uint32_t(kernel.code.size());
    for (std::uint32_t pc = next; pc-- > 0;)
        if (result->places[pc].action == Action::skip)
            result->places[pc].next = next;
        else
            next = pc;
    for (const Parameter& p : kernel.parameters)
        if (std::find(likeness.parameters.begin(), likeness.parameters.end(), p.name) !=
            likeness.parameters.end())
            result->arguments.emplace_back(p.offset, p.size);
    return result;
}

}  // namespace

SharedLikeness likeness_of(const Kernel& kernel) {
    if (!kernel.has_barrier && !kernel.uses_shared) return nullptr;
    struct Known {
        std::weak_ptr<const KernelOrigin> origin;
        SharedLikeness likeness;
    };
    static std::mutex mutex;
    static std::map<const KernelOrigin*, Known> all;
    const std::lock_guard lock(mutex);
    const auto found = all.find(kernel.origin.get());
    if (found != all.end() && !found->second.origin.expired()) return found->second.likeness;
    std::erase_if(all, [](const auto& entry) { return entry.second.origin.expired(); });
    return (all[kernel.origin.get()] = {kernel.origin, find_likeness(kernel)}).likeness;
}

}  // namespace warpscope::emulator
