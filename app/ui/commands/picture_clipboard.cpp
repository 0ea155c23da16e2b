#include "ui/commands/picture_clipboard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/helper/spawn.h"
#include "ui/language/language.h"

extern char** environ;

namespace warpscope::ui {
namespace {

/// A program that owns the clipboard: it reads its standard input, and goes on in the background
/// until something else is copied.
struct Owner {
    const char* display;  ///< the variable that says where its desktop is
    std::vector<const char*> words;
    const char* package;
};

/// A Wayland desktop shows programs for X11, too; so it is asked first.
const std::vector<Owner>& owners() {
    static const std::vector<Owner> all{
        {"WAYLAND_DISPLAY", {"wl-copy", "--type", "image/png"}, "wl-clipboard"},
        {"DISPLAY", {"xclip", "-selection", "clipboard", "-target", "image/png"}, "xclip"}};
    return all;
}

/// A file in memory.
class Memory {
  public:
    Memory() : file_(::memfd_create("picture", MFD_CLOEXEC)) { check(file_ >= 0); }
    void fill(std::span<const std::uint8_t> bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(file_, bytes.data(), bytes.size());
            check(written > 0);
            bytes = bytes.subspan(std::size_t(written));
        }
        check(::lseek(file_, 0, SEEK_SET) == 0);
    }
    ~Memory() { ::close(file_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    int file() const { return file_; }

  private:
    static void check(bool is_done) {
        if (!is_done) throw std::runtime_error(std::strerror(errno));
    }

    int file_;
};

/// Returns an errno, and the exit status in `status`.
int run(const Owner& owner, int input, int& status) {
    compute::SpawnFiles files;
    files.give(input, 0);
    files.give_null(1, O_WRONLY);
    files.give_null(2, O_WRONLY);
    files.close_from(3);
    std::vector<char*> words;
    for (const char* word : owner.words) words.push_back(const_cast<char*>(word));
    words.push_back(nullptr);
    const compute::SpawnAttributes attributes;
    pid_t id = -1;
    const int error =
        ::posix_spawnp(&id, words[0], files.get(), attributes.get(), words.data(), environ);
    if (error == 0) ::waitpid(id, &status, 0);
    return error;
}

}  // namespace

void copy_png(std::span<const std::uint8_t> png) {
    std::string wanted;
    for (const Owner& owner : owners()) {
        if (!std::getenv(owner.display)) continue;
        const Memory memory;
        memory.fill(png);
        int status = 0;
        const int error = run(owner, memory.file(), status);
        if (error == 0 && status == 0) return;
        if (error == 0) throw std::runtime_error(tr("{} has failed", owner.words[0]));
        if (error != ENOENT) throw std::runtime_error(std::strerror(error));
        wanted += fmt::format("{}{}", wanted.empty() ? "" : " or ", owner.package);
    }
    if (wanted.empty()) throw std::runtime_error(tr("there is no desktop with a clipboard"));
    throw std::runtime_error(tr("install the package {}, which copies pictures", wanted));
}

}  // namespace warpscope::ui
