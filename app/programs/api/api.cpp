#include "programs/api/api.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

// Code that keeps the arguments of a call, calls %r11's first function with its second word, and
// goes on with its third word: see Detour.
asm(R"(
    .text
    .globl warpscope_detour
    .hidden warpscope_detour
warpscope_detour:
    push %rdi
    push %rsi
    push %rdx
    push %rcx
    push %r8
    push %r9
    push %r11
    mov 8(%r11), %rdi
    call *(%r11)
    pop %r11
    pop %r9
    pop %r8
    pop %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    jmp *16(%r11)
)");
extern "C" void warpscope_detour();

namespace warpscope::programs {

namespace {

struct Detour {
    void (*first)(const char*);  ///< warpscope_detour knows this layout
    const char* argument;
    const void* then;
};

std::map<std::string, const void*, std::less<>>& functions() {
    static auto* const all = new std::map<std::string, const void*, std::less<>>;
    return *all;
}

thread_local bool null_is_per_thread = false;

/// Code for detours: mov $detour, %r11; mov $warpscope_detour, %rax; jmp *%rax.
const void* code_for(const Detour& detour) {
    constexpr std::size_t step = 32, page = 65536;
    static unsigned char *next = nullptr, *end = nullptr;
    if (next == end) {
        void* const pages = mmap(nullptr, page, PROT_READ | PROT_WRITE | PROT_EXEC,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) throw std::bad_alloc();
        next = static_cast<unsigned char*>(pages);
        end = next + page;
    }
    unsigned char* const code = next;
    next += step;
    const auto* const kept = new Detour(detour);
    const void* const to = reinterpret_cast<const void*>(warpscope_detour);
    const unsigned char load_r11[] = {0x49, 0xBB}, load_rax[] = {0x48, 0xB8}, jump[] = {0xFF, 0xE0};
    std::memcpy(code, load_r11, 2);
    std::memcpy(code + 2, &kept, 8);
    std::memcpy(code + 10, load_rax, 2);
    std::memcpy(code + 12, &to, 8);
    std::memcpy(code + 20, jump, 2);
    return code;
}

std::mutex& code_mutex() {
    static auto* const one = new std::mutex;
    return *one;
}

}  // namespace

ApiFunction::ApiFunction(const char* name, const void* function) {
    functions()[name] = function;
}

const void* find_api_function(std::string_view name) {
    const auto found = functions().find(name);
    return found == functions().end() ? nullptr : found->second;
}

extern "C" void warpscope_per_thread_stream() {
    null_is_per_thread = true;
}
// What missing.S calls.
extern "C" void warpscope_call_missing(const char* function) {
    const Call held;
    gpu().call_missing(function);
}
extern "C" Status warpscope_not_supported() {
    return Status::not_supported;
}

Stream& stream_of(StreamHandle handle) {
    Streams& streams = gpu().streams();
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    if (number == 2 || (number == 0 && null_is_per_thread)) return streams.of_thread();
    if (number < 2) return streams.legacy();
    demand(streams.has(handle), Status::invalid_handle, "the stream does not exist");
    return *handle;
}

void demand_device(int device) {
    demand(device >= 0 && device < gpu().settings().gpus, Status::invalid_device,
           "there is no GPU with this number: WARPSCOPE_GPUS says how many there are (1)");
}

bool can_access(int device, int peer) {
    demand_device(device);
    demand_device(peer);
    return device != peer;
}

LaunchForm form_of(const LaunchAttribute* attributes, unsigned count) {
    constexpr int cooperative = 2, cluster_dimension = 4;
    LaunchForm form;
    for (unsigned i = 0; i < count; ++i) {
        const LaunchAttribute& attribute = attributes[i];
        form.cooperative |= attribute.id == cooperative && attribute.value[0];
        if (attribute.id == cluster_dimension)
            std::memcpy(&form.cluster, attribute.value, sizeof(form.cluster));
    }
    return form;
}

const void* with_per_thread_stream(const void* function) {
    const std::scoped_lock lock(code_mutex());
    static std::map<const void*, const void*> made;
    const void*& code = made[function];
    if (!code)
        code = code_for({[](const char*) { warpscope_per_thread_stream(); }, nullptr, function});
    return code;
}

const void* missing_function(std::string_view name) {
    const std::scoped_lock lock(code_mutex());
    static std::map<std::string, const void*, std::less<>> made;
    const auto [at, is_new] = made.try_emplace(std::string(name));
    if (is_new)
        at->second = code_for({warpscope_call_missing, at->first.c_str(),
                               reinterpret_cast<const void*>(warpscope_not_supported)});
    return at->second;
}

Status end_call(const char* function, Status status, const char* problem) {
    null_is_per_thread = false;
    if (status != Status::success && status != Status::not_ready)
        gpu().call_failed(function, status, problem);
    gpu().end_call();
    return status;
}

}  // namespace warpscope::programs
