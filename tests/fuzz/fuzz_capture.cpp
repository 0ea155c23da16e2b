#include <algorithm>
#include <cstdlib>

#include "fuzz.h"
#include "launches/arrays/expression.h"
#include "launches/files/capture_archive.h"
#include "launches/files/launch_file.h"
#include "launches/files/program_capture.h"

namespace {

using namespace warpscope;

/// The archive of a capture. What unpacks lies in one folder and has a list of launches.
void open_archive(const tests::FuzzFolder& folder, std::string_view bytes) {
    namespace fs = std::filesystem;
    const fs::path cache = folder.path() / "cache";
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    const fs::path archive = folder.write("fuzzed.wslaunch", bytes);
    try {
        const fs::path unpacked = launches::unpacked(archive);
        const auto capture = launches::read_capture(unpacked);
        tests::require(capture.has_value(), "what unpacks is a capture");
        for (const auto& launch : capture->launches) try {
                launches::read_launch_file(launch.file);
            } catch (const launches::LaunchError&) {
            }
    } catch (const launches::LaunchError&) {
    }
    for (const auto& entry : fs::directory_iterator(folder.path()))
        tests::require(entry.path() == cache || entry.path() == archive,
                       "an archive is unpacked into the cache");
    fs::remove_all(cache);
}

/// A launch file. What is read is written as a text that is read as equal.
void read_launch(std::string_view text) {
    try {
        const std::string written = to_json_text(launches::parse_launch_file(text));
        tests::require(to_json_text(launches::parse_launch_file(written)) == written,
                       "a launch file that was written is read back");
    } catch (const launches::LaunchError&) {
    }
}

}  // namespace

// The archive of a capture, or else a launch file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tests::FuzzFolder folder;
    const std::string_view bytes = tests::text_of(data, size);
    if (bytes.starts_with("PK"))
        open_archive(folder, bytes);
    else
        read_launch(bytes);
    return 0;
}
