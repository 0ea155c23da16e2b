#include "emulator/compiled/compiled_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "emulator/compiled/generator.h"
#include "emulator/compiled/warp_layout.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

/// The CPU that code is written for.
struct CodeTarget {
    std::string triple, cpu, features;
    unsigned lanes = 4;  ///< of a vector of 32-bit elements
    bool has_fma = false;
};

namespace {

CodeTarget target_of(const Llvm& llvm, InstructionSet set) {
    CodeTarget target;
    target.triple = llvm.taken(llvm.GetDefaultTargetTriple());
    switch (set) {
        case InstructionSet::sse4:
            target.cpu = "x86-64-v2";
            return target;
        case InstructionSet::avx2:
            target.cpu = "x86-64-v3";
            target.lanes = 8;
            target.has_fma = true;
            return target;
        case InstructionSet::avx512:
            target.cpu = "x86-64-v4";
            target.lanes = 16;
            target.has_fma = true;
            return target;
        case InstructionSet::host:
            break;
    }
    target.cpu = llvm.taken(llvm.GetHostCPUName());
    target.features = llvm.taken(llvm.GetHostCPUFeatures());
    const auto has = [&](std::string_view feature) {
        return target.features.find(feature) != std::string::npos;
    };
#if defined(__x86_64__)
    target.lanes = has("+avx512f") ? 16 : has("+avx2") ? 8 : 4;
    target.has_fma = has("+fma");
#else
    target.has_fma = true;
#endif
    return target;
}

/// LLVM needs about 0.4 ms for an instruction.
constexpr std::size_t most_instructions = 8000;

/// Only what the generator leaves to do: variables become values, and the chains of blocks one.
/// Others, such as instcombine, take longer than what they save the code generator.
constexpr const char* optimizations =
    "function(lower-expect,simplifycfg,mem2reg,early-cse,simplifycfg)";

/// LLVMCodeGenLevelLess: without LLVM's second scheduling of instructions, behind the allocation of
/// registers, which makes the code no faster.
constexpr int code_level = 1;

class TargetMachine {
  public:
    TargetMachine(const Llvm& llvm, const CodeTarget& target) : llvm_(llvm) {
        LlvmTarget found = nullptr;
        char* error = nullptr;
        if (llvm.GetTargetFromTriple(target.triple.c_str(), &found, &error))
            throw Error(
                fmt::format("LLVM does not compile for {}: {}", target.triple, llvm.taken(error)));
        constexpr int default_relocation = 0, jit_code = 1;
        machine_ = llvm.CreateTargetMachine(found, target.triple.c_str(), target.cpu.c_str(),
                                            target.features.c_str(), code_level, default_relocation,
                                            jit_code);
        if (!machine_) throw Error(fmt::format("LLVM does not know the CPU {}", target.cpu));
    }
    ~TargetMachine() { llvm_.DisposeTargetMachine(machine_); }
    TargetMachine(const TargetMachine&) = delete;
    TargetMachine& operator=(const TargetMachine&) = delete;

    void prepare(LlvmModule module, const CodeTarget& target) const {
        llvm_.SetTarget(module, target.triple.c_str());
        const LlvmTargetData layout = llvm_.CreateTargetDataLayout(machine_);
        llvm_.SetModuleDataLayout(module, layout);
        llvm_.DisposeTargetData(layout);
    }
    void optimize(LlvmModule module) const {
        const LlvmPassOptions options = llvm_.CreatePassBuilderOptions();
        const LlvmError error = llvm_.RunPasses(module, optimizations, machine_, options);
        llvm_.DisposePassBuilderOptions(options);
        if (!error) return;
        char* const words = llvm_.GetErrorMessage(error);
        const std::string copy = words;
        llvm_.DisposeErrorMessage(words);
        throw Error("LLVM does not run its passes: " + copy);
    }

  private:
    const Llvm& llvm_;
    LlvmTargetMachine machine_ = nullptr;
};

/// LLVM's passes crash on code that is not well formed.
void verify(const Ir& ir) {
    constexpr int returns_status = 2;
    char* error = nullptr;
    const bool broken = ir.llvm().VerifyModule(ir.module(), returns_status, &error);
    const std::string words = ir.llvm().taken(error);
    if (broken) throw Error("the emulator wrote code that LLVM does not accept: " + words);
}

void set_attribute(const Ir& ir, LlvmValue function, const std::string& name,
                   const std::string& value) {
    constexpr unsigned of_function = ~0u;
    ir.llvm().AddAttributeAtIndex(
        function, of_function,
        ir.llvm().CreateStringAttribute(ir.context(), name.c_str(), unsigned(name.size()),
                                        value.c_str(), unsigned(value.size())));
}

void set_attributes(const Ir& ir, const CodeTarget& target, bool flushes, const char* name) {
    const LlvmValue function = ir.llvm().GetNamedFunction(ir.module(), name);
    set_attribute(ir, function, "target-cpu", target.cpu);
    set_attribute(ir, function, "target-features", target.features);
    const std::string bits = std::to_string(target.lanes * 32);
    set_attribute(ir, function, "prefer-vector-width", bits);
    set_attribute(ir, function, "min-legal-vector-width", bits);
    if (flushes) set_attribute(ir, function, "denormal-fp-math", "preserve-sign,preserve-sign");
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
      target_(std::make_unique<const CodeTarget>(target_of(*llvm_, set))) {
    if (kernel.code.size() > most_instructions)
        throw Error(
            fmt::format("kernel {} is not compiled: it has {} instructions, the limit is {}",
                        kernel.name, kernel.code.size(), most_instructions));
    std::vector<Plan> plans;
    plans.emplace_back(kernel, Instruction::full);
    const std::vector<bool> separated = plans.front().in_separated_loops();
    if (std::find(separated.begin(), separated.end(), true) != separated.end())
        plans.emplace_back(kernel, Instruction::masked);
    number_entries(plans);
    Ir ir(llvm_, kernel.name.c_str());
    std::vector<Instruction::Mode> modes;
    for (const Plan& plan : plans) {
        write(ir, plan, for_some_lanes);
        modes.push_back(plan.mode());
    }
    const std::vector<Handler> handlers = compile(ir, modes);
    for (std::size_t k = 0; k < plans.size(); ++k) use(plans[k], handlers[k]);
    has_late_code_ = plans.size() > 1 && for_some_lanes == ForSomeLanes::when_asked;
}

CompiledKernel::~CompiledKernel() = default;

bool CompiledKernel::misses_code_for_some_lanes() const {
    // About as long as the compilation takes.
    constexpr std::uint64_t often = 100'000;
    return !is_complete() && late_.missed > often;
}

void CompiledKernel::compile_for_some_lanes() {
    const std::lock_guard lock(compiling_);
    if (is_complete()) return;
    const Plan plan(original_, Instruction::masked);
    Ir ir(llvm_, kernel_.name.c_str());
    write(ir, plan, ForSomeLanes::at_once);
    late_.handler = compile(ir, {plan.mode()}).front();
}

void CompiledKernel::number_entries(const std::vector<Plan>& plans) {
    std::uint16_t entries = 0;
    for (std::uint32_t u = 0; u < plans.front().units().size(); ++u) {
        const auto begins = [&](const Plan& plan) { return plan.is_entry()[u]; };
        if (std::any_of(plans.begin(), plans.end(), begins))
            kernel_.code[plans.front().units()[u].begin].entry = entries++;
    }
}

void CompiledKernel::write(Ir& ir, const Plan& plan, ForSomeLanes for_some_lanes) {
    Generator generator(ir, plan, kernel_.code.data(), target_->lanes, target_->has_fma,
                        form_ == CompiledForm::reports_accesses);
    if (plan.mode() == Instruction::masked && for_some_lanes == ForSomeLanes::when_asked)
        generator.write_call_of(late_);
    else
        generator.write();
    set_attributes(ir, *target_, kernel_.flush_subnormals, Generator::function_names[plan.mode()]);
}

std::vector<Handler> CompiledKernel::compile(Ir& ir, const std::vector<Instruction::Mode>& modes) {
    const TargetMachine machine(*llvm_, *target_);
    machine.prepare(ir.module(), *target_);
    verify(ir);
    machine.optimize(ir.module());
    LlvmJitOptions options;
    options.level = code_level;
    char* error = nullptr;
    LlvmModule module = ir.release();
    LlvmEngine engine = nullptr;
    if (llvm_->CreateMCJITCompilerForModule(&engine, module, &options, sizeof(options), &error))
        throw Error(fmt::format("LLVM does not start its compiler: {}", llvm_->taken(error)));
    engines_.emplace_back(engine, [llvm = llvm_](void* dead) {
        llvm->DisposeExecutionEngine(static_cast<LlvmEngine>(dead));
    });
    std::vector<Handler> handlers;
    for (const Instruction::Mode mode : modes)
        handlers.push_back(reinterpret_cast<Handler>(
            llvm_->GetFunctionAddress(engine, Generator::function_names[mode])));
    // The machine code belongs to the engine; the IR, some megabytes, has done its work.
    if (!llvm_->RemoveModule(engine, module, &module, &error)) llvm_->DisposeModule(module);
    if (std::find(handlers.begin(), handlers.end(), nullptr) != handlers.end())
        throw Error("LLVM does not compile the kernel " + kernel_.name);
    return handlers;
}

void CompiledKernel::use(const Plan& plan, Handler handler) {
    for (std::uint32_t u = 0; u < plan.units().size(); ++u) {
        if (!plan.is_entry()[u]) continue;
        Instruction& entry = kernel_.code[plan.units()[u].begin];
        const bool reports = form_ == CompiledForm::reports_accesses;
        // What some lanes begin with is reported before its handler runs.
        if (reports && plan.mode() == Instruction::masked && (entry.events & reported_events))
            continue;
        entry.handlers[plan.mode()] = handler;
        if (reports && plan.mode() == Instruction::full)
            entry.events |= Instruction::reports_itself;
    }
}
}  // namespace warpscope::emulator
