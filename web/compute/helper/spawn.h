// app/compute/helper/spawn.h with a function of glibc that emscripten does not have. A page starts
// no processes.
#pragma once
#include <spawn.h>

extern "C" inline int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t*, int) {
    return 0;
}

#include "../../../app/compute/helper/spawn.h"
