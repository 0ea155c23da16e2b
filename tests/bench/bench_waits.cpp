#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "bench/bench.h"
#include "compute/device/kernel_files.h"
#include "compute/emulated/emulated_device.h"
#include "compute/helper/spawn.h"
#include "compute/pick_device.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "experiments/replicas/try_edits.h"

extern char** environ;

namespace warpscope::bench {
namespace {

using experiments::Rgba;
using experiments::Running;
using experiments::Size;
using Clock = std::chrono::steady_clock;

constexpr int edits = 15;
/// The time between two frames of a window on a 60 Hz monitor.
constexpr std::chrono::microseconds frame_interval(16'667);

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The source with digits added to its first number with a short fraction: 0.25 becomes 0.25001234,
/// a different float and so a different kernel. The digits come from the clock, so that no run
/// finds its kernel in the compiler cache.
std::string with_changed_constant(std::string_view source) {
    const auto digit = [&](std::size_t at) {
        return at < source.size() && source[at] >= '0' && source[at] <= '9';
    };
    const auto number = Clock::now().time_since_epoch().count() / 1000 % 1'000'000;
    for (std::size_t i = 0; i < source.size(); ++i) {
        if (source.substr(i, 2) == "//") i = std::min(source.find('\n', i), source.size());
        if (!digit(i) || i + 1 >= source.size() || source[i + 1] != '.' || !digit(i + 2)) continue;
        std::size_t end = i + 2;
        while (digit(end)) ++end;
        if (end - i > 4) continue;
        return fmt::format("{}{:06}{}", source.substr(0, end), number, source.substr(end));
    }
    return fmt::format("{}\n// {}\n", source, number);
}

/// Does what the window does while a person types: it computes frames of the running experiment,
/// tries each edit on a copy, and then shows the copy.
class Typing {
  public:
    Typing(compute::Helpers& helpers, const experiments::Entry& entry,
           std::vector<experiments::Assignment> settings, std::unique_ptr<compute::Device> device)
        : helpers_(helpers), entry_(entry), like_(device->info()), live_{std::move(device), {}} {
        live_.experiment = entry.make(*live_.device);
        live_.experiment->set(settings);
        live_.experiment->reset();
        helpers.warm(like_);
        frame();
    }

    /// Milliseconds from a keystroke until the edited kernel's picture is in host memory.
    double edit() {
        const auto keystroke = Clock::now();
        const std::string file = live_.experiment->kernel_file();
        const auto source = compute::kernel_source(compute::kernel_path(file));
        const std::string text = with_changed_constant(source);
        while (Clock::now() - keystroke < experiments::edit_pause) frame();
        experiments::EditRequest request;
        request.entry = experiments::unowned(entry_);
        request.like = like_;
        request.settings = live_.device->settings();
        request.sources[file] = text;
        request.snapshot = live_.experiment->snapshot();
        request.view = view;
        experiments::EditResult result;
        std::atomic<bool> ended{false};
        std::jthread trying([&](const std::stop_token& stop) {
            result = experiments::try_edits(helpers_, request, stop);
            ended = true;
        });
        while (!ended) Clock::now() < rests_until_ ? rest(Clock::now()) : frame();
        trying.join();
        if (const std::string none = helpers_.no_compiler(); !none.empty())
            throw compiler::NoCompiler(none);
        if (!result.error.empty())
            throw std::runtime_error(fmt::format("an edit of {}: {}", file, result.error));
        const auto start = Clock::now();
        result.running.experiment->resume(live_.experiment->snapshot());
        std::swap(live_, result.running);
        draw(start);
        const double latency = ms_since(keystroke);
        rest(start);
        return latency;
    }

    double longest_frame_ms() const { return longest_ms_; }
    const compute::DeviceInfo& device() const { return live_.device->info(); }

  private:
    static constexpr Size view{1280, 720};

    void frame() {
        const auto start = Clock::now();
        live_.experiment->step();
        draw(start);
        rests_until_ = start + (1 + experiments::rest_while_trying) * (Clock::now() - start);
        rest(start);
    }

    void draw(Clock::time_point start) {
        const Size size = live_.experiment->picture_size(view);
        const compute::Buffer<Rgba> pixels(*live_.device, std::size_t(size.width) * size.height);
        live_.experiment->render_into({pixels.pointer(), size});
        picture_ = pixels.download();
        longest_ms_ = std::max(longest_ms_, ms_since(start));
    }

    static void rest(Clock::time_point start) {
        std::this_thread::sleep_until(start + frame_interval);
    }

    compute::Helpers& helpers_;
    const experiments::Entry& entry_;
    compute::DeviceInfo like_;
    Running live_;
    std::vector<Rgba> picture_;
    double longest_ms_ = 0;
    Clock::time_point rests_until_{};
};

void bench_typing(std::vector<BenchRow>& rows, Typing& typing, const std::string& name,
                  const std::string& label) {
    std::vector<double> latencies;
    typing.edit();  // starts the helper processes
    for (int i = 0; i < edits; ++i) latencies.push_back(typing.edit());
    const bool emulated = typing.device().kind == compute::DeviceKind::emulator;
    const std::string place = emulated ? "emulated" : "GPU";
    rows.push_back(
        {.name = fmt::format("edit_{}_{}_ms", name, emulated ? "emulator" : "gpu"),
         .label = fmt::format("{}, {}: keystroke to picture", label, place),
         .value = median(latencies),
         .unit = "ms",
         .bound = BenchRow::Bound::at_most,
         .wanted = 250,
         .note = fmt::format("worst of {}: {:.0f} ms; {} ms of each are the pause after typing",
                             edits, *std::max_element(latencies.begin(), latencies.end()),
                             experiments::edit_pause.count())});
    rows.push_back({.name = fmt::format("edit_{}_{}_frame_ms", name, emulated ? "emulator" : "gpu"),
                    .label = fmt::format("{}, {}: longest frame meanwhile", label, place),
                    .value = typing.longest_frame_ms(),
                    .unit = "ms",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 50});
}

}  // namespace

void bench_edits(std::vector<BenchRow>& rows, compute::Helpers& helpers,
                 const compute::DeviceInfo& device) {
    const bool emulated = device.kind == compute::DeviceKind::emulator;
    const std::string wish = emulated ? "emulator" : fmt::format("cuda:{}", device.ordinal);
    // One experiment at a time: a GPU has helper processes for one only.
    const auto measure = [&](const experiments::Entry& entry,
                             std::vector<experiments::Assignment> settings, const char* name,
                             const char* label) {
        Typing typing(helpers, entry, std::move(settings), compute::pick_device(wish));
        bench_typing(rows, typing, name, label);
    };
    try {
        measure(experiments::find_experiment("ripple"), {{"size", "1024"}}, "ripple",
                "ripple 1024² edited");
        measure(*experiments::launch_entry(experiments::gallery_file("blur")), {}, "blur",
                "gallery/blur.cu edited");
    } catch (const compiler::NoCompiler&) {
        return;  // Nothing can be edited here.
    }
}

namespace {

/// Runs the app with these arguments and discards its output.
void run_app(std::vector<std::string> arguments) {
    const std::string program = app().string();
    arguments.insert(arguments.begin(), program);
    compute::SpawnFiles files;
    files.give_null(STDOUT_FILENO, O_WRONLY);
    pid_t child = 0;
    const int error = posix_spawn(&child, program.c_str(), files.get(), nullptr,
                                  compute::pointers_to(arguments).data(), environ);
    if (error != 0) {
        throw std::runtime_error("starting " + program + " failed: " + std::strerror(error));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) throw std::runtime_error(program + " failed while its start was measured");
}

double start_ms(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--headless", "--device", "emulator", "--experiment",
                                       "ripple"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) times.push_back(milliseconds_of([&] { run_app(arguments); }));
    return median(times);
}

/// A file in the folder for temporary files. It is removed with the object.
struct TemporaryFile {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("warpscope-bench-" + std::to_string(::getpid()) + ".png");
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

}  // namespace

void bench_start(std::vector<BenchRow>& rows) {
    const TemporaryFile picture;
    rows.push_back({.name = "start_ms",
                    .label = "start to first frame and end, emulator",
                    .value = start_ms({}),
                    .unit = "ms",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 1000});
    rows.push_back({.name = "start_window_ms",
                    .label = "start to first frame and end, with a screenshot",
                    .value = start_ms({"--screenshot", picture.path.string()}),
                    .unit = "ms",
                    .bound = BenchRow::Bound::at_most,
                    .wanted = 1000});
}

}  // namespace warpscope::bench
