#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulator/lower/call_graph.h"
#include "emulator/lower/statements.h"

namespace warpscope::emulator {

// Where a name of a function leads in the kernel: to another name, or to the stack.
struct CallBinding {
    std::string name;
    std::optional<std::int64_t> on_stack;  // bytes from the caller's frame
};

// The frame of a function that calls itself: [0] the number of the place to return to, then
// parameters, results, local variables and, while it calls, its registers.
struct CallFrame {
    std::map<std::string, std::int64_t> variables;
    std::vector<std::pair<std::int32_t, std::int64_t>> saved;  // register of the function, place
    std::int64_t bytes = 0;
};

// A body as it is put into the kernel.
struct CallInstance {
    const KernelSyntax* function = nullptr;
    std::int32_t first_register = 0;
    std::string suffix;  // of its labels and variables; empty for the kernel itself
    std::map<std::string, CallBinding> names;
    std::string end;                   // label behind it; empty for the kernel itself
    const CallFrame* frame = nullptr;  // where it, or the function that it is put into, has one
    std::string recursive;             // that function's name
    const Statement* site = nullptr;
};

// A function that calls itself: stands once in the kernel.
struct CallRecursion {
    CallFrame frame;
    std::vector<std::string> returns;  // labels, by number
};

// Puts the functions that a kernel calls into it: see expand_calls(). calls.cpp has bodies and
// calls, call_stack.cpp the functions that call themselves.
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
    void reach_stack(const CallInstance& in, Statement& s);

    // --- calls
    void call(const CallInstance& in, const Statement& original, const Statement& s);
    void call_function(const CallInstance& in, const Statement& original, const Statement& s,
                       const std::string& name);

    // Registers, labels and variables of its own.
    CallInstance instance_of(const KernelSyntax& f, const Statement& site);

    // Tries every function that the pointer may lead to.
    void call_pointer(const CallInstance& in, const Statement& original, const Statement& s);

    // vprintf and __assertfail: the first `count` arguments, and the result where there is one.
    void call_built_in(const Statement& s, std::string_view opcode, size_t count);

    // --- functions that call themselves
    CallRecursion& recursion(const std::string& name);
    static CallFrame frame_of(const KernelSyntax& f);

    // What a call hands to such a function, and gets back, lies in the callee's frame, which
    // begins where the caller's ends.
    void bind_stack_arguments(CallInstance& in);

    void call_recursion(const CallInstance& in, const Statement& s, const std::string& name);
    void move_stack(const Statement& s, std::int64_t bytes);

    // Between registers and the caller's frame; a predicate goes through a register of 32 bits.
    void save_registers(const CallInstance& in, const Statement& s, bool save);

    // The bodies of functions that call themselves, then the ways back from each.
    void finish_recursions();
    void put_recursion(const std::string& name, const Statement& site);
    void put_returns(const std::string& name, const CallRecursion& r, const Statement& site);

    // The stack's memory, and its pointer's first value.
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
    KernelSyntax& kernel_;  // what comes of it
    KernelSyntax source_;
    std::set<std::string> known_;  // shared variables
    std::map<std::string, CallRecursion> recursions_;
    std::vector<std::string> waiting_;  // their names, in the order in which they are called
    std::vector<std::pair<std::uint32_t, std::int64_t>> checks_;  // statement, frame
    unsigned instances_ = 0, labels_ = 0, depth_ = 0;
    std::int32_t stack_pointer_ = -1, predicate_ = -1;
};

}  // namespace warpscope::emulator
