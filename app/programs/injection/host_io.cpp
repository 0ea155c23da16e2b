// Functions by which the system accesses memory of the program. It asks no handler of a signal, so
// memory that is watched is shown to it before.
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "programs/gpu/gpu.h"
#include "programs/injection/injection.h"

namespace warpscope::programs {

namespace {

using Read = ssize_t(int, void*, std::size_t);
using ReadAt = ssize_t(int, void*, std::size_t, off_t);
using Receive = ssize_t(int, void*, std::size_t, int);
using ReadFile = std::size_t(void*, std::size_t, std::size_t, std::FILE*);
using Write = ssize_t(int, const void*, std::size_t);
using WriteAt = ssize_t(int, const void*, std::size_t, off_t);
using Send = ssize_t(int, const void*, std::size_t, int);
using WriteFile = std::size_t(const void*, std::size_t, std::size_t, std::FILE*);
const auto real_read = behind<Read>("read");
const auto real_pread = behind<ReadAt>("pread"), real_pread64 = behind<ReadAt>("pread64");
const auto real_recv = behind<Receive>("recv");
const auto real_fread = behind<ReadFile>("fread");
const auto real_write = behind<Write>("write");
const auto real_pwrite = behind<WriteAt>("pwrite"), real_pwrite64 = behind<WriteAt>("pwrite64");
const auto real_send = behind<Send>("send");
const auto real_fwrite = behind<WriteFile>("fwrite");

/// Calls a function that accesses up to `bytes` bytes. It returns how many units it has accessed.
template <class Call>
auto shown(const void* memory, std::size_t bytes, bool writes, std::size_t unit, Call call) {
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    const bool is_watched = has_gpu() && gpu().polled().show_if_watched(address, bytes);
    const auto units = call();
    if (is_watched) gpu().on_host_call(address, units > 0 ? std::size_t(units) * unit : 0, writes);
    return units;
}

}  // namespace
}  // namespace warpscope::programs

using namespace warpscope::programs;

#define WARPSCOPE_SHOWN(result, name, memory, bytes, writes, unit, values, ...)        \
    extern "C" __attribute__((visibility("default"))) result name(__VA_ARGS__) {       \
        return shown(memory, bytes, writes, unit, [&] { return real_##name values; }); \
    }

WARPSCOPE_SHOWN(ssize_t, read, to, bytes, true, 1, (file, to, bytes), int file, void* to,
                std::size_t bytes)
WARPSCOPE_SHOWN(ssize_t, pread, to, bytes, true, 1, (file, to, bytes, at), int file, void* to,
                std::size_t bytes, off_t at)
WARPSCOPE_SHOWN(ssize_t, pread64, to, bytes, true, 1, (file, to, bytes, at), int file, void* to,
                std::size_t bytes, off64_t at)
WARPSCOPE_SHOWN(ssize_t, recv, to, bytes, true, 1, (socket, to, bytes, flags), int socket, void* to,
                std::size_t bytes, int flags)
WARPSCOPE_SHOWN(std::size_t, fread, to, size* count, true, size, (to, size, count, file), void* to,
                std::size_t size, std::size_t count, std::FILE* file)
WARPSCOPE_SHOWN(ssize_t, write, from, bytes, false, 1, (file, from, bytes), int file,
                const void* from, std::size_t bytes)
WARPSCOPE_SHOWN(ssize_t, pwrite, from, bytes, false, 1, (file, from, bytes, at), int file,
                const void* from, std::size_t bytes, off_t at)
WARPSCOPE_SHOWN(ssize_t, pwrite64, from, bytes, false, 1, (file, from, bytes, at), int file,
                const void* from, std::size_t bytes, off64_t at)
WARPSCOPE_SHOWN(ssize_t, send, from, bytes, false, 1, (socket, from, bytes, flags), int socket,
                const void* from, std::size_t bytes, int flags)
WARPSCOPE_SHOWN(std::size_t, fwrite, from, size* count, false, size, (from, size, count, file),
                const void* from, std::size_t size, std::size_t count, std::FILE* file)
