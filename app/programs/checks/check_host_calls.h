#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "programs/checks/host_findings.h"
#include "programs/memory/device_memory.h"

namespace warpscope::emulator {
class MemoryCheck;  // emulator/checks/memory_check.h
struct Kernel;      // emulator/program/module.h
}  // namespace warpscope::emulator

namespace warpscope::programs {

// What the memory check says of calls of the host. It is added to `host`, for the call at `site`.

/// Throws CallError unless `bytes` bytes from the address on are in the block, which contains the
/// address. `host` is null without the memory check; it knows more of the address.
void check_range(const HostFindings* host, const std::optional<MemoryBlock>& block,
                 std::uint64_t address, std::size_t bytes, std::string_view call);
/// Reports a copy whose direction says that memory of the device is memory of the host. Throws
/// CallError for memory that was freed.
void check_copy(HostFindings& host, CallSite site, const DeviceMemory& memory, std::uint64_t to,
                std::uint64_t from, Direction direction);
/// Reports bytes that a copy hands to the host although nothing has written them.
void check_copied_values(HostFindings& host, CallSite site, emulator::MemoryCheck& check, Rows from,
                         std::size_t width, std::size_t height);
/// Reports arguments of a launch that point to freed memory, where the kernel may load a pointer.
void check_arguments(HostFindings& host, CallSite site, const emulator::Kernel& kernel,
                     std::span<const std::byte> arguments);
/// Reports that a call has failed. `is_sticky`: by the error of an earlier kernel.
void check_failed_call(HostFindings& host, std::string_view function, std::string_view problem,
                       bool is_sticky);
/// Reports that code of the host, at this instruction, accesses memory of the device. Returns false
/// if the address is in no such memory.
bool check_host_access(HostFindings& host, const DeviceMemory& memory, std::uint64_t address,
                       const void* instruction, bool writes);

}  // namespace warpscope::programs
