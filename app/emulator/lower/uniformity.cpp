#include "emulator/lower/uniformity.h"

#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

namespace {

using Bits = std::vector<bool>;

class Analysis {
  public:
    Analysis(const KernelSyntax& kernel, const ControlFlow& flow)
        : kernel_(kernel), flow_(flow), registers_(kernel.registers.size()) {}

    Uniformity run() {
        collect_uses();
        compute_liveness();
        compute_shared_taint();
        result_.uniform.assign(registers_, true);
        result_.divergent.assign(flow_.blocks.size(), false);
        result_.join.assign(flow_.blocks.size(), ControlFlow::no_block);
        ends_by_others_.assign(flow_.blocks.size(), false);
        result_.live_at_entry = flow_.blocks.empty() ? Bits(registers_) : live_in_[0];
        do changed_ = propagate_values();
        while (constrain_all_regions() || changed_);
        find_gathering_barriers();
        return std::move(result_);
    }

  private:
    void collect_uses() {
        definitions_.assign(registers_, 0);
        for (const Statement& s : kernel_.statements) {
            sources_.push_back(sources_of(s));
            destinations_.push_back(destinations_of(s));
            for (std::int32_t r : destinations_.back()) ++definitions_[std::size_t(r)];
        }
    }

    void compute_liveness() {
        live_in_.assign(flow_.blocks.size(), Bits(registers_));
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t b = flow_.blocks.size(); b-- > 0;) {
                const BasicBlock& block = flow_.blocks[b];
                Bits live(registers_);
                for (std::uint32_t s : block.successors) merge(live, live_in_[s]);
                for (std::uint32_t i = block.end; i-- > block.first;) {
                    for (std::int32_t r : destinations_[i]) live[std::size_t(r)] = false;
                    for (std::int32_t r : sources_[i]) live[std::size_t(r)] = true;
                }
                changed |= merge(live_in_[b], live);
            }
        }
    }

    // Finds the registers whose value depends on an atomic or a volatile load.
    void compute_shared_taint() {
        tainted_.assign(registers_, false);
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < kernel_.statements.size(); ++i) {
                bool taint = reads_what_others_write(kernel_.statements[i]);
                for (std::int32_t r : sources_[i]) taint |= tainted_[std::size_t(r)];
                for (std::int32_t r : destinations_[i])
                    if (taint && !tainted_[std::size_t(r)])
                        changed = tainted_[std::size_t(r)] = true;
            }
        }
    }

    bool make_vector(std::int32_t r) {
        if (!result_.uniform[std::size_t(r)]) return false;
        result_.uniform[std::size_t(r)] = false;
        return true;
    }

    bool propagate_values() {
        bool any = false;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < kernel_.statements.size(); ++i) {
                bool varies = effect_of(kernel_.statements[i]) == Effect::per_lane;
                for (std::int32_t r : sources_[i]) varies |= !result_.uniform[std::size_t(r)];
                // The destinations of one statement (ld.v4) are all uniform or all vectors.
                for (std::int32_t r : destinations_[i]) varies |= !result_.uniform[std::size_t(r)];
                if (!varies) continue;
                for (std::int32_t r : destinations_[i]) changed |= make_vector(r);
            }
            any |= changed;
        }
        return any;
    }

    bool constrain_all_regions() {
        bool changed = false;
        for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
            const BasicBlock& block = flow_.blocks[b];
            const Statement& last = kernel_.statements[block.end - 1];
            if (!block.reachable || block.successors.size() != 2) continue;
            if (result_.uniform[std::size_t(last.guard)]) continue;
            result_.divergent[b] = true;
            changed |= constrain_region(b, last);
        }
        return changed;
    }

    // True for a block that only ends its threads. None of its code can run beside the other side.
    bool only_exits(std::uint32_t b) const {
        const BasicBlock& block = flow_.blocks[b];
        return is_exit(kernel_.statements[block.first]);
    }

    bool constrain_region(std::uint32_t b, const Statement& branch) {
        std::uint32_t join = flow_.post_dominator[b];
        Bits sides[2], both(flow_.blocks.size());
        const auto find_sides = [&] {
            for (int k = 0; k < 2; ++k) {
                const std::uint32_t side = flow_.blocks[b].successors[std::size_t(k)];
                sides[k] = join == ControlFlow::no_block && only_exits(side)
                               ? Bits(flow_.blocks.size())
                               : flow_.region(side, join);
                merge(both, sides[k]);
            }
        };
        find_sides();
        // At a join that only ends threads, lanes must not wait: an exchange among the other lanes
        // would wait for them. Ended lanes are not waited for.
        ends_by_others_[b] = both[b] && tainted_[std::size_t(branch.guard)];
        const bool waits_for_others = contains(both, is_block_barrier) || ends_by_others_[b] ||
                                      (join != ControlFlow::no_block && only_exits(join) &&
                                       contains(both, waits_for_threads));
        if (join != ControlFlow::no_block && waits_for_others) {
            join = ControlFlow::no_block;
            find_sides();
        }
        result_.join[b] = join;
        const bool one_sided = is_empty(sides[0]) || is_empty(sides[1]);
        return one_sided ? constrain_one_sided(both, join) : constrain_two_sided(both);
    }

    // Follows every path from a loop that ends by writes of other threads to the next barriers.
    void find_gathering_barriers() {
        result_.gathers.assign(kernel_.statements.size(), false);
        Bits seen(flow_.blocks.size());
        std::vector<std::uint32_t> next;
        const auto go_on = [&](std::uint32_t b) {
            for (std::uint32_t s : flow_.blocks[b].successors)
                if (!seen[s]) {
                    seen[s] = true;
                    next.push_back(s);
                }
        };
        for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b)
            if (ends_by_others_[b]) go_on(b);
        while (!next.empty()) {
            const std::uint32_t b = next.back();
            next.pop_back();
            std::uint32_t i = flow_.blocks[b].first;
            while (i < flow_.blocks[b].end && !is_block_barrier(kernel_.statements[i])) ++i;
            if (i == flow_.blocks[b].end)
                go_on(b);
            else
                result_.gathers[i] = true;
        }
    }

    static bool is_empty(const Bits& bits) {
        for (bool bit : bits)
            if (bit) return false;
        return true;
    }

    bool contains(const Bits& blocks, bool (*kind)(const Statement&)) const {
        for (std::size_t i = 0; i < kernel_.statements.size(); ++i)
            if (blocks[flow_.block_of[i]] && kind(kernel_.statements[i])) return true;
        return false;
    }

    bool constrain_one_sided(const Bits& blocks, std::uint32_t join) {
        if (join == ControlFlow::no_block) return false;
        bool changed = false;
        for (std::size_t i = 0; i < kernel_.statements.size(); ++i) {
            if (!blocks[flow_.block_of[i]]) continue;
            for (std::int32_t r : destinations_[i])
                if (live_in_[join][std::size_t(r)]) changed |= make_vector(r);
        }
        return changed;
    }

    bool constrain_two_sided(const Bits& blocks) {
        bool changed = false;
        for (std::size_t i = 0; i < kernel_.statements.size(); ++i) {
            if (!blocks[flow_.block_of[i]]) continue;
            const Statement& s = kernel_.statements[i];
            const bool pure = effect_of(s) == Effect::pure && s.guard < 0;
            for (std::int32_t r : destinations_[i])
                if (!pure || definitions_[std::size_t(r)] > 1) changed |= make_vector(r);
        }
        return changed;
    }

    const KernelSyntax& kernel_;
    const ControlFlow& flow_;
    std::size_t registers_;
    std::vector<std::vector<std::int32_t>> sources_, destinations_;  // indexed by statement
    std::vector<std::uint32_t> definitions_;                         // indexed by register
    std::vector<Bits> live_in_;                                      // indexed by block
    Bits tainted_;
    Bits ends_by_others_;  // indexed by block: a loop's end that depends on writes of other threads
    Uniformity result_;
    bool changed_ = false;
};

}  // namespace

Uniformity analyse_uniformity(const KernelSyntax& kernel, const ControlFlow& flow) {
    return Analysis(kernel, flow).run();
}

}  // namespace warpscope::emulator
