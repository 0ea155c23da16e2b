#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace warpscope::ui {

/// Whether a folder of PATH has this program.
bool has_program(std::string_view name);

/// Downloads a compiler, NVRTC or nvcc, with a script, in a process of its own that a thread
/// follows. The member functions are for the thread that draws, and only end() and the destructor
/// wait.
class CompilerDownload {
  public:
    enum class News { none, done, failed };

    /// The script gets the name of the compiler, "nvrtc" or "nvcc". It ends with exit code 0 when
    /// the app can find the compiler, else with a message on standard error. Empty: there is no
    /// script.
    explicit CompilerDownload(std::string script, std::string compiler = "nvrtc")
        : script_(std::move(script)), compiler_(std::move(compiler)) {}
    /// Cancels it and waits for the end of the script.
    void end() { thread_ = {}; }

    /// The compiler as people call it.
    std::string name() const { return compiler_ == "nvrtc" ? "NVRTC" : compiler_; }
    bool has_script() const { return !script_.empty(); }
    /// Whether the programs that the script calls are installed, as far as that is quickly known.
    static bool can_run() { return has_program("python3"); }
    void start();
    /// Ends the script and its child processes.
    void cancel() { thread_.request_stop(); }
    bool runs() const;
    /// Since it was started.
    double seconds() const;
    /// Once for each download that has ended and was not cancelled.
    News take_news();
    /// Why the newest download has failed, as a sentence; empty: it has not.
    const std::string& error() const { return error_; }

  private:
    struct Ended {
        bool done = false;
        std::string error;
    };
    void follow(const std::stop_token& stop);

    const std::string script_, compiler_;
    std::chrono::steady_clock::time_point began_;
    std::string error_;
    mutable std::mutex mutex_;  ///< of all that follows
    bool runs_ = false;
    std::optional<Ended> ended_;  ///< not taken yet

    std::jthread thread_;  ///< destroyed first
};

}  // namespace warpscope::ui
