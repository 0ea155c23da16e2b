#include "emulator/lower/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "emulator/lower/call_expansion.h"
#include "emulator/program/error.h"
#include "emulator/program/source_name.h"

namespace warpscope::emulator {

namespace {

// Limits of a kernel with all functions that it calls.
constexpr std::size_t most_statements = 100'000, most_registers = 1'000'000;
constexpr unsigned deepest_call = 200;  // each nested call takes some of the host's stack

// Returns the line of a statement of a function that is called at `site`. A line of another file,
// such as a CUDA header, counts as inlined into the line of the call.
SourceLine called_from(const SourceLine& site, SourceLine source) {
    if (source.file == site.file) return source;
    std::vector<FileLine> lines;
    if (source.inlined) lines = *source.inlined;
    if (source.file >= 0) lines.push_back({source.file, source.line});
    if (site.inlined) lines.insert(lines.end(), site.inlined->begin(), site.inlined->end());
    if (lines.size() > most_inlined) lines.resize(most_inlined);
    const std::int32_t ptx_line = source.ptx_line;
    source = site;
    source.ptx_line = ptx_line;
    source.inlined = std::make_shared<const std::vector<FileLine>>(std::move(lines));
    return source;
}

}  // namespace

void CallExpansion::run() {
    source_ = std::move(kernel_);
    kernel_ = {};
    kernel_.name = source_.name;
    kernel_.parameters = source_.parameters;
    kernel_.registers = source_.registers;
    kernel_.variables = source_.variables;
    kernel_.ptx_line = source_.ptx_line;
    for (const Variable& v : kernel_.variables) known_.insert(v.name);
    CallInstance whole;
    whole.function = &source_;
    put(whole);
    if (waiting_.empty()) return;
    finish_recursions();
}

void CallExpansion::put(CallInstance& into) {
    const KernelSyntax& f = *into.function;
    std::multimap<std::uint32_t, std::string> labels;
    for (const auto& [name, at] : f.labels) labels.emplace(at, name);
    bind_stack_arguments(into);
    for (std::uint32_t k = 0; k <= f.statements.size(); ++k) {
        for (auto [l, end] = labels.equal_range(k); l != end; ++l)
            kernel_.labels[l->second + into.suffix] = place();
        if (k == f.statements.size()) break;
        put_statement(into, f.statements[k]);
        check_size(f.statements[k]);
    }
}

void CallExpansion::check_size(const Statement& s) const {
    if (kernel_.statements.size() > most_statements || kernel_.registers.size() > most_registers ||
        instances_ > most_statements)
        fail(s, "with the functions that it calls the kernel is too large to emulate");
}

void CallExpansion::put_statement(const CallInstance& in, const Statement& s) {
    Statement copy = s;
    const auto rename = [&](Operand& o, auto& self) -> void {
        if (o.index >= 0) o.index += in.first_register;
        if (o.kind == Operand::symbol)
            if (const auto found = in.names.find(o.name); found != in.names.end())
                if (!found->second.on_stack) o.name = found->second.name;
        for (Operand& e : o.elements) self(e, self);
    };
    for (Operand& o : copy.operands) rename(o, rename);
    if (copy.guard >= 0) copy.guard += in.first_register;
    if (in.site) copy.source = called_from(in.site->source, copy.source);
    const OpcodeKind kind = copy.opcode->kind;
    if (kind == OpcodeKind::calls) return guarded(copy, [&] { call(in, s, copy); });
    if (kind == OpcodeKind::branches_by_index)
        return guarded(copy, [&] { branch_by_index(in, copy); });
    if (copy.opcode->operation == Operation::ret && !in.end.empty())
        return add(branch(copy, in.end, copy.guard, copy.guard_negated));
    if (kind == OpcodeKind::branches) {
        for (Operand& o : copy.operands) o.name += in.suffix;
    } else {
        reach_stack(in, copy);
    }
    kernel_.statements.push_back(std::move(copy));
}

void CallExpansion::call(const CallInstance& in, const Statement& original, const Statement& s) {
    const Operand& callee = s.operands[1];
    if (callee.kind == Operand::register_) return call_pointer(in, original, s);
    if (module_.functions.contains(callee.name)) return call_function(in, original, s, callee.name);
    if (callee.name == "vprintf") return call_built_in(s, Operation::vprintf, 2);
    if (callee.name == "__assertfail") return call_built_in(s, Operation::assertfail, 4);
    if (callee.name == "malloc" || callee.name == "free")
        fail(s, fmt::format("{}() is called, but a device's heap is not emulated: give the "
                            "kernel a buffer",
                            callee.name));
    fail(s, fmt::format("the function '{}' is not in this module", function_name(callee.name)));
}

void CallExpansion::call_function(const CallInstance& in, const Statement& original,
                                  const Statement& s, const std::string& name) {
    const KernelSyntax& f = module_.functions.at(name);
    const auto &results = s.operands[0].elements, &arguments = s.operands[2].elements;
    if (results.size() != f.results.size() || arguments.size() != f.parameters.size())
        fail(s, fmt::format("'{}' is called with {} results and {} arguments, and has {} and "
                            "{}",
                            function_name(name), results.size(), arguments.size(), f.results.size(),
                            f.parameters.size()));
    if (graph_.is_recursive(name)) return call_recursion(in, s, name);
    CallInstance body = instance_of(f, s);
    body.frame = in.frame;
    body.recursive = in.recursive;
    const auto bind = [&](const std::vector<Parameter>& formal, const Operand& actual,
                          const Operand& original_actual) {
        for (std::size_t k = 0; k < formal.size(); ++k) {
            const Operand& o = actual.elements[k];
            if (o.kind != Operand::symbol) fail(s, "an argument is not a .param variable");
            const auto found = in.names.find(original_actual.elements[k].name);
            body.names[formal[k].name] =
                found != in.names.end() ? found->second : CallBinding{o.name, {}};
        }
    };
    bind(f.results, s.operands[0], original.operands[0]);
    bind(f.parameters, s.operands[2], original.operands[2]);
    const Statement site = s;
    body.site = &site;
    if (++depth_ > deepest_call)
        fail(s, fmt::format("functions call each other more than {} deep", deepest_call));
    put(body);
    --depth_;
    kernel_.labels[body.end] = place();
}

CallInstance CallExpansion::instance_of(const KernelSyntax& f, const Statement& site) {
    CallInstance body;
    body.function = &f;
    body.site = &site;
    body.suffix = fmt::format("#{}", ++instances_);
    body.end = "(end)" + body.suffix;
    body.first_register = std::int32_t(kernel_.registers.size());
    for (const RegisterSyntax& r : f.registers)
        kernel_.registers.push_back({fmt::format("{} in {}", r.name, f.name), r.type});
    check_size(site);
    for (const Variable& v : f.variables) {
        if (v.space == Space::shared) {  // all copies of the function share one variable
            if (known_.insert(v.name).second) kernel_.variables.push_back(v);
            continue;
        }
        // A local variable of a recursive function is in the function's frame.
        if (v.space == Space::local && graph_.is_recursive(f.name)) continue;
        Variable own = v;
        own.name += body.suffix;
        body.names[v.name] = {own.name, {}};
        kernel_.variables.push_back(std::move(own));
    }
    return body;
}

void CallExpansion::call_pointer(const CallInstance& in, const Statement& original,
                                 const Statement& s) {
    const std::string behind = new_label();
    const Statement site = s;
    for (const std::string& name : graph_.pointed()) {
        const KernelSyntax& f = module_.functions.at(name);
        if (f.results.size() != site.operands[0].elements.size() ||
            f.parameters.size() != site.operands[2].elements.size())
            continue;
        if (graph_.is_recursive(name))
            fail(site, fmt::format("a pointer may call the recursive function '{}', which the "
                                   "emulator does not support",
                                   function_name(name)));
        const std::int32_t is_it = new_register("%callee", Type::pred);
        const std::string next = new_label();
        add(statement(site, "setp.ne.b64",
                      {register_operand(is_it), site.operands[1],
                       number_operand(std::int64_t(function_address(module_, name)))}));
        add(branch(site, next, is_it, false));
        call_function(in, original, site, name);
        add(branch(site, behind));
        kernel_.labels[next] = place();
    }
    add(statement(site, opcode_of(Operation::trap_callee).spelling, {}));
    kernel_.labels[behind] = place();
}

void CallExpansion::call_built_in(const Statement& s, Operation operation, std::size_t count) {
    Statement built_in = statement(s, opcode_of(operation).spelling, {});
    const bool prints = operation == Operation::vprintf;
    built_in.text = prints ? "printf()" : "assert()";
    const auto &results = s.operands[0].elements, &arguments = s.operands[2].elements;
    if (arguments.size() < count) fail(s, "arguments are missing");
    const std::int32_t result = prints ? new_register("%printed", Type::b32) : -1;
    if (prints) built_in.operands.push_back(register_operand(result));
    for (std::size_t k = 0; k < count; ++k) {
        if (arguments[k].kind != Operand::symbol) fail(s, "an argument is not a .param variable");
        const bool line = !prints && k == 2;
        const std::int32_t r = new_register("%argument", line ? Type::b32 : Type::b64);
        add(statement(s, line ? "ld.param.b32" : "ld.param.b64",
                      {register_operand(r), address_operand(arguments[k])}));
        built_in.operands.push_back(register_operand(r));
    }
    add(std::move(built_in));
    if (prints && results.size() == 1)
        add(statement(s, "st.param.b32", {address_operand(results[0]), register_operand(result)}));
}

void CallExpansion::branch_by_index(const CallInstance& in, const Statement& s) {
    const auto list = s.operands.size() == 2 ? in.function->branch_targets.find(s.operands[1].name)
                                             : in.function->branch_targets.end();
    if (list == in.function->branch_targets.end())
        fail(s, "the .branchtargets list of brx.idx is missing");
    const Statement site = s;
    for (std::size_t k = 0; k < list->second.size(); ++k) {
        const std::int32_t here = new_register("%target", Type::pred);
        add(statement(site, "setp.eq.u32",
                      {register_operand(here), site.operands[0], number_operand(std::int64_t(k))}));
        add(branch(site, list->second[k] + in.suffix, here, false));
    }
    add(statement(site, opcode_of(Operation::trap_target).spelling, {}));
}

std::int32_t CallExpansion::new_register(const char* name, Type type) {
    kernel_.registers.push_back({name, type});
    return std::int32_t(kernel_.registers.size()) - 1;
}

void CallExpansion::fail(const Statement& s, const std::string& what) const {
    const std::string ptx = s.source.file < 0 ? fmt::format(": '{}'", s.text) : "";
    throw Error(fmt::format("{}: kernel {}, {}: {}{}", module_.name, source_.name,
                            load_place(s.source, module_.files), what, ptx));
}

std::set<std::string> pointed_functions(const ModuleSyntax& module) {
    return CallGraph(module).pointed();
}

std::uint64_t function_address(const ModuleSyntax& module, const std::string& function) {
    // Addresses behind local_window of warp.h.
    constexpr std::uint64_t window = 0xE200'0000'0000'0000;
    const auto found = module.functions.find(function);
    return window + 16 * std::uint64_t(1 + std::distance(module.functions.begin(), found));
}

void expand_calls(KernelSyntax& kernel, const ModuleSyntax& module) {
    const auto calls = [](const Statement& s) {
        return s.opcode->kind == OpcodeKind::calls ||
               s.opcode->kind == OpcodeKind::branches_by_index;
    };
    if (std::any_of(kernel.statements.begin(), kernel.statements.end(), calls))
        CallExpansion(kernel, module).run();
    place_call_parameters(kernel);
}

}  // namespace warpscope::emulator
