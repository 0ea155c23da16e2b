#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/judge.h"
#include "emulator/launcher.h"
#include "programs/checks/host_findings.h"
#include "programs/checks/stream_races.h"
#include "programs/gpu/arrays.h"
#include "programs/gpu/capture.h"
#include "programs/gpu/loaded_module.h"
#include "programs/gpu/streams.h"
#include "programs/images/ptx_link.h"
#include "programs/memory/device_memory.h"
#include "programs/memory/polled_memory.h"
#include "programs/report/program_report.h"
#include "programs/report/program_settings.h"

namespace warpscope::programs {

/// Whether a copy or fill returns before it is done. (A fill of memory of the device always does.)
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

    /// Loads what read_images() reads. A line says why its kernels cannot run.
    LoadedModule* load(const void* data);
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
              std::size_t height, Stream& stream, Return returns);

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
    /// Frees and destroys what the program has made on the current device. Variables have their
    /// first values again.
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
    /// The host, at this instruction, has accessed memory that is watched.
    void on_host_access(std::uint64_t address, const void* instruction, bool writes);
    /// A call of the system has accessed memory that was watched.
    void on_host_call(std::uint64_t address, std::size_t bytes, bool writes);
    PolledMemory& polled() { return polled_; }

    /// Runs what a thread of its own has to run beside the host: functions of the program that are
    /// in streams, what comes before them, and the work for which the host polls memory. `ticks`:
    /// if the host has not called since the last tick, its accesses to memory are watched from now
    /// on.
    void run_beside_host(bool ticks);
    std::uint64_t calls = 0;  ///< of the program, until now
    /// A call begins, which does not hold the mutex yet.
    void before_call() {
        if (has_places_) read_lines_of_script();
    }
    /// The call ends that holds the mutex.
    void end_call();
    /// The time limit of the program is over while its host runs: ends it. The caller holds no
    /// lock.
    void end_if_over();

    /// Runs what the program has not waited for: it ends, or becomes another program.
    void run_rest();
    /// The program ends: runs the rest, and looks for what it has left.
    void finish();
    /// What was seen of the program until now.
    ProgramReport report();
    /// Writes the report where there is more to tell than in the file, so that any end of the
    /// process leaves it.
    void tell();
    void tell_all();  ///< also where only counts have changed

    /// Writes the list of the launches that were captured.
    void finish_capture();

    /// Whether the program has used the GPU in this process. vfork() makes others with its memory.
    bool has_to_report() const;
    /// fork() has made this process.
    void on_fork();
    /// A call uses the GPU. Throws CallError in a process that fork() has made of one that had used
    /// it.
    void use();

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

    LoadedModule* load(const std::vector<Image>& images);
    void run(Function& function, const emulator::LaunchShape& shape,
             const std::vector<const void*>& arguments, CallSite site);
    std::uint64_t heap();  ///< the address of the device's heap
    void fail(Status status, const Function& function, const std::string& line);
    /// Milliseconds until the deadline, at least 1; 0: there is none.
    std::chrono::milliseconds time_left() const;
    /// Ends the program, which was here when its time limit was over.
    void stop(const std::string& where);
    void demand_allocation(std::uint64_t address) const;
    /// Whether memory that a call has named still exists when its work runs. If not, that is an
    /// error of the work.
    bool is_there(std::uint64_t address, CallSite site);
    void free_now(std::uint64_t address, CallSite site);
    /// A stream comes to its free.
    void free_in_order(std::uint64_t address, CallSite site);
    bool is_pageable(std::uint64_t address) const { return !find(address); }
    /// The place of the call, for the memory check.
    CallSite here() { return host_ ? host_->here() : 0; }
    /// The place of a launch, for all checks.
    CallSite place_of_launch() {
        return host_ ? host_->here() : has_places_ ? sites_of_launches_.here() : 0;
    }
    /// Adds to the findings that have no line of the user's own where their kernels were launched.
    void add_launches(ProgramReport& report);
    /// Tells the memory check of a copy that runs.
    void follow_copy(Rows to, Rows from, std::size_t width, std::size_t height, CallSite site);
    void call_program(const std::function<void()>& call);
    /// Waits until a function of the program has returned. Other threads can call CUDA meanwhile.
    void wait_for_return(WorkId id);
    void forget_threads();         ///< fork() has left them behind
    bool has_host_memory() const;  ///< that kernels use too
    /// The pages of the host's memory among what work reaches.
    std::vector<PolledMemory::Pages> pages_of(Reach reach);
    /// Watches the memory that work may access for which the host has not waited.
    void watch_work();
    void add_stream_races();
    /// Whether accesses of work are compared with others.
    bool compares_accesses() const {
        return host_ && (has_streams_ || stream_races_.has_host_accesses());
    }
    /// Unmaps what was freed in streams and what no work can use that waits.
    void unmap_freed();
    Streams::Hooks hooks();
    /// Work of the call accesses memory. Ignores pageable memory of the host.
    void follow_access(Rows at, std::size_t width, std::size_t height, bool writes);

    const ProgramSettings settings_;
    emulator::Launcher launcher_;
    DeviceMemory memory_{launcher_.machine().memory()};
    const bool has_places_ = settings_.checks.has_checks();  ///< calls are findings of a check
    std::unique_ptr<HostFindings> host_;                     ///< null without the memory check
    CallSites sites_of_launches_;                            ///< where `host_` is null
    /// The first launch of each kernel in which something was found, by the kernel's symbol.
    std::map<std::string, CallSite> launched_at_;
    StreamRaces stream_races_;  ///< with the memory check
    Streams streams_;
    Arrays arrays_{*this};
    DeviceHeap* heap_ = nullptr;                             ///< made for a kernel that uses it
    std::map<std::uint64_t, std::size_t> memory_of_graphs_;  ///< bytes, by address
    std::vector<std::unique_ptr<LoadedModule>> modules_;
    std::unique_ptr<emulator::Judge> judge_;  ///< null: nothing is checked
    UnoptimizedCode unoptimized_;
    EmulatedMemory captured_memory_{*this};
    std::unique_ptr<Capture> capture_;  ///< null: no launch is recorded
    ProgramReport report_;
    /// How much there is to tell. Of launches their order of magnitude counts.
    struct Extent {
        std::size_t launches = 0, findings = 0, by_host = 0, lines = 0;
        bool operator==(const Extent&) const = default;
    };
    std::optional<Extent> told_;         ///< nullopt: nothing yet
    std::size_t findings_ = 0;           ///< of the checks, after the newest launch
    std::filesystem::path report_file_;  ///< empty: not written yet
    int process_ = ::getpid();           ///< that the GPU is of
    bool is_used_ = false;               ///< the program has called CUDA
    bool is_forked_ = false;             ///< from a process that had used CUDA
    Status sticky_ = Status::success;    ///< what a kernel has ended with
    unsigned repeated_ = 0;              ///< calls that have failed only because of `sticky_`
    std::uint64_t launches_ = 0;
    std::uint64_t calls_seen_ = 0;  ///< by run_beside_host()
    PolledMemory polled_;
    std::once_flag thread_;  ///< that runs work beside the host
    bool finished_ = false;
    bool has_streams_ = false;  ///< the memory check looks at their order
    /// What was freed in streams, and is mapped as long as work waits that is not behind the free.
    std::map<std::uint64_t, StreamRaces::Moment> freed_;
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

/// Has accesses of the host handled that end in SIGSEGV because of DeviceMemory::guard() or
/// PolledMemory. To be called again before they count: a program may set a handler of its own. The
/// library in a program sets it.
inline void (*watch_host_accesses)() = [] {};

/// Writes the report and ends the program, which would not come to an end. The library in a program
/// sets it.
inline void (*end_by_time_limit)() = [] {};

/// Held while work runs.
class Held {
  public:
    explicit Held(Gpu& held = gpu()) : gpu_(held), lock_(held.mutex) {
        ++depth_;
        gpu_.polled().unwatch();
        gpu_.memory().begin_work();
    }
    ~Held() {
        gpu_.memory().end_work();
        --depth_;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// How many of them this thread has.
    static int depth() { return depth_; }

  private:
    Gpu& gpu_;
    std::scoped_lock<std::recursive_mutex> lock_;
    static inline thread_local int depth_ = 0;
};

/// Held during a call of the program.
class Call : Held {
  public:
    Call() : Held(before(gpu())) { ++gpu().calls; }

  private:
    static Gpu& before(Gpu& gpu) {
        if (depth() == 0) gpu.before_call();
        return gpu;
    }
};

}  // namespace warpscope::programs
