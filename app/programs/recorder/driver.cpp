#include "programs/recorder/driver.h"

#include <dlfcn.h>

#include <map>
#include <string>
#include <string_view>

namespace warpscope::programs {

namespace {

struct Replacement {
    void* ours;
    void** real;
};

std::map<std::string, Replacement, std::less<>>& replacements() {
    static auto* const all = new std::map<std::string, Replacement, std::less<>>;
    return *all;
}

using Find = void*(void*, const char*);
Find* real_dlsym() {
    static auto* const find = [] {
        void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!found) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        return reinterpret_cast<Find*>(found);
    }();
    return find;
}

template <class F>
void find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(driver_function(symbol));
}

}  // namespace

Recorded::Recorded(const char* symbol, void* ours, void** real) {
    replacements()[symbol] = {ours, real};
}

void* driver_function(const char* symbol) {
    static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? real_dlsym()(library, symbol) : nullptr;
}

void* recorded(const char* symbol, void* found) {
    const auto replacement = replacements().find(std::string_view(symbol));
    if (!found || replacement == replacements().end()) return found;
    if (found != replacement->second.ours) *replacement->second.real = found;
    return replacement->second.ours;
}

const Driver& driver() {
    static const Driver one = [] {
        Driver made;
        find(made.synchronize, "cuCtxSynchronize");
        find(made.address_range, "cuMemGetAddressRange_v2");
        find(made.copy_to_host, "cuMemcpyDtoH_v2");
        find(made.module_variable, "cuModuleGetGlobal_v2");
        find(made.library_variable, "cuLibraryGetGlobal");
        find(made.is_capturing, "cuStreamIsCapturing");
        return made;
    }();
    return one;
}

}  // namespace warpscope::programs

// The CUDA runtime, and programs that load the driver, ask for its functions here.
extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
    using namespace warpscope::programs;
    auto* const find = real_dlsym();
    const bool depends_on_caller = handle == RTLD_NEXT || handle == RTLD_DEFAULT;
    if (!depends_on_caller && name[0] == 'c' && name[1] == 'u')
        return recorded(name, find(handle, name));
    return find(handle, name);  // a jump, so that glibc sees the caller
}
