#include "programs/checks/script_lines.h"

#include <dlfcn.h>

#include <filesystem>
#include <utility>

namespace warpscope::programs {
namespace {

constexpr std::size_t most_lines = 2;

/// A function of the Python C API (3.9 and newer), of the interpreter in this process.
template <class Type>
Type* python(const char* name) {
    return reinterpret_cast<Type*>(dlsym(RTLD_DEFAULT, name));
}

struct Python {
    using Object = void;
    Object* (*frame)() = python<Object*()>("PyEval_GetFrame");
    int (*line)(Object*) = python<int(Object*)>("PyFrame_GetLineNumber");
    Object* (*code)(Object*) = python<Object*(Object*)>("PyFrame_GetCode");
    Object* (*caller)(Object*) = python<Object*(Object*)>("PyFrame_GetBack");
    Object* (*member)(Object*, const char*) =
        python<Object*(Object*, const char*)>("PyObject_GetAttrString");
    const char* (*text)(Object*) = python<const char*(Object*)>("PyUnicode_AsUTF8");
    void (*hold)(Object*) = python<void(Object*)>("Py_IncRef");
    void (*drop)(Object*) = python<void(Object*)>("Py_DecRef");
    int (*runs)() = python<int()>("Py_IsInitialized");
    Object* (*thread)() = python<Object*()>("PyGILState_GetThisThreadState");
    int (*has_lock)() = python<int()>("PyGILState_Check");
    int (*lock)() = python<int()>("PyGILState_Ensure");
    void (*unlock)(int) = python<void(int)>("PyGILState_Release");

    bool is_here() const {
        return frame && line && code && caller && member && text && hold && drop && runs &&
               thread && has_lock && lock && unlock;
    }
    bool ends() const {
        static auto* const newer = python<int()>("Py_IsFinalizing");
        static auto* const older = python<int()>("_Py_IsFinalizing");
        return newer ? newer() : older && older();
    }
    std::string file(Object* of_frame) const {
        Object* const c = code(of_frame);
        Object* const name = member(c, "co_filename");
        const char* const found = name ? text(name) : nullptr;
        std::string copy = found ? found : "";
        if (name) drop(name);
        drop(c);
        return copy;
    }
};

/// A file of Python's library or of an installed package.
bool is_installed(std::string_view file) {
    return file.starts_with("<frozen") || file.find("/lib/python3") != file.npos ||
           is_of_interpreter(file);
}

std::vector<ScriptLine> lines_of(const Python& python) {
    std::vector<ScriptLine> lines;
    void* frame = python.frame();
    if (frame) python.hold(frame);
    while (frame && lines.size() < most_lines) {
        std::string file = python.file(frame);
        if (!is_installed(file)) {
            if (!file.starts_with('<')) file = std::filesystem::absolute(file).lexically_normal();
            lines.push_back({std::move(file), python.line(frame)});
        }
        python.drop(std::exchange(frame, python.caller(frame)));
    }
    if (frame) python.drop(frame);
    return lines;
}

thread_local std::vector<ScriptLine> lines;

}  // namespace

void read_lines_of_script() {
    lines.clear();
    static const Python python;
    if (!python.is_here() || !python.runs() || !python.thread()) return;
    if (python.has_lock()) {
        lines = lines_of(python);
    } else if (!python.ends()) {
        // A package has given up the lock for this call. The frames are still those of the call.
        const int state = python.lock();
        lines = lines_of(python);
        python.unlock(state);
    }
}

const std::vector<ScriptLine>& lines_of_script() {
    return lines;
}

bool is_of_interpreter(std::string_view library) {
    for (const std::string_view part :
         {"/site-packages/", "/dist-packages/", "/lib-dynload/", "/libpython3"})
        if (library.find(part) != library.npos) return true;
    return false;
}

}  // namespace warpscope::programs
