#include "launches/files/file_kind.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/host/host_code.h"
#include "compiler/source_file.h"
#include "files/text.h"

namespace warpscope::launches {
namespace {

constexpr std::array<std::pair<std::string_view, FileKind>, 10> endings{
    {{".cu", FileKind::source},
     {".launch.json", FileKind::launch_file},
     {".json", FileKind::json},
     {".wslaunch", FileKind::capture},
     {".schedule", FileKind::order},
     {".png", FileKind::picture},
     {".md", FileKind::page},
     {".tipsy", FileKind::bodies},
     {".csv", FileKind::bodies},
     {".bin", FileKind::bodies}}};

}  // namespace

FileKind file_kind(const std::filesystem::path& file) {
    const std::string name = files::lower_case(file.filename().string());
    const auto found = std::ranges::find_if(
        endings, [&](const auto& ending) { return name.ends_with(ending.first); });
    return found == endings.end() ? FileKind::unknown : found->second;
}

bool is_program_source(const std::filesystem::path& file) {
    std::filesystem::path beside = file;
    if (file_kind(file) != FileKind::source ||
        std::filesystem::exists(beside.replace_extension(".launch.json")))
        return false;
    try {
        return compiler::has_main(compiler::read_source_file(file));
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace warpscope::launches
