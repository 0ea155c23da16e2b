#include "programs/gpu/device_attributes.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "emulator/machine/machine.h"
#include "programs/memory/device_memory.h"
#include "programs/report/program_settings.h"

namespace warpscope::programs {

namespace {

constexpr int l2_bytes = 4 << 20;

// CUdevice_attribute, as far as the emulator has a value.
struct Attribute {
    int number, value;
};
constexpr Attribute attributes[] = {
    {1, 1024},                                     // MAX_THREADS_PER_BLOCK
    {2, 1024},                                     // MAX_BLOCK_DIM_X
    {3, 1024},                                     // MAX_BLOCK_DIM_Y
    {4, 64},                                       // MAX_BLOCK_DIM_Z
    {5, 0x7fffffff},                               // MAX_GRID_DIM_X
    {6, 65535},                                    // MAX_GRID_DIM_Y
    {7, 65535},                                    // MAX_GRID_DIM_Z
    {8, static_shared_limit},                      // MAX_SHARED_MEMORY_PER_BLOCK
    {9, 65536},                                    // TOTAL_CONSTANT_MEMORY
    {10, 32},                                      // WARP_SIZE
    {11, 0x7fffffff},                              // MAX_PITCH
    {12, 65536},                                   // MAX_REGISTERS_PER_BLOCK
    {13, 1'000'000},                               // CLOCK_RATE, in kHz
    {14, 512},                                     // TEXTURE_ALIGNMENT
    {15, 1},                                       // GPU_OVERLAP
    {16, emulator::Machine::default_virtual_sms},  // MULTIPROCESSOR_COUNT
    {19, 1},                                       // CAN_MAP_HOST_MEMORY
    {30, 512},                                     // SURFACE_ALIGNMENT
    {31, 1},                                       // CONCURRENT_KERNELS
    {36, 1'000'000},                               // MEMORY_CLOCK_RATE, in kHz
    {37, 64},                                      // GLOBAL_MEMORY_BUS_WIDTH
    {38, l2_bytes},                                // L2_CACHE_SIZE
    {39, threads_of_multiprocessor},               // MAX_THREADS_PER_MULTIPROCESSOR
    {40, 1},                                       // ASYNC_ENGINE_COUNT
    {41, 1},                                       // UNIFIED_ADDRESSING
    {51, texture_pitch_alignment},                 // TEXTURE_PITCH_ALIGNMENT
    {78, 1},                                       // STREAM_PRIORITIES_SUPPORTED
    {79, 1},                                       // GLOBAL_L1_CACHE_SUPPORTED
    {80, 1},                                       // LOCAL_L1_CACHE_SUPPORTED
    {81, shared_of_multiprocessor},                // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    {82, 65536},                                   // MAX_REGISTERS_PER_MULTIPROCESSOR
    {83, 1},                                       // MANAGED_MEMORY
    {87, 1},                                       // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    {89, 1},                                       // CONCURRENT_MANAGED_ACCESS
    {90, 1},                                       // COMPUTE_PREEMPTION_SUPPORTED
    {91, 1},                                       // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
    {95, 1},                                       // COOPERATIVE_LAUNCH
    {97, shared_limit},                            // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    {99, 1},                                       // HOST_REGISTER_SUPPORTED
    {102, 1},                                      // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    {103, 1},                                      // HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
    {106, blocks_of_multiprocessor},               // MAX_BLOCKS_PER_MULTIPROCESSOR
    {107, 1},                                      // GENERIC_COMPRESSION_SUPPORTED
    {111, reserved_shared},                        // RESERVED_SHARED_MEMORY_PER_BLOCK
    {115, 1},                                      // MEMORY_POOLS_SUPPORTED
    {119, 1},                                      // MEMPOOL_SUPPORTED_HANDLE_TYPES: files
    {125, 1},                                      // IPC_EVENT_SUPPORTED
};

enum Versions { all, until_12, from_12 };

/// Members of cudaDeviceProp that follow each other: each has the value of an attribute.
struct Members {
    unsigned bytes;           ///< of each member: 4 or 8
    int first;                ///< attribute of the first member; negative: zero
    int count = 1;            ///< members with successive attributes
    Versions versions = all;  ///< of CUDA that have them
};
constexpr int none = -1;
// Behind name, uuid, luid, luidDeviceNodeMask and totalGlobalMem. Source: CUDA Runtime API,
// "cudaDeviceProp", versions 11 to 13.
constexpr Members members[] = {
    {8, 8},
    {4, 12},
    {4, 10},
    {8, 11},
    {4, 1},
    {4, 2, 3},
    {4, 5, 3},
    {4, 13, 1, until_12},
    {8, 9},
    {4, 75, 2},
    {8, 14},
    {8, 51},
    {4, 15, 1, until_12},
    {4, 16},
    {4, 17, 1, until_12},
    {4, 18},
    {4, 19},
    {4, 20, 1, until_12},
    {4, none, 2},
    {4, none, 1, until_12},
    {4, none, 2 + 2 + 3 + 2 + 3 + 3 + 1 + 2 + 3 + 2 + 1 + 2 + 3 + 2 + 3 + 1 + 2},
    {8, 30},
    {4, 31, 4},
    {4, 50},
    {4, 35},
    {4, 40, 2},
    {4, 36, 1, until_12},
    {4, 37, 2},
    {4, 108},
    {4, 39},
    {4, 78, 3},
    {8, 81},
    {4, 82, 5},
    {4, 87, 1, until_12},
    {4, 88, 4},
    {4, 95},
    {4, 96, 1, until_12},
    {8, 97},
    {4, 100, 2},
    {4, 106},
    {4, 109},
    {8, 111},
    {4, 99, 1, from_12},
    {4, 112, 4, from_12},
    {4, 116, 4, from_12},
    {4, 121, 1, from_12},
    {4, 125, 1, from_12},
    {4, 120, 1, from_12},
    {4, 129, 1, from_12},
};
constexpr std::size_t name_bytes = 256, ids_bytes = 16 + 8 + 4;

std::atomic<int> newest_ptx = 75;  // that the emulator runs at all

/// The last of the objects that were loaded with the program: the constructors of this library come
/// before those of others. The loader puts objects that are loaded later behind it.
const link_map* const last_at_start = [] {
    const link_map* last = _r_debug.r_map;
    while (last && last->l_next) last = last->l_next;
    return last;
}();

bool was_loaded_at_start(const void* data) {
    Dl_info info;
    void* map = nullptr;
    if (!dladdr1(data, &info, &map, RTLD_DL_LINKMAP)) return false;
    const auto* object = static_cast<const link_map*>(map);
    while (object && object != last_at_start) object = object->l_next;
    return object;
}

}  // namespace

int compute_capability() {
    static const int asked = ProgramSettings::from_environment().compute_capability;
    return asked ? asked : newest_ptx.load();
}

void have_ptx_for(int capability, const void* data) {
    if (was_loaded_at_start(data))
        newest_ptx = std::max(newest_ptx.load(), std::min(capability, newest_capability));
}

int device_attribute(int number) {
    enum {
        capability_major = 75,
        capability_minor = 76,
        persisting_l2_bytes = 108,
        access_policy_window_bytes = 109,
        cluster_launch = 120
    };
    if (number == capability_major) return compute_capability() / 10;
    if (number == capability_minor) return compute_capability() % 10;
    // What a program asks of the cache has no effect, because the emulator has none.
    if (number == persisting_l2_bytes || number == access_policy_window_bytes)
        return compute_capability() >= 80 ? l2_bytes / 4 * 3 : 0;
    if (number == cluster_launch) return compute_capability() >= 90;
    for (const Attribute& attribute : attributes)
        if (attribute.number == number) return attribute.value;
    return 0;
}

void write_device_properties(void* to, int runtime_version) {
    auto* const bytes = static_cast<std::byte*>(to);
    std::memset(to, 0, name_bytes + ids_bytes);
    std::strcpy(static_cast<char*>(to), device_name);
    std::size_t at = name_bytes + ids_bytes;
    const auto put = [&](std::uint64_t value, std::size_t size) {
        at = (at + size - 1) / size * size;
        std::memcpy(bytes + at, &value, size);
        at += size;
    };
    put(DeviceMemory::total_bytes, 8);
    for (const Members& m : members) {
        if (m.versions == until_12 && runtime_version >= 13000) continue;
        if (m.versions == from_12 && runtime_version < 12000) continue;
        for (int i = 0; i < m.count; ++i)
            put(m.first < 0 ? 0 : std::uint64_t(device_attribute(m.first + i)), m.bytes);
    }
}

int resident_blocks(int block_threads, std::size_t shared_bytes) {
    if (block_threads < 1 || block_threads > 1024) return 0;
    const int threads = (block_threads + 31) / 32 * 32;
    const auto by_shared =
        int(std::size_t(shared_of_multiprocessor) / (shared_bytes + reserved_shared));
    return std::min({blocks_of_multiprocessor, threads_of_multiprocessor / threads, by_shared});
}

}  // namespace warpscope::programs
