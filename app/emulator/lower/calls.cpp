#include "emulator/lower/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "emulator/lower/call_expansion.h"
#include "emulator/program/error.h"
#include "emulator/program/source_line.h"

namespace warpscope::emulator {
namespace {

// Limits of a kernel with all functions that it calls.
constexpr std::size_t most_statements = 100'000, most_registers = 1'000'000;
constexpr unsigned deepest_call = 200;  // each nested call takes some of the host's stack

// Puts the calls in the body of a function behind the call of the function itself.
std::shared_ptr<const SourceCall> calls_in(const std::shared_ptr<const SourceCall>& body,
                                           const std::shared_ptr<const SourceCall>& function) {
    if (!body) return function;
    SourceCall call = *body;
    call.instance = function->instance;
    call.caller = calls_in(body->caller, function);
    return std::make_shared<const SourceCall>(std::move(call));
}

// Returns the line of a statement of a function that is called at `site`. A line of another file,
// such as a CUDA header, counts as inlined into the line of the call.
SourceLine called_from(const SourceLine& site, SourceLine source) {
    if (source.file == site.file) return source;
    std::vector<FileLine> lines;
    if (source.inlined) lines = *source.inlined;
    if (source.file >= 0) lines.push_back({source.file, source.line});
    if (site.inlined) lines.insert(lines.end(), site.inlined->begin(), site.inlined->end());
    if (lines.size() > most_inlined) lines.resize(most_inlined);
    source.file = site.file;
    source.line = site.line;
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
    if (in.site) {
        copy.source = called_from(in.site->source, copy.source);
        copy.source.call = calls_in(copy.source.call, in.call);
    }
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
    if (graph_.is_recursive(name)) return call_recursion(in, s, {name});
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

CallInstance CallExpansion::instance_of(const KernelSyntax& f, const Statement& site,
                                        const CallFrame* frame) {
    CallInstance body;
    body.function = &f;
    body.site = &site;
    body.suffix = fmt::format("#{}", ++instances_);
    body.end = "(end)" + body.suffix;
    if (frame)
        for (const auto& [name, offset] : frame->variables) body.names[name] = {"", offset};
    SourceCall call{f.name, site.source.own, site.source.ptx_line, instances_, site.source.call};
    if (frame) call = {f.name, {}, 0, instances_};  // a recursive function has many callers
    body.call = std::make_shared<const SourceCall>(std::move(call));
    body.first_register = std::int32_t(kernel_.registers.size());
    for (const RegisterSyntax& r : f.registers)
        kernel_.registers.push_back({fmt::format("{} in {}", r.name, f.name), r.type, instances_});
    check_size(site);
    for (const Variable& v : f.variables) {
        if (v.space == Space::shared) {  // all copies of the function share one variable
            if (known_.insert(v.name).second) kernel_.variables.push_back(v);
            continue;
        }
        if (body.names.contains(v.name)) continue;
        Variable own = v;
        own.name += body.suffix;
        body.names[v.name] = {own.name, {}};
        kernel_.variables.push_back(std::move(own));
    }
    return body;
}

void CallExpansion::call_pointer(const CallInstance& in, const Statement& original,
                                 const Statement& s) {
    const std::vector<std::string> callees = callees_of(*in.function, original);
    if (is_any_recursive(callees)) return call_recursion(in, s, callees);
    const std::string behind = new_label();
    const Statement site = s;
    for (const std::string& name : callees)
        where_pointed(site, name, [&] {
            call_function(in, original, site, name);
            add(branch(site, behind));
        });
    add(statement(site, opcode_of(Operation::trap_callee).spelling, {}));
    kernel_.labels[behind] = place();
}

std::vector<std::string> CallExpansion::callees_of(const KernelSyntax& caller,
                                                   const Statement& s) const {
    const Operand& callee = s.operands[1];
    if (callee.kind != Operand::register_) {
        if (!module_.functions.contains(callee.name)) return {};
        return {callee.name};
    }
    const auto bytes_of_variable = [&](const std::string& name) -> std::uint64_t {
        for (const Variable& v : caller.variables)
            if (v.name == name) return v.bytes;
        for (const auto* list : {&caller.parameters, &caller.results})
            for (const Parameter& p : *list)
                if (p.name == name) return p.size;
        return 0;
    };
    const auto fit = [&](const std::vector<Parameter>& formal, const Operand& actual) {
        return std::ranges::equal(formal, actual.elements, {}, &Parameter::size,
                                  [&](const Operand& o) { return bytes_of_variable(o.name); });
    };
    std::vector<std::string> callees;
    for (const std::string& name : graph_.pointed()) {
        const KernelSyntax& f = module_.functions.at(name);
        if (fit(f.results, s.operands[0]) && fit(f.parameters, s.operands[2]))
            callees.push_back(name);
    }
    return callees;
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

namespace {

// Replaces the .param variables of calls. Each offset that is stored to and loaded from becomes a
// register. A variable with overlapping accesses, or whose address is taken, becomes local memory.

struct Piece {
    unsigned bytes = 0;
    unsigned least_stored = 8;
    std::int32_t reg = -1;
};

struct Place {
    bool in_memory = false;
    std::map<std::int64_t, Piece> pieces;  // indexed by offset
};

// A load from a .param variable, or a store to one, at a known offset.
struct ParameterAccess {
    bool store = false;
    Type type = Type::b32;
    std::vector<Operand> values;
    Place* place = nullptr;
    std::int64_t offset = 0;
    std::int64_t offset_of(std::size_t element) const {
        return offset + std::int64_t(element) * bytes_of(type);
    }
};

class Placement {
  public:
    explicit Placement(KernelSyntax& kernel) : kernel_(kernel) {
        for (const Variable& v : kernel.variables)
            if (v.space == Space::param) places_[v.name];
    }

    void run() {
        if (places_.empty()) return;
        for (const Statement& s : kernel_.statements) survey(s);
        for (auto& [name, place] : places_) choose(place);
        std::vector<Statement> before = std::move(kernel_.statements);
        kernel_.statements.clear();
        std::vector<std::uint32_t> moved_to;
        for (Statement& s : before) {
            moved_to.push_back(std::uint32_t(kernel_.statements.size()));
            rewrite(std::move(s));
        }
        moved_to.push_back(std::uint32_t(kernel_.statements.size()));
        for (auto& [label, at] : kernel_.labels) at = moved_to[at];
        for (Variable& v : kernel_.variables)
            if (v.space == Space::param) v.space = Space::local;
        std::erase_if(kernel_.variables, [&](const Variable& v) {
            const auto found = places_.find(v.name);
            return found != places_.end() && !found->second.in_memory;
        });
    }

  private:
    Place* place_of(const Operand& o) {
        if (o.kind != Operand::symbol) return nullptr;
        const auto found = places_.find(o.name);
        return found == places_.end() ? nullptr : &found->second;
    }

    std::optional<ParameterAccess> access_of(const Statement& s) {
        const bool loads = s.opcode->kind == OpcodeKind::loads;
        if ((!loads && s.opcode->kind != OpcodeKind::stores) || !s.has("param") ||
            s.operands.size() != 2)
            return std::nullopt;
        ParameterAccess a;
        a.store = !loads;
        const Operand &at = s.operands[a.store ? 0 : 1], &value = s.operands[a.store ? 1 : 0];
        if (at.kind != Operand::address || at.elements.size() != 1) return std::nullopt;
        a.place = place_of(at.elements[0]);
        const auto type = s.modifiers.empty() ? std::nullopt : type_named(s.modifiers.back());
        if (!a.place || !type || bits_of(*type) < 8 || bits_of(*type) > 64) return std::nullopt;
        a.type = *type;
        a.offset = at.value + at.elements[0].value;
        a.values = value.kind == Operand::vector ? value.elements : std::vector<Operand>{value};
        return a;
    }

    void survey(const Statement& s) {
        if (const auto a = access_of(s)) {
            for (std::size_t e = 0; e < a->values.size(); ++e) {
                Piece& piece = a->place->pieces[a->offset_of(e)];
                piece.bytes = std::max(piece.bytes, bytes_of(a->type));
                if (a->store) piece.least_stored = std::min(piece.least_stored, bytes_of(a->type));
            }
            return;
        }
        const auto name = [&](const Operand& o, auto& self) -> void {
            if (Place* place = place_of(o)) place->in_memory = true;
            for (const Operand& e : o.elements) self(e, self);
        };
        for (const Operand& o : s.operands) name(o, name);
    }

    void choose(Place& place) {
        std::int64_t end = 0;
        for (const auto& [offset, piece] : place.pieces) {
            place.in_memory |= offset < end || piece.least_stored < piece.bytes;
            end = offset + piece.bytes;
        }
        if (place.in_memory) return;
        for (auto& [offset, piece] : place.pieces) {
            piece.reg = std::int32_t(kernel_.registers.size());
            kernel_.registers.push_back({"%param", piece.bytes == 8 ? Type::b64 : Type::b32});
        }
    }

    void rewrite(Statement s) {
        const auto a = access_of(s);
        if (!a) return kernel_.statements.push_back(std::move(s));
        if (a->place->in_memory) {
            std::replace(s.modifiers.begin(), s.modifiers.end(), std::string("param"),
                         std::string("local"));
            return kernel_.statements.push_back(std::move(s));
        }
        for (std::size_t e = 0; e < a->values.size(); ++e) {
            const Piece& piece = a->place->pieces.at(a->offset_of(e));
            if (a->values[e].kind == Operand::sink) continue;
            Statement move =
                a->store ? stored(s, *a, piece, a->values[e]) : loaded(s, *a, piece, a->values[e]);
            move.guard = s.guard;
            move.guard_negated = s.guard_negated;
            kernel_.statements.push_back(std::move(move));
        }
    }

    unsigned register_bits(const Operand& o) const {
        return o.kind == Operand::register_ ? bits_of(kernel_.registers[std::size_t(o.index)].type)
                                            : 0;
    }

    Statement stored(const Statement& at, const ParameterAccess& a, const Piece& piece,
                     const Operand& value) const {
        const unsigned bits = piece.bytes * 8, width = register_bits(value);
        const Operand into = register_operand(piece.reg);
        if (bits < 32 && value.kind == Operand::integer)
            return statement(at, "mov.b32",
                             {into, number_operand(value.value & ((1 << bits) - 1))});
        if (bits < 32 || (bits == 32 && width == 64))
            return statement(at, fmt::format("cvt.u32.u{}", bits), {into, value});
        if (value.kind == Operand::integer || register_bits(value) == bits)
            return statement(at, fmt::format("mov.b{}", bits), {into, value});
        return statement(at, fmt::format("mov.{}", name_of(a.type)), {into, value});
    }

    Statement loaded(const Statement& at, const ParameterAccess& a, const Piece& piece,
                     const Operand& into) const {
        const unsigned bits = bits_of(a.type), width = register_bits(into);
        const Operand from = register_operand(piece.reg);
        if (bits >= 32 && bits == width && bits == piece.bytes * 8)
            return statement(at, fmt::format("mov.b{}", bits), {into, from});
        const char sign = is_signed(a.type) ? 's' : 'u';
        if (bits == 16 && width == 16) return statement(at, "cvt.u16.u32", {into, from});
        return statement(at, fmt::format("cvt.{}{}.{}{}", sign, width, sign, bits), {into, from});
    }

    KernelSyntax& kernel_;
    std::map<std::string, Place> places_;
};

/// Replaces the .param variables of calls by registers, or by local memory where accesses overlap.
void place_call_parameters(KernelSyntax& kernel) {
    Placement(kernel).run();
}

}  // namespace

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
