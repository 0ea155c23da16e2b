#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpscope::programs {

/// Links PTX texts of nvcc -rdc=true to one text. Declarations give way to the definitions of other
/// texts; the first of several weak definitions stays; names that a text keeps to itself get a
/// suffix where an earlier text has the name too; files get numbers of their own. Throws CallError
/// if two texts define one visible name.
std::string link_ptx(const std::vector<std::string>& texts);

/// The name of a module's variable with the address of the device's heap. It begins with a
/// DeviceHeap.
inline constexpr const char* heap_variable = "$warpscope_heap";

/// The device's heap, as malloc() and free() in kernels know it. Memory that is freed is not given
/// out again, so that blocks do not depend on each other.
struct DeviceHeap {
    static constexpr int number_of_limit = 2;  ///< cudaLimitMallocHeapSize

    std::uint64_t next;   ///< address of what malloc() has not given out yet
    std::uint64_t used;   ///< bytes that were not freed
    std::uint64_t limit;  ///< most of them
};

/// Returns a PTX text with the functions of CUDA's device runtime that it declares and calls, and
/// that are known here: they follow its last line.
std::string with_device_functions(std::string ptx);

}  // namespace warpscope::programs
