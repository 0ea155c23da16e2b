#include "emulator/fast_paths/llvm/llvm.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

#if defined(__x86_64__)
constexpr const char* target_name = "X86";
#elif defined(__aarch64__)
constexpr const char* target_name = "AArch64";
#else
constexpr const char* target_name = "Native";
#endif

constexpr int newest_version = 19, oldest_version = 15;

template <typename Function>
Function* find(void* library, const std::string& file, const std::string& name) {
    void* const found = ::dlsym(library, name.c_str());
    if (!found)
        throw Error(fmt::format("{} has no {}(): the emulator compiles kernels with LLVM {} to {}",
                                file, name, oldest_version, newest_version));
    return reinterpret_cast<Function*>(found);
}

void* opened(const std::string& file) {
    return ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

// The library is never unloaded: OpenGL's drivers may use the copy as well.
Llvm::Llvm(void* library, std::string file) : file_(std::move(file)) {
#define WARPSCOPE_LLVM_FIND(result, name, parameters) \
    name = find<result parameters>(library, file_, "LLVM" #name);
    WARPSCOPE_LLVM_FUNCTIONS(WARPSCOPE_LLVM_FIND)
#undef WARPSCOPE_LLVM_FIND
    for (const char* part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter"})
        find<void()>(library, file_, fmt::format("LLVMInitialize{}{}", target_name, part))();
    LinkInMCJIT();
}

std::shared_ptr<const Llvm> Llvm::load() {
    for (int version = newest_version; version >= oldest_version; --version)
        for (const char* pattern : {"libLLVM.so.{}.1", "libLLVM-{}.so.1", "libLLVM-{}.so"}) {
            const std::string file = fmt::format(fmt::runtime(pattern), version);
            if (void* const library = opened(file))
                return std::shared_ptr<const Llvm>(new Llvm(library, file));
        }
    throw Error(fmt::format("libLLVM {} to {} is not installed (Debian: libllvm{})", oldest_version,
                            newest_version, oldest_version));
}

std::shared_ptr<const Llvm> Llvm::load(const std::string& file) {
    void* const library = opened(file);
    if (!library) {
        const char* const why = ::dlerror();
        throw Error(fmt::format("{} cannot be loaded: {}", file, why ? why : "unknown error"));
    }
    return std::shared_ptr<const Llvm>(new Llvm(library, file));
}

std::string Llvm::taken(char* text) const {
    std::string copy = text ? text : "";
    if (text) DisposeMessage(text);
    return copy;
}

}  // namespace warpscope::emulator
