#pragma once

#include <fcntl.h>
#include <spawn.h>

#include <csignal>
#include <string>
#include <vector>

namespace warpscope::compute {

/// Returns pointers to the words, which must outlive them, and null at the end: for execv().
inline std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

/// The file descriptors of a process that posix_spawn() starts.
class SpawnFiles {
  public:
    SpawnFiles() { posix_spawn_file_actions_init(&actions_); }
    SpawnFiles(const SpawnFiles&) = delete;
    SpawnFiles& operator=(const SpawnFiles&) = delete;
    ~SpawnFiles() { posix_spawn_file_actions_destroy(&actions_); }

    void give(int ours, int theirs) { posix_spawn_file_actions_adddup2(&actions_, ours, theirs); }
    /// `access` is O_RDONLY or O_WRONLY.
    void give_null(int theirs, int access) {
        posix_spawn_file_actions_addopen(&actions_, theirs, "/dev/null", access, 0);
    }
    /// Closes all file descriptors of the process from `first` on.
    void close_from(int first) { posix_spawn_file_actions_addclosefrom_np(&actions_, first); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_;
};

/// Gives the process default signals and a group of its own, which Ctrl-C does not reach.
class SpawnAttributes {
  public:
    SpawnAttributes() {
        posix_spawnattr_init(&attributes_);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;
    ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
    const posix_spawnattr_t* get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_;
};

}  // namespace warpscope::compute
