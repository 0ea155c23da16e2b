#include "emulator/lower/call_graph.h"

#include <functional>
#include <utility>
#include <vector>

namespace warpscope::emulator {

namespace {

// The callee of every indirect call. No function has this name.
constexpr const char* any_pointed = "(pointer)";

void for_each_symbol(const Operand& o, const std::function<void(const std::string&)>& f) {
    if (o.kind == Operand::symbol) f(o.name);
    for (const Operand& e : o.elements) for_each_symbol(e, f);
}

}  // namespace

CallGraph::CallGraph(const ModuleSyntax& module) {
    find_pointed(module);
    find_cycles(calls_of(module));
}

void CallGraph::find_pointed(const ModuleSyntax& module) {
    const auto point = [&](const std::string& name) {
        if (module.functions.contains(name)) pointed_.insert(name);
    };
    const auto look = [&](const KernelSyntax& body) {
        for (const Statement& s : body.statements)
            for (std::size_t k = 0; k < s.operands.size(); ++k)
                if (s.opcode->kind != OpcodeKind::calls || k != 1)
                    for_each_symbol(s.operands[k], point);
    };
    for (const KernelSyntax& kernel : module.kernels) look(kernel);
    for (const auto& [name, function] : module.functions) look(function);
    for (const Variable& v : module.variables)
        for (const Variable::Address& a : v.addresses) point(a.name);
}

CallGraph::Edges CallGraph::calls_of(const ModuleSyntax& module) const {
    Edges called = {{any_pointed, pointed_}};
    for (const auto& [name, function] : module.functions) {
        std::set<std::string>& callees = called[name];
        for (const Statement& s : function.statements) {
            if (s.opcode->kind != OpcodeKind::calls) continue;
            if (s.operands[1].kind == Operand::register_)
                callees.insert(any_pointed);
            else if (module.functions.contains(s.operands[1].name))
                callees.insert(s.operands[1].name);
        }
    }
    return called;
}

// Kosaraju's algorithm for strongly connected components. It uses a stack of its own, since a long
// chain of calls would make a recursion too deep.
void CallGraph::find_cycles(const Edges& called) {
    std::vector<std::string> order;  // callees before their callers, except in cycles
    std::set<std::string> seen;
    for (const auto& [root, callees] : called) {
        if (!seen.insert(root).second) continue;
        std::vector<std::pair<std::string, std::set<std::string>::const_iterator>> path = {
            {root, callees.begin()}};
        while (!path.empty()) {
            auto& [at, next] = path.back();
            if (next == called.at(at).end()) {
                order.push_back(at);
                path.pop_back();
            } else if (const std::string& callee = *next++; seen.insert(callee).second) {
                path.emplace_back(callee, called.at(callee).begin());
            }
        }
    }
    Edges callers;
    for (const auto& [from, callees] : called)
        for (const std::string& to : callees) callers[to].insert(from);
    seen.clear();
    unsigned number = 0;
    for (std::size_t k = order.size(); k-- > 0;) {
        if (!seen.insert(order[k]).second) continue;
        std::vector<std::string> cycle = {order[k]};
        for (std::size_t m = 0; m < cycle.size(); ++m)
            for (const std::string& from : callers[cycle[m]])
                if (seen.insert(from).second) cycle.push_back(from);
        if (cycle.size() == 1 && !called.at(cycle[0]).contains(cycle[0])) continue;
        for (const std::string& name : cycle) cycles_[name] = number;
        ++number;
    }
}

bool CallGraph::call_each_other(const std::string& a, const std::string& b) const {
    const auto of_a = cycles_.find(a), of_b = cycles_.find(b);
    return of_a != cycles_.end() && of_b != cycles_.end() && of_a->second == of_b->second;
}

}  // namespace warpscope::emulator
