#include "ui/documents/text_file.h"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>

#include "files/whole_file.h"
#include "ui/language/language.h"

namespace warpscope::ui {

void write_whole(const std::filesystem::path& file, std::string_view text) {
    std::error_code ignored;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ignored);
    try {
        files::write_whole_file(file, text);
    } catch (const std::system_error& error) {
        throw std::runtime_error(tr("cannot write {}: {}", file.string(), error.code().message()));
    }
}

}  // namespace warpscope::ui
