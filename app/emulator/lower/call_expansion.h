#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulator/lower/calls.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

// The functions below make statements that a transformation adds to a kernel. Each has the text and
// line of the statement `at` that it belongs to.

inline Operand register_operand(std::int32_t index) {
    Operand o;
    o.kind = Operand::register_;
    o.index = index;
    return o;
}

inline Operand number_operand(std::int64_t value) {
    Operand o;
    o.kind = Operand::integer;
    o.value = value;
    return o;
}

inline Operand symbol_operand(std::string name) {
    Operand o;
    o.kind = Operand::symbol;
    o.name = std::move(name);
    return o;
}

inline Operand address_operand(Operand base, std::int64_t offset = 0) {
    Operand o;
    o.kind = Operand::address;
    o.value = offset;
    o.elements.push_back(std::move(base));
    return o;
}

/// `opcode` includes its modifiers: "add.u64".
Statement statement(const Statement& at, std::string_view opcode, std::vector<Operand> operands);
/// Makes "bra label", with a guard if `guard` is a register.
Statement branch(const Statement& at, const std::string& label, std::int32_t guard = -1,
                 bool negated = false);

/// Which functions of a module call which others. An indirect call may call every function whose
/// address is taken.
class CallGraph {
  public:
    explicit CallGraph(const ModuleSyntax& module);

    /// Functions whose address is taken.
    const std::set<std::string>& pointed() const { return pointed_; }
    /// Whether each of the two functions calls the other, directly or through other functions.
    bool call_each_other(const std::string& a, const std::string& b) const;
    bool is_recursive(const std::string& function) const {
        return call_each_other(function, function);
    }

  private:
    using Edges = std::map<std::string, std::set<std::string>>;

    void find_pointed(const ModuleSyntax& module);
    Edges calls_of(const ModuleSyntax& module) const;
    void find_cycles(const Edges& called);

    std::set<std::string> pointed_;
    std::map<std::string, unsigned> cycles_;  // the number of the cycle that a function is in
};

/// What a name of a function's body means in the kernel: another name, or a place on the stack.
struct CallBinding {
    std::string name;
    std::optional<std::int64_t> on_stack;  ///< bytes from the start of the frame
};

/// The stack frame of a function that is not inlined. It holds, from offset 0: the number of the
/// label to return to, parameters, results, local variables, and registers that are saved during
/// calls. The places of parameters and results depend on their sizes only, so that they are those
/// of all functions that a pointer may call.
struct CallFrame {
    std::map<std::string, std::int64_t> variables;
    /// Register of the function, offset in the frame.
    std::vector<std::pair<std::int32_t, std::int64_t>> saved;
    std::int64_t bytes = 0;
};

/// One copy of a body in the kernel.
struct CallInstance {
    const KernelSyntax* function = nullptr;
    std::int32_t first_register = 0;
    std::string suffix;  ///< suffix of its labels and variables; empty for the kernel's own body
    std::map<std::string, CallBinding> names;
    std::string end;                   ///< the label behind it; empty for the kernel's own body
    const CallFrame* frame = nullptr;  ///< the frame of the function that it is inlined into
    std::string recursive;             ///< the name of that function
    const Statement* site = nullptr;
    std::shared_ptr<const SourceCall> call{};  ///< of the body; null: it is the kernel's own
};

/// A function that is not inlined. The kernel has one copy of it.
struct CallRecursion {
    CallFrame frame;
    std::vector<std::string> returns;  ///< labels, indexed by number
};

/// Replaces the calls of a kernel by the bodies of the functions: see expand_calls(). calls.cpp
/// copies bodies, call_expansion.cpp handles recursive functions.
class CallExpansion {
  public:
    CallExpansion(KernelSyntax& kernel, const ModuleSyntax& module)
        : module_(module), graph_(module), kernel_(kernel) {}

    void run();

  private:
    // --- bodies
    void put(CallInstance& into);
    std::uint32_t place() const { return std::uint32_t(kernel_.statements.size()); }
    void put_statement(const CallInstance& in, const Statement& s);
    void check_size(const Statement& s) const;

    /// Puts a branch around `what` where the statement has a guard.
    template <typename F>
    void guarded(Statement& s, F&& what) {
        if (s.guard < 0) return what();
        const std::string behind = new_label();
        add(branch(s, behind, s.guard, !s.guard_negated));
        s.guard = -1;
        what();
        kernel_.labels[behind] = place();
    }

    /// Replaces names of variables on the stack by addresses relative to the stack pointer, and
    /// .param accesses through them by .local ones.
    void reach_stack(const CallInstance& in, Statement& s);

    // --- calls
    void call(const CallInstance& in, const Statement& original, const Statement& s);
    void call_function(const CallInstance& in, const Statement& original, const Statement& s,
                       const std::string& name);

    /// Returns a copy of a function with its own registers, labels and variables. The local
    /// variables are those of the frame, where it has one.
    CallInstance instance_of(const KernelSyntax& f, const Statement& site,
                             const CallFrame* frame = nullptr);

    /// Compares the pointer with the address of every function that it may point to.
    void call_pointer(const CallInstance& in, const Statement& original, const Statement& s);

    /// Returns the functions of the module that the call in the caller's body may call: by a
    /// pointer, those with results and parameters of these sizes.
    std::vector<std::string> callees_of(const KernelSyntax& caller, const Statement& s) const;

    /// Puts `what` where the pointer of the call points to the function.
    template <typename F>
    void where_pointed(const Statement& s, const std::string& name, F&& what) {
        const std::int32_t other = new_register("%callee", Type::pred);
        const std::string next = new_label();
        add(statement(s, "setp.ne.b64",
                      {register_operand(other), s.operands[1],
                       number_operand(std::int64_t(function_address(module_, name)))}));
        add(branch(s, next, other, false));
        what();
        kernel_.labels[next] = place();
    }

    /// Calls vprintf or __assertfail: one statement that reads the first `count` arguments.
    void call_built_in(const Statement& s, Operation operation, std::size_t count);

    // --- recursive functions, and others that a pointer may call in their place
    bool is_any_recursive(const std::vector<std::string>& functions) const {
        return std::ranges::any_of(functions,
                                   [&](const auto& name) { return graph_.is_recursive(name); });
    }
    CallRecursion& recursion(const std::string& name);
    static CallFrame frame_of(const KernelSyntax& f);

    /// Binds the arguments and results of recursive functions to their frames, which begin where
    /// the caller's ends.
    void bind_stack_arguments(CallInstance& in);

    /// Calls the function, or that of these to which the pointer of the call points.
    void call_recursion(const CallInstance& in, const Statement& s,
                        const std::vector<std::string>& callees);
    void move_stack(const Statement& s, std::int64_t bytes);

    /// Saves the registers in the caller's frame, or restores them. A predicate is saved as 32
    /// bits.
    void save_registers(const CallInstance& in, const Statement& s, bool save);

    /// Adds the bodies of recursive functions, and behind each the branches to its callers.
    void finish_recursions();
    void put_recursion(const std::string& name, const Statement& site);
    void put_returns(const std::string& name, const CallRecursion& r, const Statement& site);

    /// Adds the local variable that holds the stack, and the first value of the stack pointer.
    void begin_stack();

    std::int32_t stack_pointer();
    Operand stack_address(std::int64_t offset);

    // --- brx.idx
    void branch_by_index(const CallInstance& in, const Statement& s);

    void add(Statement s) { kernel_.statements.push_back(std::move(s)); }
    std::string new_label() { return fmt::format("(label {})", labels_++); }
    std::int32_t new_register(const char* name, Type type);

    [[noreturn]] void fail(const Statement& s, const std::string& what) const;

    const ModuleSyntax& module_;
    const CallGraph graph_;
    KernelSyntax& kernel_;  // the kernel that is being made
    KernelSyntax source_;
    std::set<std::string> known_;  // the shared variables of the kernel so far
    std::map<std::string, CallRecursion> recursions_;
    std::vector<std::string>
        waiting_;  // the names of recursive functions, in the order of their first calls
    std::vector<std::pair<std::uint32_t, std::int64_t>>
        checks_;  // pairs of a statement that checks the stack and the bytes of its frame
    unsigned instances_ = 0, labels_ = 0, depth_ = 0;
    std::int32_t stack_pointer_ = -1, predicate_ = -1;
};

}  // namespace warpscope::emulator
