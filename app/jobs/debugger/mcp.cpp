#include "jobs/debugger/mcp.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compiler/programs/run_command.h"
#include "compute/helper/helpers.h"
#include "jobs/debugger/adapter.h"
#include "jobs/output/files_and_terminal.h"
#include "launches/files/file_kind.h"
#include "launches/files/program_capture.h"

namespace warpscope::jobs {
namespace {

constexpr std::size_t most_answered = 12'000;  // bytes of an answer
constexpr std::chrono::seconds most_time(120);

/// What the tools take, as JSON Schema. `more`: further properties.
constexpr const char* file_property =
    R"("file":{"type":"string","description":"Path of a CUDA source (.cu), an executable built with nvcc -lineinfo, or a launch file (.launch.json)."},)"
    R"("arguments":{"type":"array","items":{"type":"string"},"description":"Command line arguments of the program."})";

constexpr const char* tool_list = R"json([
{"name":"check","description":"Runs a CUDA program or kernel in an emulator, without a GPU, and reports data races, wrong barriers and invalid memory accesses: the two threads, their source lines, and the missing barrier. A source without main() is run with a proposed launch.","required":["file"]},
{"name":"counters","description":"Runs a CUDA program or kernel in an emulator and counts what limits its speed, for each kernel: instructions, idle lanes, sectors of global memory, bank conflicts of shared memory.","required":["file"]},
{"name":"needed_barriers","description":"Takes out each barrier, fence and wait of the kernels in a CUDA source, one at a time, and says whether results depend on it: which __syncthreads() can be removed. Of a program, the kernel of its first launch is examined.","required":["file"]},
{"name":"why_wrong","description":"Says why an element of a kernel's result is wrong: which thread read or wrote too early, at which lines. The launch file must say what is expected.","required":["file","element"],"more":{"element":{"type":"string","description":"Such as y[12], or first: the first element that is wrong."}}},
{"name":"step_block","description":"A debugger for one block of a CUDA kernel, which also steps back. With file or experiment it opens a launch and stands before its first instruction; without them it goes on with the launch that is open. Then it makes the moves and reads the expressions. Answers with where it stands, the values, and the state of each warp.","required":[],"more":{
"experiment":{"type":"string","description":"In place of file: dot, reduction, ripple, nbody or pipeline, built-in examples."},
"set":{"type":"array","items":{"type":"string"},"description":"Parameters of the experiment, such as kernel=no_barriers."},
"kernel":{"type":"string","description":"Open the first launch of this kernel."},
"block":{"type":"array","items":{"type":"integer"},"description":"Index of the block: [x, y, z]."},
"breakpoints":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer"},"condition":{"type":"string"}},"required":["line"]},"description":"Lines of the source; a condition is an expression such as threadIdx.x == 3."},
"moves":{"type":"array","maxItems":50,"items":{"enum":["continue","reverseContinue","next","stepIn","stepOut","stepBack"]},"description":"continue stops at breakpoints and at the first race, wrong barrier or invalid access."},
"focus":{"type":"object","description":"Look at another lane: {\"thread\": [32, 0, 0]} or {\"warp\": 1, \"lane\": 0}."},
"read":{"type":"array","maxItems":50,"items":{"type":"string"},"description":"Expressions read at the end in the lane that has the focus: cache[3], threadIdx.x, %r4 + 1, an argument of the kernel."}}}
])json";

Json tools() {
    Json list = Json::parse(tool_list);
    for (Json& tool : list) {
        Json properties = Json::parse(fmt::format("{{{}}}", file_property));
        properties.update(tool.value("more", Json::object()));
        tool["inputSchema"] = {{"type", "object"},
                               {"properties", std::move(properties)},
                               {"required", tool["required"]}};
        tool.erase("required");
        tool.erase("more");
    }
    return list;
}

/// Requests a stop when the time is over.
class TimeLimit {
  public:
    std::stop_token token() const { return stop_.get_token(); }

  private:
    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable_any waiting_;
    std::jthread timer_{[this](const std::stop_token& done) {
        std::unique_lock lock(mutex_);
        waiting_.wait_for(lock, done, most_time, [] { return false; });
        if (!done.stop_requested()) stop_.request_stop();
    }};
};

/// The launch that an agent steps, behind the requests of a debugger.
class AgentDebugger {
  public:
    explicit AgentDebugger(compute::Helpers& helpers)
        : adapter_(helpers, [this](Json message) {
              const std::lock_guard lock(mutex_);
              if (message["type"] == "response") answer_ = message;
              if (message["type"] == "event" && message["event"] == "output")
                  said_ += message["body"]["output"].get<std::string>();
              if (message["type"] == "event" && message["event"] == "terminated")
                  said_ += "The last launch has ended.\n";
          }) {}

    std::string answer(const Json& wish) {
        said_.clear();
        if (wish.contains("file") || wish.contains("experiment")) open(wish);
        if (wish.contains("breakpoints"))
            ask("setBreakpoints",
                {{"source", ask("stackTrace", {{"threadId", 1}})["stackFrames"].at(0).at("source")},
                 {"breakpoints", wish["breakpoints"]}});
        if (wish.contains("focus")) ask("warpscope/focus", wish["focus"]);
        for (const Json& move : wish.value("moves", Json::array()))
            ask(move.get<std::string>(), Json::object());
        std::string text = said_;
        for (const Json& one : wish.value("read", Json::array()))
            text += read(one.get<std::string>()) + "\n";
        const Json warps = ask("threads", Json::object());
        for (const Json& thread : warps["threads"])
            text += thread["name"].get<std::string>() + "\n";
        return text;
    }

  private:
    std::string read(const std::string& expression) {
        try {
            const Json value = ask("evaluate", {{"expression", expression}});
            return fmt::format("{} = {}", expression, value["result"].get<std::string>());
        } catch (const UsageError& error) {
            return fmt::format("{}: {}", expression, error.what());
        }
    }
    void open(const Json& wish) {
        Json launch = wish;
        launch["program"] = wish.value("file", "");
        launch["args"] = wish.value("arguments", Json::array());
        launch["stopOnEntry"] = true;
        ask("launch", launch);
        ask("setExceptionBreakpoints", {{"filters", {"race", "barrier", "memory"}}});
        ask("configurationDone", Json::object());
    }
    /// Throws UsageError for a refusal.
    Json ask(const std::string& command, const Json& arguments) {
        const TimeLimit limit;
        adapter_.handle(
            {{"type", "request"}, {"seq", 1}, {"command", command}, {"arguments", arguments}},
            limit.token());
        while (adapter_.moves() && !limit.token().stop_requested()) adapter_.move(limit.token());
        const Json answer = answer_;
        if (adapter_.moves())
            adapter_.handle({{"type", "request"}, {"seq", 1}, {"command", "pause"}}, {});
        if (!answer["success"].get<bool>()) throw UsageError(answer["message"].get<std::string>());
        return answer.value("body", Json::object());
    }

    std::mutex mutex_;
    Json answer_;
    std::string said_;
    DebugAdapter adapter_;
};

/// Runs this program with the options, as a request of --serve names them.
std::string run_request(std::vector<std::string> options, const Json& wish) {
    const std::string file = wish.at("file").get<std::string>();
    const Json arguments = wish.value("arguments", Json::array());
    const launches::FileKind kind = launches::file_kind(file);
    options.insert(options.begin(), "/proc/self/exe");
    if (kind == launches::FileKind::unknown && !std::filesystem::is_directory(file))
        options.emplace_back("--");
    else if (arguments.empty())
        options.emplace_back("--launch");
    options.push_back(file);
    for (const Json& argument : arguments) options.push_back(argument.get<std::string>());
    const TimeLimit limit;
    const compiler::Ended ended = compiler::run_command(options, limit.token());
    return fmt::format("{}\nexit {}", ended.output,
                       WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : -1);
}

/// Of a program, in the first launch that it makes.
std::string needed_barriers(const Json& wish) {
    const std::filesystem::path file = wish.at("file").get<std::string>();
    if (launches::file_kind(file) != launches::FileKind::unknown &&
        !launches::is_program_source(file))
        return run_request({"--check", "needed"}, wish);
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("warpscope-launches-{}", ::getpid());
    std::string text = run_request({"--capture", folder.string()}, wish);
    if (launches::read_capture(folder))
        text = run_request({"--check", "needed"}, {{"file", folder.string()}});
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    // The sources are named as the program does, not by their copies.
    const std::string copies = (folder / "sources" / "").string();
    for (std::size_t at = 0; (at = text.find(copies, at)) != text.npos;)
        text.erase(at, std::min(text.find('/', at + copies.size()), text.size() - 1) + 1 - at);
    return text;
}

class AgentServer {
  public:
    /// nullopt: the message asks for no answer.
    std::optional<Json> answer(const Json& request) {
        if (!request.is_object() || !request.contains("id")) return {};
        Json reply{{"jsonrpc", "2.0"}, {"id", request["id"]}};
        try {
            const std::string method = request.at("method").get<std::string>();
            const Json parameters = request.value("params", Json::object());
            if (method == "initialize")
                reply["result"] = {
                    {"protocolVersion", parameters.value("protocolVersion", "2025-06-18")},
                    {"capabilities", {{"tools", Json::object()}}},
                    {"serverInfo", {{"name", "warpscope"}, {"version", "1"}}}};
            else if (method == "ping")
                reply["result"] = Json::object();
            else if (method == "tools/list")
                reply["result"] = {{"tools", tools()}};
            else if (method == "tools/call")
                reply["result"] = call(parameters);
            else
                reply["error"] = {{"code", -32601},
                                  {"message", "Warpscope does not answer " + method + "."}};
        } catch (const Json::exception&) {
            reply["error"] = {{"code", -32602}, {"message", "The request has a wrong form."}};
        }
        return reply;
    }

  private:
    Json call(const Json& parameters) {
        std::string text;
        bool has_failed = false;
        try {
            text = result(parameters.at("name").get<std::string>(),
                          parameters.value("arguments", Json::object()));
        } catch (const Json::exception&) {
            text = "The arguments have another form than the tool's schema.";
            has_failed = true;
        } catch (const std::exception& error) {
            text = error.what();
            has_failed = true;
        }
        if (text.size() > most_answered)
            text = text.substr(0, most_answered) +
                   fmt::format("\n… {} bytes more", text.size() - most_answered);
        return {{"content", Json::array({{{"type", "text"}, {"text", visible(text)}}})},
                {"isError", has_failed}};
    }
    std::string result(const std::string& tool, const Json& wish) {
        if (tool == "check") return run_request({"--check", "race,barrier,memory"}, wish);
        if (tool == "counters") return run_request({"--counters"}, wish);
        if (tool == "needed_barriers") return needed_barriers(wish);
        if (tool == "why_wrong")
            return run_request({"--headless", "--device", "emulator", "--why",
                                wish.at("element").get<std::string>()},
                               wish);
        if (tool != "step_block") throw UsageError("there is no tool " + tool);
        return debugger_.answer(wish);
    }

    compute::Helpers helpers_{"/proc/self/exe"};
    AgentDebugger debugger_{helpers_};
};

}  // namespace

int run_mcp(std::istream& requests) {
    AgentServer server;
    for (std::string line; std::getline(requests, line);) {
        const Json request = Json::parse(line, nullptr, false);
        const auto reply =
            request.is_discarded()
                ? std::optional(Json{{"jsonrpc", "2.0"},
                                     {"id", nullptr},
                                     {"error", {{"code", -32700}, {"message", "No JSON."}}}})
                : server.answer(request);
        if (reply) print(reply->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    return 0;
}

}  // namespace warpscope::jobs
