#pragma once

#include <cstddef>

namespace warpscope::programs {

inline constexpr const char* device_name = "Warpscope emulator";
inline constexpr int cuda_version = 13000;
inline constexpr int static_shared_limit = 48 << 10, shared_limit = 227 << 10,
                     shared_of_multiprocessor = 228 << 10, reserved_shared = 1 << 10;
inline constexpr int texture_pitch_alignment = 32;
inline constexpr int threads_of_multiprocessor = 2048, blocks_of_multiprocessor = 32;

/// The newest compute capability whose instructions the emulator has, except those of a letter
/// (sm_90a, sm_100a).
inline constexpr int newest_capability = 120;

/// The compute capability of the emulated GPU, 90 for 9.0. Programs choose by it what they launch
/// and what they compile at run time, so it is that of the newest PTX in the program and the
/// libraries that it was started with, from 7.5 to newest_capability; or what ProgramSettings ask
/// for. Libraries that are loaded later, such as modules of Python, do not change it.
int compute_capability();
/// Tells that an object of the program has PTX for this compute capability, in `data`.
void have_ptx_for(int capability, const void* data);

/// The value of a CUdevice_attribute or cudaDeviceAttr, which have the same numbers; 0 for those
/// that the emulator does not have.
int device_attribute(int number);

/// Writes a cudaDeviceProp with the layout of a runtime: 11000, 12000 or 13000.
void write_device_properties(void* to, int runtime_version);

/// How many blocks run on a multiprocessor at a time (CUDA Programming Guide, "Occupancy").
int resident_blocks(int block_threads, std::size_t shared_bytes);

}  // namespace warpscope::programs
