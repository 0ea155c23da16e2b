// A fake of NVRTC, version 98.7. Its PTX repeats the source and the options. Words in the source
// choose the result: "FAIL" an error, "CRASH" status 11, "WARN" a warning, "ABORT" ends the
// process, "BUILTINS" writes into the PTX whether libnvrtc-builtins.so.98.7 is loaded, "HANG" never
// returns while its thread is called "hanging", "SPIN" computes for ever, and "PROBE" writes into
// the PTX what the process may do: see probe().
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

namespace {
struct Program {
    std::string source, name, ptx, log;
};

/// A line of the PTX: "// NAME: yes".
std::string line(const std::string& name, bool yes) {
    return "// " + name + ": " + (yes ? "yes" : "no") + "\n";
}

bool opens(const char* file, int flags) {
    const int opened = open(file, flags, 0600);
    if (opened >= 0) close(opened);
    return opened >= 0;
}

bool maps(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) munmap(memory, bytes);
    return memory != MAP_FAILED;
}

/// Whether the process does not have this system call, which has returned `result`.
bool is_refused(long result) {
    return result == -1 && errno == ENOSYS;
}

bool starts_a_thread() {
    bool ran = false;
    try {
        std::thread([&] { ran = true; }).join();
    } catch (const std::system_error&) {
    }
    return ran;
}

std::string probe() {
    constexpr std::size_t gibibyte = std::size_t(1) << 30;
    char* const none[] = {nullptr};
    return line("reads kernels/own.h", opens("kernels/own.h", O_RDONLY)) +
           line("reads other.h", opens("other.h", O_RDONLY)) +
           line("reads /etc/passwd", opens("/etc/passwd", O_RDONLY)) +
           line("makes kernels/new", opens("kernels/new", O_WRONLY | O_CREAT)) +
           line("maps 1 GiB", maps(gibibyte)) + line("maps 5 GiB", maps(5 * gibibyte)) +
           line("may gain rights", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) +
           line("has WARPSCOPE_TEST", std::getenv("WARPSCOPE_TEST") != nullptr) +
           line("opens a socket", socket(AF_INET, SOCK_STREAM, 0) >= 0) +
           line("may start a program", !is_refused(execve("", none, none))) +
           // These flags without CLONE_VM are an error where the call is allowed.
           line("may start a process", !is_refused(syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0))) +
           line("may end another process", !is_refused(kill(getppid(), 0))) +
           line("starts a thread", starts_a_thread());
}

int put(const std::string& text, char* to) {
    std::memcpy(to, text.c_str(), text.size() + 1);
    return 0;
}
}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
    *major = 98;
    *minor = 7;
    return 0;
}
const char* nvrtcGetErrorString(int status) {
    return status == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_INTERNAL_ERROR";
}
int nvrtcCreateProgram(void** program, const char* source, const char* name, int headers,
                       const char* const* header_texts, const char* const* header_names) {
    auto* const made = new Program{source, name, "", ""};
    for (int i = 0; i < headers; ++i)
        made->ptx += std::string("// header ") + header_names[i] + ": " + header_texts[i] + "\n";
    *program = made;
    return 0;
}
int nvrtcAddNameExpression(void* handle, const char* expression) {
    static_cast<Program*>(handle)->ptx += std::string("// name ") + expression + "\n";
    return 0;
}
int nvrtcDestroyProgram(void** program) {
    delete static_cast<Program*>(*program);
    *program = nullptr;
    return 0;
}
int nvrtcCompileProgram(void* handle, int count, const char* const* options) {
    Program& program = *static_cast<Program*>(handle);
    const auto has = [&](const char* word) {
        return program.source.find(word) != std::string::npos;
    };
    if (has("CRASH")) return 11;
    if (has("ABORT")) std::_Exit(42);
    if (has("HANG")) prctl(PR_SET_NAME, "hanging");
    while (has("HANG")) pause();
    for (volatile unsigned i = 0; has("SPIN");) i = i + 1;
    if (has("PROBE")) program.ptx += probe();
    if (has("BUILTINS"))
        program.ptx += line("builtins", dlopen("libnvrtc-builtins.so.98.7", RTLD_NOW) != nullptr);
    if (has("WARN")) program.log += program.name + "(1): warning #1-D: watch out\n  WARN\n  ^\n\n";
    if (has("FAIL")) {
        program.log += program.name + "(2): error: it is wrong\n  FAIL\n    ^\n\n";
        return 6;
    }
    for (int i = 0; i < count; ++i) program.ptx += std::string("// ") + options[i] + "\n";
    program.ptx += "\t.file\t1 \"/some/where/" + program.name + "\"\n";
    return 0;
}
int nvrtcGetPTXSize(void* handle, std::size_t* bytes) {
    *bytes = static_cast<Program*>(handle)->ptx.size() + 1;
    return 0;
}
int nvrtcGetPTX(void* handle, char* to) {
    return put(static_cast<Program*>(handle)->ptx, to);
}
int nvrtcGetProgramLogSize(void* handle, std::size_t* bytes) {
    *bytes = static_cast<Program*>(handle)->log.size() + 1;
    return 0;
}
int nvrtcGetProgramLog(void* handle, char* to) {
    return put(static_cast<Program*>(handle)->log, to);
}
}
