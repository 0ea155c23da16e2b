// nvJitLink makes machine code, which the emulator cannot run. Where it lacks a function, Numba
// links PTX by the functions of the driver. So dlopen() gives this library, which has none of its
// functions.
#include <dlfcn.h>

#include <cstring>

extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
    using Open = void*(const char*, int);
    static auto* const open = reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "dlopen"));
    if (file && std::strstr(file, "libnvJitLink.so")) file = "libcuda.so.1";
    // dlopen() searches the folders of its caller, so the compiler must make a jump of this call.
    return open(file, mode);
}
