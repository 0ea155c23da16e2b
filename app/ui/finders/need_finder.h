#pragma once

#include <imgui.h>

#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "experiments/replicas/searches.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// What depends on the barriers, fences and waits of a launch: finds it out on a thread of its own,
/// once a person has asked, and knows at which barrier the person looks.
class NeedFinder {
  public:
    using Checked = std::shared_ptr<const experiments::LaunchState>;
    using Answer = std::shared_ptr<const experiments::NeededBarriers>;
    using Barrier = experiments::NeededBarriers::Barrier;

    NeedFinder() = default;
    NeedFinder(const NeedFinder&) = delete;
    NeedFinder& operator=(const NeedFinder&) = delete;
    ~NeedFinder() { stop(); }

    void look(Checked launch);
    void stop() { stop_.request_stop(); }
    bool works() const { return work_.valid(); }
    compute::LaunchProgress::Reading progress() const { return progress_->now(); }
    /// Once a frame: takes the answer, and forgets what was under the mouse.
    void collect();
    /// The newest answer, with the names of the user's files; null: there is none.
    const Answer& answer() const { return answer_; }
    /// Whether it is about this launch.
    bool knows(const Checked& launch) const { return answer_ && answer_->launch == launch; }
    /// The barriers of the answer, if it is about sources with these edits: then their lines hold.
    std::span<const Barrier> of(const compute::KernelEdits& edits) const;

    /// Chooses a barrier, by its index in the answer, or the chosen one no longer.
    void toggle(std::size_t barrier);
    bool is_chosen(std::size_t barrier) const { return chosen_ == barrier; }
    /// The mouse is on the mark of a barrier in this frame.
    void point_at(std::size_t barrier) { pointed_ = barrier; }
    /// The barrier whose pixels are painted: the one under the mouse, else the chosen one; null:
    /// none is.
    const Barrier* shown() const;

  private:
    Answer answer_;
    std::future<Answer> work_;
    std::shared_ptr<compute::LaunchProgress> progress_;
    std::stop_source stop_;
    std::optional<std::size_t> chosen_, pointed_, was_pointed_;
};

/// "96 %": the share of the words that depend on a barrier.
std::string share_words(const NeedFinder::Barrier& barrier);
/// "96 % depend on it", or that nothing needed it: the mark beside the source line of a barrier.
std::string mark_words(const NeedFinder::Barrier& barrier);

/// What depends on the barrier at which a person looks, of the elements of a buffer; empty: nothing
/// is known, or no barrier is looked at.
const std::vector<experiments::Dependence>& dependence_of(const Stage& stage,
                                                          const NeedFinder& needs,
                                                          const std::string& buffer);

/// The colour of an element; 0: it is not painted.
ImU32 dependence_colour(experiments::Dependence dependence);

}  // namespace warpscope::ui
