#include "jobs/headless/sarif.h"

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

/// By FindingKind.
constexpr const char* rules[] = {
    "Two threads access a word of shared memory, one of them writes, and nothing orders them.",
    "A thread reads memory that was never written.", "Not every thread reaches a barrier.",
    "A thread accesses memory that is not allocated, or an address that is not aligned."};

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
Json location(const ThreadAtLine& at, const std::string& kernel) {
    const Json function = {{"name", kernel}, {"kind", "function"}};
    Json json = {{"logicalLocations", Json::array({function})}};
    if (!at.file.empty())
        json["physicalLocation"] = {{"artifactLocation", Json{{"uri", uri_of(at.file)}}},
                                    {"region", Json{{"startLine", at.line}}}};
    return json;
}

Json result(const Finding& f) {
    Json json = {{"ruleId", to_string(f.kind)},
                 {"ruleIndex", std::size_t(f.kind)},
                 {"level", to_string(f.severity)},
                 {"message", text_of(f.sentence)},
                 {"locations", Json::array({location(f.place(), f.kernel)})}};
    if (f.second) {
        Json other = location(&f.place() == &f.first ? *f.second : f.first, f.kernel);
        other["message"] = text_of("The other access");
        json["relatedLocations"] = Json::array({other});
    }
    json["properties"] = {{"kernel", f.kernel}, {"count", f.count}};
    return json;
}

}  // namespace

Json sarif(const std::vector<Finding>& findings, bool complete) {
    Json described = Json::array(), results = Json::array();
    for (std::size_t kind = 0; kind < std::size(rules); ++kind)
        described.push_back(
            {{"id", to_string(FindingKind(kind))}, {"shortDescription", text_of(rules[kind])}});
    for (const Finding& f : findings) results.push_back(result(f));
    const Json driver = {{"name", "warpscope"}, {"rules", described}};
    const Json invocation = {{"executionSuccessful", complete}};
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
