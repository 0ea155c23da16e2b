#pragma once

#include <map>
#include <vector>

#include "programs/report/host_report.h"

namespace warpscope::programs {

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
    /// The return addresses of the calls that were running, the innermost first, without those in
    /// this library.
    using Frames = std::vector<const void*>;

    CallSite site_of(Frames frames);

    std::map<Frames, CallSite> known_;
    std::vector<Frames> frames_;  ///< of site 1, 2, …
};

}  // namespace warpscope::programs
