#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/log.h"
#include "compute/emulated/emulated_device.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

using experiments::Snapshot;
using State = KernelTexts::State;

namespace {

/// A snapshot is taken this often, where taking one is cheap.
constexpr std::chrono::milliseconds snapshot_pause{1000};
constexpr int snapshot_share = 100;  // of the time is spent on them at most: one part in so many
/// Frames that the emulator runs to find what failed on a GPU.
constexpr int search_frames = 150;

bool has_error(const std::vector<compiler::Diagnostic>& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(), [](const auto& diagnostic) {
        return diagnostic.severity == compiler::Severity::error;
    });
}

std::string sentence(const std::string& words) {
    return words.empty() || words.ends_with('.') ? words : words + ".";
}

bool differs(const compute::Sources& from, const std::string& file, const std::string& text) {
    const auto found = from.find(file);
    return found == from.end() || found->second != text;
}

}  // namespace

const std::string& Stage::read_only() const {
    static const std::string none, finished = "This is a picture of a finished run.";
    if (helpers_) return helpers_->no_compiler();
    return try_kernels_ ? none : finished;
}

void Stage::warm() {
    if (helpers_) helpers_->warm(device().info());
}

void Stage::follow_texts() {
    if (texts_.version() != seen_texts_) {
        if (seen_texts_ == 0) warm();
        seen_texts_ = texts_.version();
        for (const std::string& file : texts_.waiting()) broken_.erase(file);
        // What is being tried is no longer on the screen, or may not be.
        if (trials_ && !scene_->failed) trials_->stop();
        due_ = Clock::now() + experiments::edit_pause;
    }
    if (due_ && Clock::now() >= *due_) try_texts();
}

/// Of every text that the experiment uses: the one on the screen, or where that has failed the one
/// that runs.
compute::Sources Stage::wanted_sources() {
    compute::Sources wanted = scene_->used(texts_.edited_sources());
    const compute::Sources good = scene_->failed ? scene_->before : scene_->sources();
    const auto is_broken = [&](const std::string& file, const std::string& text) {
        const auto found = broken_.find(file);
        return found != broken_.end() && found->second.contains(text);
    };
    for (auto it = wanted.begin(); it != wanted.end();) {
        auto& [file, text] = *it;
        const auto runs = good.find(file);
        if (is_broken(file, text) && runs != good.end()) text = runs->second;
        it = is_broken(file, text) ? wanted.erase(it) : std::next(it);
    }
    return wanted;
}

void Stage::try_texts() {
    due_.reset();
    if (!scene_->own() || !try_kernels_) return;
    compute::Sources wanted = wanted_sources();
    const bool runs = !scene_->failed && wanted == scene_->sources();
    if (trials_ && trials_->sources() && !searching_) {
        if (!runs && *trials_->sources() == wanted) return;
        trials_->stop();
    }
    if (runs) return settle();
    start_trial(std::move(wanted));
}

/// Where the experiment stands; after a failure, where it stood before, unless it began anew since.
Snapshot Stage::standing() {
    if (!scene_->failed) return experiment().snapshot();
    Snapshot snapshot;
    if (scene_->last && scene_->last->frame <= experiment().frame()) snapshot = *scene_->last;
    snapshot.parameters = values(experiment(), true);
    return snapshot;
}

void Stage::start_trial(compute::Sources sources) {
    searching_ = false;
    attempt("", [&] {
        experiments::TrialRequest request{.entry = scene_->entry,
                                          .like = device().info(),
                                          .settings = run_,
                                          .sources = std::move(sources),
                                          .snapshot = standing(),
                                          .view = view_};
        request.like.in_helper = false;
        trial_changes_ = changes_;
        if (!trials_) trials_.emplace(try_kernels_);
        trials_->start(std::move(request));
    });
}

void Stage::take_trial() {
    auto ended = trials_ ? trials_->take() : std::nullopt;
    if (!ended) return;
    const std::string& error = ended->result.error;
    if (std::exchange(searching_, false)) {
        if (!error.empty()) refuse(*ended, experiments::with_emulators_words(said_, error));
        return;
    }
    if (!error.empty())
        refuse(*ended, error);
    else if (adopt(*ended))
        settle();
    // The texts may have been changed meanwhile, or one of several has failed.
    const bool stuck = !error.empty() && ended->request.sources.empty();
    if (!due_ && !stuck) try_texts();
    search_reason();
}

/// Puts kernels that have drawn a frame on show, from where the experiment stands by now.
bool Stage::adopt(KernelTrials::Ended& ended) {
    experiments::Running fresh = std::move(ended.result.running);
    std::optional<Snapshot> now;
    if (changes_ != trial_changes_ && !attempt("", [&] { now = standing(); })) return false;
    try {
        if (fresh.device->settings() != run_) fresh.device->set(run_);
        if (now) fresh.experiment->resume(*now);
        compute::Sources before = scene_->failed ? compute::Sources{} : scene_->sources();
        scene_->exchange(std::move(fresh), view_);
        scene_->before = std::move(before);
    } catch (const std::exception& error) {
        refuse(ended, error.what());
        return false;
    }
    if (!std::exchange(scene_->failed, false) || !scene_->last) {
        scene_->last = now ? std::move(*now) : std::move(ended.request.snapshot);
        scene_->last_changes = changes_;
    }
    comparison_.reset();
    changed();
    due_.reset();
    picture_stale_ = false;
    ++picture_version_;
    return true;
}

/// What a GPU can only say in general is looked for in the emulator, once the picture goes on.
void Stage::search_reason() {
    if (!search_ || scene_->failed || trials_->busy()) return;
    searching_ = true;
    trials_->start(*std::exchange(search_, std::nullopt));
}

/// Marks the texts that are to blame, and says so.
void Stage::refuse(const KernelTrials::Ended& ended, const std::string& error) {
    const compute::Sources& tried = ended.request.sources;
    const compute::Sources runs = scene_->failed ? scene_->before : scene_->sources();
    compute::Sources blamed;
    for (const auto& [file, diagnostics] : ended.result.diagnostics)
        if (has_error(diagnostics)) blamed[file] = tried.at(file);
    if (blamed.empty())
        for (const auto& [file, text] : tried)
            if (differs(runs, file, text)) blamed[file] = text;
    if (blamed.empty()) blamed = tried;
    for (const auto& [file, text] : blamed) {
        broken_[file].insert(text);
        if (texts_.text(file) != text) continue;
        const auto said = ended.result.diagnostics.find(file);
        texts_.outcome(file, text, State::failed,
                       said == ended.result.diagnostics.end() ? std::vector<compiler::Diagnostic>{}
                                                              : said->second,
                       error);
    }
    say(said_ = error, Tone::error);
    // The build's own kernels have failed where those of a person did: nothing is left but another
    // device.
    if (blamed.empty() && scene_->failed) drop_edits(error);
}

/// Says of each text what is true once nothing is to be tried.
void Stage::settle() {
    const bool all_run = scene_->used(texts_.edited_sources()) == scene_->sources();
    if (all_run && !said_.empty() && message_.text == said_) message_ = {};
    for (const auto& [file, edit] : device().edits())
        if (texts_.text(file) == edit->source)
            texts_.outcome(file, edit->source, State::running, edit->warnings, "");
    for (const std::string& file : texts_.waiting())
        if (!texts_.edited(file)) texts_.outcome(file, texts_.text(file), State::shipped, {}, "");
}

/// A kernel or the device has failed since the last frame.
void Stage::face_failure() {
    const std::string words = std::exchange(failure_, {});
    if (scene_->failed) return;
    if (!runs_edits()) return replace_lost_device(words);
    const compute::Sources ran = scene_->sources();
    scene_->failed = true;
    for (const auto& [file, text] : ran) {
        if (!differs(scene_->before, file, text)) continue;
        broken_[file].insert(text);
        if (texts_.text(file) == text)
            texts_.outcome(file, text, State::failed, device().edits().at(file)->warnings, words);
    }
    const bool shipped = scene_->before.empty();
    say(said_ = fmt::format("{} Back to the {}.", sentence(words),
                            shipped ? "kernel that Warpscope came with" : "last good kernel"),
        Tone::error);
    if (device().info().kind == compute::DeviceKind::cuda) {
        search_ = {.entry = scene_->entry,
                   .like = {},
                   .settings = run_,
                   .sources = ran,
                   .snapshot = standing(),
                   .view = view_,
                   .frames = search_frames};
        search_->like.memory_bytes = compute::usual_emulator_memory();
    }
    start_trial(wanted_sources());
}

/// Not even the build's kernels could take over in the background.
void Stage::drop_edits(const std::string& words) {
    if (device().info().kind == compute::DeviceKind::cuda) return replace_lost_device(words);
    paused_ = true;
}

/// The device is gone and takes all of its experiments along: the emulator goes on from the last
/// snapshot of the one on show.
void Stage::replace_lost_device(const std::string& words) {
    scene_->failed = true;
    const bool done = attempt("Restart Warpscope.", [&] {
        auto device = make_device("emulator");
        auto scene = std::make_unique<Scene>();
        scene->entry = scene_->entry;
        scene->running.device = std::move(device);
        scene->running.experiment = entry().make(*scene->running.device);
        scene->shown = scene->running.experiment.get();
        const Snapshot last = standing();
        try {
            scene->experiment().resume(last);
        } catch (const std::exception&) {
            set_all(scene->experiment(), last.parameters);
            scene->experiment().reset();
        }
        lost_wish_ = lost_wish_.value_or(wish_);
        wish_ = "emulator";
        begin_anew(std::move(scene));
        say(fmt::format("{} The emulator goes on from where it stood; the GPU is back after a "
                        "restart.",
                        sentence(words)),
            Tone::error);
    });
    if (!done) paused_ = true;
}

/// The newest line is news, where no error stands.
void Stage::read_prints() {
    std::string fresh;
    attempt("", [&] { fresh = device().take_output(); });
    if (fresh.empty()) return;
    printed_ = std::move(fresh);
    if (message_.tone == Tone::error && !message_.text.empty()) return;
    const std::string_view lines = std::string_view(printed_).substr(0, printed_.rfind('\n'));
    const std::size_t last = lines.rfind('\n');
    say("printf: " + compiler::clean(lines.substr(last == std::string_view::npos ? 0 : last + 1)));
}

/// Keeps a snapshot of what could be lost: on a GPU, and of kernels that nobody has proved.
void Stage::keep_standing() {
    const bool may_go = device().info().kind == compute::DeviceKind::cuda || runs_edits();
    Scene& scene = *scene_;
    if (!scene.own() || !may_go || Clock::now() < scene.next_snapshot) return;
    if (scene.last && scene.last_changes == changes_) return;
    const auto start = Clock::now();
    attempt("", [&] {
        scene.last = experiment().snapshot();
        scene.last_changes = changes_;
    });
    const auto took = Clock::now() - start;
    scene.next_snapshot = start + std::max<Clock::duration>(snapshot_pause, snapshot_share * took);
}

}  // namespace warpscope::ui
