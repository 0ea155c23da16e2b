#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "jobs/output/output.h"
#include "jobs/output/word_list.h"
#include "option_values.h"

namespace warpscope {

namespace {

using jobs::parse_word_list;
using jobs::UsageError;

constexpr std::uint64_t most_frames = 1'000'000'000;

constexpr const char* examples = R"(Examples:
  warpscope                                    open the window
  warpscope --experiment ripple --set ripple.sync=off
                                               start without __syncthreads()
  warpscope --experiment nbody --bodies galaxy.bin
  warpscope --headless --experiment nbody --set nbody.kernel=tiled --frames 100 --json -
  warpscope --headless --experiment ripple --set ripple.sync=off --seed 7 \
            --screenshot ripple.png --view-only
  warpscope --check race,barrier --experiment dot --set dot.kernel=divergent
                                               which threads race, at which lines, and why
  warpscope --counters --experiment nbody --set nbody.kernel=tiled
                                               memory traffic and bank conflicts of each kernel
  warpscope --kernel-source my.cu              a kernel of your own, compiled anew when it is saved
  warpscope --check race,memory --experiment ripple --kernel-source my_ripple.cu
                                               the same for a changed kernel of an experiment
  warpscope --list                             every experiment and parameter

What --check finds, on the emulator whatever the device: "race": threads that access one word of
shared memory without a barrier between them, and reads of shared memory that no thread of the
block has written; "barrier": barriers that not every thread reaches; "memory": accesses outside
what is allocated, and reads of global memory that nothing has written.

Emulated barriers wait for every thread that has not ended (volta: that and later generations), for
one arrival of each warp (before-volta), or fail where lanes come without the rest of their warp
(strict: the PTX manual's words).

Exit status: 0; 1 when a result is wrong where it should be right, when a check finds something, or
when the device, the window or a write fails; 2 when an argument can't be used.)";

/// The app's options, as CLI11 sees them: everything arrives as text and is parsed here, so that
/// every complaint reads the same.
class Parser {
  public:
    Parser() {
        app_.name("warpscope");
        app_.option_defaults()->always_capture_default(false);
        app_.set_help_flag("");
        app_.get_formatter()->column_width(28);
        declare_actions();
        declare_experiment();
        declare_headless();
        declare_device();
        declare_window();
        app_.footer(examples);
    }

    Options parse(int argc, const char* const* argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& e) {
            throw UsageError(fmt::format("{} (warpscope --help shows the options)", one_line(e)));
        }
        if (help_) throw Answer{help_text()};
        if (version_) throw Answer{"warpscope " WARPSCOPE_VERSION "\n"};
        finish();
        return options_;
    }

  private:
    /// What CLI11 finds wrong, in our words where its own are terse.
    static std::string one_line(const CLI::ParseError& e) {
        std::string text = e.what();
        std::replace(text.begin(), text.end(), '\n', ' ');
        while (!text.empty() && text.back() == ' ') text.pop_back();
        const std::string option = text.substr(0, text.find(':'));
        if (text.ends_with(" missing")) return option + ": a value must follow";
        if (text.find("At Most 1 required") != std::string::npos) return option + ": give it once";
        return text;
    }

    /// CLI11 leaves two empty lines between groups.
    std::string help_text() const {
        std::string text = app_.help() + "\n";
        for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
        while (text.ends_with("\n\n")) text.pop_back();
        return text;
    }

    template <class Take>
    CLI::Option* text(const char* name, const char* value, const char* help, const char* group,
                      Take take) {
        auto* option = app_.add_option_function<std::string>(name, take, help);
        return option->type_name(value)->group(group);
    }

    CLI::Option* flag(const char* name, bool& given, const char* help, const char* group) {
        return app_.add_flag(name, given, help)->group(group);
    }

    void declare_actions() {
        const char* group = "What to do (without any: the window)";
        flag("--headless", headless_, "run one experiment without a window", group);
        check_ =
            text("--check", "C,...",
                 "the same on the emulator, and look for errors: race, barrier, memory", group,
                 [this](const std::string& words) { options_.checks = jobs::parse_checks(words); });
        flag("--counters", options_.counters,
             "the same on the emulator, and count sectors, bank conflicts and the like", group);
        flag("--list", list_, "print every experiment and parameter", group);
        bench_ = text("--bench", "S,...",
                      "measure this machine; S: emulator, start, edit, gpu, ladders, frames (all)",
                      group, [this](const std::string& words) {
                          const auto sections = parse_word_list<jobs::BenchSection>(
                              "--bench",
                              words.empty() ? compute::names<jobs::BenchSection>(",") : words);
                          options_.bench = {sections.begin(), sections.end()};
                      });
        bench_->expected(0, 1);
        flag("-h,--help", help_, "print this", group);
        // Not for people: how the app starts the processes that edited kernels run in.
        helper_ = text("--helper", "FD", "", "", [this](const std::string& fd) {
            options_.helper_socket = int(parse_count("--helper", fd, 1024));
        });
        flag("--version", version_, "print the version", group);
    }

    void declare_experiment() {
        const char* group = "The experiment";
        text("--experiment", "E", "which experiment: ripple, nbody, ... (--list)", group,
             [this](const std::string& id) {
                 parse_experiment("--experiment " + id, id);
                 options_.experiment = id;
             });
        // Taken in finish(): --bodies may stand after it and comes first all the same.
        app_.add_option("--set", set_texts_, "give a parameter a value; may be repeated")
            ->type_name("E.P=V")
            ->group(group)
            ->allow_extra_args(false);
        text("--bodies", "FILE", "n-body from a file: tipsy, or CSV x,y,z,vx,vy,vz,mass", group,
             [this](const std::string& file) {
                 if (file.empty()) throw UsageError("--bodies: name a file");
                 bodies_ = file;
             });
        const auto path = [](const char* name, std::filesystem::path& to) {
            return [name, &to](const std::string& given) {
                if (given.empty()) throw UsageError(fmt::format("{}: give it a name", name));
                to = given;
            };
        };
        kernel_source_ = text("--kernel-source", "FILE.cu",
                              "this text in place of the experiment's kernel file (scratch)", group,
                              path("--kernel-source", options_.kernel_source));
        kernels_ = text("--kernels", "DIR", "DIR/ripple.cu and the like in place of the built-in",
                        group, path("--kernels", options_.kernels));
    }

    void declare_headless() {
        const char* group = "With --headless";
        frames_ =
            text("--frames", "N", "frames to compute (1)", group, [this](const std::string& n) {
                options_.frames = parse_count("--frames", n, most_frames);
            });
        screenshot_ = text("--screenshot", "FILE.png", "save the last frame, with its settings",
                           group, [this](const std::string& f) {
                               if (f.empty()) throw UsageError("--screenshot: name a PNG file");
                               options_.screenshot = f;
                           });
        view_only_ = flag("--view-only", options_.view_only,
                          "the screenshot is the picture alone, without the panels", group);
        compare_ = flag("--compare", options_.compare,
                        "measure the experiment's variants side by side as well", group);
        json_ =
            text("--json", "FILE|-", "results as JSON, - to standard output (--list, --bench too)",
                 group, [this](const std::string& f) {
                     if (f.empty())
                         throw UsageError("--json: name a file, or - for standard output");
                     options_.json = f;
                 });
    }

    void declare_device() {
        const char* group = "The device";
        text("--device", "D", "auto, cuda, cuda:N or emulator (auto)", group,
             [this](const std::string& d) {
                 options_.device = d;
                 options_.device_given = true;
             });
        text("--math", "M", "arithmetic of the kernels: precise or fast (precise)", group,
             [this](const std::string& m) {
                 options_.run.math = parse_word<compute::Math>("--math", m);
                 options_.run_given = true;
             });
        text("--schedule", "S", "emulated warps take turns: random, run-to-barrier or reverse",
             group, [this](const std::string& s) {
                 options_.run.schedule = parse_word<compute::Schedule>("--schedule", s);
                 options_.run_given = true;
             });
        text("--seed", "N", "of the random schedule (1)", group, [this](const std::string& n) {
            options_.run.seed = parse_count("--seed", n, UINT64_MAX);
            options_.run_given = true;
        });
        text("--barriers", "P", "emulated barriers: volta, before-volta or strict (volta)", group,
             [this](const std::string& p) {
                 options_.run.barriers = parse_word<compute::BarrierPolicy>("--barriers", p);
                 options_.run_given = true;
             });
    }

    void declare_window() {
        const char* group = "The window";
        text("--size", "WxH", "its size, and the screenshot's (1280x720)", group,
             [this](const std::string& s) { options_.size = parse_size(s); });
        microscope_ = text("--microscope", "B[@N]",
                           "open at block B of the kernel, after N steps: \"12,7@214\"", group,
                           [this](const std::string& words) {
                               if (words.empty())
                                   throw UsageError("--microscope: name a block, e.g. 12,7");
                               options_.microscope = words;
                           });
        vsync_ =
            text("--vsync", "on|off", "wait for the monitor between frames (on)", group,
                 [this](const std::string& s) { options_.vsync = parse_word<bool>("--vsync", s); });
        widget_map_ =
            text("--widget-map", "FILE", "write every widget's id and rectangle there, for tests",
                 group, [this](const std::string& f) { options_.widget_map = f; });
    }

    void finish() {
        choose_mode();
        std::vector<std::string> sets;
        if (!bodies_.empty()) sets = {"nbody.start=file", "nbody.file=" + bodies_};
        sets.insert(sets.end(), set_texts_.begin(), set_texts_.end());
        for (const std::string& text : sets) {
            const auto& [experiment, assignment] = parse_set(text);
            options_.assignments[experiment->id].push_back(assignment);
            if (first_set_.empty()) first_set_ = experiment->id;
        }
        choose_experiment();
    }

    void choose_mode() {
        const bool headless_run = headless_ || check_->count() || options_.counters;
        const bool bench = bench_->count() > 0;
        if (headless_run + list_ + bench > 1)
            throw UsageError(
                "--headless (or --check, --counters), --list, --bench: give one of them");
        if (headless_run) options_.mode = Mode::headless;
        if (list_) options_.mode = Mode::list;
        if (bench) options_.mode = Mode::bench;
        if (helper_->count()) options_.mode = Mode::helper;
        const bool window = options_.mode == Mode::window;
        const bool headless = options_.mode == Mode::headless;
        for (const CLI::Option* option : {frames_, screenshot_, view_only_, compare_}) {
            if (option->count() && !headless) {
                throw UsageError(fmt::format("{}: add --headless", option->get_name()));
            }
        }
        if (json_->count() && window) {
            throw UsageError("--json: add --headless, --list or --bench");
        }
        for (const CLI::Option* option : {kernel_source_, kernels_}) {
            if (option->count() && !window && !headless)
                throw UsageError(fmt::format("{}: only the window and --headless have that",
                                             option->get_name()));
        }
        for (const CLI::Option* option : {vsync_, widget_map_}) {
            if (option->count() && !window) {
                throw UsageError(fmt::format("{}: only a window has that; drop it or {}",
                                             option->get_name(),
                                             headless ? "--headless" : "the other action"));
            }
        }
        if (microscope_->count() && !window &&
            (options_.screenshot.empty() || options_.view_only)) {
            throw UsageError(
                "--microscope: only the window and its screenshot have that; add --screenshot "
                "FILE.png without --view-only, or drop --headless");
        }
        if (options_.view_only && options_.screenshot.empty()) {
            throw UsageError("--view-only: add --screenshot FILE.png");
        }
    }

    /// Without --experiment, the one that the first --set or --bodies speaks of; a kernel that
    /// comes alone is for the one that is there for such.
    void choose_experiment() {
        if (options_.experiment.empty()) options_.experiment = first_set_;
        if (options_.experiment.empty() && !options_.kernel_source.empty()) {
            options_.experiment = "scratch";
        }
        if (options_.mode != Mode::headless) return;
        if (options_.experiment.empty()) {
            throw UsageError(
                "--headless, --check, --counters: add --experiment E (--list shows all)");
        }
        for (const auto& [id, list] : options_.assignments) {
            if (id == options_.experiment) continue;
            throw UsageError(
                fmt::format("{}.{}: the experiment is {}; drop this or give --experiment {}", id,
                            list.front().id, options_.experiment, id));
        }
    }

    CLI::App app_{"A microscope for CUDA shared memory: what __syncthreads() and tiling do, live."};
    Options options_;
    bool headless_ = false, list_ = false, help_ = false, version_ = false;
    std::vector<std::string> set_texts_;
    std::string bodies_;
    std::string first_set_;  ///< experiment that the first of them is for
    CLI::Option *helper_{}, *check_{}, *bench_{}, *frames_{}, *screenshot_{}, *view_only_{},
        *compare_{}, *json_{}, *vsync_{}, *widget_map_{}, *microscope_{}, *kernel_source_{},
        *kernels_{};
};

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    return Parser().parse(argc, argv);
}

}  // namespace warpscope
