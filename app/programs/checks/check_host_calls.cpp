#include "programs/checks/check_host_calls.h"

#include <fmt/format.h>

#include <cstring>

#include "emulator/checks/memory_check.h"
#include "emulator/lower/uniformity.h"
#include "emulator/program/source_line.h"
#include "programs/images/status.h"

namespace warpscope::programs {

using emulator::FindingKind;
using emulator::Severity;

void check_range(const HostFindings* host, const std::optional<MemoryBlock>& block,
                 std::uint64_t address, std::size_t bytes, std::string_view call) {
    const std::string known = host ? host->describe(address) : "";
    if (!block)
        throw CallError(Status::invalid_value,
                        fmt::format("{}: {:#x} is no memory of the device{}", call, address,
                                    known.empty() ? "" : ": it is " + known));
    if (address + bytes <= block->end()) return;
    throw CallError(Status::invalid_value,
                    known.empty()
                        ? fmt::format("{}: {} bytes from byte {} on of an allocation of {} bytes",
                                      call, bytes, address - block->begin, block->bytes)
                        : fmt::format("{}: {} bytes from {}", call, bytes, known));
}

void check_copy(HostFindings& host, CallSite site, const DeviceMemory& memory, std::uint64_t to,
                std::uint64_t from, Direction direction) {
    const auto check = [&](std::uint64_t address, bool says_host, const char* side) {
        if (host.is_freed(address))
            throw CallError(Status::invalid_value,
                            fmt::format("the {} of the copy was freed: it is {}", side,
                                        host.describe(address)));
        const MemoryBlock* const block = memory.find(address);
        if (says_host && block && block->kind == MemoryKind::device)
            host.report(FindingKind::call, Severity::error, site,
                        fmt::format("The direction of the copy says that its {} is memory of the "
                                    "host, but it is memory of the device: {}.",
                                    side, host.describe(address)));
    };
    const bool to_host =
        direction == Direction::host_to_host || direction == Direction::device_to_host;
    const bool from_host =
        direction == Direction::host_to_host || direction == Direction::host_to_device;
    check(to, to_host, "destination");
    check(from, from_host, "source");
}

void check_copied_values(HostFindings& host, CallSite site, emulator::MemoryCheck& check, Rows from,
                         std::size_t width, std::size_t height) {
    emulator::MemoryCheck::Unwritten all;
    bool is_padding = true;
    for (std::size_t y = 0; y < height; ++y) {
        const std::uint64_t source = from.address + y * from.pitch;
        const auto row = check.unwritten(source, width);
        if (!row.count) continue;
        if (!all.count) all.first = row.first;
        all.count += row.count;
        is_padding = is_padding && check.is_like_padding(source, width);
    }
    if (!all.count) return;
    const std::size_t bytes = width * height;
    const std::string copied =
        all.count == bytes
            ? fmt::format("None of the {} bytes that the host copies was ever written", bytes)
            : fmt::format("Of the {} bytes that the host copies, {} were never written", bytes,
                          all.count);
    host.report(FindingKind::uninitialized,
                is_padding           ? Severity::note
                : all.count == bytes ? Severity::error
                                     : Severity::warning,
                site,
                fmt::format("{}{}. The first is {}.", copied,
                            is_padding ? ", which may be the padding of a structure" : "",
                            host.describe(all.first)));
}

namespace {

/// Whether the kernel may load a pointer from here in its packed arguments: eight bytes at once, or
/// by the address of a parameter. Structures have padding, in which the host leaves what was there.
bool may_be_pointer(const emulator::Kernel& kernel, std::size_t at) {
    const auto reads_it = [at](const emulator::Statement& s, const emulator::Operand& operand,
                               const emulator::Parameter& parameter) {
        const bool is_load = operand.kind == emulator::Operand::address;
        const emulator::Operand& symbol = is_load ? operand.elements[0] : operand;
        if (symbol.kind != emulator::Operand::symbol || symbol.name != parameter.name) return false;
        if (!is_load) return at - parameter.offset < parameter.size;
        const unsigned bytes = emulator::bits_of(s.types().back()) / 8;
        const bool is_vector = s.operands[0].kind == emulator::Operand::vector;
        const std::size_t elements = is_vector ? s.operands[0].elements.size() : 1;
        const std::size_t begin = parameter.offset + std::size_t(operand.value);
        return bytes >= 8 && at - begin < bytes * elements;
    };
    for (const emulator::Statement& s : kernel.origin->syntax.statements)
        for (const emulator::Operand& operand : s.operands)
            for (const emulator::Parameter& parameter : kernel.parameters)
                if (reads_it(s, operand, parameter)) return true;
    return false;
}

}  // namespace

void check_arguments(HostFindings& host, CallSite site, const emulator::Kernel& kernel,
                     std::span<const std::byte> arguments) {
    std::uint64_t word = 0;
    for (std::size_t at = 0; at + sizeof word <= arguments.size(); at += sizeof word) {
        std::memcpy(&word, arguments.data() + at, sizeof word);
        if (host.is_freed(word) && may_be_pointer(kernel, at))
            host.report(FindingKind::memory, Severity::warning, site,
                        fmt::format("The launch of {} gets a pointer to freed memory: {}.",
                                    emulator::kernel_name(kernel.name), host.describe(word)));
    }
}

void check_failed_call(HostFindings& host, std::string_view function, std::string_view problem,
                       bool is_sticky) {
    // <<<…>>> does not hand the status on that this function returns.
    const bool is_unseen = function.ends_with("cudaLaunchKernel");
    if (is_sticky) {
        if (!is_unseen) host.on_error_read();
        return;
    }
    const CallSite site = host.here();
    const std::string sentence = fmt::format("{}() failed: {}.", function, problem);
    if (is_unseen) host.on_launch_error(site, sentence);
    host.report(FindingKind::call, Severity::error, site, sentence);
}

bool check_host_access(HostFindings& host, const DeviceMemory& memory, std::uint64_t address,
                       const void* instruction, bool writes) {
    constexpr std::uint64_t page = 4096;  // an allocation has whole pages
    const auto is_of_device = [&](std::uint64_t a) {
        const MemoryBlock* const block = memory.find(a);
        return host.is_freed(a) || (block && block->kind == MemoryKind::device);
    };
    if (!is_of_device(address)) address &= ~(page - 1);
    if (!is_of_device(address)) return false;
    host.report(FindingKind::memory, Severity::error, host.sites().of_signal(instruction),
                fmt::format("The host {} memory of the device, which only kernels and copies can "
                            "do: {}.",
                            writes ? "writes" : "reads", host.describe(address)));
    return true;
}

}  // namespace warpscope::programs
