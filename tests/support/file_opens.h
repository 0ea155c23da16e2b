#pragma once

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <filesystem>

namespace warpscope {

/// Counts how often a file is opened, and whether it is read, from now on.
class FileOpens {
  public:
    explicit FileOpens(const std::filesystem::path& file) {
        // Linux joins equal events that follow each other. Closing comes between two openings.
        EXPECT_GE(::inotify_add_watch(events_, file.c_str(), IN_OPEN | IN_ACCESS | IN_CLOSE), 0);
    }
    ~FileOpens() { ::close(events_); }
    FileOpens(const FileOpens&) = delete;
    FileOpens& operator=(const FileOpens&) = delete;

    int count() {
        take();
        return opens_;
    }
    bool was_read() {
        take();
        return was_read_;
    }

  private:
    void take() {
        inotify_event event{};  // without a name, because a file is watched and not a folder
        while (::read(events_, &event, sizeof event) == sizeof event) {
            opens_ += (event.mask & IN_OPEN) != 0;
            was_read_ |= (event.mask & IN_ACCESS) != 0;
        }
    }

    const int events_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    int opens_ = 0;
    bool was_read_ = false;
};

}  // namespace warpscope
