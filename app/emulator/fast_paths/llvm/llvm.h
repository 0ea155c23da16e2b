#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// The part of LLVM's C API (llvm-c/*.h, versions 15 to 19) that the compiled mode uses. The library
// is loaded while the program runs, so that neither the build nor the program needs LLVM.

namespace warpscope::emulator {

using LlvmContext = struct LLVMOpaqueContext*;
using LlvmModule = struct LLVMOpaqueModule*;
using LlvmType = struct LLVMOpaqueType*;
using LlvmValue = struct LLVMOpaqueValue*;
using LlvmBlock = struct LLVMOpaqueBasicBlock*;
using LlvmBuilder = struct LLVMOpaqueBuilder*;
using LlvmAttribute = struct LLVMOpaqueAttributeRef*;
using LlvmTarget = struct LLVMTarget*;
using LlvmTargetMachine = struct LLVMOpaqueTargetMachine*;
using LlvmTargetData = struct LLVMOpaqueTargetData*;
using LlvmEngine = struct LLVMOpaqueExecutionEngine*;
using LlvmPassOptions = struct LLVMOpaquePassBuilderOptions*;
using LlvmError = struct LLVMOpaqueError*;

/// LLVMMCJITCompilerOptions.
struct LlvmJitOptions {
    unsigned level = 2;
    int code_model = 1;  ///< LLVMCodeModelJITDefault
    int no_frame_pointer_elimination = 0;
    int fast_instruction_selection = 0;
    void* memory_manager = nullptr;
};

// LLVM_FUNCTION(result, name without LLVM, parameters)
#define WARPSCOPE_LLVM_FUNCTIONS(LLVM_FUNCTION)                                                 \
    LLVM_FUNCTION(LlvmContext, ContextCreate, (void))                                           \
    LLVM_FUNCTION(void, ContextDispose, (LlvmContext))                                          \
    LLVM_FUNCTION(LlvmModule, ModuleCreateWithNameInContext, (const char*, LlvmContext))        \
    LLVM_FUNCTION(void, DisposeModule, (LlvmModule))                                            \
    LLVM_FUNCTION(void, SetTarget, (LlvmModule, const char*))                                   \
    LLVM_FUNCTION(void, SetModuleDataLayout, (LlvmModule, LlvmTargetData))                      \
    LLVM_FUNCTION(int, VerifyModule, (LlvmModule, int, char**))                                 \
    LLVM_FUNCTION(LlvmType, IntTypeInContext, (LlvmContext, unsigned))                          \
    LLVM_FUNCTION(LlvmType, VoidTypeInContext, (LlvmContext))                                   \
    LLVM_FUNCTION(LlvmType, FloatTypeInContext, (LlvmContext))                                  \
    LLVM_FUNCTION(LlvmType, DoubleTypeInContext, (LlvmContext))                                 \
    LLVM_FUNCTION(LlvmType, PointerTypeInContext, (LlvmContext, unsigned))                      \
    LLVM_FUNCTION(LlvmType, VectorType, (LlvmType, unsigned))                                   \
    LLVM_FUNCTION(LlvmType, FunctionType, (LlvmType, LlvmType*, unsigned, int))                 \
    LLVM_FUNCTION(LlvmType, TypeOf, (LlvmValue))                                                \
    LLVM_FUNCTION(int, GetTypeKind, (LlvmType))                                                 \
    LLVM_FUNCTION(unsigned, GetIntTypeWidth, (LlvmType))                                        \
    LLVM_FUNCTION(unsigned, GetVectorSize, (LlvmType))                                          \
    LLVM_FUNCTION(LlvmType, GetElementType, (LlvmType))                                         \
    LLVM_FUNCTION(LlvmValue, AddGlobal, (LlvmModule, LlvmType, const char*))                    \
    LLVM_FUNCTION(void, SetInitializer, (LlvmValue, LlvmValue))                                 \
    LLVM_FUNCTION(void, SetLinkage, (LlvmValue, int))                                           \
    LLVM_FUNCTION(LlvmValue, AddFunction, (LlvmModule, const char*, LlvmType))                  \
    LLVM_FUNCTION(LlvmValue, GetNamedFunction, (LlvmModule, const char*))                       \
    LLVM_FUNCTION(LlvmValue, GetParam, (LlvmValue, unsigned))                                   \
    LLVM_FUNCTION(LlvmAttribute, CreateStringAttribute,                                         \
                  (LlvmContext, const char*, unsigned, const char*, unsigned))                  \
    LLVM_FUNCTION(void, AddAttributeAtIndex, (LlvmValue, unsigned, LlvmAttribute))              \
    LLVM_FUNCTION(LlvmBlock, AppendBasicBlockInContext, (LlvmContext, LlvmValue, const char*))  \
    LLVM_FUNCTION(LlvmBuilder, CreateBuilderInContext, (LlvmContext))                           \
    LLVM_FUNCTION(void, DisposeBuilder, (LlvmBuilder))                                          \
    LLVM_FUNCTION(void, PositionBuilderAtEnd, (LlvmBuilder, LlvmBlock))                         \
    LLVM_FUNCTION(LlvmBlock, GetInsertBlock, (LlvmBuilder))                                     \
    LLVM_FUNCTION(LlvmValue, ConstInt, (LlvmType, unsigned long long, int))                     \
    LLVM_FUNCTION(LlvmValue, ConstReal, (LlvmType, double))                                     \
    LLVM_FUNCTION(LlvmValue, ConstNull, (LlvmType))                                             \
    LLVM_FUNCTION(LlvmValue, ConstAllOnes, (LlvmType))                                          \
    LLVM_FUNCTION(LlvmValue, ConstVector, (LlvmValue*, unsigned))                               \
    LLVM_FUNCTION(LlvmValue, GetPoison, (LlvmType))                                             \
    LLVM_FUNCTION(LlvmValue, BuildBinOp, (LlvmBuilder, int, LlvmValue, LlvmValue, const char*)) \
    LLVM_FUNCTION(LlvmValue, BuildCast, (LlvmBuilder, int, LlvmValue, LlvmType, const char*))   \
    LLVM_FUNCTION(LlvmValue, BuildICmp, (LlvmBuilder, int, LlvmValue, LlvmValue, const char*))  \
    LLVM_FUNCTION(LlvmValue, BuildFCmp, (LlvmBuilder, int, LlvmValue, LlvmValue, const char*))  \
    LLVM_FUNCTION(LlvmValue, BuildSelect,                                                       \
                  (LlvmBuilder, LlvmValue, LlvmValue, LlvmValue, const char*))                  \
    LLVM_FUNCTION(LlvmValue, BuildFNeg, (LlvmBuilder, LlvmValue, const char*))                  \
    LLVM_FUNCTION(LlvmValue, BuildAlloca, (LlvmBuilder, LlvmType, const char*))                 \
    LLVM_FUNCTION(LlvmValue, BuildLoad2, (LlvmBuilder, LlvmType, LlvmValue, const char*))       \
    LLVM_FUNCTION(LlvmValue, BuildStore, (LlvmBuilder, LlvmValue, LlvmValue))                   \
    LLVM_FUNCTION(void, SetAlignment, (LlvmValue, unsigned))                                    \
    LLVM_FUNCTION(void, SetOrdering, (LlvmValue, int))                                          \
    LLVM_FUNCTION(LlvmValue, BuildGEP2,                                                         \
                  (LlvmBuilder, LlvmType, LlvmValue, LlvmValue*, unsigned, const char*))        \
    LLVM_FUNCTION(LlvmValue, BuildInsertElement,                                                \
                  (LlvmBuilder, LlvmValue, LlvmValue, LlvmValue, const char*))                  \
    LLVM_FUNCTION(LlvmValue, BuildExtractElement,                                               \
                  (LlvmBuilder, LlvmValue, LlvmValue, const char*))                             \
    LLVM_FUNCTION(LlvmValue, BuildShuffleVector,                                                \
                  (LlvmBuilder, LlvmValue, LlvmValue, LlvmValue, const char*))                  \
    LLVM_FUNCTION(LlvmValue, BuildCall2,                                                        \
                  (LlvmBuilder, LlvmType, LlvmValue, LlvmValue*, unsigned, const char*))        \
    LLVM_FUNCTION(void, SetTailCall, (LlvmValue, int))                                          \
    LLVM_FUNCTION(LlvmValue, BuildPhi, (LlvmBuilder, LlvmType, const char*))                    \
    LLVM_FUNCTION(void, AddIncoming, (LlvmValue, LlvmValue*, LlvmBlock*, unsigned))             \
    LLVM_FUNCTION(LlvmValue, BuildBr, (LlvmBuilder, LlvmBlock))                                 \
    LLVM_FUNCTION(LlvmValue, BuildCondBr, (LlvmBuilder, LlvmValue, LlvmBlock, LlvmBlock))       \
    LLVM_FUNCTION(unsigned, GetMDKindIDInContext, (LlvmContext, const char*, unsigned))         \
    LLVM_FUNCTION(LlvmValue, MDStringInContext, (LlvmContext, const char*, unsigned))           \
    LLVM_FUNCTION(LlvmValue, MDNodeInContext, (LlvmContext, LlvmValue*, unsigned))              \
    LLVM_FUNCTION(void, SetMetadata, (LlvmValue, unsigned, LlvmValue))                          \
    LLVM_FUNCTION(LlvmValue, BuildSwitch, (LlvmBuilder, LlvmValue, LlvmBlock, unsigned))        \
    LLVM_FUNCTION(void, AddCase, (LlvmValue, LlvmValue, LlvmBlock))                             \
    LLVM_FUNCTION(LlvmValue, BuildRet, (LlvmBuilder, LlvmValue))                                \
    LLVM_FUNCTION(LlvmValue, BuildUnreachable, (LlvmBuilder))                                   \
    LLVM_FUNCTION(char*, GetDefaultTargetTriple, (void))                                        \
    LLVM_FUNCTION(int, GetTargetFromTriple, (const char*, LlvmTarget*, char**))                 \
    LLVM_FUNCTION(char*, GetHostCPUName, (void))                                                \
    LLVM_FUNCTION(char*, GetHostCPUFeatures, (void))                                            \
    LLVM_FUNCTION(LlvmTargetMachine, CreateTargetMachine,                                       \
                  (LlvmTarget, const char*, const char*, const char*, int, int, int))           \
    LLVM_FUNCTION(void, DisposeTargetMachine, (LlvmTargetMachine))                              \
    LLVM_FUNCTION(LlvmTargetData, CreateTargetDataLayout, (LlvmTargetMachine))                  \
    LLVM_FUNCTION(void, DisposeTargetData, (LlvmTargetData))                                    \
    LLVM_FUNCTION(void, DisposeMessage, (char*))                                                \
    LLVM_FUNCTION(LlvmPassOptions, CreatePassBuilderOptions, (void))                            \
    LLVM_FUNCTION(void, DisposePassBuilderOptions, (LlvmPassOptions))                           \
    LLVM_FUNCTION(LlvmError, RunPasses,                                                         \
                  (LlvmModule, const char*, LlvmTargetMachine, LlvmPassOptions))                \
    LLVM_FUNCTION(char*, GetErrorMessage, (LlvmError))                                          \
    LLVM_FUNCTION(void, DisposeErrorMessage, (char*))                                           \
    LLVM_FUNCTION(void, LinkInMCJIT, (void))                                                    \
    LLVM_FUNCTION(int, CreateMCJITCompilerForModule,                                            \
                  (LlvmEngine*, LlvmModule, LlvmJitOptions*, std::size_t, char**))              \
    LLVM_FUNCTION(std::uint64_t, GetFunctionAddress, (LlvmEngine, const char*))                 \
    LLVM_FUNCTION(int, RemoveModule, (LlvmEngine, LlvmModule, LlvmModule*, char**))             \
    LLVM_FUNCTION(void, DisposeExecutionEngine, (LlvmEngine))

/// libLLVM in this process.
class Llvm {
  public:
    /// Loads the newest of versions 15 to 19 that there is. Throws Error: no version is there, or
    /// the library cannot compile for this CPU.
    static std::shared_ptr<const Llvm> load();
    /// Loads this file.
    static std::shared_ptr<const Llvm> load(const std::string& file);

    ~Llvm() = default;
    Llvm(const Llvm&) = delete;
    Llvm& operator=(const Llvm&) = delete;

#define WARPSCOPE_LLVM_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
    WARPSCOPE_LLVM_FUNCTIONS(WARPSCOPE_LLVM_MEMBER)
#undef WARPSCOPE_LLVM_MEMBER

    /// Copies a string that the library gives away, and frees it.
    std::string taken(char* text) const;
    const std::string& file() const {
        return file_;
    }

  private:
    Llvm(void* library, std::string file);
    std::string file_;
};

/// The instructions of this CPU that compiled code may use.
enum class InstructionSet : std::uint8_t {
    host,    ///< all that the CPU has
    sse4,    ///< 128-bit vectors, no fused multiply-add (x86-64-v2)
    avx2,    ///< 256-bit vectors (x86-64-v3)
    avx512,  ///< 512-bit vectors (x86-64-v4)
};

}  // namespace warpscope::emulator
