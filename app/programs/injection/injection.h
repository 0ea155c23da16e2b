#pragma once

#include <dlfcn.h>

namespace warpscope::programs {

/// The function that this library stands before. A child of vfork() and handlers of signals call
/// them too, so they are looked up when the library is loaded.
template <class Function>
Function* behind(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Ends the emulated GPU of this process and writes its report, once. Returns the exit status of a
/// program that ends with `status`.
int finish(int status);

}  // namespace warpscope::programs
