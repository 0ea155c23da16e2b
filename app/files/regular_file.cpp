#include "files/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace warpscope::files {
namespace {

[[noreturn]] void refuse_errno() {
    throw std::runtime_error(std::generic_category().message(errno));
}

/// Throws unless the descriptor is one of a regular file.
void check_regular(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) refuse_errno();
    if (S_ISDIR(status.st_mode)) throw std::runtime_error("it is a folder");
    if (!S_ISREG(status.st_mode)) throw std::runtime_error("it is not a regular file");
}

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& file, Links links) {
    // With O_NONBLOCK, opening a pipe does not wait for its writer.
    const int refusal = links == Links::refused ? O_NOFOLLOW : 0;
    descriptor_ = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | refusal);
    if (descriptor_ < 0) refuse_errno();
    try {
        check_regular(descriptor_);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

RegularFile::~RegularFile() {
    ::close(descriptor_);
}

std::string RegularFile::read(std::size_t most) {
    constexpr std::size_t part = std::size_t(256) << 10;
    std::string bytes;
    while (bytes.size() < most) {
        const std::size_t count = bytes.size();
        bytes.resize(std::min(most, count + part));
        const ssize_t got = ::read(descriptor_, bytes.data() + count, bytes.size() - count);
        bytes.resize(count + std::size_t(std::max<ssize_t>(got, 0)));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse_errno();
        if (got == 0) break;
    }
    return bytes;
}

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
