#include "programs/report/program_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "files/whole_file.h"

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

namespace warpscope::programs {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostFrame, file, address)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostReport::Entry, kind, severity, site, sentence, count, other,
                                   hazard)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostReport, entries, sites, skipped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelLaunches, launches, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramReport, command, kernels, findings, host, errors, notes,
                                   not_tried, stopped, missing, has_ended, emulated, has_lines,
                                   counters)

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

ProgramReport read_report(const std::filesystem::path& file) {
    std::ifstream from(file);
    try {
        auto report = nlohmann::json::parse(from).get<ProgramReport>();
        report.findings = emulator::merged({report.findings, findings_of(report.host)});
        report.host = {};
        return report;
    } catch (const nlohmann::json::exception&) {
        throw std::runtime_error(fmt::format("{}: no report of a program", file.string()));
    }
}

}  // namespace warpscope::programs
