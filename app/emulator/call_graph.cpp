#include "emulator/call_graph.h"

#include <functional>
#include <vector>

namespace warpscope::emulator {

namespace {

void for_each_symbol(const Operand& o, const std::function<void(const std::string&)>& f) {
    if (o.kind == Operand::symbol) f(o.name);
    for (const Operand& e : o.elements) for_each_symbol(e, f);
}

}  // namespace

CallGraph::CallGraph(const ModuleSyntax& module) {
    const auto point = [&](const std::string& name) {
        if (module.functions.contains(name)) pointed_.insert(name);
    };
    const auto look = [&](const KernelSyntax& body) {
        for (const Statement& s : body.statements)
            for (size_t k = 0; k < s.operands.size(); ++k)
                if (s.opcode != "call" || k != 1) for_each_symbol(s.operands[k], point);
    };
    for (const KernelSyntax& kernel : module.kernels) look(kernel);
    for (const auto& [name, function] : module.functions) look(function);
    for (const Variable& v : module.variables)
        for (const Variable::Address& a : v.addresses) point(a.name);

    std::map<std::string, std::set<std::string>> called;
    for (const auto& [name, function] : module.functions)
        for (const Statement& s : function.statements) {
            if (s.opcode != "call") continue;
            if (s.operands[1].kind == Operand::register_)
                called[name].insert(pointed_.begin(), pointed_.end());
            else if (module.functions.contains(s.operands[1].name))
                called[name].insert(s.operands[1].name);
        }
    for (const auto& [name, function] : module.functions) {
        std::set<std::string>& reached = reached_[name];
        std::vector<std::string> work = {name};
        while (!work.empty()) {
            const std::string at = std::move(work.back());
            work.pop_back();
            for (const std::string& next : called[at])
                if (reached.insert(next).second) work.push_back(next);
        }
    }
}

bool CallGraph::reaches(const std::string& from, const std::string& to) const {
    const auto found = reached_.find(from);
    return found != reached_.end() && found->second.contains(to);
}

}  // namespace warpscope::emulator
