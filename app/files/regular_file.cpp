#include "files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

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

}  // namespace warpscope::files
