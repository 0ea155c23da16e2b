#include "jobs/output/sarif.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <string>

namespace warpscope::jobs {

namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;
using emulator::ThreadAtLine;

/// The identifiers of the rules, indexed by FindingKind.
constexpr const char* rules[] = {
    "Two threads, or the work of two streams, access a word of memory, one of them writes, and "
    "nothing orders them.",
    "A thread reads memory that was never written.",
    "Not every thread reaches a barrier.",
    "A thread accesses memory that is not allocated, or an address that is not aligned.",
    "A warp-wide instruction is executed by lanes that its member mask does not name, or waits for "
    "lanes that never come.",
    "A branch, an address or a store to global memory depends on a value that was never set.",
    "CUDA refuses a call of the program.",
    "The program has made an object and never destroyed it.",
    "The program never asked for the error of a launch.",
    "What depends on a barrier, a fence or a wait: advice, no error."};

/// RFC 3986: a relative reference, or a file URI for an absolute path.
std::string uri_of(const std::string& path) {
    constexpr std::string_view unreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    std::string uri = std::filesystem::path(path).is_absolute() ? "file://" : "";
    for (const char c : path)
        uri += unreserved.find(c) != unreserved.npos ? std::string(1, c)
                                                     : fmt::format("%{:02X}", std::uint8_t(c));
    return uri;
}

Json text_of(std::string_view text) {
    return {{"text", text}};
}

/// Without a file there is only the kernel's name.
Json location(const std::string& file, int line, const std::string& kernel) {
    const Json function = {{"name", kernel}, {"kind", "function"}};
    Json json = {{"logicalLocations", Json::array({function})}};
    if (!file.empty() && line > 0)
        json["physicalLocation"] = {{"artifactLocation", Json{{"uri", uri_of(file)}}},
                                    {"region", Json{{"startLine", line}}}};
    return json;
}

/// The user's lines that lead to an access: first the one in which it stands, then its callers up
/// to the kernel. Headers of the toolkit are left out: they are not in the user's repository.
std::vector<Json> locations(const ThreadAtLine& at, const std::string& kernel) {
    std::vector<Json> all;
    for (const emulator::HeaderLine& header : at.inlined)
        if (!header.toolkit) all.push_back(location(header.file, header.line, kernel));
    all.push_back(location(at.file, at.line, kernel));
    return all;
}

Json result(const Finding& f) {
    Json json = {{"ruleId", to_string(f.kind)},
                 {"ruleIndex", std::size_t(f.kind)},
                 {"level", to_string(f.severity)},
                 {"message", text_of(f.sentence)}};
    Json related = Json::array();
    const auto add = [&](Json place, std::string_view message) {
        place["message"] = text_of(message);
        related.push_back(std::move(place));
    };
    const std::vector<Json> lines = locations(f.place(), f.kernel);
    json["locations"] = Json::array({lines.front()});
    for (std::size_t i = 1; i < lines.size(); ++i) add(lines[i], "Called here");
    if (f.second) {
        const auto other = locations(&f.place() == &f.first ? *f.second : f.first, f.kernel);
        add(other.front(), "The other access");
        for (std::size_t i = 1; i < other.size(); ++i)
            add(other[i], "The other access is called here");
    }
    if (!related.empty()) json["relatedLocations"] = std::move(related);
    json["properties"] = {{"kernel", f.kernel}, {"count", f.count}};
    return json;
}

}  // namespace

Json sarif(const emulator::Verdict& verdict, bool complete) {
    Json described = Json::array(), results = Json::array();
    for (std::size_t kind = 0; kind < std::size(rules); ++kind)
        described.push_back(
            {{"id", to_string(FindingKind(kind))}, {"shortDescription", text_of(rules[kind])}});
    for (const Finding& f : verdict.findings) results.push_back(result(f));
    const Json driver = {{"name", "warpscope"}, {"rules", described}};
    Json invocation = {{"executionSuccessful", complete && verdict.error.empty()}};
    if (!verdict.error.empty())
        invocation["toolExecutionNotifications"] =
            Json::array({{{"level", "error"}, {"message", text_of(verdict.error)}}});
    const Json run = {{"tool", {{"driver", driver}}},
                      {"invocations", Json::array({invocation})},
                      {"results", results}};
    return {{"$schema",
             "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
             "sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({run})}};
}

}  // namespace warpscope::jobs
