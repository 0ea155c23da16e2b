#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/check_set.h"
#include "emulator/launcher.h"
#include "emulator/observe/observer_list.h"
#include "programs/checks/host_findings.h"
#include "programs/checks/stream_races.h"
#include "programs/gpu/arrays.h"
#include "programs/gpu/capture.h"
#include "programs/gpu/loaded_module.h"
#include "programs/gpu/streams.h"
#include "programs/images/device_functions.h"
#include "programs/memory/device_memory.h"
#include "programs/report/program_report.h"
#include "programs/report/program_settings.h"

namespace warpscope::programs {

/// Whether a copy or fill returns before it is done.
enum class Return { when_done, at_once };

/// The emulated GPU of a program, with the meaning that the CUDA Driver API gives to calls. Both
/// APIs call it. Callers hold `mutex`. Functions throw CallError.
class Gpu {
  public:
    explicit Gpu(ProgramSettings settings);
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    std::recursive_mutex mutex;  ///< a program may call from many threads

    const ProgramSettings& settings() const { return settings_; }
    DeviceMemory& memory() { return memory_; }
    Streams& streams() { return streams_; }
    Arrays& arrays() { return arrays_; }
    emulator::Textures& textures() { return launcher_.machine().memory().textures(); }

    LoadedModule* load(const std::vector<Image>& images);
    void unload(LoadedModule* module);
    /// Returns the memory that contains the address, an allocation or a variable of a module;
    /// nullopt if there is none.
    std::optional<MemoryBlock> find(std::uint64_t address) const;

    std::uint64_t allocate(std::size_t bytes, MemoryKind kind);
    /// Waits for all work, as cudaFree() does, and frees.
    void free(std::uint64_t address);
    void free_in(Stream& stream, std::uint64_t address);
    /// Allocates memory of the device. In a capture, each launch of the graph allocates it again.
    std::uint64_t allocate_in(Stream& stream, std::size_t bytes);
    std::size_t bytes_of_graphs() const;  ///< that graphs have allocated
    /// Adds a condition to a graph. Returns its handle.
    std::uint64_t add_condition(Graph& graph, std::uint32_t at_launch, bool is_set_at_launch);

    /// Copies `bytes` bytes. A copy from or to pageable memory of the host ends before it returns.
    void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, Direction direction,
              Stream& stream, Return returns) {
        copy_rows({to, bytes}, {from, bytes}, bytes, 1, direction, stream, returns);
    }
    void copy_rows(Rows to, Rows from, std::size_t width, std::size_t height, Direction direction,
                   Stream& stream, Return returns);
    /// Fills `count` elements of 1, 2 or 4 bytes in each row.
    void fill(Rows to, std::uint32_t value, unsigned element_bytes, std::size_t count,
              std::size_t height, Stream& stream);

    /// Adds a launch. `arguments` has a pointer for each parameter, to its value.
    void launch(Function& function, const emulator::LaunchShape& shape,
                std::span<const void* const> arguments, Stream& stream);
    /// Adds a call of a function of the program.
    void call_host(Stream& stream, std::function<void()> call);

    /// Waits for the stream, for all streams. Throws the error that a kernel has ended with.
    void synchronize(Stream& stream);
    void synchronize();
    void throw_sticky() const;
    Status sticky() const { return sticky_; }
    void reset();

    /// The value of a CUlimit or cudaLimit. Nothing but the value depends on it.
    std::size_t limit(int number) const;
    void set_limit(int number, std::size_t value);

    /// Says a line on standard error, and in the report.
    void say_error(const std::string& line);
    void note(const std::string& line) { report_.notes.push_back(line); }
    /// A function was called that the library lacks; it says so once.
    void call_missing(std::string_view function);
    /// A call has failed. With the memory check, that is an error of the program. What the library
    /// does not support is said in any case.
    void call_failed(std::string_view function, Status status, std::string_view problem);
    /// The program has asked for the error of a launch.
    void on_error_read() {
        if (host_) host_->on_error_read();
    }
    /// Code of the host, at this instruction, has accessed an address that it must not. Returns
    /// false if it is no memory of the device.
    bool report_host_access(std::uint64_t address, const void* instruction, bool writes);

    /// Runs one piece of work, as a GPU does beside the host, if the host has not called since this
    /// function was last called. Returns false if nothing ran.
    bool run_without_host();
    std::uint64_t calls = 0;  ///< of the program, until now
    /// The time limit of the program is over while its host runs: ends it. The caller holds no
    /// lock.
    void end_if_over();

    /// The program with this command line ends: runs what it has not waited for. Returns what was
    /// seen of it.
    ProgramReport finish(const std::string& command);

  private:
    /// The emulator's memory for captures: addresses of the device are those of the host.
    class EmulatedMemory : public CapturedMemory {
      public:
        explicit EmulatedMemory(const Gpu& gpu) : gpu_(gpu) {}
        std::optional<MemoryBlock> find(std::uint64_t address) const override {
            return gpu_.find(address);
        }
        std::optional<MemoryBlock> find_variable(
            const emulator::Kernel&,
            const emulator::Module::GlobalVariable& variable) const override {
            return MemoryBlock{reinterpret_cast<std::uint64_t>(variable.data), variable.bytes};
        }
        std::span<const std::byte> read(std::uint64_t begin, std::size_t bytes) override {
            return {reinterpret_cast<const std::byte*>(begin), bytes};
        }

      private:
        const Gpu& gpu_;
    };

    void run(Function& function, const emulator::LaunchShape& shape,
             const std::vector<const void*>& arguments, CallSite site);
    std::uint64_t heap();  ///< the address of the device's heap
    void fail(Status status, const Function& function, const std::string& line);
    /// Milliseconds until the deadline, at least 1; 0: there is none.
    std::chrono::milliseconds time_left() const;
    /// Ends the program, which was here when its time limit was over.
    void stop(const std::string& where);
    void demand_allocation(std::uint64_t address) const;
    void free_now(std::uint64_t address, CallSite site);
    bool is_pageable(std::uint64_t address) const { return !find(address); }
    /// The place of the call, for the memory check.
    CallSite here() { return host_ ? host_->here() : 0; }
    /// Tells the memory check of a copy that runs.
    void follow_copy(Rows to, Rows from, std::size_t width, std::size_t height, CallSite site);
    void add_host_findings();
    Streams::Hooks hooks();
    /// Work of the call accesses memory. Ignores pageable memory of the host.
    void follow_access(Rows at, std::size_t width, std::size_t height, bool writes);

    const ProgramSettings settings_;
    emulator::Launcher launcher_;
    DeviceMemory memory_{launcher_.machine().memory()};
    std::unique_ptr<HostFindings> host_;  ///< null without the memory check
    StreamRaces stream_races_;            ///< with the memory check
    Streams streams_;
    Arrays arrays_{*this};
    DeviceHeap* heap_ = nullptr;                             ///< made for a kernel that uses it
    std::map<std::uint64_t, std::size_t> memory_of_graphs_;  ///< bytes, by address
    std::vector<std::unique_ptr<LoadedModule>> modules_;
    std::unique_ptr<emulator::CheckSet> checks_;  ///< null: nothing is checked
    emulator::Observer* observer_ = nullptr;      ///< of checks_
    emulator::ObserverList with_stream_races_;    ///< observer_ and stream_races_
    EmulatedMemory captured_memory_{*this};
    std::unique_ptr<Capture> capture_;  ///< null: no launch is recorded
    ProgramReport report_;
    Status sticky_ = Status::success;  ///< what a kernel has ended with
    std::uint64_t launches_ = 0;
    std::uint64_t calls_seen_ = 0;  ///< by run_without_host()
    bool finished_ = false;
    bool has_streams_ = false;  ///< the memory check looks at their order
    bool has_faulted_ = false;  ///< the host ends by report_host_access()
    std::map<int, std::size_t> limits_{{0, 1 << 10}, {1, 1 << 20}, {2, 8 << 20}, {3, 2},
                                       {4, 2048},    {5, 64},      {6, 0}};
    bool prints_ = true;  ///< the output of printf() is shown
};

/// The emulated GPU of this process, made at the first call. It is never destroyed: a program may
/// call while it ends.
Gpu& gpu();
/// True once gpu() was called.
bool has_gpu();

/// Has accesses of the host reported that DeviceMemory::guard() makes end in SIGSEGV. To be called
/// again before work runs: a program may set a handler of its own. The library in a program sets
/// it.
inline void (*watch_host_accesses)() = [] {};

/// Writes the report and ends the program, whose time limit is over. The library in a program sets
/// it.
inline void (*end_by_time_limit)() = [] {};

/// Held during a call of the program.
class Call {
  public:
    Call() : lock_(gpu().mutex) {
        ++gpu().calls;
        gpu().memory().begin_work();
    }
    ~Call() { gpu().memory().end_work(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

  private:
    std::scoped_lock<std::recursive_mutex> lock_;
};

}  // namespace warpscope::programs
