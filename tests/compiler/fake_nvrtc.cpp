// A fake of NVRTC, version 98.7. Its PTX repeats the source and the options. Words in the source
// choose the result: "FAIL" an error, "CRASH" status 11, "WARN" a warning, "ABORT" ends the
// process, "HANG" never returns; text after it names a file that is made first.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {
struct Program {
    std::string source, name, ptx, log;
};

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
                       const char* const*, const char* const*) {
    if (headers != 0) return 3;
    *program = new Program{source, name, "", ""};
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
    const std::size_t hang = program.source.find("HANG");
    if (hang != std::string::npos) std::ofstream(program.source.substr(hang + 4));
    while (hang != std::string::npos) pause();
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
