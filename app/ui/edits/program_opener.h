#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>

#include "compiler/programs/program.h"
#include "ui/edits/compiler_download.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// Runs the program of a source that a person opens: asks once for each path, has nvcc compile it
/// on a thread of its own, starts it, and opens the launches that it makes. One program runs at a
/// time; it ends with the window.
class ProgramOpener {
  public:
    ProgramOpener(Stage& stage, ViewOptions& options, CompilerDownload& download)
        : stage_(stage), options_(options), download_(download) {}
    ~ProgramOpener();
    ProgramOpener(const ProgramOpener&) = delete;
    ProgramOpener& operator=(const ProgramOpener&) = delete;

    /// Opens a program, or asks whether it may run.
    void open(const std::string& path);
    /// Opens the kernels of a source, or the launches in a folder. Set by the window's view.
    std::function<void(const std::string& path)> show;
    /// Draws the question over the window, while it is open.
    void draw(Ui& ui);
    /// What a person waits for: "nvcc compiles mine.cu"; empty: nothing.
    std::string work_words() const;
    /// Ends the compiler, or the program.
    void cancel();
    /// Once a frame: follows the compiler and the program.
    void advance();
    /// The compiler or the program has news for a later frame.
    bool busy() const { return next_ || making_.valid() || running_.valid(); }

  private:
    void answer(ProgramAnswer answer);
    void act(const std::string& path, ProgramAnswer answer);
    void compile();
    void take_compiled();
    void start();
    void follow();
    void show_errors(const compiler::CompileError& error);

    Stage& stage_;
    ViewOptions& options_;
    CompilerDownload& download_;
    std::string asked_;    ///< the path that the popup asks for; empty: none
    bool opens_ = false;   ///< the popup is to be opened
    std::string no_nvcc_;  ///< why no program can be compiled here; empty: it can
    /// A source whose program runs.
    struct Chosen {
        std::string path;
        bool confined = false;
    };
    Chosen now_;                    ///< is compiled or runs
    std::optional<Chosen> next_;    ///< is compiled once the compiler and the program have ended
    std::filesystem::path folder_;  ///< of its launches
    bool shown_ = false;            ///< its first launch is on show
    /// The outcome of the compiler, for the source once its kernels are on show.
    std::optional<EditOutcome> errors_;
    std::stop_source stop_;
    std::future<compiler::CompiledProgram> making_;
    std::future<compiler::Ended> running_;
};

}  // namespace warpscope::ui
