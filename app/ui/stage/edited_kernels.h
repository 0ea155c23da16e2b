#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "ui/documents/kernel_documents.h"
#include "ui/stage/edit_thread.h"
#include "ui/stage/scene.h"

namespace warpscope::ui {

/// Makes the kernels of the scene on show follow the texts that a person edits: tries what was
/// typed in the background, lets it take over once it has drawn a frame, and goes back to the
/// kernels before when it fails later.
class EditedKernels {
  public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    enum class State {
        idle,       ///< all kernels run that can
        waiting,    ///< for a pause in typing, or for the next frame
        trying,     ///< edits are tried while the picture goes on
        replacing,  ///< kernels on show have failed; the picture waits for others that are tried
        searching,  ///< the emulator looks for the place where an edit failed on a GPU
    };

    /// What a call has done, for the stage to show.
    struct News {
        bool replaced = false;         ///< other kernels run in the scene and have drawn its frame
        bool began_anew = false;       ///< Scene::begin_as()
        bool other_inspected = false;  ///< Scene::inspected() is another experiment
        bool nothing_runs = false;     ///< even the kernels that are built in have failed
        std::string error;             ///< to show; empty: none
        std::string outdated;          ///< an error that was shown and no longer holds; empty: none
        std::exception_ptr failure;    ///< the scene's experiment failed to give its state; or null
    };

    /// `try_edits` runs on another thread; empty: nothing can be edited.
    EditedKernels(EditThread::Try try_edits, Clock clock);

    KernelDocuments& documents() { return documents_; }
    const KernelDocuments& documents() const { return documents_; }
    bool can_try() const { return try_edits_ != nullptr; }
    State state() const { return state_; }
    /// Something is being tried on another thread.
    bool in_background() const { return thread_ && thread_->request() != nullptr; }
    /// Waits until that has ended. The next advance() takes its result.
    void wait() {
        if (thread_) thread_->wait();
    }

    /// Once a frame, with the scene on show: follows changes of the texts, starts what is due and
    /// takes over what has ended. `view` is the size of the picture's area.
    News advance(Scene& scene, experiments::Size view);
    /// The scene's kernels have failed with this error: others are tried that take their place.
    News replace_failed(Scene& scene, const std::string& error, experiments::Size view);

    /// The scene may take kernels from other files now.
    void look_again();
    /// Another scene is on show.
    void change_scene();
    /// What failed before may work now: another device, other settings, a reset.
    void forget_failures() { failed_.clear(); }
    /// Every scene was made anew, without edits.
    void start_anew();
    /// The texts become those that run in a scene in which nothing can be edited.
    void show(Scene& scene);

  private:
    using Time = std::chrono::steady_clock::time_point;

    void follow_documents();
    void wait_until(Time time);
    void look(Scene& scene, experiments::Size view, News& news);
    void start(Scene& scene, compute::Sources sources, experiments::Size view, News& news);
    void search();
    void take_result(Scene& scene, experiments::Size view, News& news);
    bool replace(Scene& scene, EditThread::Ended& ended, experiments::Size view, News& news);
    void refuse(Scene& scene, EditThread::Ended& ended, const std::string& error, News& news);
    void settle(Scene& scene, News& news);
    void fail_text(const std::string& file, const std::string& text,
                   std::vector<compiler::Diagnostic> diagnostics, const std::string& error);
    bool has_failed(const std::string& file, const std::string& text) const;
    compute::Sources wanted_sources(const Scene& scene) const;
    void show_error(std::string error, News& news);

    EditThread::Try try_edits_;
    Clock clock_;
    KernelDocuments documents_;
    State state_ = State::idle;
    std::optional<Time> look_at_;     ///< when the texts are compared with what runs
    std::uint64_t seen_version_ = 0;  ///< KernelDocuments::version()
    std::uint64_t tried_changes_ =
        0;  ///< Scene::changes() at the snapshot that the try starts from
    /// By file: texts that failed with this device and these settings, which are not tried again.
    std::map<std::string, std::set<std::string>, std::less<>> failed_;
    std::optional<experiments::EditRequest> search_;  ///< to run once the picture goes on
    std::string shown_error_;
    std::optional<EditThread> thread_;  ///< made for the first try
};

}  // namespace warpscope::ui
