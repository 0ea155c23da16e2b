#include "experiments/launch/find_launch.h"

#include <fmt/format.h>

#include "compiler/source_file.h"
#include "compute/device/kernel_source.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch_plan.h"
#include "launches/files/capture_archive.h"
#include "launches/files/file_kind.h"
#include "launches/files/program_capture.h"

namespace warpscope::experiments {

using namespace launches;

LaunchFile find_launch_file(const std::filesystem::path& path) {
    if (in_gallery(path.string())) return gallery_file(path.string());
    const FileKind kind = file_kind(path);
    if (kind == FileKind::launch_file || kind == FileKind::json) return read_launch_file(path);
    if (kind == FileKind::capture) return find_launch_file(unpacked(path));
    if (std::filesystem::is_directory(path)) {
        const auto capture = read_capture(path);
        if (!capture || capture->launches.empty())
            throw LaunchError(path.string() + ": the folder has no launches of a program");
        return read_launch_file(capture->launches.front().file);
    }
    const std::filesystem::path beside =
        std::filesystem::path(path).replace_extension(".launch.json");
    if (std::filesystem::exists(beside)) return read_launch_file(beside);
    LaunchFile launch;
    launch.source = path.filename();
    launch.file = beside;
    launch.saved = false;
    return launch;
}

std::string read_launch_source(const LaunchFile& file) {
    if (file.built_in)
        return std::string(compute::kernel_source(compute::kernel_path(source_key(file))));
    const std::filesystem::path path = file.in_folder(file.source);
    try {
        return compiler::read_source_file(path);
    } catch (const std::runtime_error& error) {
        throw LaunchError(fmt::format("source: {}: {}", path.string(), error.what()));
    }
}

}  // namespace warpscope::experiments
