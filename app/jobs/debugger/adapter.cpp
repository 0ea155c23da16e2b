#include "jobs/debugger/adapter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "compute/device/enum_words.h"
#include "emulator/program/launch.h"
#include "emulator/warp/warp.h"
#include "experiments/framework/experiment.h"
#include "jobs/headless/headless.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

using emulator::Dim3;
using launches::LaneValue;
using launches::LaneValues;
using launches::LaneView;
using How = Motion::How;
using At = WantedBreakpoint::At;

namespace {

constexpr std::size_t most_parts = 1000, most_frames = 64;

/// "1", "(1,0,0)" and [1, 0, 0].
std::optional<Dim3> index_from(const Json& json) {
    if (json.is_null()) return {};
    if (json.is_array()) {
        const auto numbers = json.get<std::vector<std::uint32_t>>();
        if (numbers.empty() || numbers.size() > 3) return {};
        return Dim3{numbers[0], numbers.size() > 1 ? numbers[1] : 0,
                    numbers.size() > 2 ? numbers[2] : 0};
    }
    return emulator::read_index(json.is_string() ? json.get<std::string>() : json.dump());
}

std::vector<std::string> words_from(const Json& json) {
    if (json.is_null()) return {};
    if (json.is_array()) return json.get<std::vector<std::string>>();
    return {json.get<std::string>()};
}

TargetRequest target_from(const Json& a) {
    TargetRequest request{.program = a.value("program", ""),
                          .arguments = words_from(a.value("args", Json())),
                          .experiment = a.value("experiment", ""),
                          .kernel = a.value("kernel", "")};
    if (request.program.empty() == request.experiment.empty())
        throw UsageError(
            "launch: name a program: a source, an executable file, a launch file or a "
            "capture; or an experiment");
    for (const std::string& text : words_from(a.value("set", Json()))) {
        const std::size_t equals = std::min(text.find('='), text.size());
        const std::size_t begin =
            text.starts_with(request.experiment + ".") ? request.experiment.size() + 1 : 0;
        request.values.push_back(
            {text.substr(begin, equals - begin), text.substr(std::min(equals + 1, text.size()))});
    }
    const std::string launches = a.value("launches", "");
    const auto ranges = programs::read_launch_ranges(launches);
    if (!ranges) throw UsageError(fmt::format("launches: '{}' is no list like 3,17-20", launches));
    request.launches = *ranges;
    request.optimized = a.value("optimized", false);
    request.run.seed = a.value("seed", request.run.seed);
    request.run.schedule = compute::parse<compute::Schedule>(a.value("schedule", "random"));
    return request;
}

emulator::CheckChoice checks_from(const Json& json) {
    const auto words = words_from(json);
    return words.empty() ? emulator::CheckChoice{}
                         : parse_checks(fmt::format("{}", fmt::join(words, ",")));
}

/// Why a request that has no answer is refused.
std::string refusal_of(const std::string& command) {
    if (command == "attach")
        return "Warpscope runs a program in its emulator and cannot attach to one that runs: "
               "launch "
               "it.";
    if (command == "setVariable" || command == "setExpression" || command == "writeMemory" ||
        command == "goto")
        return "The launch runs as it was made: values and places cannot be set.";
    return fmt::format("Warpscope does not answer the request {}.", command);
}

std::string reason_of(Halt::Why why) {
    constexpr const char* words[] = {"entry",     "step",  "breakpoint", "data breakpoint",
                                     "exception", "pause", "focus",      "end"};
    return words[std::size_t(why)];
}

}  // namespace

const std::map<std::string, How>& DebugAdapter::motions() {
    static const std::map<std::string, How> known{
        {"continue", How::run}, {"reverseContinue", How::back_run},
        {"next", How::line},    {"stepIn", How::into},
        {"stepOut", How::out},  {"stepBack", How::back_line}};
    return known;
}

const std::map<std::string, DebugAdapter::Answer>& DebugAdapter::answers() {
    using A = DebugAdapter;
    static const std::map<std::string, Answer> known{
        {"initialize", &A::initialize},
        {"launch", &A::launch},
        {"restart", &A::restart},
        {"configurationDone", &A::configuration_done},
        {"disconnect", &A::disconnect},
        {"terminate", &A::terminate},
        {"pause", &A::pause},
        {"setBreakpoints", &A::set_breakpoints},
        {"setFunctionBreakpoints", &A::set_function_breakpoints},
        {"setInstructionBreakpoints", &A::set_instruction_breakpoints},
        {"setExceptionBreakpoints", &A::set_exception_breakpoints},
        {"dataBreakpointInfo", &A::data_breakpoint_info},
        {"setDataBreakpoints", &A::set_data_breakpoints},
        {"breakpointLocations", &A::breakpoint_locations},
        {"threads", &A::threads},
        {"stackTrace", &A::stack_trace},
        {"scopes", &A::scopes},
        {"variables", &A::variables},
        {"evaluate", &A::evaluate},
        {"exceptionInfo", &A::exception_info},
        {"disassemble", &A::disassemble},
        {"modules", &A::modules},
        {"loadedSources", &A::loaded_sources},
        {"source", &A::source},
        {"warpscope/focus", &A::focus},
        {"warpscope/warps", &A::warps}};
    return known;
}

DebugAdapter::DebugAdapter(compute::Helpers& helpers, Send send)
    : send_(std::move(send)),
      session_(
          helpers,
          {.log = [this](const std::string& text) { output("console", text); },
           .changed =
               [this](const std::vector<SetBreakpoint>& points) {
                   for (const SetBreakpoint& point : points)
                       event("breakpoint", {{"reason", "changed"}, {"breakpoint", to_json(point)}});
               },
           .file = [this](const std::string& key) { return sources_.file_of(key); }}) {}

void DebugAdapter::event(const std::string& name, Json body) {
    send_({{"type", "event"}, {"event", name}, {"body", std::move(body)}});
}

void DebugAdapter::output(const std::string& category, std::string_view text) {
    if (!text.empty()) event("output", {{"category", category}, {"output", std::string(text)}});
}

void DebugAdapter::handle(const Json& message, const std::stop_token& stop) {
    if (!message.is_object() || message.value("type", Json()) != "request") return;
    stop_ = stop;
    Json answer{{"type", "response"},
                {"request_seq", message.value("seq", Json(0))},
                {"success", true},
                {"command", message.value("command", Json(""))}};
    std::string why;
    try {
        const std::string command = answer["command"].get<std::string>();
        Json arguments = message.value("arguments", Json::object());
        if (!arguments.is_object()) arguments = Json::object();
        if (const auto how = motions().find(command); how != motions().end()) {
            Motion motion{.how = how->second};
            const std::string granularity = arguments.value("granularity", "");
            demand_open();
            motion.warp = arguments.contains("threadId")
                              ? arguments["threadId"].get<std::uint32_t>() - 1
                              : session_.focus().warp;
            if (motion.how == How::run || motion.how == How::back_run)
                motion.warp = session_.focus().warp;
            const bool is_back = motion.how == How::back_line;
            if (granularity == "instruction" && motion.how != How::out)
                motion.how = is_back ? How::back_instruction : How::instruction;
            else if (steps_to_barriers_ && (is_back || motion.how == How::line))
                motion.how = is_back ? How::back_barrier : How::barrier;
            begin(motion);
            opens_next_ =
                motion.how == How::run && session_.stepper().end() != emulator::Stepper::End::open;
            answer["body"] = {{"allThreadsContinued", true}};
        } else if (const auto known = answers().find(command); known != answers().end()) {
            answer["body"] = (this->*known->second)(arguments);
        } else {
            why = refusal_of(command);
        }
    } catch (const Json::exception& error) {
        why = "The request has another form than the protocol gives it.";
    } catch (const std::exception& error) {
        why = error.what();
    }
    if (!why.empty()) {
        answer["success"] = false;
        answer["message"] = why;
        answer["body"] = {
            {"error",
             {{"id", 1}, {"format", "{why}"}, {"variables", {{"why", why}}}, {"showUser", true}}}};
    }
    send_(std::move(answer));
    while (!later_.empty())
        for (const auto& work : std::exchange(later_, {})) work();
}

Json DebugAdapter::initialize(const Json& a) {
    lines_from_1_ = a.value("linesStartAt1", true);
    Json can;
    for (const char* what :
         {"supportsConfigurationDoneRequest", "supportsFunctionBreakpoints",
          "supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints",
          "supportsEvaluateForHovers", "supportsStepBack", "supportsModulesRequest",
          "supportsRestartRequest", "supportsExceptionInfoRequest", "supportTerminateDebuggee",
          "supportsLoadedSourcesRequest", "supportsLogPoints", "supportsTerminateRequest",
          "supportsDataBreakpoints", "supportsDisassembleRequest",
          "supportsBreakpointLocationsRequest", "supportsSteppingGranularity",
          "supportsInstructionBreakpoints"})
        can[what] = true;
    can["exceptionBreakpointFilters"] = Json::array();
    for (const auto& [filter, label, words] :
         {std::tuple{"race", "Races", "Two accesses of a word that nothing orders."},
          {"barrier", "Barriers", "A barrier that not every thread reaches."},
          {"memory", "Invalid accesses", "An access outside of the memory that is allocated."}})
        can["exceptionBreakpointFilters"].push_back(
            {{"filter", filter}, {"label", label}, {"description", words}, {"default", true}});
    return can;
}

void DebugAdapter::open() {
    const Json& a = launch_arguments_;
    motion_.reset();
    opens_next_ = false;
    shown_.clear();
    if (const std::string folder = a.value("cwd", ""); !folder.empty())
        std::filesystem::current_path(folder);
    TargetRequest target = target_from(a);
    sources_.search_in({std::filesystem::current_path(),
                        std::filesystem::current_path() / target.program.parent_path()});
    const auto block = index_from(a.value("block", Json()));
    session_.open(
        std::move(target), block, checks_from(a.value("checks", Json())),
        [this](std::string_view text) { output("stdout", text); }, stop_);
    stops_on_entry_ = a.value("stopOnEntry", false);
    stops_at_end_ = a.value("stopAtEnd", false);
    steps_to_barriers_ = a.value("step", "line") == "barrier";
}

Json DebugAdapter::launch(const Json& a) {
    launch_arguments_ = a;
    open();
    later_.emplace_back([this] {
        output("console", session_.focus_words() + "\n");
        event("initialized", Json::object());
    });
    return Json::object();
}

Json DebugAdapter::restart(const Json& a) {
    if (launch_arguments_.is_null()) throw UsageError("restart: nothing was launched");
    if (a.contains("arguments")) launch_arguments_ = a["arguments"];
    open();
    later_.emplace_back([this] { configuration_done({}); });
    return Json::object();
}

Json DebugAdapter::configuration_done(const Json&) {
    if (!session_.is_open()) return Json::object();
    if (stops_on_entry_)
        later_.emplace_back([this] { stopped({Halt::Why::entry, "The launch begins."}); });
    else
        begin({.how = How::run, .warp = session_.focus().warp});
    return Json::object();
}

void DebugAdapter::end() {
    motion_.reset();
    event("exited", {{"exitCode", session_.exit_status()}});
    event("terminated", Json::object());
    session_.close();
}

Json DebugAdapter::terminate(const Json&) {
    later_.emplace_back([this] {
        if (session_.is_open()) event("terminated", Json::object());
        motion_.reset();
        session_.close();
    });
    return Json::object();
}

Json DebugAdapter::disconnect(const Json&) {
    has_ended_ = true;
    motion_.reset();
    return Json::object();
}

void DebugAdapter::demand_open() const {
    if (!session_.is_open()) throw UsageError("no launch is open");
}

void DebugAdapter::begin(Motion motion) {
    demand_open();
    if (motion_) throw UsageError("the block runs: pause it first");
    if (motion.warp >= session_.stepper().warps())
        throw UsageError(fmt::format("there is no warp {}", motion.warp));
    shown_.clear();
    motion_ = std::move(motion);
}

void DebugAdapter::move(const std::stop_token& stop) {
    try {
        if (std::exchange(opens_next_, false)) return open_next(stop);
        const auto halt = session_.move(*motion_, stop);
        if (!halt) return;
        opens_next_ = halt->why == Halt::Why::end && motion_->how == How::run && !stops_at_end_;
        if (opens_next_) return;
        motion_.reset();
        stopped(*halt);
    } catch (const std::exception& error) {
        motion_.reset();
        output("important", std::string(error.what()) + "\n");
        if (!session_.is_open()) return end();
        stopped({Halt::Why::pause, error.what()});
    }
}

/// At the end of a block the next launch follows, or the session ends.
void DebugAdapter::open_next(const std::stop_token& stop) {
    const auto next = session_.go_on(stop);
    if (!next) return end();
    if (next->why == Halt::Why::entry && !stops_on_entry_) {  // it runs on
        motion_ = Motion{.how = How::run, .warp = session_.focus().warp};
        return;
    }
    motion_.reset();
    stopped(*next);
}

void DebugAdapter::stopped(const Halt& halt) {
    shown_.clear();
    Json body{{"reason", reason_of(halt.why)},
              {"threadId", session_.focus().warp + 1},
              {"allThreadsStopped", true}};
    if (!halt.text.empty()) body["description"] = body["text"] = halt.text;
    if (halt.breakpoint) body["hitBreakpointIds"] = {halt.breakpoint};
    if (!halt.text.empty() && halt.why != Halt::Why::entry)
        output("console", fmt::format("{}\n[{}]\n", halt.text, session_.focus_words()));
    event("stopped", std::move(body));
}

Json DebugAdapter::pause(const Json&) {
    demand_open();
    if (!motion_) return Json::object();
    motion_.reset();
    opens_next_ = false;
    later_.emplace_back([this] { stopped({Halt::Why::pause, "Paused."}); });
    return Json::object();
}

// Breakpoints.

Json DebugAdapter::to_json(const SetBreakpoint& point) const {
    Json json{{"id", point.id}, {"verified", point.why_not.empty()}};
    const bool has_line = point.wanted.at == At::line || point.wanted.at == At::instruction;
    if (has_line) json["line"] = line_of(point.line);
    if (!point.why_not.empty())
        json["message"] = point.why_not;
    else if (point.line != point.wanted.line && point.wanted.at == At::line)
        json["message"] =
            fmt::format("Line {} has no code: it stops at line {}.", point.wanted.line, point.line);
    return json;
}

Json DebugAdapter::breakpoints_json(const std::vector<SetBreakpoint>& points) const {
    Json list = Json::array();
    for (const SetBreakpoint& point : points) list.push_back(to_json(point));
    return {{"breakpoints", list}};
}

namespace {

WantedBreakpoint wanted_from(const Json& json, At at) {
    WantedBreakpoint wanted{.at = at};
    wanted.condition = json.value("condition", "");
    wanted.hits = json.value("hitCondition", "");
    wanted.log = json.value("logMessage", "");
    return wanted;
}

}  // namespace

Json DebugAdapter::set_breakpoints(const Json& a) {
    const Json& source = a.at("source");
    const std::string key = sources_.key(source);
    std::vector<WantedBreakpoint> wanted;
    for (const Json& one : a.value("breakpoints", Json::array())) {
        wanted.push_back(
            wanted_from(one, SessionSources::is_ptx(key) ? At::instruction : At::line));
        wanted.back().source = key;
        wanted.back().line = line_from(one.at("line").get<int>());
    }
    return breakpoints_json(session_.breakpoints().set("lines of " + key, std::move(wanted)));
}

Json DebugAdapter::set_function_breakpoints(const Json& a) {
    std::vector<WantedBreakpoint> wanted;
    for (const Json& one : a.at("breakpoints")) {
        wanted.push_back(wanted_from(one, At::function));
        wanted.back().function = one.at("name").get<std::string>();
    }
    return breakpoints_json(session_.breakpoints().set("functions", std::move(wanted)));
}

Json DebugAdapter::set_instruction_breakpoints(const Json& a) {
    demand_open();
    const auto& lines = session_.stepper().kernel().lines;
    std::vector<WantedBreakpoint> wanted;
    for (const Json& one : a.at("breakpoints")) {
        const std::string text = one.at("instructionReference").get<std::string>();
        const auto pc = std::uint64_t(std::strtoull(text.c_str(), nullptr, 0)) +
                        std::uint64_t(one.value("offset", 0));
        wanted.push_back(wanted_from(one, At::instruction));
        if (pc < lines.size()) wanted.back().line = lines[pc].source.ptx_line;
    }
    return breakpoints_json(session_.breakpoints().set("instructions", std::move(wanted)));
}

Json DebugAdapter::set_exception_breakpoints(const Json& a) {
    std::set<std::string> kinds;
    for (const std::string& filter : words_from(a.at("filters"))) {
        if (filter == "memory") kinds.insert({"uninitialized", "undefined", "failure"});
        if (filter == "barrier") kinds.insert("members");
        kinds.insert(filter);
    }
    session_.stop_at(std::move(kinds));
    return Json::object();
}

Json DebugAdapter::data_breakpoint_info(const Json& a) {
    demand_open();
    const std::string name = a.at("name").get<std::string>();
    const auto parent = std::size_t(a.value("variablesReference", 0));
    const bool has_parent = parent > 0 && parent <= shown_.size();
    LaneValue value;
    if (has_parent) {
        const LaneValue& of = shown_[parent - 1];
        const LaneValues& values = session_.values();
        for (std::size_t i = 0; i < values.parts(of) && value.name != name; ++i)
            value = values.parts(of, i, 1).at(0);
        if (value.name != name) value = {};
    } else {
        value = session_.values().evaluated(name, view_of(a));
    }
    if (!LaneValues::can_be_watched(value))
        return {{"dataId", nullptr},
                {"description", "Only words of shared and of global memory can be watched."}};
    return {{"dataId", fmt::format("{}", value.address)},
            {"description", fmt::format("{} {}", has_parent ? shown_[parent - 1].name : "", name)},
            {"accessTypes", {"read", "write", "readWrite"}}};
}

Json DebugAdapter::set_data_breakpoints(const Json& a) {
    std::vector<WantedBreakpoint> wanted;
    std::vector<std::size_t> first;  // of each that the client sets
    for (const Json& one : a.at("breakpoints")) {
        const std::uint64_t id =
            std::strtoull(one.at("dataId").get<std::string>().c_str(), nullptr, 10);
        const bool is_shared = id - emulator::shared_window < emulator::window_size;
        const std::string access = one.value("accessType", "write");
        WantedBreakpoint point = wanted_from(one, At::write);
        point.space = is_shared ? emulator::Space::shared : emulator::Space::global;
        point.address = (is_shared ? id - emulator::shared_window : id) & ~3ULL;
        first.push_back(wanted.size());
        if (access != "read") wanted.push_back(point);
        point.at = At::read;
        if (access != "write") wanted.push_back(point);
    }
    const auto made = session_.breakpoints().set("words", std::move(wanted));
    std::vector<SetBreakpoint> answer;
    for (const std::size_t index : first) answer.push_back(made.at(index));
    return breakpoints_json(answer);
}

Json DebugAdapter::breakpoint_locations(const Json& a) {
    demand_open();
    const std::string file = sources_.file_of(sources_.key(a.at("source")));
    const int first = line_from(a.at("line").get<int>());
    const int last = std::min(first + 1000, line_from(a.value("endLine", line_of(first))));
    Json list = Json::array();
    for (int line = first; line <= last; ++line)
        if (!file.empty() && !line_starts(session_.stepper().kernel(), file, line).empty())
            list.push_back({{"line", line_of(line)}});
    return {{"breakpoints", list}};
}

// What a client shows.

Json DebugAdapter::threads(const Json&) {
    Json list = Json::array();
    if (session_.is_open())
        for (std::uint32_t warp = 0; warp < session_.stepper().warps(); ++warp)
            list.push_back({{"id", warp + 1},
                            {"name", fmt::format("warp {}: {}", warp, session_.state_of(warp))}});
    return {{"threads", list}};
}

Json DebugAdapter::stack_trace(const Json& a) {
    demand_open();
    const auto warp = a.at("threadId").get<std::uint32_t>() - 1;
    if (warp >= session_.stepper().warps())
        throw UsageError(fmt::format("there is no warp {}", warp));
    const unsigned lane = session_.lane_of(warp);
    const auto pc = session_.values().pc_of(warp, lane);
    Json frames = Json::array();
    const std::string who = fmt::format("{}, thread {}, lane {}", session_.kernel_name(),
                                        name_of(session_.thread(warp, lane)), lane);
    if (!pc) {
        frames.push_back({{"id", int(warp * most_frames) + 1},
                          {"name", who + ": has ended"},
                          {"line", 0},
                          {"column", 0},
                          {"presentationHint", "label"}});
        return {{"stackFrames", frames}, {"totalFrames", 1}};
    }
    const auto called = session_.values().frames_of(warp, lane);
    for (std::size_t i = 0; i < std::min(called.size(), most_frames); ++i)
        frames.push_back(
            {{"id", warp * most_frames + i + 1},
             {"name",
              i + 1 == called.size() && called[i].instance == 0 ? who : called[i].function + "()"},
             {"source", sources_.source(called[i].place.file)},
             {"line", line_of(called[i].place.line)},
             {"column", 1},
             {"moduleId", 1},
             {"instructionPointerReference", fmt::format("{:#x}", *pc)}});
    const std::size_t all = frames.size();
    const auto begin =
        std::min<std::size_t>(std::size_t(std::max(0, a.value("startFrame", 0))), all);
    const auto levels = std::size_t(std::max(0, a.value("levels", 0)));
    const std::size_t end = levels ? std::min(all, begin + levels) : all;
    return {{"stackFrames", Json(frames.begin() + long(begin), frames.begin() + long(end))},
            {"totalFrames", all}};
}

LaneView DebugAdapter::view_of(const Json& a) const {
    demand_open();
    if (!a.contains("frameId"))
        return session_.values().view(session_.focus().warp, session_.focus().lane);
    const auto frame = std::uint64_t(a["frameId"].get<std::int64_t>() - 1);
    const auto warp = frame / most_frames;
    if (warp >= session_.stepper().warps())
        throw UsageError("there is no frame of this number any more");
    return session_.values().view(std::uint32_t(warp), session_.lane_of(std::uint32_t(warp)),
                                  frame % most_frames);
}

int DebugAdapter::reference(const LaneValue& value) {
    const bool has_parts = value.type ? session_.values().parts(value) > 0 : !value.members.empty();
    if (!has_parts) return 0;
    shown_.push_back(value);
    return int(shown_.size());
}

Json DebugAdapter::scopes(const Json& a) {
    const LaneView at = view_of(a);
    const LaneValues& values = session_.values();
    Json list = Json::array();
    const auto scope = [&](const char* name, const char* hint, std::vector<LaneValue> members) {
        if (members.empty()) return;
        const std::size_t count = members.size();
        Json json{{"name", name}, {"expensive", false}, {"namedVariables", count}};
        json["variablesReference"] = reference({.name = name, .members = std::move(members)});
        if (*hint) json["presentationHint"] = hint;
        list.push_back(std::move(json));
    };
    scope("Variables", "locals", values.locals(at));
    scope("Shared memory", "", values.shared(at));
    scope("Arguments", "arguments", values.arguments(at));
    scope("Global variables", "globals", values.globals(at));
    scope("Registers", "registers", values.registers(at));
    scope("Built-in variables", "", values.builtins(at));
    return {{"scopes", list}};
}

Json DebugAdapter::variable(const LaneValue& value) {
    const LaneValues& values = session_.values();
    Json json{{"name", value.name},
              {"value", values.text(value)},
              {"type", LaneValues::type_name(value)},
              {"variablesReference", reference(value)},
              {"presentationHint", {{"attributes", {"readOnly"}}}}};
    if (json["variablesReference"] != 0)
        json[LaneValues::is_indexed(value) ? "indexedVariables" : "namedVariables"] =
            values.parts(value);
    return json;
}

Json DebugAdapter::variables(const Json& a) {
    demand_open();
    const auto number = a.at("variablesReference").get<std::int64_t>();
    if (number < 1 || std::size_t(number) > shown_.size())
        throw UsageError("there are no variables of this number any more");
    const LaneValue value = shown_[std::size_t(number - 1)];
    const auto first = std::size_t(std::max(0, a.value("start", 0)));
    const auto count = std::size_t(std::max(0, a.value("count", 0)));
    Json list = Json::array();
    const std::string filter = a.value("filter", "");
    const bool is_asked = filter.empty() || (filter == "indexed") == LaneValues::is_indexed(value);
    const std::size_t most = count ? std::min(count, most_parts) : most_parts;
    if (is_asked)
        for (const LaneValue& part : session_.values().parts(value, first, most))
            list.push_back(variable(part));
    return {{"variables", list}};
}

Json DebugAdapter::evaluate(const Json& a) {
    const std::string text = a.at("expression").get<std::string>();
    const LaneView at = view_of(a);
    if (a.value("context", "") == "repl")
        if (const auto said = command(text)) return {{"result", *said}, {"variablesReference", 0}};
    Json json = variable(session_.values().evaluated(text, at));
    json["result"] = json["value"];
    json.erase("value");
    json.erase("name");
    return json;
}

Json DebugAdapter::exception_info(const Json&) {
    demand_open();
    const auto& finding = session_.finding();
    if (!finding)
        return {{"exceptionId", "failure"},
                {"description", session_.as_named(session_.stepper().error())},
                {"breakMode", "always"}};
    const std::string words = session_.as_named(finding->sentence);
    std::string threads;
    for (const auto& at : {std::optional(finding->first), finding->second})
        if (at)
            threads += fmt::format("thread {} of block {} at {}\n", name_of(at->thread),
                                   name_of(at->block), session_.as_named(at->where()));
    return {
        {"exceptionId", to_string(finding->kind)},
        {"description", words},
        {"breakMode", "always"},
        {"details",
         {{"message", words}, {"typeName", to_string(finding->kind)}, {"stackTrace", threads}}}};
}

Json DebugAdapter::disassemble(const Json& a) {
    demand_open();
    const auto& lines = session_.stepper().kernel().lines;
    std::vector<std::uint32_t> all;
    for (std::uint32_t pc = 0; pc < lines.size(); ++pc)
        if (!lines[pc].pseudo) all.push_back(pc);
    const std::string text = a.at("memoryReference").get<std::string>();
    const auto pc = std::strtoll(text.c_str(), nullptr, 0) + a.value("offset", 0);
    const auto nearest = std::ranges::lower_bound(all, std::max<long long>(pc, 0));
    std::int64_t at = (nearest - all.begin()) + a.value("instructionOffset", 0);
    const int count = std::clamp(a.at("instructionCount").get<int>(), 0, 10'000);
    Json list = Json::array();
    for (int i = 0; i < count; ++i, ++at) {
        if (at < 0 || at >= std::int64_t(all.size())) {
            list.push_back(
                {{"address", "0x0"}, {"instruction", ""}, {"presentationHint", "invalid"}});
            continue;
        }
        const emulator::InstructionInfo& info = lines[all[std::size_t(at)]];
        Json one{{"address", fmt::format("{:#x}", all[std::size_t(at)])},
                 {"instruction", info.text},
                 {"location", sources_.source(info.source.file)},
                 {"line", line_of(info.source.file < 0 ? info.source.ptx_line : info.source.line)}};
        list.push_back(std::move(one));
    }
    return {{"instructions", list}};
}

Json DebugAdapter::modules(const Json&) {
    demand_open();
    const emulator::Kernel& kernel = session_.stepper().kernel();
    const Json module{{"id", 1},
                      {"name", session_.as_named(kernel.module->name())},
                      {"symbolStatus", kernel.module->files().empty() ? "No line information"
                                                                      : "Line information"}};
    return {{"modules", Json::array({module})}, {"totalModules", 1}};
}

Json DebugAdapter::loaded_sources(const Json&) {
    demand_open();
    return {{"sources", sources_.all()}};
}

Json DebugAdapter::source(const Json& a) {
    demand_open();
    int reference = a.value("sourceReference", 0);
    if (a.contains("source")) reference = a["source"].value("sourceReference", reference);
    return {
        {"content", sources_.text(reference)},
        {"mimeType", reference == SessionSources::ptx_reference ? "text/x-ptx" : "text/x-cuda"}};
}

/// The lanes of each warp, in groups that are at the same place, for a tree.
Json DebugAdapter::warps(const Json&) {
    demand_open();
    Json list = Json::array();
    for (std::uint32_t warp = 0; warp < session_.stepper().warps(); ++warp) {
        Json groups = Json::array();
        for (const emulator::SplitView& split : session_.stepper().warp(warp).splits) {
            Json lanes = Json::array();
            for (unsigned lane = 0; lane < emulator::lanes_per_warp; ++lane)
                if (split.mask >> lane & 1)
                    lanes.push_back(
                        {{"lane", lane}, {"thread", name_of(session_.thread(warp, lane))}});
            groups.push_back({{"state", session_.state_of(split)}, {"lanes", lanes}});
        }
        list.push_back({{"warp", warp}, {"state", session_.state_of(warp)}, {"groups", groups}});
    }
    return {{"focus", {{"warp", session_.focus().warp}, {"lane", session_.focus().lane}}},
            {"warps", list}};
}

// Commands of the debug console.

/// {"launch": 3, "block": [1, 0, 0], "thread": [32, 0, 0]}, or "warp" and "lane".
Json DebugAdapter::focus(const Json& a) {
    demand_open();
    if (motion_) throw UsageError("the block runs: pause it first");
    const auto block = index_from(a.value("block", Json()));
    const auto thread = index_from(a.value("thread", Json()));
    if (a.contains("launch")) session_.look_at_launch(a["launch"].get<std::uint64_t>(), stop_);
    if (block) session_.look_at_block(*block, stop_);
    if (thread) session_.look_at_thread(*thread);
    if (a.contains("warp") || a.contains("lane")) {
        const std::uint32_t warp = a.value("warp", session_.focus().warp);
        session_.look_at(warp,
                         a.contains("lane") ? a["lane"].get<unsigned>() : session_.lane_of(warp));
    }
    later_.emplace_back([this] { stopped({Halt::Why::focus, {}}); });
    return {{"focus", session_.focus_words()}};
}

/// "block (1,0,0) thread (32,0,0)", "warp 3 lane 5"; empty: only says where the focus is.
std::string DebugAdapter::focus_command(const std::string& rest) {
    Json wish = Json::object();
    std::size_t at = 0;
    while ((at = rest.find_first_not_of(' ', at)) != std::string::npos) {
        const std::size_t word_end = std::min(rest.find_first_of(" (0123456789", at), rest.size());
        const std::string word = rest.substr(at, word_end - at);
        std::size_t end = word_end;
        while (end < rest.size() && std::isalpha(static_cast<unsigned char>(rest[end])) == 0) ++end;
        const auto index = emulator::read_index(rest.substr(word_end, end - word_end));
        const bool is_index = word == "block" || word == "thread";
        if (!index || (!is_index && word != "launch" && word != "warp" && word != "lane"))
            throw UsageError(
                "write it like: cuda block (1,0,0) thread (32,0,0), cuda warp 3 lane 5, or cuda "
                "launch 2");
        wish[word] = is_index ? Json{index->x, index->y, index->z} : Json(index->x);
        at = end;
    }
    if (!wish.empty()) focus(wish);
    return session_.focus_words();
}

std::optional<std::string> DebugAdapter::command(const std::string& line) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    if (word == "cuda") return focus_command(line.substr(space));
    if (line == "barrier" || line == "back barrier") {
        later_.emplace_back([this] { event("continued", {{"threadId", 1}}); });
        begin({.how = line == "barrier" ? How::barrier : How::back_barrier,
               .warp = session_.focus().warp});
        return "";
    }
    if (line == "help")
        return "An expression, such as %r4, threadIdx.x, cache[3] + 1; cuda block (1,0,0) thread "
               "(32,0,0); cuda warp 3 lane 5; cuda launch 2; barrier and back barrier: all warps "
               "to the next and "
               "from the last barrier.";
    return {};
}

}  // namespace warpscope::jobs
