#include <pthread.h>

#include <condition_variable>
#include <mutex>

// GCC 12 gave this function a new version, so that programs would need its libstdc++. Systems with
// glibc 2.34 have that of GCC 11.
void std::condition_variable::wait(std::unique_lock<std::mutex>& lock) {
    pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
}
