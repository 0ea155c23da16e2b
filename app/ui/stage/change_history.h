#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/parameter.h"

namespace warpscope::ui {

/// A change of parameters, of the run settings, or of both, that a person made.
struct Change {
    std::vector<experiments::Assignment> after, before;  ///< of the same parameters
    compute::RunSettings run_after, run_before;
};

/// The changes that a person made to one experiment, for undo and redo.
class ChangeHistory {
  public:
    /// The changes that are kept.
    static constexpr std::size_t most = 200;

    /// The newest change. It joins the one before it where both change only the same parameters,
    /// with no end_drag() between them.
    void add(Change change);
    /// The mouse is up: what was dragged until now is one change.
    void end_drag() { dragging_ = false; }
    /// The change to take back or to make again; null: there is none. It is valid until the next
    /// call.
    const Change* undo() { return done_ == 0 ? nullptr : &changes_[--done_]; }
    const Change* redo() { return done_ == changes_.size() ? nullptr : &changes_[done_++]; }
    /// What the calls of undo() or redo() from now on would return, the first one first.
    std::vector<const Change*> ahead(bool forward) const;

  private:
    std::deque<Change> changes_;
    std::size_t done_ = 0;  ///< of changes_; the rest were taken back
    bool dragging_ = false;
};

/// What a change would make of the parameters and the run settings: "Size: 256 → 512" for one
/// parameter, "3 parameters" for several; empty: nothing. Throws ParameterError for a parameter
/// that is not there.
std::string words_of(const experiments::ParameterSet& now,
                     const std::vector<experiments::Assignment>& wanted,
                     const compute::RunSettings& run_now, const compute::RunSettings& run_wanted);

}  // namespace warpscope::ui
