#include "emulator/lower/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emulator/lower/call_expansion.h"
#include "emulator/program/error.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

void lower_control(KernelSyntax& kernel) {
    if (kernel.statements.empty() || !ends_block(kernel.statements.back()) ||
        kernel.statements.back().guard >= 0 ||
        std::any_of(kernel.labels.begin(), kernel.labels.end(),
                    [&](const auto& label) { return label.second == kernel.statements.size(); })) {
        Statement end = statement(
            kernel.statements.empty() ? Statement{} : kernel.statements.back(), "ret", {});
        end.text = "ret";
        kernel.statements.push_back(std::move(end));
    }
    std::vector<Statement> lowered;
    std::vector<std::uint32_t> moved_to;
    std::map<std::string, std::uint32_t> added;
    for (Statement& s : kernel.statements) {
        moved_to.push_back(std::uint32_t(lowered.size()));
        const bool control =
            s.opcode->kind != OpcodeKind::branches && (ends_block(s) || waits_for_threads(s));
        if (s.guard >= 0 && control) {
            const std::string behind = fmt::format("(after statement {})", moved_to.size() - 1);
            added[behind] = std::uint32_t(moved_to.size());
            lowered.push_back(branch(s, behind, s.guard, !s.guard_negated));
            s.guard = -1;
        }
        lowered.push_back(std::move(s));
    }
    kernel.labels.merge(added);
    moved_to.push_back(std::uint32_t(lowered.size()));
    for (auto& [name, index] : kernel.labels) index = moved_to[index];
    kernel.statements = std::move(lowered);
}

std::uint32_t branch_target(const KernelSyntax& kernel, const Statement& branch) {
    const auto found = branch.operands.size() == 1 ? kernel.labels.find(branch.operands[0].name)
                                                   : kernel.labels.end();
    if (found == kernel.labels.end())
        throw Error(fmt::format("kernel {}: PTX line {}: '{}' jumps to an unknown label",
                                kernel.name, branch.source.ptx_line, branch.text));
    return found->second;
}

namespace {

void cut_into_blocks(const KernelSyntax& kernel, ControlFlow& flow) {
    std::set<std::uint32_t> leaders = {0};
    const auto count = std::uint32_t(kernel.statements.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        const Statement& s = kernel.statements[i];
        if (!ends_block(s)) continue;
        leaders.insert(i + 1);
        if (s.opcode->kind == OpcodeKind::branches) leaders.insert(branch_target(kernel, s));
    }
    leaders.erase(count);
    flow.block_of.resize(count);
    for (auto it = leaders.begin(); it != leaders.end(); ++it) {
        const std::uint32_t end = std::next(it) == leaders.end() ? count : *std::next(it);
        for (std::uint32_t i = *it; i < end; ++i)
            flow.block_of[i] = std::uint32_t(flow.blocks.size());
        flow.blocks.push_back({*it, end, {}, {}, false});
    }
}

void connect(const KernelSyntax& kernel, ControlFlow& flow) {
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
        BasicBlock& block = flow.blocks[b];
        const Statement& last = kernel.statements[block.end - 1];
        std::set<std::uint32_t> next;
        if (last.opcode->kind == OpcodeKind::branches)
            next.insert(flow.block_of[branch_target(kernel, last)]);
        if (!ends_block(last) || last.guard >= 0) next.insert(b + 1);
        block.successors.assign(next.begin(), next.end());
    }
    std::vector<std::uint32_t> work = {0};
    flow.blocks[0].reachable = true;
    while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        for (std::uint32_t s : flow.blocks[b].successors) {
            flow.blocks[s].predecessors.push_back(b);
            if (!flow.blocks[s].reachable) work.push_back(s);
            flow.blocks[s].reachable = true;
        }
    }
}

// Computes post-dominators with the algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm", on the reversed graph. Blocks from which no path leads to the end (an
// endless loop) keep no_block.
class PostDominators {
  public:
    explicit PostDominators(ControlFlow& flow)
        : flow_(flow), end_(std::uint32_t(flow.blocks.size())), number_(end_ + 1, 0) {}

    void compute() {
        order_from_end();
        std::vector<std::uint32_t> parent(end_ + 1, ControlFlow::no_block);
        parent[end_] = end_;
        for (bool changed = true; changed;) {
            changed = false;
            for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
                if (*it == end_) continue;
                std::uint32_t found = ControlFlow::no_block;
                for (std::uint32_t s : successors(*it))
                    if (parent[s] != ControlFlow::no_block)
                        found = found == ControlFlow::no_block ? s : meet(parent, found, s);
                changed |= parent[*it] != found;
                parent[*it] = found;
            }
        }
        flow_.post_dominator.resize(end_);
        for (std::uint32_t b = 0; b < end_; ++b)
            flow_.post_dominator[b] = parent[b] == end_ ? ControlFlow::no_block : parent[b];
    }

  private:
    std::vector<std::uint32_t> successors(std::uint32_t b) const {
        const auto& next = flow_.blocks[b].successors;
        return next.empty() ? std::vector<std::uint32_t>{end_} : next;
    }

    void order_from_end() {
        std::vector<std::vector<std::uint32_t>> backward(end_ + 1);
        for (std::uint32_t b = 0; b < end_; ++b)
            for (std::uint32_t s : successors(b)) backward[s].push_back(b);
        std::vector<bool> seen(end_ + 1, false);
        std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{end_, 0}};
        seen[end_] = true;
        while (!stack.empty()) {
            auto& [b, next] = stack.back();
            if (next < backward[b].size()) {
                const std::uint32_t p = backward[b][next++];
                if (!seen[p]) stack.push_back({p, 0});
                seen[p] = true;
            } else {
                number_[b] = std::uint32_t(order_.size());
                order_.push_back(b);
                stack.pop_back();
            }
        }
    }

    std::uint32_t meet(const std::vector<std::uint32_t>& parent, std::uint32_t a,
                       std::uint32_t b) const {
        while (a != b) {
            while (number_[a] < number_[b]) a = parent[a];
            while (number_[b] < number_[a]) b = parent[b];
        }
        return a;
    }

    ControlFlow& flow_;
    std::uint32_t end_;
    std::vector<std::uint32_t> number_, order_;  // post-order from the end
};

}  // namespace

ControlFlow build_control_flow(const KernelSyntax& kernel) {
    ControlFlow flow;
    cut_into_blocks(kernel, flow);
    connect(kernel, flow);
    PostDominators(flow).compute();
    return flow;
}

bool merge(std::vector<bool>& into, const std::vector<bool>& from) {
    bool changed = false;
    for (std::size_t i = 0; i < into.size(); ++i)
        if (from[i] && !into[i]) changed = into[i] = true;
    return changed;
}

std::vector<bool> ControlFlow::region(std::uint32_t from, std::uint32_t stop) const {
    std::vector<bool> inside(blocks.size(), false);
    std::vector<std::uint32_t> work;
    if (from != stop) work.push_back(from);
    while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        if (inside[b]) continue;
        inside[b] = true;
        for (std::uint32_t s : blocks[b].successors)
            if (s != stop) work.push_back(s);
    }
    return inside;
}

}  // namespace warpscope::emulator
