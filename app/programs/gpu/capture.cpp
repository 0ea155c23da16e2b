#include "programs/gpu/capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <thread>

#include "compiler/host/host_code.h"
#include "compiler/source_file.h"
#include "emulator/program/source_line.h"
#include "emulator/warp/splitmix64.h"
#include "files/regular_file.h"
#include "programs/images/ptx_entries.h"
#include "programs/report/program_control.h"
#include "programs/report/program_report.h"

namespace warpscope::programs {

namespace {

namespace fs = std::filesystem;

/// The name of the file with these bytes. 64 bits of a hash and the length tell contents apart.
std::string content_name(std::span<const std::byte> bytes, const char* ending) {
    std::uint64_t hash = bytes.size();
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, &bytes[at], sizeof word);
        hash = emulator::splitmix64(hash ^ word);
    }
    for (; at < bytes.size(); ++at) hash = emulator::splitmix64(hash ^ std::uint64_t(bytes[at]));
    return fmt::format("memory/{:016x}-{}.{}", hash, bytes.size(), ending);
}

/// The file of the kernel's first line; empty if the PTX has no lines, or those of Python, whose
/// kernels no compiler for CUDA C++ can compile again.
std::string source_of(const emulator::Kernel& kernel) {
    for (const emulator::InstructionInfo& line : kernel.lines)
        if (line.source.file >= 0) {
            const std::string& file = kernel.module->files()[std::size_t(line.source.file)];
            return file.ends_with(".py") ? "" : file;
        }
    return {};
}

/// Folders in which the compiler may have found headers: those above the files that the line
/// information names.
std::vector<fs::path> folders_of_headers(const emulator::Kernel& kernel) {
    std::vector<fs::path> folders;
    for (const std::string& file : kernel.module->files()) {
        if (is_of_system(file)) continue;
        for (fs::path folder = fs::path(file).parent_path();
             folder.has_relative_path() && std::ranges::find(folders, folder) == folders.end();
             folder = folder.parent_path())
            folders.push_back(folder);
    }
    return folders;
}

/// The folder that has all files, and the folders in which they were found.
fs::path common_folder(std::span<const compiler::OwnFile> files) {
    fs::path common = files[0].path.parent_path();
    for (const compiler::OwnFile& file : files) {
        const fs::path& lowest = file.folder.empty() ? file.path : file.folder;
        const auto is_outside = [&] { return *lowest.lexically_relative(common).begin() == ".."; };
        while (common.has_relative_path() && is_outside()) common = common.parent_path();
    }
    return common;
}

bool is_plain_name(const std::string& name) {
    return !name.empty() && !name.starts_with("_Z") && name.find('$') == name.npos;
}

std::vector<launches::Expression> sizes(const emulator::Dim3& d) {
    std::vector<launches::Expression> sizes;
    for (const std::uint32_t size : {d.x, d.y, d.z}) sizes.emplace_back(std::to_string(size));
    return sizes;
}

/// "sum_256" for "sum<256>": as a part of a file's name.
std::string file_name_part(std::string name) {
    std::ranges::replace_if(
        name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; }, '_');
    return name.substr(0, 40);
}

}  // namespace

Capture::Capture(const ProgramSettings& settings, CapturedMemory& memory)
    : memory_(memory),
      folder_(settings.captures),
      kernel_(settings.captured_kernel),
      numbers_(
          read_launch_ranges(settings.captured_launches).value_or(std::vector<LaunchRange>())) {}

bool Capture::wants(std::uint64_t number, const std::string& kernel) const {
    const bool has_name =
        kernel_.empty() || kernel == kernel_ || emulator::kernel_name(kernel) == kernel_;
    return has_name && is_in(numbers_, number);
}

void Capture::find_regions(Launch& launch) {
    std::vector<Region> variables;
    for (const auto& variable : launch.kernel->module->variables())
        if (const auto block = memory_.find_variable(*launch.kernel, variable);
            block && is_plain_name(variable.name))
            variables.push_back({variable.name, block->begin, block->bytes, {}});
    const auto has = [](const std::vector<Region>& regions, auto member, const auto& value) {
        return std::ranges::find(regions, value, member) != regions.end();
    };
    std::size_t number = 1;
    for (Argument& argument : launch.arguments)
        for (std::size_t at = 0; at + 8 <= argument.bytes.size(); at += 8) {
            std::uint64_t word;
            std::memcpy(&word, &argument.bytes[at], sizeof word);
            const auto block = memory_.find(word);
            if (!block) continue;
            argument.addresses.emplace_back(at, word);
            if (has(launch.regions, &Region::begin, block->begin) ||
                has(variables, &Region::begin, block->begin))
                continue;
            while (has(variables, &Region::name, fmt::format("memory{}", number))) ++number;
            launch.regions.push_back(
                {fmt::format("memory{}", number++), block->begin, block->bytes, {}});
        }
    launch.regions.insert(launch.regions.end(), variables.begin(), variables.end());
}

std::string Capture::keep(const Region& region) {
    return keep(memory_.read(region.begin, region.bytes), "bin");
}

std::string Capture::keep(std::span<const std::byte> content, const char* ending) {
    const std::string name = content_name(content, ending);
    if (fs::exists(folder_ / name)) return name;
    if (written_ + content.size() > most_bytes)
        throw std::runtime_error(fmt::format(
            "the capture has reached {} GiB: choose launches with --launches or --kernel",
            most_bytes >> 30));
    fs::create_directories(folder_ / "memory");
    files::write_whole_file(folder_ / name,
                            {reinterpret_cast<const char*>(content.data()), content.size()});
    written_ += content.size();
    return name;
}

const Capture::Source& Capture::kept_source(const emulator::Kernel& kernel, const fs::path& path) {
    const auto [at, is_new] = sources_.try_emplace(path.string());
    Source& kept = at->second;
    if (!is_new) return kept;
    std::vector<compiler::OwnFile> files;
    try {
        files =
            compiler::own_files(compiler::read_source_file(path),
                                fs::absolute(path).lexically_normal(), folders_of_headers(kernel));
    } catch (const std::runtime_error&) {
        return kept;  // the source is not there any more, or is none
    }
    const fs::path from = common_folder(files),
                   to = fs::path("sources") / compiler::fingerprint(files);
    kept.file = to / files[0].path.lexically_relative(from);
    for (const compiler::OwnFile& file : files) {
        const fs::path copy = folder_ / to / file.path.lexically_relative(from);
        fs::create_directories(copy.parent_path());
        files::write_whole_file(copy, file.text);
        const std::string folder = (to / file.folder.lexically_relative(from)).lexically_normal();
        if (!file.folder.empty()) kept.include.insert(folder);
    }
    return kept;
}

void Capture::before(std::uint64_t number, const emulator::Kernel& kernel,
                     const emulator::LaunchShape& shape, std::span<const void* const> arguments) {
    launch_.reset();
    if (!wants(number, kernel.name)) return;
    Launch launch{.number = number, .kernel = &kernel, .shape = shape};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto* const value = static_cast<const std::byte*>(arguments[i]);
        launch.arguments.push_back({{value, value + kernel.parameters[i].size}, {}});
    }
    try {
        find_regions(launch);
        for (Region& region : launch.regions) region.content = keep(region);
        launch_ = std::move(launch);
    } catch (const std::exception& error) {
        problems_.insert(error.what());
    }
}

namespace {

/// The PTX of a kernel without the other kernels of its module, which the emulator may not know.
std::string ptx_of(const emulator::Kernel& kernel) {
    const std::string_view all = kernel.module->text();
    std::vector<PtxEntry> others = entries_of(all);
    std::erase_if(others, [&](const PtxEntry& entry) { return entry.name == kernel.name; });
    return without(all, others);
}

}  // namespace

launches::LaunchFile Capture::file_of(const Launch& launch) {
    const std::string text = ptx_of(*launch.kernel);
    const std::string ptx = keep(std::as_bytes(std::span(text)), "ptx");
    const Source source = kept_source(*launch.kernel, source_of(*launch.kernel));
    launches::LaunchFile file{.source = source.file.empty() ? fs::path(ptx) : source.file};
    if (!source.file.empty()) file.ptx = ptx;
    file.include.assign(source.include.begin(), source.include.end());
    launches::LaunchSpec spec{.kernel = emulator::kernel_name(launch.kernel->name),
                              .grid = sizes(launch.shape.grid),
                              .block = sizes(launch.shape.block),
                              .cooperative = launch.shape.cooperative,
                              .arguments = {}};
    if (const std::uint32_t bytes = launch.shape.dynamic_shared_bytes)
        spec.shared = launches::Expression(std::to_string(bytes));
    for (const Argument& argument : launch.arguments) {
        launches::CapturedArgument& captured = spec.captured.emplace_back(argument.bytes);
        for (const auto& [at, address] : argument.addresses)
            for (const Region& region : launch.regions)
                if (address >= region.begin && address < region.begin + region.bytes)
                    captured.addresses[at] = {region.name, address - region.begin};
    }
    file.launches.push_back(std::move(spec));
    for (const Region& region : launch.regions) {
        file.buffers.push_back(
            {.name = region.name, .type = {}, .shape = {}, .fill = fs::path(region.content)});
        const fs::path after = keep(region);
        if (after == region.content) continue;
        file.expect.push_back({.buffer = region.name, .equals = launches::Fill(after)});
        if (file.show.empty()) file.show = region.name;
    }
    return file;
}

void Capture::after(double seconds) {
    if (!launch_) return;
    try {
        const std::string text = to_json_text(file_of(*launch_));
        const std::string name =
            fmt::format("{:05}-{}.launch.json", launch_->number,
                        file_name_part(emulator::kernel_name(launch_->kernel->name)));
        files::write_whole_file(folder_ / name, text);
        list_.launches.push_back({.number = launch_->number,
                                  .file = folder_ / name,
                                  .kernel = emulator::kernel_name(launch_->kernel->name),
                                  .grid = launch_->shape.grid,
                                  .block = launch_->shape.block,
                                  .milliseconds = 1e3 * seconds});
        symbols_.push_back(launch_->kernel->name);
        show_launch();
    } catch (const std::exception& error) {
        problems_.insert(error.what());
    }
    launch_.reset();
}

/// The window reads the list while the program runs, and may have it wait.
void Capture::show_launch() {
    using Clock = std::chrono::steady_clock;
    constexpr auto between_lists = std::chrono::milliseconds(100),
                   between_questions = std::chrono::milliseconds(20);
    const launches::CapturedLaunch& newest = list_.launches.back();
    const auto waits = [&] { return has_to_wait(folder_, newest.number, newest.kernel); };
    const bool has_wait = waits();
    if (has_wait || Clock::now() >= next_list_) {
        list_.command = command_line();
        list_.process = ::getpid();
        launches::write_capture(folder_, list_);
        next_list_ = Clock::now() + between_lists;
    }
    while (waits()) std::this_thread::sleep_for(between_questions);
}

void Capture::finish(const ProgramReport& report) {
    if (list_.launches.empty()) return;
    list_.command = report.command;
    list_.process = 0;
    for (std::size_t i = 0; i < symbols_.size(); ++i)
        list_.launches[i].findings = std::size_t(
            std::ranges::count(report.findings, symbols_[i], &emulator::Finding::kernel));
    try {
        launches::write_capture(folder_, list_);
    } catch (const std::exception& error) {
        problems_.insert(error.what());
    }
}

}  // namespace warpscope::programs
