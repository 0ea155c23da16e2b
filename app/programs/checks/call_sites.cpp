#include "programs/checks/call_sites.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>

// The linker defines these for each program or library: its beginning and its end.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start, _end;

namespace warpscope::programs {

namespace {

constexpr int most_frames = 40;
/// Frames of the program that are kept. Some of them may be wrappers in headers of CUDA.
constexpr std::size_t most_kept = 6;

const void* plus(const void* address, std::ptrdiff_t bytes) {
    return static_cast<const char*>(address) + bytes;
}

bool is_ours(const void* address) {
    return address >= &__ehdr_start && address < &_end;
}

}  // namespace

CallSite CallSites::site_of(Frames frames) {
    if (frames.empty()) return 0;
    frames.resize(std::min(frames.size(), most_kept));
    const auto [found, is_new] = known_.try_emplace(frames, CallSite(frames_.size() + 1));
    if (is_new) frames_.push_back(std::move(frames));
    return found->second;
}

CallSite CallSites::here() {
    void* addresses[most_frames];
    const int count = backtrace(addresses, most_frames);
    const auto* const first = std::find_if_not(addresses, addresses + count, is_ours);
    return site_of(Frames(first, static_cast<void* const*>(addresses) + count));
}

CallSite CallSites::of_signal(const void* instruction) {
    void* addresses[most_frames];
    const int count = backtrace(addresses, most_frames);
    const auto* const at = std::find(addresses, addresses + count, instruction);
    Frames frames{plus(instruction, 1)};  // as if it were a return address
    for (const auto* next = at + 1; next < addresses + count; ++next) frames.push_back(*next);
    return site_of(std::move(frames));
}

std::vector<HostFrame> CallSites::frames_of(CallSite site) const {
    namespace fs = std::filesystem;
    std::vector<HostFrame> frames;
    if (!site) return frames;
    for (const void* const back : frames_[site - 1]) {
        Dl_info info{};
        link_map* object = nullptr;
        if (!dladdr1(back, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object)
            continue;
        const bool is_program = !*object->l_name;
        frames.push_back({is_program ? fs::read_symlink("/proc/self/exe").string()
                                     : fs::absolute(object->l_name).string(),
                          reinterpret_cast<std::uint64_t>(back) - object->l_addr - 1});
    }
    return frames;
}

}  // namespace warpscope::programs
