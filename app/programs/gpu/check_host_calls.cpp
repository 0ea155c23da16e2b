// What the memory check says of calls of the host.
#include <fmt/format.h>

#include <cstring>

#include "programs/gpu/gpu.h"
#include "programs/report/kernel_name.h"

namespace warpscope::programs {

using emulator::FindingKind;
using emulator::Severity;

Streams::Hooks Gpu::hooks() {
    return {.here = [this] { return host_->here(); },
            .on_add =
                [this](const Stream& stream, const Work& work) {
                    has_streams_ |= &stream != &streams_.legacy();
                    stream_races_.on_add(&stream, work.id, work.after);
                },
            .on_wait =
                [this](WorkId work) {
                    work ? stream_races_.on_wait(work) : stream_races_.on_wait_for_all();
                },
            .before_work =
                [this](WorkId work) {
                    memory_.begin_work();
                    watch_host_accesses();
                    stream_races_.begin_work(work);
                }};
}

CallSite Gpu::check_launch(const Function& function, std::span<const std::byte> arguments) {
    if (!host_) return 0;
    const CallSite site = host_->here();
    std::uint64_t word = 0;
    for (std::size_t at = 0; at + sizeof word <= arguments.size(); at += sizeof word) {
        std::memcpy(&word, arguments.data() + at, sizeof word);
        if (host_->is_freed(word))
            host_->report(FindingKind::memory, Severity::warning, site,
                          fmt::format("The launch of {} gets a pointer to freed memory: {}.",
                                      kernel_name(function.name), host_->describe(word)));
    }
    return site;
}

CallSite Gpu::check_copy(std::uint64_t to, std::uint64_t from, Direction direction) {
    if (!host_) return 0;
    const CallSite site = host_->here();
    const auto check = [&](std::uint64_t address, bool says_host, const char* side) {
        if (host_->is_freed(address))
            throw CallError(Status::invalid_value,
                            fmt::format("the {} of the copy was freed: it is {}", side,
                                        host_->describe(address)));
        const MemoryBlock* const block = memory_.find(address);
        if (says_host && block && block->kind == MemoryKind::device)
            host_->report(FindingKind::call, Severity::error, site,
                          fmt::format("The direction of the copy says that its {} is memory of the "
                                      "host, but it is memory of the device: {}.",
                                      side, host_->describe(address)));
    };
    const bool to_host =
        direction == Direction::host_to_host || direction == Direction::device_to_host;
    const bool from_host =
        direction == Direction::host_to_host || direction == Direction::host_to_device;
    check(to, to_host, "destination");
    check(from, from_host, "source");
    return site;
}

void Gpu::follow_copy(Rows to, Rows from, std::size_t width, std::size_t height, CallSite site) {
    if (!host_) return;
    stream_races_.begin_accesses(site);
    follow_access(from, width, height, false);
    follow_access(to, width, height, true);
    emulator::MemoryCheck& check = checks_->memory_check();
    const auto target = find(to.address);
    const bool to_host = !target || target->kind != MemoryKind::device;
    emulator::MemoryCheck::Unwritten all;
    bool is_padding = true;
    for (std::size_t y = 0; y < height; ++y) {
        const std::uint64_t source = from.address + y * from.pitch;
        if (!to_host) {
            check.on_copy(to.address + y * to.pitch, source, width);
            continue;
        }
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
    host_->report(FindingKind::uninitialized,
                  is_padding           ? Severity::note
                  : all.count == bytes ? Severity::error
                                       : Severity::warning,
                  site,
                  fmt::format("{}{}. The first is {}.", copied,
                              is_padding ? ", which may be the padding of a structure" : "",
                              host_->describe(all.first)));
}

void Gpu::follow_access(Rows at, std::size_t width, std::size_t height, bool writes) {
    if (!has_streams_ || is_pageable(at.address)) return;
    for (std::size_t y = 0; y < height; ++y)
        stream_races_.on_access(
            at.address + y * at.pitch, width,
            writes ? emulator::MemoryAccess::store : emulator::MemoryAccess::load);
}

void Gpu::call_failed(std::string_view function, Status status, std::string_view problem) {
    if (status == Status::not_supported)
        return say_error(fmt::format("{}() failed: {}", function, problem));
    if (!host_) return;
    // <<<…>>> does not hand the status on that this function returns.
    const bool is_unseen = function.ends_with("cudaLaunchKernel");
    if (status == sticky_) {
        if (!is_unseen) host_->on_error_read();
        return;
    }
    const CallSite site = host_->here();
    const std::string sentence = fmt::format("{}() failed: {}.", function, problem);
    if (is_unseen) host_->on_launch_error(site, sentence);
    host_->report(FindingKind::call, Severity::error, site, sentence);
}

bool Gpu::report_host_access(std::uint64_t address, const void* instruction, bool writes) {
    constexpr std::uint64_t page = 4096;  // an allocation has whole pages
    const auto is_of_device = [&](std::uint64_t a) {
        const MemoryBlock* const block = memory_.find(a);
        return host_->is_freed(a) || (block && block->kind == MemoryKind::device);
    };
    if (!host_) return false;
    if (!is_of_device(address)) address &= ~(page - 1);
    if (!is_of_device(address)) return false;
    has_faulted_ = true;
    host_->report(FindingKind::memory, Severity::error, host_->sites().of_signal(instruction),
                  fmt::format("The host {} memory of the device, which only kernels and copies can "
                              "do: {}.",
                              writes ? "writes" : "reads", host_->describe(address)));
    return true;
}

void Gpu::add_host_findings() {
    stream_races_.report_to(*host_);
    if (settings_.checks.leaks && !has_faulted_) host_->report_leaks(streams_.left());
    report_.findings = emulator::merged({report_.findings, host_->findings()});
}

}  // namespace warpscope::programs
