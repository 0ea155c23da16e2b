#include "ui/edits/compiler_download.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "compiler/nvrtc_output.h"
#include "compiler/programs/run_command.h"
#include "compute/device/number_text.h"
#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

/// The last line of what a script has printed, without the name of the script before it.
std::string last_line(std::string_view text, const std::string& script) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (const auto newline = text.rfind('\n'); newline != text.npos)
        text.remove_prefix(newline + 1);
    const std::string name = std::filesystem::path(script).filename().string() + ": ";
    if (text.starts_with(name)) text.remove_prefix(name.size());
    return compiler::clean(text);
}

}  // namespace

bool has_program(std::string_view name) {
    const char* const path = std::getenv("PATH");
    for (std::string_view left = path ? path : ""; !left.empty();) {
        const std::size_t end = std::min(left.find(':'), left.size());
        const std::string program = fmt::format("{}/{}", left.substr(0, end), name);
        if (::access(program.c_str(), X_OK) == 0) return true;
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return false;
}

void CompilerDownload::start() {
    if (script_.empty() || runs()) return;
    error_.clear();
    began_ = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        runs_ = true;
        ended_.reset();
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

void CompilerDownload::follow(const std::stop_token& stop) {
    bool done = false;
    std::string why;
    try {
        const compiler::Ended ended = compiler::run_command({script_, compiler_}, stop);
        done = ended.done();
        why = last_line(ended.output, script_);
        if (why.empty() && WIFSIGNALED(ended.status))
            why = tr("{} was killed by signal {}", script_, WTERMSIG(ended.status));
        else if (why.empty())
            why = tr("{} ended with exit code {}", script_, WEXITSTATUS(ended.status));
    } catch (const std::system_error& error) {
        why = fmt::format("{}: {}", script_, error.code().message());
    }
    const std::string failure = compute::sentence(tr("{} was not downloaded: {}", name(), why));
    const std::lock_guard lock(mutex_);
    runs_ = false;
    if (done || !stop.stop_requested()) ended_ = {done, done ? "" : failure};
}

bool CompilerDownload::runs() const {
    const std::lock_guard lock(mutex_);
    return runs_;
}

double CompilerDownload::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

CompilerDownload::News CompilerDownload::take_news() {
    std::optional<Ended> ended;
    {
        const std::lock_guard lock(mutex_);
        ended = std::exchange(ended_, std::nullopt);
    }
    if (!ended) return News::none;
    error_ = std::move(ended->error);
    return ended->done ? News::done : News::failed;
}

}  // namespace warpscope::ui
