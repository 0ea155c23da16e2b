#include "programs/checks/host_findings.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <utility>

// The linker defines these for each program or library: its beginning and its end.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start, _end;

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

namespace {

constexpr int most_frames = 40;
/// Frames of the program that are kept. Many of them may be in headers of CUDA: a call of CUB makes
/// a dozen.
constexpr std::size_t most_kept = 24;

const void* plus(const void* address, std::ptrdiff_t bytes) {
    return static_cast<const char*>(address) + bytes;
}

bool is_ours(const void* address) {
    return address >= &__ehdr_start && address < &_end;
}

}  // namespace

CallSite CallSites::site_of(Frames frames) {
    if (frames.back.empty()) return 0;
    frames.back.resize(std::min(frames.back.size(), most_kept));
    const auto [found, is_new] = known_.try_emplace(frames, CallSite(frames_.size() + 1));
    if (is_new) frames_.push_back(std::move(frames));
    return found->second;
}

CallSite CallSites::here() {
    void* addresses[most_frames];
    const int count = backtrace(addresses, most_frames);
    const auto* const first = std::find_if_not(addresses, addresses + count, is_ours);
    return site_of({std::vector<const void*>(first, static_cast<void* const*>(addresses) + count),
                    lines_of_script()});
}

CallSite CallSites::of_signal(const void* instruction) {
    void* addresses[most_frames];
    const int count = backtrace(addresses, most_frames);
    const auto* const at = std::find(addresses, addresses + count, instruction);
    Frames frames{.back = {plus(instruction, 1)}, .script = {}};  // as if it were a return address
    for (const auto* next = at + 1; next < addresses + count; ++next) frames.back.push_back(*next);
    return site_of(std::move(frames));
}

std::vector<HostFrame> CallSites::frames_of(CallSite site) const {
    namespace fs = std::filesystem;
    std::vector<HostFrame> frames;
    if (!site) return frames;
    const auto& [all, script] = frames_[site - 1];
    for (const void* const back : all) {
        Dl_info info{};
        link_map* object = nullptr;
        if (!dladdr1(back, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object)
            continue;
        const bool is_program = !*object->l_name;
        if (!script.empty() && (is_program || is_of_interpreter(object->l_name))) continue;
        frames.push_back({is_program ? fs::read_symlink("/proc/self/exe").string()
                                     : fs::absolute(object->l_name).string(),
                          reinterpret_cast<std::uint64_t>(back) - object->l_addr - 1});
    }
    for (const ScriptLine& line : script) frames.push_back({.file = line.file, .line = line.line});
    return frames;
}

using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;

void HostFindings::on_access_error(const std::string& sentence, std::uint64_t address) {
    if (!is_freed(address)) return;
    const std::string& before = report_.before[sentence] =
        fmt::format("This memory was freed: it is {}.", describe(address));
    add_sites(before);
}

void HostFindings::on_allocate(std::uint64_t address, std::size_t bytes) {
    allocations_[address] = {bytes, here()};
}

void HostFindings::on_free(std::uint64_t address, CallSite site) {
    const auto found = allocations_.find(address);
    if (found != allocations_.end()) found->second.freed = site;
}

void HostFindings::on_allocate_again(std::uint64_t address) {
    const auto found = allocations_.find(address);
    if (found != allocations_.end()) found->second.freed.reset();
}

const std::pair<const std::uint64_t, HostFindings::Allocation>* HostFindings::find(
    std::uint64_t address) const {
    const auto above = allocations_.upper_bound(address);
    if (above == allocations_.begin()) return nullptr;
    const auto& found = *std::prev(above);
    return address < found.first + found.second.bytes ? &found : nullptr;
}

bool HostFindings::is_freed(std::uint64_t address) const {
    const auto* const found = find(address);
    return found && found->second.freed;
}

files::Sentence HostFindings::describe(std::uint64_t address) const {
    const auto* const found = find(address);
    if (!found) return {};
    const auto& [begin, allocation] = *found;
    const std::string at = mark(allocation.allocated);
    return allocation.freed
               ? files::sentence(
                     "byte {} of an allocation of {} bytes, allocated at {}, freed at {}",
                     address - begin, allocation.bytes, at, mark(*allocation.freed))
               : files::sentence("byte {} of an allocation of {} bytes, allocated at {}",
                                 address - begin, allocation.bytes, at);
}

void HostFindings::report(FindingKind kind, Severity severity, CallSite site,
                          files::Sentence sentence) {
    const auto known = std::ranges::find_if(report_.entries, [&](const auto& e) {
        return e.kind == kind && e.severity == severity && e.site == site;
    });
    if (known != report_.entries.end())
        ++known->count;
    else
        add({kind, severity, site, std::move(sentence)});
}

void HostFindings::report_conflict(Conflict conflict, Hazard hazard, CallSite first,
                                   CallSite second, std::uint64_t address, std::uint64_t words) {
    const bool is_race = conflict == Conflict::streams || conflict == Conflict::host;
    HostReport::Entry entry{.kind = is_race ? FindingKind::race : FindingKind::memory,
                            .severity = Severity::error,
                            .site = is_race ? first : second,
                            .count = words,
                            .other = is_race ? second : first,
                            .hazard = hazard};
    const auto same = std::ranges::find_if(report_.entries, [&](const auto& e) {
        return e.kind == entry.kind && e.hazard == hazard && e.site == entry.site &&
               e.other == entry.other;
    });
    if (same != report_.entries.end()) {
        same->count = words;
        return;
    }
    files::Sentence word = describe(address);
    if (word.empty()) word = "a word of memory";
    const char* const does = hazard == Hazard::write_after_read ? "reads" : "writes";
    const char* const then = hazard == Hazard::read_after_write ? "reads" : "writes";
    switch (conflict) {
        case Conflict::streams:
            entry.sentence = fmt::format(
                "The work of {} {} {}, and the work of {} {} it in another stream: no event and no "
                "wait of the host orders them.",
                mark(first), does, word, mark(second), then);
            break;
        case Conflict::host:
            entry.sentence = files::sentence(
                hazard == Hazard::write_after_read
                    ? files::Form<5>("The work of {} reads {}, and the host writes it at {} "
                                     "without a wait for that work: {} is missing before {}.")
                : hazard == Hazard::read_after_write
                    ? files::Form<5>("The work of {} writes {}, and the host reads it at {} "
                                     "without a wait for that work: {} is missing before {}.")
                    : files::Form<5>("The work of {} writes {}, and the host writes it at {} "
                                     "without a wait for that work: {} is missing before {}."),
                mark(first), word, mark(second),
                files::sentence("cudaStreamSynchronize(), cudaEventSynchronize() or "
                                "cudaDeviceSynchronize()"),
                mark(second));
            break;
        case Conflict::allocation:
            entry.sentence = fmt::format(
                "The work of {} accesses {}, and nothing orders it behind this allocation in "
                "another stream: an event recorded behind it and cudaStreamWaitEvent(), or a wait "
                "of the host, is missing.",
                mark(second), word);
            break;
        case Conflict::free:
            entry.sentence = fmt::format(
                "The work of {} accesses {}, and nothing orders it before this free in another "
                "stream: an event recorded behind the work and cudaStreamWaitEvent() before the "
                "free, or a wait of the host, is missing.",
                mark(second), word);
            break;
        case Conflict::freed:
            entry.sentence =
                fmt::format("The work of {} accesses freed memory: {}.", mark(second), word);
            break;
    }
    add(std::move(entry));
}

void HostFindings::report_leaks(const std::vector<MadeObject>& left) {
    for (const auto& [address, allocation] : allocations_)
        if (!allocation.freed)
            report(FindingKind::leak, Severity::warning, allocation.allocated,
                   fmt::format("{} bytes were allocated here and never freed.", allocation.bytes));
    for (const MadeObject& made : left)
        report(FindingKind::leak, Severity::warning, made.at,
               fmt::format("This {} was never destroyed.", made.name));
}

void HostFindings::on_launch_error(CallSite site, const std::string& error) {
    if (!unread_) unread_ = {site, error};
}

void HostFindings::report_unread() {
    if (!unread_) return;
    report(
        FindingKind::unread, Severity::warning, unread_->site,
        fmt::format("The program never asked for the error of this launch: call cudaGetLastError() "
                    "after it. {}",
                    unread_->text));
    unread_.reset();
}

void HostFindings::add(HostReport::Entry entry) {
    add_sites(entry.sentence.english() + mark(entry.site) + mark(entry.other));
    report_.entries.push_back(std::move(entry));
}

void HostFindings::add_sites(const std::string& sentence) {
    for (const CallSite site : sites_in(sentence))
        report_.sites.try_emplace(site, sites_.frames_of(site));
}

}  // namespace warpscope::programs
