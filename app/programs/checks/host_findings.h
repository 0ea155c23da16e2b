#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/observe/findings.h"
#include "programs/report/program_report.h"

namespace warpscope::programs {

/// A line of a script that an interpreter runs.
struct ScriptLine {
    std::string file;
    int line = 0;
    auto operator<=>(const ScriptLine&) const = default;
};

/// Reads the lines at which this thread is in a script of Python, for lines_of_script(). Takes the
/// interpreter's lock, so the caller must hold no lock for which code of Python may wait.
void read_lines_of_script();
/// What this thread has read last: the innermost line of the user's own, and that of its caller;
/// empty where no Python runs.
const std::vector<ScriptLine>& lines_of_script();

/// Whether a library is of the interpreter or of an installed package, whose calls are those of the
/// script that uses it.
bool is_of_interpreter(std::string_view library);

/// What a program has made: "stream" or "event", and where.
struct MadeObject {
    const char* name;
    CallSite at;
};

/// Remembers from where a program has called. Two threads must not use it at once.
class CallSites {
  public:
    /// The place from which this thread has called the library.
    CallSite here();
    /// The place of an instruction that this thread was executing when a signal came.
    CallSite of_signal(const void* instruction);

    /// Returns the calls that were running at the site.
    std::vector<HostFrame> frames_of(CallSite site) const;

  private:
    /// The calls that were running, the innermost first.
    struct Frames {
        std::vector<const void*> back;   ///< return addresses, without those in this library
        std::vector<ScriptLine> script;  ///< see lines_of_script()
        auto operator<=>(const Frames&) const = default;
    };

    CallSite site_of(Frames frames);

    std::map<Frames, CallSite> known_;
    std::vector<Frames> frames_;  ///< of site 1, 2, …
};

/// Collects what a program does wrong outside of its kernels, with the lines of the host that do
/// it, and remembers where memory was allocated and freed. Two threads must not use it at once.
class HostFindings {
  public:
    CallSites& sites() { return sites_; }
    CallSite here() { return sites_.here(); }

    /// A kernel has accessed an address that is in no allocation: says with its finding, which has
    /// this sentence, where freed memory was allocated and freed.
    void on_access_error(const std::string& sentence, std::uint64_t address);

    void on_allocate(std::uint64_t address, std::size_t bytes);
    void on_free(std::uint64_t address, CallSite site);
    void on_allocate_again(std::uint64_t address);  ///< by a graph
    bool is_freed(std::uint64_t address) const;
    /// Describes an address for a sentence: "byte 4 of an allocation of 16 bytes, allocated at
    /// app.cu:3, freed at app.cu:9"; empty for an address that was never allocated.
    files::Sentence describe(std::uint64_t address) const;

    /// Adds a finding. Findings of one kind at one place are one, with the first sentence.
    void report(emulator::FindingKind kind, emulator::Severity severity, CallSite site,
                files::Sentence sentence);
    /// What two places do with a word, the work of the first one always among them.
    enum class Conflict : std::uint8_t {
        streams,     ///< their work is in streams that nothing orders
        host,        ///< the second one is the host's own access
        allocation,  ///< the work of the second one is not behind the allocation by the first one
        free,        ///< nor before the free by the first one
        freed        ///< or it is behind that free
    };
    /// Adds a finding for `words` words until now, this one among them.
    void report_conflict(Conflict conflict, emulator::Hazard hazard, CallSite first,
                         CallSite second, std::uint64_t address, std::uint64_t words);
    /// Adds a finding for each allocation that was not freed, and for each of these objects, which
    /// were not destroyed.
    void report_leaks(const std::vector<MadeObject>& left);

    /// A launch has failed, or a kernel: somebody has to ask for the error. Only the first one is
    /// kept until then.
    void on_launch_error(CallSite site, const std::string& error);
    void on_error_read() { unread_.reset(); }
    /// Adds a finding for the launch whose error nobody has asked for.
    void report_unread();

    const HostReport& report() const { return report_; }
    /// Has places in this function count as places in its caller.
    void skip(const std::string& function) { report_.skipped.insert(function); }

  private:
    struct Allocation {
        std::size_t bytes = 0;
        CallSite allocated = 0;
        std::optional<CallSite> freed{};
    };
    struct LaunchError {
        CallSite site = 0;
        std::string text;
    };

    const std::pair<const std::uint64_t, Allocation>* find(std::uint64_t address) const;

    void add(HostReport::Entry entry);
    void add_sites(const std::string& sentence);

    CallSites sites_;
    HostReport report_;
    std::map<std::uint64_t, Allocation> allocations_;  ///< by address; DeviceMemory uses none twice
    std::optional<LaunchError> unread_;
};

}  // namespace warpscope::programs
