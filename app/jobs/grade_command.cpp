#include "jobs/grade_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <vector>

#include "compute/confinement/confinement.h"
#include "compute/helper/helper_process.h"
#include "compute/helper/spawn.h"
#include "experiments/export/table.h"
#include "experiments/lessons/grade_solution.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/json.h"

extern char** environ;

namespace warpscope::jobs {
namespace {

namespace fs = std::filesystem;
using experiments::Grade;

/// The words for people of a grade.
std::string words_of(const Json& grade) {
    std::string text = fmt::format("{}: {}\n", grade["title"].get<std::string>(),
                                   grade["file"].get<std::string>());
    for (const Json& one : grade["conditions"])
        text += fmt::format("  {}  {}\n", one["holds"].get<bool>() ? "yes" : "no ",
                            one["sentence"].get<std::string>());
    if (grade["conditions"].empty())
        text += fmt::format("  {}\n", grade["reason"].get<std::string>());
    return text + (grade["passed"].get<bool>() ? "passed\n" : "not passed\n");
}

/// The output of a process and how it has ended.
struct Ended {
    std::string output;
    int status = 0;  ///< of waitpid()
    bool in_time = true;
};

/// Reads until the process closes its output; kills it when its time is over.
Ended follow(pid_t process, int output) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(grade_wall_seconds);
    Ended ended;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd waits{output, POLLIN, 0};
        ended.in_time = left > 0 && ::poll(&waits, 1, int(left)) > 0;
        if (!ended.in_time) break;
        char bytes[4096];
        const ssize_t count = ::read(output, bytes, sizeof bytes);
        if (count <= 0) break;
        ended.output.append(bytes, std::size_t(count));
    }
    ::kill(process, SIGKILL);  // does nothing to a process that has ended
    while (::waitpid(process, &ended.status, 0) < 0 && errno == EINTR) continue;
    return ended;
}

/// Starts this program again to grade one source.
Ended grade_apart(const GradeRequest& request) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
    const compute::Descriptor reading(ends[0]);
    compute::Descriptor writing(ends[1]);
    std::vector<std::string> words{"warpscope", "--grade-here",
                                   "--lesson",  request.lesson.string(),
                                   "--check",   request.solution.string()};
    compute::SpawnFiles files;
    files.give_null(STDIN_FILENO, O_RDONLY);
    files.give(writing.get(), STDOUT_FILENO);
    files.give(writing.get(), STDERR_FILENO);
    const compute::SpawnAttributes attributes;
    pid_t process = -1;
    if (const int error = ::posix_spawn(&process, "/proc/self/exe", files.get(), attributes.get(),
                                        compute::pointers_to(words).data(), environ))
        throw std::runtime_error(
            fmt::format("no process can be started: {}", std::generic_category().message(error)));
    writing = compute::Descriptor();
    return follow(process, reading.get());
}

/// Why a process has given no grade.
std::string failure(const Ended& ended) {
    if (!ended.in_time) return fmt::format("It took more than {} s.", grade_wall_seconds);
    if (WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == SIGXCPU)
        return fmt::format("It took more than {} s of CPU time.", grade_seconds);
    std::string line = ended.output.substr(0, ended.output.find('\n'));
    constexpr std::string_view name = "warpscope: ";
    if (line.starts_with(name)) line.erase(0, name.size());
    return line.empty() ? "The process that graded it has ended early." : line;
}

Json grade_of(const GradeRequest& request) {
    const Ended ended = grade_apart(request);
    Json grade = Json::parse(ended.output, nullptr, false);
    if (grade.is_object() && grade.contains("passed")) return grade;
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 2) throw UsageError(failure(ended));
    return {{"lesson", request.lesson.string()}, {"title", request.lesson.filename().string()},
            {"file", request.solution.string()}, {"passed", false},
            {"reason", failure(ended)},          {"conditions", Json::array()}};
}

int grade_file(const GradeRequest& request) {
    if (!request.json.empty() && request.json != "-") check_writable(request.json, "--json");
    const Json grade = grade_of(request);
    if (request.json == "-")
        print(dump(grade));
    else
        print(visible(words_of(grade)));
    if (!request.json.empty() && request.json != "-") write_file(request.json, dump(grade));
    return grade["passed"].get<bool>() ? 0 : 1;
}

int grade_folder(const GradeRequest& request) {
    if (!request.json.empty())
        throw UsageError("--json: leave it out; the table of a folder is CSV on standard output");
    std::vector<fs::path> solutions;
    for (const auto& one : fs::directory_iterator(request.solution))
        if (one.path().extension() == ".cu") solutions.push_back(one.path());
    if (solutions.empty())
        throw UsageError(
            fmt::format("--check {}: the folder has no .cu file", request.solution.string()));
    std::ranges::sort(solutions);
    bool all = true;
    print("file,passed,reason\n");
    for (const fs::path& solution : solutions) {
        const Json grade = grade_of({request.lesson, solution, {}});
        const bool passed = grade["passed"].get<bool>();
        all &= passed;
        print(fmt::format("{},{},{}\n", experiments::csv_field(solution.filename().string()),
                          passed ? "yes" : "no",
                          experiments::csv_field(grade["reason"].get<std::string>())));
    }
    return all ? 0 : 1;
}

}  // namespace

int run_grade(const GradeRequest& request) {
    std::error_code error;
    return fs::is_directory(request.solution, error) ? grade_folder(request) : grade_file(request);
}

int grade_here(const GradeRequest& request) {
    const experiments::Lesson lesson = experiments::read_lesson(request.lesson);
    compute::Helpers helpers("/proc/self/exe");
    const Grade grade = experiments::grade_solution(helpers, lesson, request.solution, [] {
        compute::confine({});
        compute::limit_cpu_time(std::chrono::seconds(grade_seconds));
    });
    Json conditions = Json::array();
    for (const experiments::Judgement& one : grade.judgements)
        conditions.push_back({{"sentence", one.sentence}, {"holds", one.holds}});
    print(dump({{"lesson", lesson.name},
                {"title", lesson.title},
                {"file", request.solution.string()},
                {"passed", grade.passed()},
                {"reason", grade.reason()},
                {"conditions", conditions}}));
    return 0;
}

}  // namespace warpscope::jobs
