#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulator/program/launch.h"
#include "emulator/program/module.h"
#include "launches/files/launch_file.h"
#include "launches/files/program_capture.h"
#include "programs/memory/device_memory.h"
#include "programs/report/program_control.h"
#include "programs/report/program_report.h"
#include "programs/report/program_settings.h"

namespace warpscope::programs {

/// How a capture reads the memory that launches can reach: of the emulator, or of a GPU.
class CapturedMemory {
  public:
    CapturedMemory() = default;
    virtual ~CapturedMemory() = default;
    CapturedMemory(const CapturedMemory&) = delete;
    CapturedMemory& operator=(const CapturedMemory&) = delete;

    /// The allocation that contains the address; nullopt if there is none.
    virtual std::optional<MemoryBlock> find(std::uint64_t address) const = 0;
    /// The memory of a variable of the kernel's module; nullopt if it has none.
    virtual std::optional<MemoryBlock> find_variable(
        const emulator::Kernel& kernel, const emulator::Module::GlobalVariable& variable) const = 0;
    /// The bytes of a block, until the next call. Throws std::runtime_error.
    virtual std::span<const std::byte> read(std::uint64_t begin, std::size_t bytes) = 0;
};

/// Writes launches of a program as launch files (docs/capture.md), which the app opens:
/// "00003-dot.launch.json" beside copies of the source and its headers, the PTX, and the memory
/// that the arguments point to, each content once. What the launch has changed is what the file
/// expects.
class Capture {
  public:
    /// The most bytes of all launches of a program. Larger captures are refused.
    static constexpr std::size_t most_bytes = std::size_t(4) << 30;

    /// `memory` must outlive it.
    Capture(const ProgramSettings& settings, CapturedMemory& memory);

    /// Whether the launch with this number, from 1, of the kernel with this name in the PTX is to
    /// be written.
    bool wants(std::uint64_t number, const std::string& kernel) const;
    /// Keeps the arguments and the memory of a launch, if it is wanted.
    void before(std::uint64_t number, const emulator::Kernel& kernel,
                const emulator::LaunchShape& shape, std::span<const void* const> arguments);
    /// The launch has ended after this time: writes it.
    void after(double seconds);
    /// The program has ended: writes the list of its launches, program.json.
    void finish(const ProgramReport& report);

    /// Why wanted launches were not written, and memory that was left out, each line once.
    const std::set<std::string>& problems() const { return problems_; }

  private:
    /// Memory that a launch can reach.
    struct Region {
        std::string name;
        std::uint64_t begin = 0;
        std::size_t bytes = 0;
        std::string content;  ///< the file with what it held before
    };
    struct Argument {
        std::vector<std::byte> bytes;
        std::vector<std::pair<std::size_t, std::uint64_t>> addresses;  ///< at an offset
    };
    /// A launch between its begin and its end.
    struct Launch {
        std::uint64_t number = 0;
        const emulator::Kernel* kernel = nullptr;
        emulator::LaunchShape shape;
        std::vector<Argument> arguments;
        std::vector<Region> regions;
    };
    /// A source in the capture.
    struct Source {
        std::filesystem::path file;     ///< empty: there is none
        std::set<std::string> include;  ///< folders of its headers
    };

    void find_regions(Launch& launch);
    /// Writes the bytes under a name that depends on them; returns the name.
    std::string keep(std::span<const std::byte> content, const char* ending);
    std::string keep(const Region& region);
    /// Copies the kernel's source and its headers to the capture, once.
    const Source& kept_source(const emulator::Kernel& kernel, const std::filesystem::path& path);
    /// The launch, which has ended, as a launch file.
    launches::LaunchFile file_of(const Launch& launch);
    void show_launch();
    CapturedMemory& memory_;
    const std::filesystem::path folder_;
    const std::string kernel_;                ///< empty: all
    const std::vector<LaunchRange> numbers_;  ///< empty: all
    std::size_t written_ = 0;                 ///< bytes
    std::optional<Launch> launch_;
    launches::ProgramCapture list_;     ///< of the launches that were written
    std::vector<std::string> symbols_;  ///< of their kernels
    std::map<std::string, Source> sources_;
    std::chrono::steady_clock::time_point next_list_{};
    std::set<std::string> problems_;
};

}  // namespace warpscope::programs
