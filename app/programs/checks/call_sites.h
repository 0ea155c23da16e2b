#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "emulator/observe/findings.h"

namespace warpscope::programs {

/// A place in the code of the program that has called this library; 0: unknown.
using CallSite = std::uint32_t;

/// What a program has made: "stream" or "event", and where.
struct MadeObject {
    const char* name;
    CallSite at;
};

/// Where a call site is.
struct HostPlace {
    std::string function;  ///< as the linker names it; empty: unknown
    /// The line, and the one that has called its function, which may be a wrapper of the program's
    /// own. Without debug information the file is an address, "app+0x12f4", and the line is 0.
    emulator::ThreadAtLine at{.file = "an unknown place"};
};

/// Remembers from where a program has called, and finds the source lines of these places once they
/// are asked for. Two threads must not use it at once.
class CallSites {
  public:
    /// The place from which this thread has called the library.
    CallSite here();
    /// The place of an instruction that this thread was executing when a signal came.
    CallSite of_signal(const void* instruction);

    /// Has places in this function count as places in its caller: nvcc writes a function of the
    /// host for each kernel, with the kernel's name.
    void skip(const std::string& function) { skipped_.insert(function); }

    /// Returns the places of the sites. addr2line of the GNU binutils reads debug information;
    /// without it, places are addresses.
    std::map<CallSite, HostPlace> places(const std::set<CallSite>& sites) const;

  private:
    /// The return addresses of the calls that were running, the innermost first, without those in
    /// this library.
    using Frames = std::vector<const void*>;

    CallSite site_of(Frames frames);

    std::map<Frames, CallSite> known_;
    std::vector<Frames> frames_;  ///< of site 1, 2, …
    std::set<std::string> skipped_;
};

}  // namespace warpscope::programs
