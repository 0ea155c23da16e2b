#pragma once

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/helper/helpers.h"
#include "experiments/replicas/specimen.h"
#include "experiments/replicas/wrong_results.h"
#include "ui/stage/live_experiment.h"

namespace warpscope::ui {

/// Why an element is wrong, with what the panels mark.
struct Reason {
    experiments::WrongReason words;
    std::vector<std::uint32_t> pcs;   ///< of the slice, ascending, each once
    std::vector<std::size_t> shared;  ///< words of shared memory that it goes through, likewise
    std::optional<std::size_t> word;  ///< the one that the parting reads
    /// The slices as text, the latest instruction first; the index of the parting in each.
    struct Side {
        std::vector<files::Sentence> lines;
        std::optional<std::size_t> parting;
        std::size_t nodes = 0;
    };
    Side run, right;

    const emulator::WrongWord& word_of_memory() const { return *words.word; }
};

/// Finds out why elements of the result on show are wrong, on a thread of its own.
class ReasonFinder {
  public:
    ReasonFinder() = default;
    ReasonFinder(const ReasonFinder&) = delete;
    ReasonFinder& operator=(const ReasonFinder&) = delete;
    ~ReasonFinder() { stop_.request_stop(); }

    /// From now on elements of captured launches are followed through the launches before.
    void follow_captures(compute::Helpers* helpers) { helpers_ = helpers; }
    /// Asks about an element, as WrongResults::find() reads it, and returns the answer once it is
    /// known: ask again in each frame until then. Null: not known yet, or the element is right, and
    /// not of a captured launch. The newest question is answered next.
    std::shared_ptr<const Reason> ask(const LiveLaunch& live, const std::string& element);
    /// Once a frame: takes what is ready, also where nobody asks any more.
    void collect();
    bool works() const { return work_.valid() || asked_state_.valid(); }
    /// Whether the answer to this question is known.
    bool knows(const std::string& element) const { return answers_.contains(element); }

  private:
    using State = std::shared_ptr<const experiments::LaunchState>;
    using Results = std::shared_ptr<const experiments::WrongResults>;
    struct Answer {
        std::string element;
        State state;
        Results results;
        std::shared_ptr<const Reason> reason;
    };
    struct Key {
        std::uint64_t generation = 0, frame = 0;
        std::vector<std::string> parameters;
        compute::RunSettings settings;
        compute::KernelEdits edits;
        bool operator==(const Key&) const = default;
    };
    void follow(const LiveLaunch& live);
    static Answer answer(const State& state, Results results, std::string element,
                         compute::Helpers* helpers, const std::stop_token& stop);

    compute::Helpers* helpers_ = nullptr;
    Key key_;
    std::future<State> asked_state_;
    State state_;
    Results results_;
    std::map<std::string, std::shared_ptr<const Reason>> answers_;
    std::future<Answer> work_;
    std::stop_source stop_;
};

/// Searches, on a thread of its own, for the order in which a race spoils a result, in a copy of
/// the launch that a check has run.
class WitnessFinder {
  public:
    using Checked = std::shared_ptr<const experiments::LaunchState>;

    WitnessFinder() = default;
    WitnessFinder(const WitnessFinder&) = delete;
    WitnessFinder& operator=(const WitnessFinder&) = delete;
    ~WitnessFinder() { cancel(); }

    void look(Checked checked, emulator::Finding finding);
    void cancel() { stop_.request_stop(); }
    bool works() const { return work_.valid(); }
    /// The share of its time that the search has taken, 0 to 1.
    double progress() const;
    /// The finding with its witness, and the launch in that order; once, when the search has ended.
    struct Found {
        emulator::Finding finding;
        Checked launch;  ///< null: there is no such order
    };
    std::optional<Found> take();

  private:
    std::future<Found> work_;
    std::stop_source stop_;
    std::shared_ptr<compute::LaunchProgress> progress_;
};

}  // namespace warpscope::ui
