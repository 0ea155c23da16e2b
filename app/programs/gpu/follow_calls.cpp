// Tells the memory check what calls of the host do, and what their work does.
#include <fmt/format.h>

#include "programs/checks/check_host_calls.h"
#include "programs/gpu/gpu.h"
#include "programs/gpu/host_thread.h"

namespace warpscope::programs {

Streams::Hooks Gpu::hooks() {
    Streams::Hooks hooks;
    hooks.start_host_call = start_host_call;
    hooks.has_returned = has_returned;
    hooks.wait_for_return = [this](WorkId id) { wait_for_return(id); };
    if (!host_) return hooks;
    hooks.here = [this] { return host_->here(); };
    hooks.on_add = [this](const Stream& stream, const Work& work) {
        has_streams_ |= &stream != &streams_.legacy();
        stream_races_.on_add(&stream, work.id, work.after);
    };
    hooks.on_wait = [this](WorkId work) {
        work ? stream_races_.on_wait(work) : stream_races_.on_wait_for_all();
    };
    hooks.before_work = [this](WorkId work) {
        memory_.begin_work();
        watch_host_accesses();
        stream_races_.begin_work(work);
    };
    return hooks;
}

void Gpu::follow_copy(Rows to, Rows from, std::size_t width, std::size_t height, CallSite site) {
    if (!host_) return;
    stream_races_.begin_accesses(site);
    follow_access(from, width, height, false);
    follow_access(to, width, height, true);
    emulator::MemoryCheck& check = judge_->memory_check();
    const auto target = find(to.address);
    if (!target || target->kind != MemoryKind::device)
        return check_copied_values(*host_, site, check, from, width, height);
    for (std::size_t y = 0; y < height; ++y)
        check.on_copy(to.address + y * to.pitch, from.address + y * from.pitch, width);
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
    if (host_) check_failed_call(*host_, function, problem, status == sticky_);
}

bool Gpu::report_host_access(std::uint64_t address, const void* instruction, bool writes) {
    if (!host_ || !check_host_access(*host_, memory_, address, instruction, writes)) return false;
    has_faulted_ = true;
    return true;
}

}  // namespace warpscope::programs
