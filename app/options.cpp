#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/programs/nvcc.h"
#include "experiments/lessons/lesson.h"
#include "gl/recording.h"
#include "help_text.h"
#include "jobs/output/files_and_terminal.h"
#include "launches/files/file_kind.h"
#include "option_values.h"

namespace warpscope {

namespace {

using jobs::UsageError;

constexpr std::uint64_t most_frames = 1'000'000'000;

/// Declares the app's options to CLI11. CLI11 passes values as text and this class parses them, so
/// that all error messages have one form.
class Parser {
  public:
    Parser() {
        app_.name("warpscope");
        app_.option_defaults()->always_capture_default(false);
        app_.set_help_flag("");
        app_.get_formatter()->column_width(28);
        declare_checks(actions);
        declare_finding_files(actions);
        declare_counters(actions);
        declare_programs(actions);
        declare_compiled_programs(actions);
        declare_modes(actions);
        declare_own_processes();
        declare_experiment();
        declare_headless();
        declare_device();
        declare_window();
        app_.footer(help_footer);
        // The first word that belongs to no option is a program, NAME.cu, and what follows it are
        // its arguments.
        app_.prefix_command();
    }

    Options parse(int argc, const char* const* argv) {
        const char* const* const end = argv + argc;
        const char* const* const program = std::find(argv, end, std::string_view("--"));
        if (program != end) options_.program.assign(program + 1, end);
        if (program != end && options_.program.empty())
            throw UsageError("--: name a program, e.g. -- ./app");
        try {
            app_.parse(int(program - argv), argv);
            take_source(program, end);
        } catch (const CLI::ParseError& e) {
            throw UsageError(
                fmt::format("{} (warpscope --help shows the options)", one_line_of(e.what())));
        }
        if (help_) throw Answer{help_of(app_.help())};
        if (version_) throw Answer{"warpscope " WARPSCOPE_VERSION "\n"};
        if ((serve_ || mcp_ || dap_->count()) &&
            argc > 2 + (dap_->count() && argv[1] == std::string_view("--dap")))
            throw UsageError(fmt::format(
                "{}: leave out the other options; each request has its own", serve_ ? "--serve"
                                                                             : mcp_ ? "--mcp"
                                                                                    : "--dap"));
        finish();
        return options_;
    }

  private:
    template <class Take>
    CLI::Option* text(const char* name, const char* value, const char* help, const char* group,
                      Take take) {
        auto* option = app_.add_option_function<std::string>(name, take, help);
        return option->type_name(value)->group(group);
    }

    CLI::Option* flag(const char* name, bool& given, const char* help, const char* group) {
        return app_.add_flag(name, given, help)->group(group);
    }

    static auto path(const char* name, std::filesystem::path& to, const char* what = "a file") {
        return [=, &to](const std::string& f) {
            if (f.empty()) throw UsageError(fmt::format("{}: name {}", name, what));
            to = f;
        };
    }

    static constexpr const char* actions = "What to do (without any: the window)";

    void declare_checks(const char* group) {
        flag("--headless", headless_, "run one experiment without a window", group);
        check_ = text("--check", "C,...",
                      "run on the emulator and look for: race, barrier, memory, leaks, needed",
                      group, [this](const std::string& words) { checked_ = words; });
        lesson_ = text(
            "--lesson", "N|FILE",
            "open lesson N; with --check FILE.cu|DIR: grade a solution, or a folder", group,
            [this](const std::string& wish) { options_.lesson = experiments::find_lesson(wish); });
        fail_on_ = text("--fail-on", "S",
                        "exit with 1 for what --check finds from S on: warning or error (warning)",
                        group, [this](const std::string& word) {
                            options_.headless.fail_on =
                                parse_word<emulator::Severity>("--fail-on", word);
                        });
        witness_ = text("--witness", "[DIR]",
                        "with --check race: the shortest order of the warps that spoils a result",
                        group, [this](const std::string& folder) {
                            options_.headless.witness = true;
                            options_.headless.witnesses = folder;
                        });
        witness_->expected(0, 1);
        provoke_ = text("--provoke", "[N]",
                        "with --check race: how often a GPU is wrong in N launches (100)", group,
                        [this](const std::string& n) {
                            options_.headless.provoked =
                                n.empty() ? 100 : unsigned(parse_count("--provoke", n, 1'000'000));
                        });
        provoke_->expected(0, 1);
        why_ = text("--why", "ELEMENT",
                    "say why an element is wrong, or who wrote it: X,Y, NAME[INDEX], first", group,
                    [this](const std::string& element) { options_.headless.why = element; });
    }

    /// Files about what the checks find.
    void declare_finding_files(const char* group) {
        jobs::FindingFiles& files = options_.headless.findings;
        for (auto [name, to, help] : {
                 std::tuple{"--sarif", &files.sarif,
                            "write what --check finds as SARIF, for CI and editors"},
                 {"--junit", &files.junit, "write what --check finds as a report of JUnit, for CI"},
                 {"--baseline", &files.baseline, "findings that are known there do not fail"},
                 {"--write-baseline", &files.write_baseline,
                  "write what --check finds as a baseline"},
                 {"--suppressions", &files.suppressions,
                  "findings that are suppressed there do not fail"},
             })
            finding_files_.push_back(text(name, "FILE", help, group, path(name, *to)));
    }

    void declare_counters(const char* group) {
        flag("--counters", options_.headless.counters,
             "run on the emulator and count sectors, bank conflicts and more", group);
        text("--lines", "C",
             "count lines: instructions, divergence, sectors, wavefronts, conflicts", group,
             [this](const std::string& c) {
                 options_.headless.lines = parse_word<experiments::LineFigure>("--lines", c);
             });
        text("--heat", "C", "count words of memory: reads, writes, atomics, races, conflicts",
             group, [this](const std::string& c) {
                 options_.headless.heat = parse_word<emulator::HeatFigure>("--heat", c);
             });
    }

    /// Options for a program behind "--".
    void declare_programs(const char* group) {
        capture_ = text("--capture", "DIR",
                        "-- PROGRAM: write its launches into DIR, or FILE.wslaunch", group,
                        [this, take = path("--capture", options_.capture.to, "a folder or a file")](
                            const std::string& to) {
                            take(to);
                            options_.capture.on_gpu = true;
                        });
        captured_launches_ =
            text("--launches", "N,...", "capture only these, or --why asks one: 3,17-20", group,
                 [this](const std::string& ranges) {
                     parse_ranges("--launches", ranges);
                     options_.capture.launches = ranges;
                 });
        captured_kernel_ = text("--kernel", "NAME", "likewise, launches of this kernel", group,
                                [this](const std::string& n) { options_.capture.kernel = n; });
        error_status_ = text(
            "--error-exitcode", "N", "-- PROGRAM: exit with N where --check finds something (1)",
            group, [this](const std::string& n) {
                options_.error_status = int(parse_count("--error-exitcode", n, 255));
            });
        blocks_ = text(
            "--blocks", "B", "-- PROGRAM: --check watches sample or all of a large launch (sample)",
            group, [this](const std::string& word) {
                options_.all_blocks = word == "all";
                if (word != "all" && word != "sample")
                    throw UsageError(fmt::format("--blocks {}: write sample or all", word));
            });
        flag("--print-environment", environment_,
             "print what loads the emulator into programs, for a shell", group);
    }

    /// Options for a program that is compiled, and that may be somebody else's.
    void declare_compiled_programs(const char* group) {
        nvcc_ =
            text("--nvcc", "OPTIONS", "FILE.cu: options and more files for nvcc: \"-lcublas b.cu\"",
                 group, [this](const std::string& words) {
                     options_.compiler_options = compiler::words_of(words);
                 });
        confined_ =
            flag("--confined", options_.confined,
                 "run the program without a network; it writes only temporary files", group);
        time_limit_ = text("--time-limit", "S", "end the program after S seconds: no verdict",
                           group, [this](const std::string& n) {
                               options_.time_limit =
                                   std::chrono::seconds(parse_count("--time-limit", n, 1'000'000));
                           });
        flag("--get-nvcc", get_nvcc_, "download nvcc, which compiles programs, from PyPI (129 MB)",
             group);
    }

    void declare_modes(const char* group) {
        flag("--list", list_, "print every experiment and parameter", group);
        flag("--serve", serve_,
             "answer requests: lines of standard input, JSON arrays of arguments", group);
        dap_ = text("--dap", "[PORT]", "a debugger for editors, by the Debug Adapter Protocol",
                    group, [this](const std::string& port) {
                        if (!port.empty())
                            options_.dap_port = unsigned(parse_count("--dap", port, 65'535));
                    });
        dap_->expected(0, 1);
        flag("--mcp", mcp_, "tools for agents: the Model Context Protocol on standard input",
             group);
        flag("-h,--help", help_, "print this help", group);
        flag("--version", version_, "print the version", group);
    }

    /// Options for processes that the app starts. They have no help, since no person needs them.
    void declare_own_processes() {
        // helper processes
        helper_ = text("--helper", "FD", "", "", [this](const std::string& fd) {
            options_.helper_socket = int(parse_count("--helper", fd, 1024));
        });
        // the process that grades a solution
        app_.add_flag("--grade-here", options_.grade_here, "")->group("");
        // the program of a lesson, whose findings the window translates
        app_.add_flag("--with-forms", options_.with_forms, "")->group("");
        // a program that the window has started
        text("--beside-window", "DIR", "", "",
             [this](const std::string& folder) { options_.capture.to = folder; });
        // the report of the library in a program
        report_ = text("--report", "FILE", "", "",
                       [this](const std::string& file) { options_.report = file; });
    }

    void declare_experiment() {
        const char* group = "The experiment";
        experiment_ = text("--experiment", "E", "which experiment: ripple, nbody, ... (--list)",
                           group, [this](const std::string& id) {
                               parse_experiment("--experiment " + id, id);
                               options_.experiment = id;
                           });
        // finish() parses these: --bodies comes before all of them, even if it is given after them.
        set_ = app_.add_option("--set", set_texts_, "give a parameter a value; may be repeated")
                   ->type_name("E.P=V")
                   ->group(group)
                   ->allow_extra_args(false);
        text("--bodies", "FILE", "n-body: bodies from a tipsy file, or a table with named columns",
             group, [this](const std::string& file) {
                 if (file.empty()) throw UsageError("--bodies: name a file");
                 bodies_ = file;
             });
        constexpr const char* either = "a file or a folder";
        launch_ = text("--launch", "FILE",
                       "run the kernels of NAME.launch.json, a NAME.cu or the gallery (--list)",
                       group, path("--launch", options_.launch, either));
        kernel_source_ = text("--kernel-source", "FILE.cu",
                              "use this file in place of the kernel source of the experiment",
                              group, path("--kernel-source", options_.kernel_source, either));
        kernels_ = text("--kernels", "DIR",
                        "use the kernel files of DIR (DIR/ripple.cu) instead of the built-in",
                        group, path("--kernels", options_.kernels, either));
    }

    void declare_headless() {
        const char* group = "With --headless";
        frames_ =
            text("--frames", "N", "frames to compute (1)", group, [this](const std::string& n) {
                options_.headless.frames = parse_count("--frames", n, most_frames);
            });
        screenshot_ =
            text("--screenshot", "FILE.png", "save the last frame, and its settings in the file",
                 group, [this](const std::string& f) {
                     if (f.empty()) throw UsageError("--screenshot: name a PNG file");
                     options_.headless.screenshot = parse_png_name("--screenshot", f);
                 });
        view_only_ = flag("--view-only", options_.headless.view_only,
                          "save the picture without the panels", group);
        compare_ = flag("--compare", options_.headless.compare,
                        "also compare the experiment's variants", group);
        force_ = flag("--force", options_.headless.force,
                      "run even if it will take more than 10 minutes", group);
        declare_checkpoint(group);
        html_ = text("--html", "FILE",
                     "write a page: picture, findings, source lines, counters and times", group,
                     path("--html", options_.headless.html));
        json_ =
            text("--json", "FILE|-", "write the results as JSON (also --list); -: standard output",
                 group, [this](const std::string& f) {
                     if (f.empty())
                         throw UsageError("--json: name a file, or - for standard output");
                     options_.json = f;
                 });
    }

    void declare_checkpoint(const char* group) {
        checkpoint_ =
            text("--checkpoint", "FILE", "n-body: save the state every N frames (--every)", group,
                 path("--checkpoint", options_.headless.checkpoint));
        every_ = text("--every", "N", "frames between checkpoints (100)", group,
                      [this](const std::string& n) {
                          options_.headless.every = parse_count("--every", n, most_frames);
                          if (options_.headless.every == 0)
                              throw UsageError("--every 0: write 1 or more");
                      });
        resume_ = text("--resume", "FILE", "n-body: go on from a checkpoint, on any device", group,
                       path("--resume", options_.headless.resume));
    }

    void declare_device() {
        const char* group = "The device";
        device_ = text("--device", "D",
                       "auto, cuda, cuda:N or emulator (auto; several GPUs: cuda:all, cuda:0,1)",
                       group, [this](const std::string& d) {
                           options_.device = d;
                           options_.device_given = true;
                       });
        text("--math", "M", "arithmetic of the kernels: precise or fast (precise)", group,
             [this](const std::string& m) {
                 options_.run.math = parse_word<compute::Math>("--math", m);
                 options_.run_given = true;
             });
        text("--target", "T", "compile sources for: 75, 80, 90 (compute capability) or auto (auto)",
             group, [this](const std::string& t) { options_.target = parse_target(t); });
        text("--schedule", "S",
             "order of emulated warps: random, run-to-barrier or reverse (or a FILE)", group,
             [this](const std::string& s) {
                 parse_schedule(s, options_.run);
                 options_.run_given = true;
             });
        text("--emulator", "E",
             "how the emulator runs kernels: interpreted, compiled or auto (auto)", group,
             [this](const std::string& e) {
                 options_.execution = parse_word<compute::Execution>("--emulator", e);
             });
        text("--seed", "N", "seed of the random schedule (1)", group, [this](const std::string& n) {
            options_.run.seed = parse_count("--seed", n, UINT64_MAX);
            options_.run_given = true;
        });
        text("--barriers", "P",
             "barrier policy of the emulator: volta, before-volta or strict (volta)", group,
             [this](const std::string& p) {
                 options_.run.barriers = parse_word<compute::BarrierPolicy>("--barriers", p);
                 options_.run_given = true;
             });
        text("--landing", "L",
             "when emulated asynchronous copies land: random, at-once or late (random)", group,
             [this](const std::string& l) {
                 options_.run.landing = parse_word<compute::Landing>("--landing", l);
                 options_.run_given = true;
             });
    }

    void declare_window() {
        const char* group = "The window";
        record_ = text("--record", "FILE",
                       "record it, or with --headless every frame: FILE.png (animated), FILE.mp4",
                       group, [this](const std::string& f) {
                           if (!gl::Recording::can_write(f))
                               throw UsageError("--record: name a .png, .apng or .mp4 file");
                           options_.headless.record = f;
                       });
        text("--size", "WxH", "size of the window (1600x900) or the screenshot (1280x720)", group,
             [this](const std::string& s) { options_.size = parse_size(s); });
        microscope_ = text("--microscope", "B[@N]",
                           "open the microscope at block B, after N steps: \"12,7@214\"", group,
                           [this](const std::string& words) {
                               if (words.empty())
                                   throw UsageError("--microscope: name a block, e.g. 12,7");
                               options_.microscope = words;
                           });
        vsync_ =
            text("--vsync", "on|off", "wait for the monitor between frames (on)", group,
                 [this](const std::string& s) { options_.vsync = parse_word<bool>("--vsync", s); });
        language_ = text("--language", "en|zh|ru",
                         "language of the window (that of the locale): English, Chinese, Russian",
                         group, [this](const std::string& code) {
                             for (const ui::LanguageName& one : ui::languages)
                                 if (one.code == code) options_.language = one.language;
                             if (!options_.language)
                                 throw UsageError("--language: write en, zh or ru");
                         });
        reset_settings_ = flag("--reset-settings", options_.reset_settings,
                               "start with the defaults instead of the saved settings", group);
        widget_map_ = text("--widget-map", "FILE",
                           "write the id and rectangle of every widget to FILE, for tests", group,
                           [this](const std::string& f) { options_.widget_map = f; });
    }

    /// A source in the place of a program: `warpscope my.cu ARGUMENTS`. All behind it belongs to
    /// it, also what follows "--".
    void take_source(const char* const* dashes, const char* const* end) {
        std::vector<std::string> rest = app_.remaining();
        if (rest.empty()) return;
        if (!is_source(rest[0])) throw CLI::ExtrasError({rest[0]});
        rest.insert(rest.end(), dashes, end);
        options_.program = std::move(rest);
    }

    static bool is_source(const std::filesystem::path& file) {
        return launches::file_kind(file) == launches::FileKind::source;
    }

    /// A source with a main() is a program, unless a launch file lies beside it.
    void run_launched_program() {
        if (!options_.program.empty() || !launches::is_program_source(options_.launch)) return;
        try {
            compiler::find_nvcc();
        } catch (const compiler::NoCompiler& none) {
            options_.no_program = fmt::format("{} is not run as a program: {}",
                                              options_.launch.string(), none.what());
            return;
        }
        options_.program = {options_.launch.string()};
        options_.launch.clear();
    }

    void finish() {
        if (options_.solution.empty() && !lesson_->count()) run_launched_program();
        choose_mode();
        std::vector<std::string> sets;
        if (!bodies_.empty()) sets = {"nbody.start=file", "nbody.file=" + bodies_};
        sets.insert(sets.end(), set_texts_.begin(), set_texts_.end());
        for (const std::string& text : sets) {
            const auto& [experiment, assignment] = parse_set(text, !options_.launch.empty());
            options_.assignments[experiment->id].push_back(assignment);
            if (first_set_.empty()) first_set_ = experiment->id;
        }
        choose_experiment();
    }

    /// With a lesson, --check names what is handed in; otherwise it names checks.
    void read_check() {
        if (lesson_->count() && check_->count()) {
            options_.solution = checked_;
            if (!std::filesystem::exists(options_.solution))
                throw UsageError(
                    fmt::format("--check {}: there is no such file or folder", checked_));
        } else if (check_->count()) {
            options_.headless.checks = jobs::parse_checks(checked_);
        }
    }

    void choose_mode() {
        read_check();
        const bool is_program = !options_.program.empty();
        const bool headless_run = !is_program && !environment_ &&
                                  (headless_ || check_->count() || options_.headless.counters);
        if (headless_run + list_ > 1)
            throw UsageError("--headless (or --check, --counters), --list: give one of them");
        if (headless_run) options_.mode = Mode::headless;
        if (list_) options_.mode = Mode::list;
        if (serve_) options_.mode = Mode::serve;
        if (dap_->count()) options_.mode = Mode::debugger;
        if (mcp_) options_.mode = Mode::mcp;
        if (helper_->count()) options_.mode = Mode::helper;
        if (report_->count()) options_.mode = Mode::report;
        if (environment_) options_.mode = Mode::environment;
        if (get_nvcc_) options_.mode = Mode::get_nvcc;
        if (!options_.solution.empty()) return check_grade();
        if (is_program) options_.mode = Mode::program;
        options_.program_window = is_program && !headless_ && !check_->count() &&
                                  !options_.headless.counters && options_.capture.to.empty() &&
                                  !why_->count();
        choose_asked();
        if (is_program) check_program();
        check_partners();
        check_window_options();
    }

    /// Without --capture, --launches and --kernel choose the launch that --why asks, and all
    /// launches are captured.
    void choose_asked() {
        if (!why_->count() || capture_->count()) return;
        options_.headless.why_launches = std::exchange(options_.capture.launches, {});
        options_.headless.why_kernel = std::exchange(options_.capture.kernel, {});
    }

    static void demand(bool holds, const char* sentence) {
        if (!holds) throw UsageError(sentence);
    }
    static void refuse(std::initializer_list<const CLI::Option*> options, const char* sentence) {
        for (const CLI::Option* option : options)
            if (option->count())
                throw UsageError(fmt::format("{}: {}", option->get_name(), sentence));
    }

    /// Options that mean something only together with others.
    void check_partners() const {
        const bool is_program = !options_.program.empty();
        const jobs::HeadlessRequest& run = options_.headless;
        const emulator::CheckChoice& checks = run.checks;
        demand(!checks.needed || (!is_program && !environment_),
               "--check needed: leave it out for a program; capture its launches with --capture "
               "DIR");
        demand(!checks.leaks || is_program || environment_,
               "--check leaks: add the program behind it: -- ./app");
        demand(!capture_->count() || is_program, "--capture: add the program behind it: -- ./app");
        demand((!captured_launches_->count() && !captured_kernel_->count()) || capture_->count() ||
                   why_->count(),
               "--launches, --kernel: add --capture DIR or --why NAME[INDEX]");
        demand(is_program || (!confined_->count() && !time_limit_->count()),
               "--confined, --time-limit: add the program: FILE.cu, or -- ./app");
        demand(!nvcc_->count() || (is_program && is_source(options_.program[0])),
               "--nvcc: add the program that is compiled, FILE.cu");
        demand(!error_status_->count() || (is_program && check_->count()),
               "--error-exitcode: add --check race,barrier,memory and -- PROGRAM");
        demand(!blocks_->count() || environment_ || (is_program && check_->count()),
               "--blocks: add --check race,barrier,memory and -- PROGRAM");
        if (options_.mode != Mode::headless)
            refuse({frames_, screenshot_, html_, view_only_, compare_, force_, checkpoint_, every_,
                    resume_},
                   "add --headless");
        if (options_.mode != Mode::headless && !is_program) refuse({why_}, "add --headless");
        for (const CLI::Option* option : finding_files_)
            if (!checks.has_checks() || environment_)
                refuse({option}, environment_ ? "leave it out with --print-environment"
                                              : "add --check race,barrier,memory");
        demand(!fail_on_->count() || checks.has_checks(),
               "--fail-on: add --check race,barrier,memory");
        demand(!witness_->count() || checks.race, "--witness: add --check race");
        demand(!provoke_->count() || checks.race, "--provoke: add --check race");
        demand(!run.lines || run.counters, "--lines: add --counters");
        demand(!run.heat || run.counters, "--heat: add --counters");
        demand(run.heat != emulator::HeatFigure::races || checks.race,
               "--heat races: add --check race");
        demand(!json_->count() || options_.mode != Mode::window,
               "--json: add --headless or --list");
    }

    /// Options of the window, some of which headless runs have too.
    void check_window_options() const {
        const bool window = options_.mode == Mode::window;
        const bool headless = options_.mode == Mode::headless;
        const std::filesystem::path& screenshot = options_.headless.screenshot;
        const bool view_only = options_.headless.view_only;
        if (!window && !headless)
            refuse({kernel_source_, kernels_, language_, record_},
                   "only the window and --headless use this option");
        demand(options_.launch.empty() || window || headless,
               "--launch: only the window and --headless use this option");
        if (!window && !options_.program_window)
            refuse({vsync_, widget_map_, reset_settings_},
                   headless ? "only the window uses this option; drop it or --headless"
                            : "only the window uses this option; drop it or the other action");
        demand(!microscope_->count() || window || (!screenshot.empty() && !view_only),
               "--microscope: only the window and its screenshot show it; add --screenshot "
               "FILE.png without --view-only, or drop --headless");
        const std::filesystem::path json = options_.json;
        if (!json.empty() && json.lexically_normal() == screenshot.lexically_normal())
            throw UsageError(
                fmt::format("--screenshot and --json both name {}; name two files", json.string()));
        demand(!view_only || !screenshot.empty(), "--view-only: add --screenshot FILE.png");
    }

    /// A lesson says what is run, and how.
    void check_grade() {
        options_.mode = Mode::grade;
        const auto others = {launch_, kernel_source_, kernels_,    experiment_, set_,
                             device_, frames_,        screenshot_, record_};
        const bool other = std::ranges::any_of(others, [](auto* one) { return one->count() > 0; });
        if (other || headless_ || options_.headless.counters || !options_.program.empty())
            throw UsageError("--lesson N --check FILE.cu: only --json goes with them");
    }

    /// A program has launches of its own: options that choose a launch, a device or a picture mean
    /// nothing for it.
    void check_program() {
        if (list_ || environment_)
            throw UsageError("-- PROGRAM: leave out --list and --print-environment");
        demand(options_.launch.empty(), "--launch: leave it out, or the program");
        refuse({experiment_, kernel_source_, kernels_, device_, microscope_, set_},
               "leave it out; a program has launches of its own, which run in the emulator. "
               "--capture FILE.wslaunch writes them, and --launch FILE.wslaunch opens them");
        refuse(
            {witness_, provoke_},
            "leave it out; capture the launches of the program with --capture DIR, and check one "
            "of them with --launch");
        if (options_.run.turns)
            throw UsageError(
                "--schedule FILE: leave it out; it is the order of one block of a launch");
        if (options_.headless.lines || options_.headless.heat)
            throw UsageError("--lines, --heat: leave them out; a program has --counters only");
        if (options_.json == "-")
            throw UsageError("--json -: name a file; standard output belongs to the program");
    }

    /// Without --experiment, chooses the experiment of --bodies or of the first --set.
    void choose_experiment() {
        const bool saved = checkpoint_->count() || resume_->count();
        if (options_.experiment.empty() && saved) options_.experiment = "nbody";
        if (saved && options_.experiment != "nbody")
            throw UsageError("--checkpoint, --resume: only the experiment nbody has them");
        if (every_->count() && !checkpoint_->count())
            throw UsageError("--every: add --checkpoint FILE");
        if (!options_.launch.empty()) return choose_launch();
        if (options_.experiment.empty()) options_.experiment = first_set_;
        if (options_.experiment.empty() && !options_.kernel_source.empty())
            throw UsageError(
                "--kernel-source: add --experiment NAME, or run a kernel of your own with --launch "
                "FILE.cu");
        if (options_.mode != Mode::headless) return;
        if (options_.experiment.empty()) {
            const char* given = check_->count()              ? "--check"
                                : options_.headless.counters ? "--counters"
                                                             : "--headless";
            throw UsageError(
                fmt::format("{} needs --experiment NAME (--list prints the names)", given));
        }
        for (const auto& [id, list] : options_.assignments) {
            if (id == options_.experiment) continue;
            throw UsageError(
                fmt::format("{}.{}: the experiment is {}; drop this option or give --experiment {}",
                            id, list.front().id, options_.experiment, id));
        }
    }

    /// A launch file takes the place of an experiment and of kernel files.
    void choose_launch() {
        if (!options_.experiment.empty() || kernel_source_->count() || kernels_->count())
            throw UsageError(
                "--launch: leave out --experiment, --kernel-source and --kernels; the launch file "
                "names its kernels");
        options_.experiment = experiments::launch_experiment().id;
    }

    CLI::App app_{"A microscope for CUDA shared memory: what __syncthreads() and tiling do, live."};
    Options options_;
    bool headless_ = false, list_ = false, environment_ = false, serve_ = false, mcp_ = false,
         help_ = false, version_ = false, get_nvcc_ = false;
    std::vector<std::string> set_texts_;
    std::string bodies_;
    std::string checked_;    ///< the value of --check
    std::string first_set_;  ///< the experiment of the first assignment
    CLI::Option *dap_{}, *helper_{}, *check_{}, *lesson_{}, *fail_on_{}, *witness_{}, *provoke_{},
        *why_{}, *frames_{}, *screenshot_{}, *view_only_{}, *compare_{}, *force_{}, *json_{},
        *vsync_{}, *language_{}, *widget_map_{}, *reset_settings_{}, *microscope_{}, *launch_{},
        *kernel_source_{}, *kernels_{}, *checkpoint_{}, *every_{}, *resume_{}, *record_{}, *html_{},
        *experiment_{}, *set_{}, *device_{}, *error_status_{}, *report_{}, *capture_{},
        *captured_launches_{}, *captured_kernel_{}, *nvcc_{}, *confined_{}, *time_limit_{},
        *blocks_{};
    std::vector<const CLI::Option*> finding_files_;
};

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    return Parser().parse(argc, argv);
}

}  // namespace warpscope
