#include "files/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace warpscope::files {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file) {
    throw std::system_error(errno, std::generic_category(), file.string() + ": cannot be written");
}

/// A temporary file beside `file`. keep() renames it to `file`; without keep() it is removed.
class Draft {
  public:
    explicit Draft(const fs::path& file) : file_(file) {
        static std::atomic<unsigned> count{0};
        do {
            path_ = file;
            path_ += fmt::format(".{}.{}.part", ::getpid(), count++);
            descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        } while (descriptor_ < 0 && errno == EEXIST);
        if (descriptor_ < 0) fail(file_);
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (!kept_) ::unlink(path_.c_str());
    }

    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail(file_);
            bytes.remove_prefix(std::size_t(count));
        }
    }

    void keep() {
        struct stat old {};
        const bool replaces = ::stat(file_.c_str(), &old) == 0;
        if (replaces && ::fchmod(descriptor_, old.st_mode & 07777) != 0) fail(file_);
        if (::close(std::exchange(descriptor_, -1)) != 0) fail(file_);
        if (::rename(path_.c_str(), file_.c_str()) != 0) fail(file_);
        kept_ = true;
    }

  private:
    fs::path file_, path_;
    int descriptor_ = -1;
    bool kept_ = false;
};

/// Returns the file that a symbolic link names, otherwise the path itself.
fs::path target_of(const fs::path& file) {
    std::error_code error;
    const fs::path target = fs::canonical(file, error);
    return error ? file : target;
}

}  // namespace

void write_whole_file(const fs::path& file, std::string_view bytes) {
    Draft draft(target_of(file));
    draft.write(bytes);
    draft.keep();
}

void check_whole_file(const fs::path& file) {
    const Draft draft(target_of(file));
}

}  // namespace warpscope::files
