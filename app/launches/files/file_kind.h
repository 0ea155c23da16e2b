#pragma once

#include <filesystem>

namespace warpscope::launches {

enum class FileKind {
    source,       ///< .cu
    launch_file,  ///< .launch.json
    json,         ///< .json: a launch file by another name, or something else
    capture,      ///< .wslaunch
    order,        ///< .schedule: an order of warps
    picture,      ///< .png
    page,         ///< .md: a lesson, or something else
    bodies,       ///< .tipsy, .csv, .bin
    unknown,      ///< a file of bodies may have any name
};

/// What a file is by the end of its name, in capital or small letters.
FileKind file_kind(const std::filesystem::path& file);

/// Whether the file is a source with a main(), beside which no launch file lies. False where it
/// cannot be read: whoever opens it says why.
bool is_program_source(const std::filesystem::path& file);

}  // namespace warpscope::launches
