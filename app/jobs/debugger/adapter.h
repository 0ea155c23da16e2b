#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "jobs/debugger/session.h"
#include "jobs/debugger/sources.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// Answers the requests of the Debug Adapter Protocol. Source: its specification, version 1.70.
class DebugAdapter {
  public:
    /// Any thread may call it.
    using Send = std::function<void(Json message)>;
    DebugAdapter(compute::Helpers& helpers, Send send);

    /// Answers a message, and sends the events that follow from it. The stop ends long work.
    void handle(const Json& message, const std::stop_token& stop);
    /// The block runs: move() is to be called until it does not.
    bool moves() const { return motion_.has_value(); }
    void move(const std::stop_token& stop);
    /// The next move can be stopped and goes on where it was; else a stop gives it up.
    bool is_resumable() const { return !opens_next_; }
    bool has_ended() const { return has_ended_; }  ///< the client has disconnected

  private:
    using Answer = Json (DebugAdapter::*)(const Json& arguments);
    static const std::map<std::string, Answer>& answers();
    static const std::map<std::string, Motion::How>& motions();

    Json initialize(const Json& arguments);
    Json launch(const Json& arguments);
    Json restart(const Json& arguments);
    Json configuration_done(const Json& arguments);
    Json disconnect(const Json& arguments);
    Json terminate(const Json& arguments);
    Json pause(const Json& arguments);
    Json set_breakpoints(const Json& arguments);
    Json set_function_breakpoints(const Json& arguments);
    Json set_instruction_breakpoints(const Json& arguments);
    Json set_exception_breakpoints(const Json& arguments);
    Json data_breakpoint_info(const Json& arguments);
    Json set_data_breakpoints(const Json& arguments);
    Json breakpoint_locations(const Json& arguments);
    Json threads(const Json& arguments);
    Json stack_trace(const Json& arguments);
    Json scopes(const Json& arguments);
    Json variables(const Json& arguments);
    Json evaluate(const Json& arguments);
    Json exception_info(const Json& arguments);
    Json disassemble(const Json& arguments);
    Json modules(const Json& arguments);
    Json loaded_sources(const Json& arguments);
    Json source(const Json& arguments);
    Json focus(const Json& arguments);
    Json warps(const Json& arguments);

    void begin(Motion motion);
    void open();
    void open_next(const std::stop_token& stop);
    void stopped(const Halt& halt);
    void event(const std::string& name, Json body);
    void output(const std::string& category, std::string_view text);
    void end();
    void demand_open() const;
    int line_of(int ours) const { return ours - (lines_from_1_ ? 0 : 1); }
    int line_from(int theirs) const { return theirs + (lines_from_1_ ? 0 : 1); }
    launches::LaneView view_of(const Json& arguments) const;
    Json variable(const launches::LaneValue& value);
    int reference(const launches::LaneValue& value);
    Json to_json(const SetBreakpoint& point) const;
    Json breakpoints_json(const std::vector<SetBreakpoint>& points) const;
    std::optional<std::string> command(const std::string& line);
    std::string focus_command(const std::string& rest);

    Send send_;
    Session session_;
    SessionSources sources_{session_};
    std::stop_token stop_;  ///< of the request that is being answered
    Json launch_arguments_;
    bool lines_from_1_ = true, stops_on_entry_ = false, stops_at_end_ = false;
    bool steps_to_barriers_ = false, has_ended_ = false, opens_next_ = false;
    std::optional<Motion> motion_;
    std::vector<std::function<void()>> later_;  ///< behind the answer
    std::vector<launches::LaneValue>
        shown_;  ///< the references to variables, until the block moves
};

}  // namespace warpscope::jobs
