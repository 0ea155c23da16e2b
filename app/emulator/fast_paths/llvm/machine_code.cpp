#include "emulator/fast_paths/llvm/machine_code.h"

#include <fmt/format.h>

#include "emulator/program/error.h"

namespace warpscope::emulator {

CodeTarget CodeTarget::of(const Llvm& llvm, InstructionSet set) {
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

Ir::Attributes CodeTarget::attributes(bool flushes) const {
    const std::string bits = std::to_string(lanes * 32);
    Ir::Attributes all = {{"target-cpu", cpu},
                          {"target-features", features},
                          {"prefer-vector-width", bits},
                          {"min-legal-vector-width", bits}};
    if (flushes) all.emplace_back("denormal-fp-math", "preserve-sign,preserve-sign");
    return all;
}

namespace {

/// The passes that the generator relies on: they turn variables into values, and join each chain
/// of blocks. Other passes, such as instcombine, take longer than they save LLVM later.
constexpr const char* optimizations = "function(mem2reg,early-cse,simplifycfg)";

/// LLVMCodeGenLevelLess: LLVM does not schedule instructions again behind the allocation of
/// registers, which would make the code no faster.
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

}  // namespace

MachineCode MachineCode::of(Ir& ir, const CodeTarget& target, const char* function) {
    const std::shared_ptr<const Llvm> llvm = ir.shared_llvm();
    const TargetMachine machine(*llvm, target);
    machine.prepare(ir.module(), target);
    verify(ir);
    machine.optimize(ir.module());
    LlvmJitOptions options;
    options.level = code_level;
    char* error = nullptr;
    LlvmModule module = ir.release();
    LlvmEngine engine = nullptr;
    if (llvm->CreateMCJITCompilerForModule(&engine, module, &options, sizeof(options), &error))
        throw Error(fmt::format("LLVM does not start its compiler: {}", llvm->taken(error)));
    MachineCode code;
    code.engine = {engine, [llvm](void* dead) {
                       llvm->DisposeExecutionEngine(static_cast<LlvmEngine>(dead));
                   }};
    code.handler = reinterpret_cast<Handler>(llvm->GetFunctionAddress(engine, function));
    // The engine owns the machine code. The IR, some megabytes, is not needed any more.
    if (!llvm->RemoveModule(engine, module, &module, &error)) llvm->DisposeModule(module);
    return code;
}

}  // namespace warpscope::emulator
