#include "emulator/fast_paths/compiled/compiled_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <future>
#include <system_error>
#include <thread>

#include "emulator/fast_paths/compiled/generate/generator.h"
#include "emulator/fast_paths/compiled/warp_layout.h"
#include "emulator/fast_paths/llvm/machine_code.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

/// LLVM needs about 0.4 ms for an instruction.
constexpr std::size_t most_instructions = 8000;

/// Calls work(k) for each k below `count`, on as many threads as the machine has CPUs, or as the
/// system can start. On Linux, threads have the priority of the one that starts them.
void for_each_at_once(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        for (std::size_t k = next++; k < count; k = next++) work(k);
    };
    const std::size_t cpus = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::future<void>> others;
    try {
        for (std::size_t t = 1; t < std::min(count, cpus); ++t)
            others.push_back(std::async(std::launch::async, take));
    } catch (const std::system_error&) {
        // Those that run do the work.
    }
    take();
    for (std::future<void>& other : others) other.get();
}

}  // namespace

CompiledKernel::CompiledKernel(std::shared_ptr<const Llvm> llvm,
                               std::shared_ptr<const Module> module, const Kernel& kernel,
                               CompiledForm form, InstructionSet set, ForSomeLanes for_some_lanes)
    : module_(std::move(module)),
      original_(kernel),
      form_(form),
      kernel_(kernel),
      llvm_(std::move(llvm)),
      target_(std::make_unique<const CodeTarget>(CodeTarget::of(*llvm_, set))) {
    if (kernel.code.size() > most_instructions)
        throw Error(
            fmt::format("kernel {} is not compiled: it has {} instructions, the limit is {}",
                        kernel.name, kernel.code.size(), most_instructions));
    const bool is_watched = form == CompiledForm::reports_accesses;
    std::vector<CompilationPlan> plans;
    plans.emplace_back(kernel, Instruction::full, is_watched);
    const std::vector<bool> separated = find_separated_loops(plans.front().units());
    if (std::find(separated.begin(), separated.end(), true) != separated.end())
        plans.emplace_back(kernel, Instruction::masked, is_watched);
    number_entries(plans);
    has_late_code_ = plans.size() > 1 && for_some_lanes == ForSomeLanes::when_asked;
    std::vector<Function> functions;
    for (const CompilationPlan& plan : plans) {
        const bool is_late = has_late_code_ && plan.mode() == Instruction::masked;
        for (const Part& part : is_late ? std::vector{whole(plan)} : divide_into_parts(plan))
            functions.push_back({&plan, part, is_late});
    }
    const std::vector<Handler> handlers = compile(functions);
    for (std::size_t k = 0; k < functions.size(); ++k) use(functions[k], handlers[k]);
}

CompiledKernel::~CompiledKernel() = default;

bool CompiledKernel::misses_code_for_some_lanes() const {
    // The interpreter needs about as long for them as LLVM for the code.
    constexpr std::uint64_t often = 100'000;
    return !is_complete() && late_.missed > often;
}

void CompiledKernel::compile_for_some_lanes() {
    const std::lock_guard lock(compiling_);
    if (is_complete()) return;
    const CompilationPlan plan(original_, Instruction::masked,
                               form_ == CompiledForm::reports_accesses);
    std::vector<Function> functions;
    for (const Part& part : divide_into_parts(plan)) functions.push_back({&plan, part, false});
    const std::vector<Handler> handlers = compile(functions);
    late_handlers_.resize(kernel_.code.size());
    for (std::size_t k = 0; k < functions.size(); ++k)
        functions[k].each_entry(
            [&](std::uint32_t code) { late_handlers_[kernel_.code[code].entry] = handlers[k]; });
    late_.handlers = late_handlers_.data();
}

void CompiledKernel::number_entries(const std::vector<CompilationPlan>& plans) {
    std::uint16_t entries = 0;
    for (std::uint32_t u = 0; u < plans.front().units().size(); ++u) {
        const auto begins = [&](const CompilationPlan& plan) { return plan.units()[u].is_entry; };
        if (std::any_of(plans.begin(), plans.end(), begins))
            kernel_.code[plans.front().units()[u].begin].entry = entries++;
    }
}

void CompiledKernel::Function::each_entry(const std::function<void(std::uint32_t)>& visit) const {
    for (std::uint32_t u = part.begin; u < part.end; ++u)
        if (plan->units()[u].is_entry) visit(plan->units()[u].begin);
}

MachineCode CompiledKernel::compile(const Function& function) {
    Ir ir(llvm_, kernel_.name.c_str(), target_->attributes(kernel_.flush_subnormals));
    const bool reports = form_ == CompiledForm::reports_accesses;
    const Instruction* const code = kernel_.code.data();
    if (function.is_late)
        write_call_of(late_, FunctionContext(ir, *function.plan, code, target_->lanes, reports));
    else
        Generator(ir, *function.plan, function.part, code, target_->lanes, target_->has_fma,
                  reports)
            .write();
    return MachineCode::of(ir, *target_, FunctionContext::function_name);
}

// LLVM compiles the longest functions first, so that no CPU begins with one when the others are
// done.
std::vector<Handler> CompiledKernel::compile(std::vector<Function>& functions) {
    std::ranges::stable_sort(functions, std::ranges::greater(),
                             [](const Function& f) { return f.is_late ? 0 : f.part.effort; });
    std::vector<MachineCode> code(functions.size());
    for_each_at_once(code.size(), [&](std::size_t k) { code[k] = compile(functions[k]); });
    std::vector<Handler> handlers;
    for (MachineCode& function : code) {
        if (!function.handler) throw Error("LLVM does not compile the kernel " + kernel_.name);
        handlers.push_back(function.handler);
        engines_.push_back(std::move(function.engine));
    }
    return handlers;
}

void CompiledKernel::use(const Function& function, Handler handler) {
    const bool reports = form_ == CompiledForm::reports_accesses;
    const Instruction::Mode mode = function.plan->mode();
    function.each_entry([&](std::uint32_t code) {
        Instruction& entry = kernel_.code[code];
        // The interpreter reports an access of some lanes before it calls the handler.
        if (reports && mode == Instruction::masked && (entry.events & reported_events)) return;
        entry.handlers[mode] = handler;
        if (reports && mode == Instruction::full) entry.events |= Instruction::reports_itself;
    });
}

}  // namespace warpscope::emulator
