#include "programs/gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "emulator/program/error.h"
#include "emulator/program/source_line.h"
#include "emulator/warp/splitmix64.h"
#include "programs/checks/check_host_calls.h"
#include "programs/gpu/host_thread.h"
#include "programs/gpu/signals_of_launch.h"

namespace warpscope::programs {
namespace {

using emulator::FindingKind;
using emulator::LaunchShape;
using emulator::Severity;

/// A program that calls so often after a kernel has failed repeats a loop without an end.
constexpr unsigned most_repeated = 100'000;

std::atomic<bool> made = false;

template <class T>
T* pointer(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
}

/// The values of a launch's arguments, for the time when it runs.
std::shared_ptr<std::vector<std::byte>> packed(const emulator::Kernel& kernel,
                                               std::span<const void* const> arguments) {
    auto bytes = std::make_shared<std::vector<std::byte>>(kernel.parameter_bytes);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
        std::memcpy(bytes->data() + kernel.parameters[i].offset, arguments[i],
                    kernel.parameters[i].size);
    return bytes;
}

double seconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

Gpu::Gpu(ProgramSettings settings)
    : settings_(std::move(settings)),
      host_(settings_.checks.memory ? std::make_unique<HostFindings>() : nullptr),
      streams_(settings_.seed, hooks()),
      unoptimized_(settings_.checks.has_checks() ? settings_.unoptimized : "") {
    if (host_) memory_.guard();
    if (settings_.checks.any())
        judge_ = std::make_unique<emulator::Judge>(settings_.checks, launcher_, settings_.seed);
    if (!settings_.captures.empty())
        capture_ = std::make_unique<Capture>(settings_, captured_memory_);
}

LoadedModule* Gpu::load(const void* data) {
    try {
        return load(read_images(data));
    } catch (const CallError& problem) {
        say_error(std::string("the program cannot run its kernels: ") + problem.what());
        throw;
    }
}

LoadedModule* Gpu::load(const std::vector<Image>& images) {
    auto& module = modules_.emplace_back(std::make_unique<LoadedModule>(images, "the program"));
    if (host_)
        for (const auto& function : module->functions()) host_->skip(function->name);
    if (const auto* variable = module->find_variable(heap_variable)) {
        const std::uint64_t address = heap();
        std::memcpy(variable->data, &address, sizeof address);
    }
    module->keep_variables();
    if (has_places_)
        for (const std::string& line : unoptimized_.removed_from(*module)) note(line);
    return module.get();
}

void Gpu::unload(LoadedModule* module) {
    synchronize();
    std::erase_if(modules_, [&](const auto& m) { return m.get() == module; });
}

std::optional<MemoryBlock> Gpu::find(std::uint64_t address) const {
    if (const MemoryBlock* block = memory_.find(address)) return *block;
    for (const auto& module : modules_)
        for (const auto& variable : module->variables()) {
            const auto begin = reinterpret_cast<std::uint64_t>(variable.data);
            if (address >= begin && address < begin + variable.bytes)
                return MemoryBlock{
                    begin, variable.bytes,
                    module->is_managed(variable.name) ? MemoryKind::managed : MemoryKind::device};
        }
    return {};
}

std::uint64_t Gpu::allocate(std::size_t bytes, MemoryKind kind) {
    throw_sticky();
    if (!bytes) throw CallError(Status::invalid_value, "an allocation of 0 bytes");
    unmap_freed();
    const std::uint64_t address = memory_.allocate(bytes, kind);
    if (!address)
        throw CallError(Status::out_of_memory,
                        fmt::format("{} bytes of {} are in use", memory_.used_bytes(),
                                    DeviceMemory::total_bytes));
    // The host writes managed and pinned memory without a call.
    if (judge_ && kind == MemoryKind::device) judge_->observer().on_allocate(address, bytes);
    if (host_) {
        host_->on_allocate(address, bytes);
        stream_races_.on_allocate(address, bytes);
        watch_host_accesses();
    }
    return address;
}

void Gpu::free(std::uint64_t address) {
    if (!address) return;
    streams_.run_until_idle();
    unmap_freed();
    demand_allocation(address);
    free_now(address, here());
}

void Gpu::free_in(Stream& stream, std::uint64_t address) {
    unmap_freed();
    demand_allocation(address);
    streams_.add(
        stream, [this, address, site = here()] { free_in_order(address, site); }, NodeKind::free);
}

void Gpu::free_in_order(std::uint64_t address, CallSite site) {
    if (!host_) return free_now(address, site);
    const auto block = find(address);
    if (!block || freed_.contains(address)) return;  // another stream has freed it
    host_->on_free(address, site);
    stream_races_.on_free_in(address, block->bytes, site);
    freed_[address] = stream_races_.now();
}

void Gpu::unmap_freed() {
    std::erase_if(freed_, [&](const auto& freed) {
        const bool may_be_used = streams_.any_waits(
            [&](WorkId id) { return !stream_races_.is_behind(id, freed.second); });
        if (may_be_used) return false;
        if (memory_.free(freed.first)) judge_->observer().on_free(freed.first);
        return true;
    });
}

void Gpu::demand_allocation(std::uint64_t address) const {
    const MemoryBlock* const block = memory_.find(address);
    const bool of_graph = !block && memory_of_graphs_.contains(address);
    if (of_graph || (block && block->begin == address && !block->registered)) return;
    const std::string known = host_ ? host_->describe(address) : "";
    throw CallError(Status::invalid_value, fmt::format("no allocation begins at {:#x}{}", address,
                                                       known.empty() ? "" : ": it is " + known));
}

void Gpu::free_now(std::uint64_t address, CallSite site) {
    const auto block = memory_.free(address);
    if (!block) return;  // another stream has freed it
    if (judge_ && block->kind == MemoryKind::device) judge_->observer().on_free(address);
    if (host_) host_->on_free(address, site);
}

void Gpu::copy_rows(Rows to, Rows from, std::size_t width, std::size_t height, Direction direction,
                    Stream& stream, Return returns) {
    throw_sticky();
    if (!width || !height) return;
    if (height > 1 && (to.pitch < width || from.pitch < width))
        throw CallError(Status::runtime_invalid_pitch, "a copy: the pitch is less than the width");
    const auto extent = [&](const Rows& rows) { return rows.pitch * (height - 1) + width; };
    const bool into_device =
        direction == Direction::host_to_device || direction == Direction::device_to_device;
    const bool from_device =
        direction == Direction::device_to_host || direction == Direction::device_to_device;
    if (into_device || (direction == Direction::any && find(to.address)))
        check_range(host_.get(), find(to.address), to.address, extent(to), "a copy to the device");
    if (from_device || (direction == Direction::any && find(from.address)))
        check_range(host_.get(), find(from.address), from.address, extent(from),
                    "a copy from the device");
    const CallSite site = here();
    if (host_) check_copy(*host_, site, memory_, to.address, from.address, direction);
    const bool reads_pageable = is_pageable(from.address),
               writes_pageable = is_pageable(to.address);
    const auto move = [=, this](const Rows& source) {
        if (!(writes_pageable || is_there(to.address, site)) ||
            !(reads_pageable || is_there(from.address, site)))
            return;
        follow_copy(to, source, width, height, site);
        for (std::size_t y = 0; y < height; ++y)
            std::memmove(pointer<char>(to.address + y * to.pitch),
                         pointer<const char>(source.address + y * source.pitch), width);
    };
    const auto written = [at = to.address, bytes = extent(to)](Reach& all) {
        all.push_back({at, bytes});
    };
    const auto accessed = [written, at = from.address, bytes = extent(from)](Reach& all) {
        written(all);
        all.push_back({at, bytes, true});
    };
    if (reads_pageable && !writes_pageable && returns == Return::at_once && !stream.capture) {
        // The driver copies pageable memory to a buffer of its own before it returns.
        auto staged = std::make_shared<std::vector<char>>(extent(from));
        std::memcpy(staged->data(), pointer<const char>(from.address), staged->size());
        streams_.add(stream,
                     {[=] {
                          move({reinterpret_cast<std::uint64_t>(staged->data()), from.pitch});
                      },
                      written},
                     NodeKind::copy);
        return;
    }
    const WorkId id = streams_.add(stream, {[=] { move(from); }, accessed}, NodeKind::copy);
    // A copy within the device does not make the host wait.
    const auto is_of_device = [&](std::uint64_t address) {
        const auto block = find(address);
        return block && block->kind == MemoryKind::device;
    };
    const bool within =
        direction == Direction::device_to_device ||
        (direction == Direction::any && is_of_device(to.address) && is_of_device(from.address));
    if (writes_pageable || (returns == Return::when_done && !within)) {
        streams_.run_until(id);
        throw_sticky();
    }
}

void Gpu::fill(Rows to, std::uint32_t value, unsigned element_bytes, std::size_t count,
               std::size_t height, Stream& stream, Return returns) {
    throw_sticky();
    const std::size_t width = count * element_bytes;
    if (!width || !height) return;
    check_range(host_.get(), find(to.address), to.address, to.pitch * (height - 1) + width,
                "a fill");
    const auto write = [=, this, site = here()] {
        if (!is_there(to.address, site)) return;
        stream_races_.begin_accesses(site);
        follow_access(to, width, height, true);
        for (std::size_t y = 0; y < height; ++y) {
            const std::uint64_t row = to.address + y * to.pitch;
            if (element_bytes == 1) std::memset(pointer<char>(row), int(value), count);
            if (element_bytes == 2) std::fill_n(pointer<std::uint16_t>(row), count, value);
            if (element_bytes == 4) std::fill_n(pointer<std::uint32_t>(row), count, value);
            if (judge_) judge_->observer().on_host_write(row, width);
        }
    };
    const auto written = [at = to.address, bytes = to.pitch * (height - 1) + width](Reach& all) {
        all.push_back({at, bytes});
    };
    // CUDA Runtime API, "API synchronization behavior": asynchronous, except where the target is
    // pinned memory of the host or managed memory.
    const bool is_of_device = find(to.address)->kind == MemoryKind::device;
    const WorkId id = streams_.add(stream, {write, written}, NodeKind::fill);
    if (returns == Return::at_once || is_of_device) return;
    streams_.run_until(id);
    throw_sticky();
}

void Gpu::launch(Function& function, const LaunchShape& shape,
                 std::span<const void* const> arguments, Stream& stream) {
    throw_sticky();
    if (!function.kernel())
        throw CallError(Status::not_supported, "kernel " + emulator::kernel_name(function.name) +
                                                   " is not launched: " + function.problem());
    check_shape(function, shape);
    const auto values = packed(*function.kernel(), arguments);
    const CallSite site = place_of_launch();
    if (host_) check_arguments(*host_, site, *function.kernel(), *values);
    const auto execute = [this, &function, shape, values, site] {
        if (sticky_ != Status::success) return;
        std::vector<const void*> pointers;
        for (const emulator::Parameter& parameter : function.kernel()->parameters)
            pointers.push_back(values->data() + parameter.offset);
        run(function, shape, pointers, site);
    };
    const auto reach = [&function, values](Reach& all) {
        for (std::size_t at = 0; at + 8 <= values->size(); at += 8) {
            std::uint64_t word;
            std::memcpy(&word, values->data() + at, sizeof word);
            all.push_back({word});
        }
        for (const auto& variable : function.module->variables())
            all.push_back({reinterpret_cast<std::uint64_t>(variable.data)});
    };
    streams_.add(stream, {execute, reach}, NodeKind::kernel);
}

void Gpu::run(Function& function, const LaunchShape& shape,
              const std::vector<const void*>& arguments, CallSite site) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    emulator::Judge::Ran ran{};
    SignalsOfLaunch signals;
    const emulator::LaunchSettings settings{
        .schedule = settings_.schedule,
        .barriers = settings_.barriers,
        .landing = settings_.landing,
        .block_order = emulator::GridOrder(settings_.schedule == emulator::Schedule::reverse),
        .seed = emulator::splitmix64(settings_.seed ^ emulator::splitmix64(launches_++)),
        .time_limit = time_left(),
        .ends_where_still = true,
        .stop = signals.token()};
    if (capture_) capture_->before(launches_, *function.kernel(), shape, arguments);
    try {
        auto frozen = emulator::Machine::freeze(*function.kernel(), shape, arguments, settings);
        if (settings_.checks.memory) frozen.unoptimized = unoptimized_.find(function.name);
        stream_races_.begin_accesses(site);
        if (judge_)
            ran = judge_->run(frozen, compares_accesses() ? &stream_races_ : nullptr);
        else
            launcher_.run(frozen);
    } catch (const emulator::MisalignedError& error) {
        fail(Status::misaligned_address, function, error.what());
    } catch (const emulator::AccessError& error) {
        const auto* const global = dynamic_cast<const emulator::GlobalAccessError*>(&error);
        if (host_ && global) host_->on_access_error(error.what(), global->address);
        fail(Status::illegal_address, function, error.what());
    } catch (const emulator::AssertionError& error) {
        fail(Status::assert_failed, function, error.what());
    } catch (const emulator::DeadlockError& error) {
        fail(Status::launch_timeout, function, error.what());
    } catch (const emulator::StillError& error) {
        fail(Status::launch_timeout, function, error.what());
    } catch (const emulator::Stopped& error) {
        note(fmt::format("signal {} has come ({}): {}", signals.come(), strsignal(signals.come()),
                         emulator::with_kernel_name(error.what(), function.name)));
    } catch (const emulator::TimedOut& error) {
        stop(emulator::with_kernel_name(error.what(), function.name));
        fail(Status::launch_timeout, function, error.what());
    } catch (const emulator::Error& error) {
        fail(Status::launch_failed, function, error.what());
    }
    if (host_ && sticky_ != Status::success) host_->on_launch_error(site, "The kernel has failed.");
    KernelLaunches& launches = report_.kernels[function.name];
    ++launches.launches;
    const double seconds = seconds_of(ran.watched ? ran.time : Clock::now() - start);
    launches.seconds += seconds;
    launches.blocks += ran.watched ? shape.grid.count() : 0;
    launches.watched += ran.watched;
    if (judge_) {
        const std::size_t found = judge_->verdict().findings.size();
        if (found > findings_) launched_at_.try_emplace(function.name, site);
        findings_ = found;
    }
    tell();
    if (signals.come()) tell_all();
    if (capture_) capture_->after(seconds);
    const std::string printed = launcher_.machine().take_output();
    if (prints_ && !printed.empty()) {
        std::fwrite(printed.data(), 1, printed.size(), stdout);
        std::fflush(stdout);
    }
}

void Gpu::fail(Status status, const Function& function, const std::string& line) {
    sticky_ = status;
    say_error(emulator::with_kernel_name(line, function.name));
}

bool Gpu::is_there(std::uint64_t address, CallSite site) {
    if (find(address)) return true;
    sticky_ = Status::illegal_address;
    say_error("a copy or a fill accesses memory that was freed before it ran");
    if (host_)
        host_->report(FindingKind::memory, Severity::error, site,
                      fmt::format("The work of this call accesses memory that was freed before it "
                                  "ran: {}.",
                                  host_->describe(address)));
    return false;
}

void Gpu::throw_sticky() const {
    if (sticky_ != Status::success) throw CallError(sticky_, "an earlier launch has failed");
}

void Gpu::call_host(Stream& stream, std::function<void()> call) {
    streams_.add(stream, {[this, call = std::move(call)] { call_program(call); }, {}, true},
                 NodeKind::host);
}

void Gpu::synchronize(Stream& stream) {
    if (stream.capture)
        throw CallError(Status::stream_capture_unsupported, "the stream is being captured");
    streams_.finish(stream);
    throw_sticky();
}

void Gpu::synchronize() {
    streams_.run_until_idle();
    throw_sticky();
}

void Gpu::reset() {
    streams_.run_until_idle();
    unmap_freed();
    sticky_ = Status::success;
    repeated_ = 0;
    if (host_ && settings_.checks.leaks) host_->report_leaks(streams_.left());
    streams_.reset(current_device);
    arrays_.reset();
    const auto blocks = memory_.blocks();
    for (const auto& [address, block] : blocks) {
        if (block.device != current_device) continue;
        if (block.registered)
            memory_.detach(reinterpret_cast<void*>(address));
        else
            free_now(address, here());
    }
    memory_of_graphs_.clear();
    for (const auto& module : modules_) module->reset_variables();
}

std::size_t Gpu::limit(int number) const {
    const auto found = limits_.find(number);
    if (found == limits_.end()) throw CallError(Status::not_supported, "a limit that is not known");
    return found->second;
}

void Gpu::set_limit(int number, std::size_t value) {
    limit(number);
    limits_[number] = value;
    if (heap_ && number == DeviceHeap::number_of_limit) heap_->limit = value;
}

void Gpu::say_error(const std::string& line) {
    std::fflush(stdout);
    std::fprintf(stderr, "warpscope: %s\n", line.c_str());
    if (std::ranges::find(report_.errors, line) == report_.errors.end())
        report_.errors.push_back(line);
}

void Gpu::call_missing(std::string_view function) {
    if (std::ranges::find(report_.missing, function) != report_.missing.end()) return;
    report_.missing.emplace_back(function);
    std::fprintf(stderr, "warpscope: %s() is not supported\n", report_.missing.back().c_str());
}

Gpu& gpu() {
    static Gpu* const one = [] {
        Gpu* const gpu = new Gpu(ProgramSettings::from_environment());
        made = true;
        return gpu;
    }();
    return *one;
}

bool has_gpu() {
    return made;
}

// Memory of the device that graphs and kernels allocate.

std::uint64_t Gpu::allocate_in(Stream& stream, std::size_t bytes) {
    const std::uint64_t address = allocate(bytes, MemoryKind::device);
    if (!stream.capture) {
        const WorkId id = streams_.add(
            stream, [] {}, NodeKind::allocate);
        if (host_) stream_races_.on_allocate_in(id, address, bytes, here());
        return address;
    }
    memory_of_graphs_[address] = bytes;
    streams_.add(
        stream,
        [this, address, bytes] {
            // A launch of the graph allocates again what the previous one has freed.
            if (!freed_.erase(address) &&
                (memory_.find(address) || !memory_.allocate_at(address, bytes, MemoryKind::device)))
                return;
            if (judge_) judge_->observer().on_allocate(address, bytes);
            if (!host_) return;
            host_->on_allocate_again(address);
            stream_races_.on_allocate(address, bytes);
        },
        NodeKind::allocate);
    return address;
}

std::size_t Gpu::bytes_of_graphs() const {
    std::size_t bytes = 0;
    for (const auto& [address, size] : memory_of_graphs_)
        if (memory_.find(address)) bytes += size;
    return bytes;
}

std::uint64_t Gpu::add_condition(Graph& graph, std::uint32_t at_launch, bool is_set_at_launch) {
    const std::shared_ptr<Condition> condition(
        new Condition{at_launch, at_launch, is_set_at_launch}, [this](Condition* ended) {
            memory_.detach(&ended->value);
            delete ended;
        });
    memory_.attach(&condition->value, sizeof condition->value);
    graph.conditions.push_back(condition);
    return reinterpret_cast<std::uint64_t>(&condition->value);
}

std::uint64_t Gpu::heap() {
    if (!heap_)
        heap_ = make_heap(launcher_.machine().memory(), limits_.at(DeviceHeap::number_of_limit));
    return reinterpret_cast<std::uint64_t>(heap_);
}

// Tells the memory check what calls of the host do, and what their work does.

Streams::Hooks Gpu::hooks() {
    Streams::Hooks hooks;
    hooks.start_host_call = [this](WorkId id, GraphStep call) {
        stream_races_.on_seen(id);
        start_host_call(id, std::move(call));
    };
    hooks.has_returned = has_returned;
    hooks.wait_for_return = [this](WorkId id) { wait_for_return(id); };
    if (!host_) return hooks;
    hooks.here = [this] { return host_->here(); };
    hooks.on_add = [this](const Stream& stream, const Work& work) {
        has_streams_ |= &stream != &streams_.legacy();
        Reach reach;
        add_reach(work.steps, reach);
        stream_races_.on_add(&stream, work.id, work.after, pages_of(std::move(reach)));
    };
    hooks.on_wait = [this](WorkId work) {
        work ? stream_races_.on_wait(work) : stream_races_.on_wait_for_all();
    };
    hooks.before_work = [this](WorkId work) {
        memory_.begin_work();
        watch_host_accesses();
        stream_races_.begin_work(work);
        unmap_freed();
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
    if (!compares_accesses() || is_pageable(at.address)) return;
    for (std::size_t y = 0; y < height; ++y)
        stream_races_.on_access(
            at.address + y * at.pitch, width,
            writes ? emulator::MemoryAccess::store : emulator::MemoryAccess::load);
}

void Gpu::call_failed(std::string_view function, Status status, std::string_view problem) {
    if (status == Status::not_supported)
        return say_error(fmt::format("{}() failed: {}", function, problem));
    if (judge_ && status == sticky_ && ++repeated_ == most_repeated) {
        note(
            fmt::format("the program was ended: it has made {} calls that failed because a kernel "
                        "has failed",
                        most_repeated));
        end_by_time_limit();
    }
    if (host_) check_failed_call(*host_, function, problem, status == sticky_);
}

bool Gpu::report_host_access(std::uint64_t address, const void* instruction, bool writes) {
    if (!host_ || !check_host_access(*host_, memory_, address, instruction, writes)) return false;
    has_faulted_ = true;
    return true;
}

}  // namespace warpscope::programs
