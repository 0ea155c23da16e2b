#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/stepper/breakpoints.h"
#include "launches/lanes/lane_expression.h"

namespace warpscope::jobs {

/// A breakpoint as a client sets it.
struct WantedBreakpoint {
    enum class At { line, function, instruction, read, write };
    At at = At::line;
    std::string source{};    ///< of a line: the file as the client names it
    int line = 0;            ///< of a line, or of an instruction: the line of the PTX
    std::string function{};  ///< the kernel, as the source names it
    emulator::Space space = emulator::Space::shared;  ///< of a word of memory
    std::uint64_t address = 0;
    std::string condition{}, hits{}, log{};
};

/// A breakpoint in the kernel that is debugged.
struct SetBreakpoint {
    int id = 0;
    WantedBreakpoint wanted;
    std::string file{};     ///< of a line: as the module names it
    int line = 0;           ///< where it stops
    std::string why_not{};  ///< why it does not stop; empty: it does
};

/// Whether the pass with this number stops: "3" and ">= 3" from the third one on, "== 3", "% 3".
/// Empty: each does. Throws launches::LaunchError.
bool hits_hold(const std::string& condition, std::uint64_t pass);

/// What the conditions of breakpoints ask, and where their messages go.
struct BreakpointContext {
    std::function<bool(const launches::LaneExpression& condition, std::uint32_t warp,
                       unsigned lane)>
        holds;
    std::function<std::string(const std::string& expression, std::uint32_t warp, unsigned lane)>
        text;
    std::function<void(const std::string& line)> log;
    /// The module's name of a file of the client; empty: it has none.
    std::function<std::string(const std::string& source)> file;
    std::function<std::uint64_t()> position;
};

/// The breakpoints of a session.
class Breakpoints {
  public:
    explicit Breakpoints(BreakpointContext context) : context_(std::move(context)) {}

    /// Replaces those of a group, such as those of one source.
    std::vector<SetBreakpoint> set(const std::string& group, std::vector<WantedBreakpoint> wanted);
    /// Another kernel is debugged, in which other lines have code; null: none is. Returns those
    /// that have changed.
    std::vector<SetBreakpoint> use(const emulator::Kernel* kernel, const std::string& name);

    /// For the stepper. Backwards, passes are not counted and nothing is logged.
    emulator::Breaks breaks(bool backwards);
    /// The breakpoint that has stopped a run at this position; 0: none has.
    int stopped_at(std::uint64_t position) const;
    void restart();  ///< the passes are counted from 0

  private:
    struct Point {
        SetBreakpoint set;
        std::string group;
        std::uint64_t passes = 0;
        std::optional<std::uint64_t> at{};  ///< the position at which it was passed last
        bool stops = false;                 ///< there
    };
    void resolve(SetBreakpoint& point) const;
    std::function<bool(std::uint32_t, unsigned)> question(const std::shared_ptr<Point>& point,
                                                          bool backwards) const;
    bool pass(Point& point, std::uint32_t warp, unsigned lane) const;
    std::string log_line(const std::string& message, std::uint32_t warp, unsigned lane) const;

    BreakpointContext context_;
    const emulator::Kernel* kernel_ = nullptr;
    std::string name_;
    std::vector<std::shared_ptr<Point>> points_;
    int newest_ = 0;
};

}  // namespace warpscope::jobs
