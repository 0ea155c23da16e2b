#include "programs/checks/call_sites.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

extern char** environ;

// The linker defines these for each program or library: its beginning and its end.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start, _end;

namespace warpscope::programs {

namespace {

constexpr int most_frames = 40;
/// Frames of the program that are kept. Some of them may be wrappers in headers of CUDA.
constexpr std::size_t most_kept = 6;

const void* plus(const void* address, std::ptrdiff_t bytes) {
    return static_cast<const char*>(address) + bytes;
}

/// The program or library that contains an address.
struct Object {
    std::string file;
    std::uint64_t bias = 0;  ///< addresses in memory minus addresses in the file
};

std::optional<Object> object_of(const void* address) {
    Dl_info info{};
    link_map* map = nullptr;
    if (!dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map)
        return {};
    const bool is_program = !*map->l_name;
    return Object{is_program ? std::filesystem::read_symlink("/proc/self/exe").string()
                             : std::string(map->l_name),
                  map->l_addr};
}

bool is_ours(const void* address) {
    return address >= &__ehdr_start && address < &_end;
}

/// A call that is running.
struct RunningCall {
    Object object;
    std::uint64_t address;  ///< in the object's file

    /// "app+0x12f4"
    std::string text() const {
        return fmt::format("{}+{:#x}", std::filesystem::path(object.file).filename().string(),
                           address);
    }
};

/// What the program prints that this command starts; empty if it cannot be started.
std::string output_of(std::vector<std::string> command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return {};
    std::vector<char*> arguments, variables;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    // This library would be loaded into it too.
    for (char** variable = environ; *variable; ++variable)
        if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.push_back(*variable);
    variables.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int problem =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    char part[4096];
    for (ssize_t bytes; !problem && (bytes = ::read(ends[0], part, sizeof part)) > 0;)
        text.append(part, std::size_t(bytes));
    close(ends[0]);
    if (!problem) waitpid(child, nullptr, 0);
    return text;
}

using Addresses = std::set<std::uint64_t>;
struct SourceLine {
    std::string function, file;
    int line = 0;  ///< 0: unknown
};
/// The functions at an address of a file: those that the compiler has inlined, then their caller.
using Lines = std::map<std::uint64_t, std::vector<SourceLine>>;

/// addr2line of binutils 2.40 names the source of what g++ 11 compiles as the file that nvcc made
/// of it: "/tmp/tmpxft_1c1b_0-6_host.cudafe1.cpp" is host.cu.
std::string source_name(const std::string& file) {
    static const std::regex intermediate(R"(.*/tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_(.+)\.cudafe1\.cpp)");
    return std::regex_replace(file, intermediate, "$1.cu");
}

SourceLine read_line(const std::string& function, const std::string& text) {
    SourceLine line{.function = function == "??" ? "" : function};
    const std::size_t colon = text.rfind(':');
    const int number = colon == text.npos ? 0 : std::atoi(text.c_str() + colon + 1);
    if (number > 0) {
        line.file = std::filesystem::path(source_name(text.substr(0, colon))).lexically_normal();
        line.line = number;
    }
    return line;
}

Lines lines_of(const std::string& file, const Addresses& addresses) {
    std::vector<std::string> command{"addr2line", "-a", "-f", "-i", "-e", file};
    for (const std::uint64_t address : addresses) command.push_back(fmt::format("{:#x}", address));
    std::istringstream text(output_of(std::move(command)));
    Lines lines;
    std::vector<SourceLine>* now = nullptr;
    for (std::string first, second; std::getline(text, first);) {
        if (first.starts_with("0x"))
            now = &lines[std::strtoull(first.c_str(), nullptr, 16)];
        else if (now && std::getline(text, second))
            now->push_back(read_line(first, second));
    }
    for (const std::uint64_t address : addresses)
        if (lines[address].empty()) lines[address].push_back({});
    return lines;
}

/// Functions of CUDA's headers, and those that nvcc writes: "_ZL10cudaMallocIiE9cudaErrorPPT_m".
bool is_wrapper(std::string_view function) {
    const std::size_t name = function.starts_with("_Z") ? function.find_first_of("123456789") : 0;
    if (name == function.npos) return false;
    function.remove_prefix(name);
    while (!function.empty() && std::isdigit(static_cast<unsigned char>(function.front())))
        function.remove_prefix(1);
    return (function.starts_with("cuda") && function.size() > 4 && std::isupper(function[4])) ||
           function.starts_with("__device_stub__") ||
           function.starts_with("__wrapper__device_stub_");
}

/// Files of the system and of the CUDA Toolkit, whose calls are those of the code that uses them.
bool is_of_system(std::string_view file) {
    for (const std::string_view folder : {"/usr/", "/lib/", "/lib64/", "/opt/nvidia/"})
        if (file.starts_with(folder)) return true;
    return file.find("/targets/x86_64-linux/include/") != file.npos;
}

}  // namespace

CallSite CallSites::site_of(Frames frames) {
    if (frames.empty()) return 0;
    frames.resize(std::min(frames.size(), most_kept));
    const auto [found, is_new] = known_.try_emplace(frames, CallSite(frames_.size() + 1));
    if (is_new) frames_.push_back(std::move(frames));
    return found->second;
}

CallSite CallSites::here() {
    void* addresses[most_frames];
    const int count = backtrace(addresses, most_frames);
    const auto* const first = std::find_if_not(addresses, addresses + count, is_ours);
    return site_of(Frames(first, static_cast<void* const*>(addresses) + count));
}

CallSite CallSites::of_signal(const void* instruction) {
    void* addresses[most_frames];
    const int count = backtrace(addresses, most_frames);
    const auto* const at = std::find(addresses, addresses + count, instruction);
    Frames frames{plus(instruction, 1)};  // as if it were a return address
    for (const auto* next = at + 1; next < addresses + count; ++next) frames.push_back(*next);
    return site_of(std::move(frames));
}

std::map<CallSite, HostPlace> CallSites::places(const std::set<CallSite>& sites) const {
    std::map<CallSite, std::vector<RunningCall>> calls;
    std::map<std::string, Addresses> addresses;
    for (const CallSite site : sites) {
        if (!site) continue;
        for (const void* const back : frames_[site - 1]) {
            const auto object = object_of(back);
            if (!object) continue;
            const std::uint64_t address = reinterpret_cast<std::uint64_t>(back) - object->bias - 1;
            calls[site].push_back({*object, address});
            addresses[object->file].insert(address);
        }
    }
    std::map<std::string, Lines> lines;
    for (const auto& [file, all] : addresses) lines[file] = lines_of(file, all);

    std::map<CallSite, HostPlace> places;
    for (const auto& [site, running] : calls) {
        int best = 0;  // the rank of the place
        HostPlace& place = places[site];
        for (const RunningCall& call : running)
            for (const SourceLine& line : lines[call.object.file][call.address]) {
                if (is_wrapper(line.function) || skipped_.contains(line.function)) continue;
                const bool is_system = is_of_system(call.object.file) || is_of_system(line.file);
                const int rank = is_system ? 1 : line.line ? 3 : 2;
                const bool is_caller = rank == 3 && best == 3 && place.at.inlined.empty();
                if (rank <= best && !is_caller) continue;
                best = rank;
                if (is_caller)
                    place.at.inlined.push_back({place.at.file, place.at.line});
                else
                    place.function = line.function;
                place.at.file = line.line ? line.file : call.text();
                place.at.line = line.line;
            }
    }
    return places;
}

}  // namespace warpscope::programs
