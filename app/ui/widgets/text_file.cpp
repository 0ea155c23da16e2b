#include "ui/widgets/text_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace warpscope::ui {

void write_whole(const std::filesystem::path& file, std::string_view text) {
    std::error_code error;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
    std::filesystem::path draft = file;
    draft += fmt::format(".{}.new", ::getpid());
    errno = 0;
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out.write(text.data(), std::streamsize(text.size()));
    out.close();
    if (!out) {
        const std::string why = std::generic_category().message(errno ? errno : EIO);
        std::filesystem::remove(draft, error);
        throw std::runtime_error(fmt::format("cannot write {}: {}", file.string(), why));
    }
    std::filesystem::rename(draft, file, error);
    if (error) {
        const std::string why = error.message();
        std::filesystem::remove(draft, error);
        throw std::runtime_error(fmt::format("cannot write {}: {}", file.string(), why));
    }
}

}  // namespace warpscope::ui
