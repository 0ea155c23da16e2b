#include "jobs/headless/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "experiments/bodies/bodies.h"
#include "experiments/nbody/nbody_parameters.h"
#include "files/regular_file.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

namespace {

using experiments::Bodies;
using experiments::Body;
using experiments::Snapshot;

// A line of JSON, and then the bodies as they are in memory.
constexpr const char* format_name = "warpscope checkpoint 1";
constexpr auto most_bodies = std::size_t(experiments::NBodyParameters::most_bodies);

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view why) {
    throw UsageError(fmt::format("--resume {}: {}", file.string(), why));
}

std::string read_whole(const std::filesystem::path& file) {
    constexpr std::size_t most_head = 1 << 16;
    try {
        // A file that is longer does not fit its number of bodies.
        return files::RegularFile(file).read(most_head + most_bodies * sizeof(Body));
    } catch (const std::runtime_error& error) {
        refuse(file, error.what());
    }
}

Snapshot snapshot_of(const Json& head) {
    Snapshot snapshot;
    snapshot.frame = head.at("frame").get<std::uint64_t>();
    snapshot.changed_since_reset = head.at("changed_since_reset").get<bool>();
    for (const auto& [id, text] : head.at("parameters").items())
        snapshot.parameters.push_back({id, text.get<std::string>()});
    return snapshot;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, experiments::Experiment& experiment) {
    const Snapshot snapshot = experiment.snapshot();
    const auto& bodies = std::any_cast<const Bodies&>(snapshot.state);
    Json parameters = Json::object();
    for (const auto& [id, text] : snapshot.parameters) parameters[id] = text;
    const Json head = {{"format", format_name},
                       {"frame", snapshot.frame},
                       {"changed_since_reset", snapshot.changed_since_reset},
                       {"parameters", std::move(parameters)},
                       {"bodies", bodies.size()}};
    std::string text = head.dump() + "\n";
    text.append(reinterpret_cast<const char*>(bodies.data()), bodies.size() * sizeof(Body));
    write_file(file, text);
}

Snapshot read_checkpoint(const std::filesystem::path& file) {
    const std::string text = read_whole(file);
    const std::size_t line = std::min(text.find('\n'), text.size());
    const Json head = Json::parse(text.begin(), text.begin() + std::ptrdiff_t(line), nullptr,
                                  /*allow_exceptions=*/false);
    if (!head.is_object() || head.value("format", Json()) != format_name)
        refuse(file, "this is no checkpoint of Warpscope");
    try {
        Snapshot snapshot = snapshot_of(head);
        const auto count = head.at("bodies").get<std::uint64_t>();
        if (count < 1 || count > most_bodies || text.size() != line + 1 + count * sizeof(Body))
            refuse(file, "the number of bodies does not fit the size of the file");
        Bodies bodies(count);
        std::memcpy(bodies.data(), text.data() + line + 1, count * sizeof(Body));
        snapshot.state = std::move(bodies);
        return snapshot;
    } catch (const Json::exception&) {
        refuse(file, "its first line is damaged");
    }
}

std::vector<experiments::Assignment> resumed_assignments(
    const Snapshot& from, const std::vector<experiments::Assignment>& given) {
    for (const char* id : {"start", "bodies", "file", "seed"})
        if (std::ranges::find(given, id, &experiments::Assignment::id) != given.end())
            throw UsageError(
                fmt::format("--set nbody.{}: a resumed run has the bodies of its file; leave this "
                            "out, or leave out --resume",
                            id));
    std::vector<experiments::Assignment> all = from.parameters;
    all.insert(all.end(), given.begin(), given.end());
    return all;
}

}  // namespace warpscope::jobs
