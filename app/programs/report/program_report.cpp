#include "programs/report/program_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "files/regular_file.h"

// Reports go from one process of Warpscope to another, so enumerations are numbers here.

namespace nlohmann {

template <class T>
struct adl_serializer<std::optional<T>> {
    static void to_json(json& j, const std::optional<T>& value) {
        if (value) j = *value;
    }
    static void from_json(const json& j, std::optional<T>& value) {
        if (!j.is_null()) value = j.get<T>();
    }
};

}  // namespace nlohmann

namespace warpscope::emulator {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Dim3, x, y, z)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HeaderLine, file, line, toolkit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ThreadAtLine, file, line, thread, block, inlined)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding::BarrierPlace, from, to, scope)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, kind, severity, hazard, order, kernel, by_host, first,
                                   second, byte, count, sentence, barrier, needs_atomic,
                                   repaired_too)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryCounts, requests, bytes, sectors, least_sectors,
                                   wavefronts, least_wavefronts, degree)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LineCounters, warp_instructions, thread_instructions,
                                   separations, global_loads, global_stores, global_atomics,
                                   shared_loads, shared_stores, shared_atomics, file, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelCounters, warp_instructions, thread_instructions,
                                   separations, global_loads, global_stores, global_atomics,
                                   shared_loads, shared_stores, shared_atomics, kernel, launches,
                                   blocks, barriers, lines)

}  // namespace warpscope::emulator

extern char** environ;

namespace warpscope::programs {
namespace {

constexpr char mark_begin = '\1', mark_end = '\2';  // a sentence has neither

/// Calls f(site, its mark's place and length) for each mark, the last one first.
template <class F>
void for_marks(const std::string& sentence, F&& f) {
    for (std::size_t at = sentence.rfind(mark_begin); at != sentence.npos;
         at = at ? sentence.rfind(mark_begin, at - 1) : sentence.npos) {
        const std::size_t end = sentence.find(mark_end, at);
        CallSite site = 0;
        std::from_chars(sentence.data() + at + 1, sentence.data() + end, site);
        f(site, at, end + 1 - at);
    }
}

/// Where a call site is.
struct HostPlace {
    std::string function;  ///< as the linker names it; empty: unknown
    /// The line, and the one that has called its function, which may be a wrapper of the program's
    /// own. Without debug information the file is an address, "app+0x12f4", and the line is 0.
    emulator::ThreadAtLine at{.file = "an unknown place"};
};

/// "app+0x12f4"
std::string text_of(const HostFrame& frame) {
    return fmt::format("{}+{:#x}", std::filesystem::path(frame.file).filename().string(),
                       frame.address);
}

/// What the program prints that this command starts; empty if it cannot be started.
std::string output_of(std::vector<std::string> command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return {};
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int problem =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
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

/// The first ones of a site are the innermost. Some may be wrappers in headers of CUDA.
HostPlace place_of(const std::vector<HostFrame>& frames, const std::set<std::string>& skipped,
                   const std::map<std::string, Lines>& lines) {
    HostPlace place;
    int best = 0;  // the rank of the place
    for (const HostFrame& frame : frames) {
        const std::vector<SourceLine> of_script{{.file = frame.file, .line = frame.line}};
        for (const SourceLine& line :
             frame.line ? of_script : lines.at(frame.file).at(frame.address)) {
            const bool is_of_nvcc = line.file.ends_with(".stub.c");
            if (is_of_nvcc || is_wrapper(line.function) || skipped.contains(line.function))
                continue;
            const bool is_system = is_of_system(frame.file) || is_of_system(line.file);
            const int rank = is_system ? 1 : line.line ? 3 : 2;
            const bool is_caller = rank == 3 && best == 3 && place.at.inlined.empty();
            if (rank <= best && !is_caller) continue;
            best = rank;
            if (is_caller)
                place.at.inlined.push_back({place.at.file, place.at.line});
            else
                place.function = line.function;
            place.at.file = line.line ? line.file : text_of(frame);
            place.at.line = line.line;
        }
    }
    return place;
}

std::map<CallSite, HostPlace> places_of(const HostReport& report) {
    std::map<std::string, Addresses> addresses;
    for (const auto& [site, frames] : report.sites)
        for (const HostFrame& frame : frames)
            if (!frame.line) addresses[frame.file].insert(frame.address);
    std::map<std::string, Lines> lines;
    for (const auto& [file, all] : addresses) lines[file] = lines_of(file, all);
    std::map<CallSite, HostPlace> places;
    for (const auto& [site, frames] : report.sites)
        places[site] = place_of(frames, report.skipped, lines);
    return places;
}

std::string with_places(std::string sentence, const std::map<CallSite, HostPlace>& places) {
    const std::string marked = sentence;
    for_marks(marked, [&](CallSite site, std::size_t at, std::size_t length) {
        const auto place = places.find(site);
        sentence.replace(at, length,
                         (place == places.end() ? HostPlace() : place->second).at.where());
    });
    return sentence;
}

files::Sentence with_places(files::Sentence sentence, const std::map<CallSite, HostPlace>& places) {
    return sentence.change_texts(
        [&](std::string& text) { text = with_places(std::move(text), places); });
}

}  // namespace

bool is_of_system(std::string_view file) {
    for (const std::string_view folder : {"/usr/", "/lib/", "/lib64/", "/opt/nvidia/"})
        if (file.starts_with(folder)) return true;
    return file.find("/targets/x86_64-linux/include/") != file.npos;
}

std::string mark(CallSite site) {
    return fmt::format("{}{}{}", mark_begin, site, mark_end);
}

std::vector<CallSite> sites_in(const std::string& sentence) {
    std::vector<CallSite> sites;
    for_marks(sentence, [&](CallSite site, auto...) { sites.push_back(site); });
    return sites;
}

std::vector<emulator::Finding> findings_of(const HostReport& report,
                                           std::vector<emulator::Finding> of_kernels) {
    auto places = places_of(report);
    for (emulator::Finding& finding : of_kernels)
        if (const auto before = report.before.find(finding.sentence); before != report.before.end())
            finding.sentence.add(with_places(before->second, places));
    std::vector<emulator::Finding> findings;
    for (const HostReport::Entry& entry : report.entries) {
        const HostPlace& place = places[entry.site];
        const auto known = std::ranges::find_if(findings, [&](const emulator::Finding& f) {
            return f.kind == entry.kind && f.severity == entry.severity &&
                   f.hazard == entry.hazard && f.first.where() == place.at.where() &&
                   (!f.second || f.second->where() == places[entry.other].at.where());
        });
        if (known != findings.end()) {
            known->count += entry.count;
            continue;
        }
        emulator::Finding finding{.kind = entry.kind,
                                  .severity = entry.severity,
                                  .hazard = entry.hazard,
                                  .kernel = place.function,
                                  .by_host = true,
                                  .first = place.at,
                                  .count = entry.count,
                                  .sentence = with_places(entry.sentence, places)};
        if (entry.kind == emulator::FindingKind::race) finding.second = places[entry.other].at;
        findings.push_back(std::move(finding));
    }
    findings.insert(findings.begin(), of_kernels.begin(), of_kernels.end());
    return findings;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostFrame, file, address, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostReport::Entry, kind, severity, site, sentence, count, other,
                                   hazard)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostReport, entries, sites, before, skipped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelLaunches, launches, seconds, blocks, watched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramReport, command, kernels, findings, host, errors, notes,
                                   not_tried, stopped, missing, has_ended, emulated, counters)

std::string command_line() {
    std::ifstream from("/proc/self/cmdline", std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(from)), {});
    while (text.ends_with('\0')) text.pop_back();
    for (char& c : text)
        if (!c) c = ' ';
    return text;
}

std::filesystem::path new_report_file(const std::filesystem::path& folder) {
    for (int number = 1;; ++number) {
        auto file = folder / fmt::format("warpscope-{}-{}.json", ::getpid(), number);
        if (!std::filesystem::exists(file)) return file;
    }
}

void write_report(const ProgramReport& report, const std::filesystem::path& file) {
    files::write_whole_file(file, nlohmann::json(report).dump(
                                      -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

namespace {

/// Whether a sentence from another process has a place in its form for each value.
bool is_sound(const files::Sentence& sentence) {
    const std::string& form = sentence.words();
    if (sentence.values().empty()) return true;
    std::size_t holes = 0;
    for (std::size_t at = 0; (at = form.find("{}", at)) != form.npos; at += 2) ++holes;
    return holes == sentence.values().size() &&
           std::ranges::count(form, '{') + std::ranges::count(form, '}') ==
               std::ptrdiff_t(2 * holes) &&
           std::ranges::all_of(sentence.values(), is_sound);
}

bool all_are_sound(const std::vector<emulator::Finding>& findings) {
    return std::ranges::all_of(findings, [](const emulator::Finding& finding) {
        return is_sound(finding.sentence) && all_are_sound(finding.repaired_too);
    });
}

}  // namespace

ProgramReport read_report(const std::filesystem::path& file) {
    const auto fail = [&] {
        return std::runtime_error(fmt::format("{}: no report of a program", file.string()));
    };
    std::ifstream from(file);
    try {
        auto report = nlohmann::json::parse(from).get<ProgramReport>();
        if (!all_are_sound(report.findings) ||
            !std::ranges::all_of(report.host.entries, is_sound, &HostReport::Entry::sentence))
            throw fail();
        report.findings = emulator::merged({findings_of(report.host, std::move(report.findings))});
        report.host = {};
        return report;
    } catch (const nlohmann::json::exception&) {
        throw fail();
    }
}

}  // namespace warpscope::programs
