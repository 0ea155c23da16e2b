// In place of files of app/launches: a page has no folders, so no captures and no arrays of files.
#include "files/uncompressed.h"
#include "launches/arrays/array_file.h"
#include "launches/files/capture_archive.h"
#include "launches/files/launch_file.h"

namespace warpscope::launches {

void write_archive(const std::filesystem::path&, const std::filesystem::path&) {
    throw LaunchError("a page writes no captures");
}

std::filesystem::path unpacked(const std::filesystem::path&) {
    throw LaunchError("a page reads no captures");
}

Array read_array(const std::filesystem::path& file, const ElementType&) {
    throw LaunchError("a page can't read " + file.string());
}

std::string to_npy(const Array&) {
    return {};
}

std::string to_csv(const Array&) {
    return {};
}

}  // namespace warpscope::launches

// In place of app/files/uncompressed.cpp: servers compress the page as a whole.
std::string_view warpscope::files::uncompressed(std::string_view built_in) {
    return built_in;
}
