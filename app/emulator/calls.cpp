#include "emulator/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "emulator/call_graph.h"
#include "emulator/error.h"
#include "emulator/opcode_traits.h"
#include "emulator/statements.h"

namespace warpscope::emulator {

namespace {

constexpr size_t most_statements = 100'000;  // of a kernel with all that it calls

// Where a name of a function leads in the kernel: to another name, or to the stack.
struct Binding {
    std::string name;
    std::optional<int64_t> on_stack;  // bytes from the caller's frame
};

// The frame of a function that calls itself: [0] the number of the place to return to, then
// parameters, results, local variables and, while it calls, its registers.
struct Frame {
    std::map<std::string, int64_t> variables;
    std::vector<std::pair<int32_t, int64_t>> saved;  // register of the function, place
    int64_t bytes = 0;
};

// A body as it is put into the kernel.
struct Instance {
    const KernelSyntax* function = nullptr;
    int32_t first_register = 0;
    std::string suffix;  // of its labels and variables; empty for the kernel itself
    std::map<std::string, Binding> names;
    std::string end;               // label behind it; empty for the kernel itself
    const Frame* frame = nullptr;  // where it, or the function that it is put into, has one
    std::string recursive;         // that function's name
    const Statement* site = nullptr;
};

// A function that calls itself: stands once in the kernel.
struct Recursion {
    Frame frame;
    std::vector<std::string> returns;  // labels, by number
};

class Expansion {
  public:
    Expansion(KernelSyntax& kernel, const ModuleSyntax& module)
        : module_(module), graph_(module), kernel_(kernel) {}

    void run() {
        source_ = std::move(kernel_);
        kernel_ = {};
        kernel_.name = source_.name;
        kernel_.parameters = source_.parameters;
        kernel_.registers = source_.registers;
        kernel_.variables = source_.variables;
        kernel_.ptx_line = source_.ptx_line;
        for (const Variable& v : kernel_.variables) known_.insert(v.name);
        Instance whole;
        whole.function = &source_;
        put(whole);
        if (waiting_.empty()) return;
        finish_recursions();
    }

  private:
    // --- bodies
    void put(Instance& into) {
        const KernelSyntax& f = *into.function;
        std::multimap<uint32_t, std::string> labels;
        for (const auto& [name, at] : f.labels) labels.emplace(at, name);
        bind_stack_arguments(into);
        for (uint32_t k = 0; k <= f.statements.size(); ++k) {
            for (auto [l, end] = labels.equal_range(k); l != end; ++l)
                kernel_.labels[l->second + into.suffix] = place();
            if (k == f.statements.size()) break;
            put_statement(into, f.statements[k]);
            if (kernel_.statements.size() > most_statements)
                fail(f.statements[k], "the functions that it calls make the kernel too large");
        }
    }

    uint32_t place() const { return uint32_t(kernel_.statements.size()); }

    void put_statement(const Instance& in, const Statement& s) {
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
        // A line of another file, such as a CUDA header, is none of the kernel's.
        if (in.site && copy.source.file != in.site->source.file) {
            copy.source.file = in.site->source.file;
            copy.source.line = in.site->source.line;
        }
        if (copy.opcode == "call") return guarded(copy, [&] { call(in, s, copy); });
        if (copy.opcode == "brx") return guarded(copy, [&] { branch_by_index(in, copy); });
        if (copy.opcode == "ret" && !in.end.empty()) {
            copy.opcode = "bra";
            copy.modifiers.clear();
            copy.operands = {symbol_operand(in.end)};
        } else if (copy.opcode == "bra") {
            for (Operand& o : copy.operands) o.name += in.suffix;
        } else {
            reach_stack(in, copy);
        }
        kernel_.statements.push_back(std::move(copy));
    }

    // Runs `what` for the lanes that a statement's guard lets through.
    template <typename F>
    void guarded(Statement& s, F&& what) {
        if (s.guard < 0) return what();
        const std::string behind = new_label();
        add(branch(s, behind, s.guard, !s.guard_negated));
        s.guard = -1;
        what();
        kernel_.labels[behind] = place();
    }

    // Names on the stack become addresses there, and parameters of functions local memory.
    void reach_stack(const Instance& in, Statement& s) {
        const bool param = (s.opcode == "ld" || s.opcode == "st") && s.has("param");
        for (Operand& o : s.operands) {
            if (o.kind == Operand::address && o.elements.size() == 1) {
                Operand& base = o.elements[0];
                const auto found = in.names.find(base.name);
                const bool bound = base.kind == Operand::symbol && found != in.names.end() &&
                                   found->second.on_stack;
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
                if (s.opcode != "mov") fail(s, "an address on the stack is needed here");
                s.opcode = "add";
                s.modifiers = {"u64"};
                const int64_t offset = *found->second.on_stack + o.value;
                o = register_operand(stack_pointer());
                s.operands.push_back(number_operand(offset));
                return;
            }
        }
    }

    // --- calls
    void call(const Instance& in, const Statement& original, const Statement& s) {
        const Operand& callee = s.operands[1];
        if (callee.kind == Operand::register_) return call_pointer(in, original, s);
        if (module_.functions.contains(callee.name))
            return call_function(in, original, s, callee.name);
        if (callee.name == "vprintf") return call_built_in(s, print_opcode, 2);
        if (callee.name == "__assertfail") return call_built_in(s, assert_opcode, 4);
        if (callee.name == "malloc" || callee.name == "free")
            fail(s, fmt::format("{}() is called, but a device's heap is not emulated: give the "
                                "kernel a buffer",
                                callee.name));
        fail(s, fmt::format("the function '{}' is not in this module", callee.name));
    }

    void call_function(const Instance& in, const Statement& original, const Statement& s,
                       const std::string& name) {
        const KernelSyntax& f = module_.functions.at(name);
        const auto &results = s.operands[0].elements, &arguments = s.operands[2].elements;
        if (results.size() != f.results.size() || arguments.size() != f.parameters.size())
            fail(s, fmt::format("'{}' is called with {} results and {} arguments, and has {} and "
                                "{}",
                                name, results.size(), arguments.size(), f.results.size(),
                                f.parameters.size()));
        if (graph_.is_recursive(name)) return call_recursion(in, s, name);
        Instance body = instance_of(f, s);
        body.frame = in.frame;
        body.recursive = in.recursive;
        const auto bind = [&](const std::vector<Parameter>& formal, const Operand& actual,
                              const Operand& original_actual) {
            for (size_t k = 0; k < formal.size(); ++k) {
                const Operand& o = actual.elements[k];
                if (o.kind != Operand::symbol) fail(s, "an argument is no .param variable");
                const auto found = in.names.find(original_actual.elements[k].name);
                body.names[formal[k].name] =
                    found != in.names.end() ? found->second : Binding{o.name, {}};
            }
        };
        bind(f.results, s.operands[0], original.operands[0]);
        bind(f.parameters, s.operands[2], original.operands[2]);
        const Statement site = s;
        body.site = &site;
        put(body);
        kernel_.labels[body.end] = place();
    }

    // Registers, labels and variables of its own.
    Instance instance_of(const KernelSyntax& f, const Statement& site) {
        Instance body;
        body.function = &f;
        body.site = &site;
        body.suffix = fmt::format("#{}", ++instances_);
        body.end = "(end)" + body.suffix;
        body.first_register = int32_t(kernel_.registers.size());
        for (const RegisterSyntax& r : f.registers)
            kernel_.registers.push_back({fmt::format("{} in {}", r.name, f.name), r.type});
        for (const Variable& v : f.variables) {
            if (v.space == Space::shared) {  // one for all
                if (known_.insert(v.name).second) kernel_.variables.push_back(v);
                continue;
            }
            if (v.space == Space::local && graph_.is_recursive(f.name)) continue;  // in its frame
            Variable own = v;
            own.name += body.suffix;
            body.names[v.name] = {own.name, {}};
            kernel_.variables.push_back(std::move(own));
        }
        return body;
    }

    // Tries every function that the pointer may lead to.
    void call_pointer(const Instance& in, const Statement& original, const Statement& s) {
        const std::string behind = new_label();
        const Statement site = s;
        for (const std::string& name : graph_.pointed()) {
            const KernelSyntax& f = module_.functions.at(name);
            if (f.results.size() != site.operands[0].elements.size() ||
                f.parameters.size() != site.operands[2].elements.size())
                continue;
            if (graph_.is_recursive(name))
                fail(site, fmt::format("'{}', which calls itself, is called by a pointer", name));
            const int32_t is_it = new_register("%callee", Type::pred);
            const std::string next = new_label();
            add(statement(site, "setp.ne.b64",
                          {register_operand(is_it), site.operands[1],
                           number_operand(int64_t(function_address(module_, name)))}));
            add(branch(site, next, is_it, false));
            call_function(in, original, site, name);
            add(branch(site, behind));
            kernel_.labels[next] = place();
        }
        add(statement(site, fmt::format("trap.{}", callee_trap), {}));
        kernel_.labels[behind] = place();
    }

    // vprintf and __assertfail: the first `count` arguments, and the result where there is one.
    void call_built_in(const Statement& s, std::string_view opcode, size_t count) {
        Statement built_in = statement(s, opcode, {});
        built_in.text = opcode == print_opcode ? "printf()" : "assert()";
        const auto &results = s.operands[0].elements, &arguments = s.operands[2].elements;
        if (arguments.size() < count) fail(s, "arguments are missing");
        const bool has_result = opcode == print_opcode;
        const int32_t result = has_result ? new_register("%printed", Type::b32) : -1;
        if (has_result) built_in.operands.push_back(register_operand(result));
        for (size_t k = 0; k < count; ++k) {
            if (arguments[k].kind != Operand::symbol) fail(s, "an argument is no .param variable");
            const bool line = opcode == assert_opcode && k == 2;
            const int32_t r = new_register("%argument", line ? Type::b32 : Type::b64);
            add(statement(s, line ? "ld.param.b32" : "ld.param.b64",
                          {register_operand(r), address_operand(arguments[k])}));
            built_in.operands.push_back(register_operand(r));
        }
        add(std::move(built_in));
        if (has_result && results.size() == 1)
            add(statement(s, "st.param.b32",
                          {address_operand(results[0]), register_operand(result)}));
    }

    // --- functions that call themselves
    Recursion& recursion(const std::string& name) {
        const auto [found, is_new] = recursions_.try_emplace(name);
        if (is_new) {
            found->second.frame = frame_of(module_.functions.at(name));
            waiting_.push_back(name);
        }
        return found->second;
    }

    static Frame frame_of(const KernelSyntax& f) {
        Frame frame;
        frame.bytes = 4;
        const auto take = [&](int64_t bytes, int64_t align) {
            const int64_t at = (frame.bytes + align - 1) / align * align;
            frame.bytes = at + bytes;
            return at;
        };
        for (const auto* list : {&f.parameters, &f.results})
            for (const Parameter& p : *list) frame.variables[p.name] = take(p.size, p.align);
        for (const Variable& v : f.variables)
            if (v.space == Space::local) frame.variables[v.name] = take(int64_t(v.bytes), v.align);
        std::vector<bool> used(f.registers.size());
        for (const Statement& s : f.statements) {
            for (int32_t r : destinations_of(s)) used[size_t(r)] = true;
            for (int32_t r : sources_of(s)) used[size_t(r)] = true;
        }
        for (size_t r = 0; r < used.size(); ++r)
            if (used[r])
                frame.saved.emplace_back(
                    int32_t(r), bits_of(f.registers[r].type) == 64 ? take(8, 8) : take(4, 4));
        frame.bytes = (frame.bytes + 15) / 16 * 16;
        return frame;
    }

    // What a call hands to such a function, and gets back, lies in the callee's frame, which
    // begins where the caller's ends.
    void bind_stack_arguments(Instance& in) {
        for (const Statement& s : in.function->statements) {
            if (s.opcode != "call" || s.operands[1].kind == Operand::register_) continue;
            const std::string& name = s.operands[1].name;
            if (!graph_.is_recursive(name)) continue;
            const KernelSyntax& f = module_.functions.at(name);
            const Frame& callee = recursion(name).frame;
            const int64_t begin = in.frame ? in.frame->bytes : 0;
            for (const auto& [formal, actual] :
                 {std::pair{&f.parameters, &s.operands[2]}, {&f.results, &s.operands[0]}})
                for (size_t k = 0; k < std::min(formal->size(), actual->elements.size()); ++k)
                    in.names[actual->elements[k].name] = {
                        "", begin + callee.variables.at((*formal)[k].name)};
        }
    }

    void call_recursion(const Instance& in, const Statement& s, const std::string& name) {
        Recursion& callee = recursion(name);
        const int64_t mine = in.frame ? in.frame->bytes : 0;
        const bool saves = in.frame && graph_.reaches(name, in.recursive);
        const std::string back = new_label();
        if (saves) save_registers(in, s, true);
        add(statement(s, "st.local.b32",
                      {stack_address(mine), number_operand(int64_t(callee.returns.size()))}));
        callee.returns.push_back(back);
        if (mine) move_stack(s, mine);
        add(branch(s, "(body)" + name));
        kernel_.labels[back] = place();
        if (mine) move_stack(s, -mine);
        if (saves) save_registers(in, s, false);
    }

    void move_stack(const Statement& s, int64_t bytes) {
        const Operand pointer = register_operand(stack_pointer());
        add(statement(s, "add.u64", {pointer, pointer, number_operand(bytes)}));
    }

    // Between registers and the caller's frame; a predicate goes through a register of 32 bits.
    void save_registers(const Instance& in, const Statement& s, bool save) {
        for (const auto& [r, offset] : in.frame->saved) {
            const Type type = in.function->registers[size_t(r)].type;
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

    // The bodies of functions that call themselves, then the ways back from each.
    void finish_recursions() {
        Statement end;
        end.opcode = end.text = "ret";
        if (!kernel_.statements.empty()) end.source = kernel_.statements.back().source;
        add(end);
        for (size_t k = 0; k < waiting_.size(); ++k) put_recursion(waiting_[k], end);
        int64_t deepest = 0;
        for (const auto& [name, r] : recursions_) deepest = std::max(deepest, r.frame.bytes);
        for (const auto& [at, frame] : checks_)
            kernel_.statements[at].operands[2].value = stack_bytes - frame - deepest;
        for (const auto& [name, r] : recursions_) put_returns(name, r, end);
        begin_stack();
    }

    void put_recursion(const std::string& name, const Statement& site) {
        const KernelSyntax& f = module_.functions.at(name);
        const Frame& frame = recursions_.at(name).frame;
        Statement entry = site;
        if (!f.statements.empty()) entry.source = f.statements[0].source;
        entry.text = fmt::format("({})", name);
        kernel_.labels["(body)" + name] = place();
        const int32_t full = new_register("%full", Type::pred);
        const std::string fits = new_label();
        checks_.emplace_back(place(), frame.bytes);
        add(statement(entry, "setp.gt.u64",
                      {register_operand(full), register_operand(stack_pointer()),
                       symbol_operand(stack_name)}));
        add(branch(entry, fits, full, true));
        add(statement(entry, fmt::format("trap.{}", stack_trap), {}));
        kernel_.labels[fits] = place();
        Instance body = instance_of(f, entry);
        for (const auto& [variable, offset] : frame.variables) body.names[variable] = {"", offset};
        body.frame = &frame;
        body.recursive = name;
        put(body);
        kernel_.labels[body.end] = place();
        add(branch(entry, "(back)" + name));
    }

    void put_returns(const std::string& name, const Recursion& r, const Statement& site) {
        Statement entry = site;
        entry.text = fmt::format("(return from {})", name);
        kernel_.labels["(back)" + name] = place();
        const int32_t number = new_register("%return", Type::b32);
        add(statement(entry, "ld.local.b32", {register_operand(number), stack_address(0)}));
        for (size_t k = 0; k + 1 < r.returns.size(); ++k) {
            const int32_t here = new_register("%here", Type::pred);
            add(statement(
                entry, "setp.eq.b32",
                {register_operand(here), register_operand(number), number_operand(int64_t(k))}));
            add(branch(entry, r.returns[k], here, false));
        }
        add(branch(entry, r.returns.back()));
    }

    // The stack's memory, and its pointer's first value.
    void begin_stack() {
        Variable memory;
        memory.name = stack_name;
        memory.space = Space::local;
        memory.align = 16;
        memory.bytes = stack_bytes;
        kernel_.variables.push_back(memory);
        Statement first =
            statement(kernel_.statements.front(), "mov.u64",
                      {register_operand(stack_pointer()), symbol_operand(stack_name)});
        first.text = "(stack)";
        kernel_.statements.insert(kernel_.statements.begin(), std::move(first));
        for (auto& [label, at] : kernel_.labels) ++at;
    }

    int32_t stack_pointer() {
        if (stack_pointer_ < 0) stack_pointer_ = new_register("%stack", Type::b64);
        return stack_pointer_;
    }
    Operand stack_address(int64_t offset) {
        return address_operand(register_operand(stack_pointer()), offset);
    }

    // --- brx.idx
    void branch_by_index(const Instance& in, const Statement& s) {
        const auto list = s.operands.size() == 2
                              ? in.function->branch_targets.find(s.operands[1].name)
                              : in.function->branch_targets.end();
        if (list == in.function->branch_targets.end()) fail(s, "the list of targets is missing");
        const Statement site = s;
        for (size_t k = 0; k < list->second.size(); ++k) {
            const int32_t here = new_register("%target", Type::pred);
            add(statement(site, "setp.eq.u32",
                          {register_operand(here), site.operands[0], number_operand(int64_t(k))}));
            add(branch(site, list->second[k] + in.suffix, here, false));
        }
        add(statement(site, fmt::format("trap.{}", target_trap), {}));
    }

    void add(Statement s) { kernel_.statements.push_back(std::move(s)); }
    std::string new_label() { return fmt::format("(label {})", labels_++); }
    int32_t new_register(const char* name, Type type) {
        kernel_.registers.push_back({name, type});
        return int32_t(kernel_.registers.size()) - 1;
    }

    [[noreturn]] void fail(const Statement& s, const std::string& what) const {
        std::string where = fmt::format("PTX line {}", s.source.ptx_line);
        if (const auto file = module_.files.find(s.source.file); file != module_.files.end())
            where = fmt::format("{}:{}, {}", file->second, s.source.line, where);
        throw Error(fmt::format("{}: kernel {}, {}: {}: '{}'", module_.name, source_.name, where,
                                what, s.text));
    }

    static constexpr const char* stack_name = "(stack)";
    const ModuleSyntax& module_;
    const CallGraph graph_;
    KernelSyntax& kernel_;  // what comes of it
    KernelSyntax source_;
    std::set<std::string> known_;  // shared variables
    std::map<std::string, Recursion> recursions_;
    std::vector<std::string> waiting_;  // their names, in the order in which they are called
    std::vector<std::pair<uint32_t, int64_t>> checks_;  // statement, frame
    unsigned instances_ = 0, labels_ = 0;
    int32_t stack_pointer_ = -1, predicate_ = -1;
};

}  // namespace

std::set<std::string> pointed_functions(const ModuleSyntax& module) {
    return CallGraph(module).pointed();
}

uint64_t function_address(const ModuleSyntax& module, const std::string& function) {
    constexpr uint64_t window = 0xE200'0000'0000'0000;  // behind local memory's: see warp.h
    const auto found = module.functions.find(function);
    return window + 16 * uint64_t(1 + std::distance(module.functions.begin(), found));
}

void expand_calls(KernelSyntax& kernel, const ModuleSyntax& module) {
    const auto leaves = [](const Statement& s) { return s.opcode == "call" || s.opcode == "brx"; };
    if (std::any_of(kernel.statements.begin(), kernel.statements.end(), leaves))
        Expansion(kernel, module).run();
    place_call_parameters(kernel);
}

}  // namespace warpscope::emulator
