#include "emulator/lower/call_expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "emulator/lower/calls.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

Statement statement(const Statement& at, std::string_view opcode, std::vector<Operand> operands) {
    Statement s;
    const std::size_t dot = opcode.find('.');
    s.name = opcode.substr(0, dot);
    while (opcode.find('.') != opcode.npos) {
        opcode.remove_prefix(opcode.find('.') + 1);
        s.modifiers.emplace_back(opcode.substr(0, opcode.find('.')));
    }
    s.opcode = &find_opcode(s.name, s.modifiers);
    s.operands = std::move(operands);
    s.source = at.source;
    s.text = at.text;
    return s;
}

Statement branch(const Statement& at, const std::string& label, std::int32_t guard, bool negated) {
    Statement s = statement(at, "bra", {symbol_operand(label)});
    s.guard = guard;
    s.guard_negated = negated;
    return s;
}

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
    pointed_ = module.pointed;
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

// Recursive functions and their stack.

void CallExpansion::reach_stack(const CallInstance& in, Statement& s) {
    const bool param = s.has("param") && (s.opcode->kind == OpcodeKind::loads ||
                                          s.opcode->kind == OpcodeKind::stores);
    for (Operand& o : s.operands) {
        if (o.kind == Operand::address && o.elements.size() == 1) {
            Operand& base = o.elements[0];
            const auto found = in.names.find(base.name);
            const bool bound =
                base.kind == Operand::symbol && found != in.names.end() && found->second.on_stack;
            if (bound) {
                o.value += *found->second.on_stack;
                base = register_operand(stack_pointer());
            }
            const bool by_register = base.kind == Operand::register_ && !in.suffix.empty();
            if (param && (bound || by_register))
                std::replace(s.modifiers.begin(), s.modifiers.end(), std::string("param"),
                             std::string("local"));
        } else if (o.kind == Operand::symbol) {
            const auto found = in.names.find(o.name);
            if (found == in.names.end() || !found->second.on_stack) continue;
            if (s.opcode->operation != Operation::mov)
                fail(s,
                     "the address of a variable of a recursive function is read by a statement "
                     "other than mov");
            const std::int64_t offset = *found->second.on_stack + o.value;
            Statement sum = statement(
                s, "add.u64",
                {s.operands[0], register_operand(stack_pointer()), number_operand(offset)});
            sum.guard = s.guard;
            sum.guard_negated = s.guard_negated;
            s = std::move(sum);
            return;
        }
    }
}

CallRecursion& CallExpansion::recursion(const std::string& name) {
    const auto [found, is_new] = recursions_.try_emplace(name);
    if (is_new) {
        found->second.frame = frame_of(module_.functions.at(name));
        waiting_.push_back(name);
    }
    return found->second;
}

CallFrame CallExpansion::frame_of(const KernelSyntax& f) {
    CallFrame frame;
    frame.bytes = 4;
    const auto take = [&](std::int64_t bytes, std::int64_t align) {
        const std::int64_t at = (frame.bytes + align - 1) / align * align;
        frame.bytes = at + bytes;
        return at;
    };
    // The size of a type is a multiple of its alignment.
    for (const auto* list : {&f.parameters, &f.results})
        for (const Parameter& p : *list)
            frame.variables[p.name] =
                take(p.size, std::int64_t(std::min(p.size & (0 - p.size), 16u)));
    for (const Variable& v : f.variables)
        if (v.space == Space::local) frame.variables[v.name] = take(std::int64_t(v.bytes), v.align);
    std::vector<bool> used(f.registers.size());
    for (const Statement& s : f.statements) {
        for (std::int32_t r : destinations_of(s)) used[std::size_t(r)] = true;
        for (std::int32_t r : sources_of(s)) used[std::size_t(r)] = true;
    }
    for (std::size_t r = 0; r < used.size(); ++r)
        if (used[r])
            frame.saved.emplace_back(std::int32_t(r),
                                     bits_of(f.registers[r].type) == 64 ? take(8, 8) : take(4, 4));
    frame.bytes = (frame.bytes + 15) / 16 * 16;
    return frame;
}

void CallExpansion::bind_stack_arguments(CallInstance& in) {
    for (const Statement& s : in.function->statements) {
        if (s.opcode->kind != OpcodeKind::calls) continue;
        const std::vector<std::string> callees = callees_of(*in.function, s);
        if (!is_any_recursive(callees)) continue;
        const KernelSyntax& f = module_.functions.at(callees[0]);
        const CallFrame& callee = recursion(callees[0]).frame;
        const std::int64_t begin = in.frame ? in.frame->bytes : 0;
        for (const auto& [formal, actual] :
             {std::pair{&f.parameters, &s.operands[2]}, {&f.results, &s.operands[0]}})
            for (std::size_t k = 0; k < std::min(formal->size(), actual->elements.size()); ++k)
                in.names[actual->elements[k].name] = {
                    "", begin + callee.variables.at((*formal)[k].name)};
    }
}

void CallExpansion::call_recursion(const CallInstance& in, const Statement& s,
                                   const std::vector<std::string>& callees) {
    const std::int64_t mine = in.frame ? in.frame->bytes : 0;
    const bool saves = in.frame && std::ranges::any_of(callees, [&](const std::string& name) {
                           return graph_.call_each_other(name, in.recursive);
                       });
    const std::string back = new_label();
    const auto jump = [&](const std::string& name) {
        CallRecursion& callee = recursion(name);
        add(statement(s, "st.local.b32",
                      {stack_address(mine), number_operand(std::int64_t(callee.returns.size()))}));
        callee.returns.push_back(back);
        if (mine) move_stack(s, mine);
        add(branch(s, "(body)" + name));
    };
    if (saves) save_registers(in, s, true);
    if (s.operands[1].kind == Operand::register_) {
        for (const std::string& name : callees) where_pointed(s, name, [&] { jump(name); });
        add(statement(s, opcode_of(Operation::trap_callee).spelling, {}));
    } else {
        jump(callees[0]);
    }
    kernel_.labels[back] = place();
    if (mine) move_stack(s, -mine);
    if (saves) save_registers(in, s, false);
}

void CallExpansion::move_stack(const Statement& s, std::int64_t bytes) {
    const Operand pointer = register_operand(stack_pointer());
    add(statement(s, "add.u64", {pointer, pointer, number_operand(bytes)}));
}

void CallExpansion::save_registers(const CallInstance& in, const Statement& s, bool save) {
    for (const auto& [r, offset] : in.frame->saved) {
        const Type type = in.function->registers[std::size_t(r)].type;
        const Operand reg = register_operand(in.first_register + r);
        const Operand at = stack_address(offset);
        if (type == Type::pred) {
            if (predicate_ < 0) predicate_ = new_register("%saved", Type::b32);
            const Operand bit = register_operand(predicate_);
            if (save)
                add(statement(s, "selp.b32", {bit, number_operand(1), number_operand(0), reg}));
            add(save ? statement(s, "st.local.b32", {at, bit})
                     : statement(s, "ld.local.b32", {bit, at}));
            if (!save) add(statement(s, "setp.ne.b32", {reg, bit, number_operand(0)}));
            continue;
        }
        const unsigned bits = std::max(16u, bits_of(type));
        add(save ? statement(s, fmt::format("st.local.b{}", bits), {at, reg})
                 : statement(s, fmt::format("ld.local.b{}", bits), {reg, at}));
    }
}

void CallExpansion::finish_recursions() {
    Statement end =
        statement(kernel_.statements.empty() ? Statement{} : kernel_.statements.back(), "ret", {});
    end.text = "ret";
    add(end);
    for (std::size_t k = 0; k < waiting_.size(); ++k) {
        const std::string name = waiting_[k];  // the list grows meanwhile
        put_recursion(name, end);
    }
    std::int64_t deepest = 0;
    for (const auto& [name, r] : recursions_) deepest = std::max(deepest, r.frame.bytes);
    for (const auto& [at, frame] : checks_)
        kernel_.statements[at].operands[2].value = recursion_stack_bytes - frame - deepest;
    for (const auto& [name, r] : recursions_) put_returns(name, r, end);
    begin_stack();
}

void CallExpansion::put_recursion(const std::string& name, const Statement& site) {
    const KernelSyntax& f = module_.functions.at(name);
    const CallFrame& frame = recursions_.at(name).frame;
    Statement entry = site;
    if (!f.statements.empty()) entry.source = f.statements[0].source;
    entry.text = fmt::format("call of {}", name);
    kernel_.labels["(body)" + name] = place();
    const std::int32_t full = new_register("%full", Type::pred);
    const std::string fits = new_label();
    checks_.emplace_back(place(), frame.bytes);
    add(statement(
        entry, "setp.gt.u64",
        {register_operand(full), register_operand(stack_pointer()), symbol_operand(stack_name)}));
    add(branch(entry, fits, full, true));
    add(statement(entry, opcode_of(Operation::trap_stack).spelling, {}));
    kernel_.labels[fits] = place();
    CallInstance body = instance_of(f, entry, &frame);
    body.frame = &frame;
    body.recursive = name;
    put(body);
    kernel_.labels[body.end] = place();
    add(branch(entry, "(back)" + name));
}

void CallExpansion::put_returns(const std::string& name, const CallRecursion& r,
                                const Statement& site) {
    Statement entry = site;
    entry.text = fmt::format("(return from {})", name);
    kernel_.labels["(back)" + name] = place();
    const std::int32_t number = new_register("%return", Type::b32);
    add(statement(entry, "ld.local.b32", {register_operand(number), stack_address(0)}));
    for (std::size_t k = 0; k + 1 < r.returns.size(); ++k) {
        const std::int32_t here = new_register("%here", Type::pred);
        add(statement(
            entry, "setp.eq.b32",
            {register_operand(here), register_operand(number), number_operand(std::int64_t(k))}));
        add(branch(entry, r.returns[k], here, false));
    }
    add(branch(entry, r.returns.back()));
}

void CallExpansion::begin_stack() {
    Variable memory;
    memory.name = stack_name;
    memory.space = Space::local;
    memory.align = 16;
    memory.bytes = recursion_stack_bytes;
    kernel_.variables.push_back(memory);
    Statement first = statement(kernel_.statements.front(), "mov.u64",
                                {register_operand(stack_pointer()), symbol_operand(stack_name)});
    first.text = "(stack)";
    kernel_.statements.insert(kernel_.statements.begin(), std::move(first));
    for (auto& [label, at] : kernel_.labels) ++at;
}

std::int32_t CallExpansion::stack_pointer() {
    if (stack_pointer_ < 0) stack_pointer_ = new_register("%stack", Type::b64);
    return stack_pointer_;
}

Operand CallExpansion::stack_address(std::int64_t offset) {
    return address_operand(register_operand(stack_pointer()), offset);
}

}  // namespace warpscope::emulator
