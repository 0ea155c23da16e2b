#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/slice/wrong_word.h"
#include "experiments/replicas/specimen.h"

namespace warpscope::experiments {

/// An element of one of the results of a launch.
struct ElementPlace {
    std::size_t result = 0;   ///< index into Experiment::known_results()
    std::size_t element = 0;  ///< in the order of memory
    bool operator==(const ElementPlace&) const = default;
};

/// Why an element is wrong, with the names of the user's files.
struct WrongReason {
    std::shared_ptr<const LaunchState> launch;
    ElementPlace place;
    files::Sentence element;          ///< "pixel (35, 41)", "y[12]"
    files::Sentence found, expected;  ///< "0", "75"
    /// `expected` is what the launch has left in its program, which may be wrong as well.
    bool is_captured = false;
    files::Sentence brief;  ///< "0, expected 75: thread (3,9) read before warp 7 wrote"
    files::Sentence whole;  ///< sentences with the lines
    /// The block that has written the element; nullopt: none has, and there is no more to say.
    std::optional<emulator::Dim3> block{};
    std::shared_ptr<const emulator::WrongWord> word{};  ///< null: none is known
    const emulator::Kernel* kernel = nullptr;           ///< of `word`, which keeps it alive
};

/// The results of a launch beside what they should be, and why elements of them are wrong.
class WrongResults {
  public:
    /// Copies the launch and runs it in the emulator. Throws what make_replica() throws, and the
    /// errors of the launch.
    explicit WrongResults(std::shared_ptr<const LaunchState> launch,
                          const std::stop_token& stop = {});

    const std::shared_ptr<const LaunchState>& launch() const { return launch_; }
    struct Result {
        std::string name;
        launches::Array found, right;
        bool is_picture = false;
        bool is_captured = false;            ///< `right` is what a program's launch has left
        std::vector<bool> wrong;             ///< by element
        std::vector<std::uint32_t> writers;  ///< by element: the last block that stored to it
    };
    const std::vector<Result>& results() const { return results_; }
    bool is_wrong(const ElementPlace& place) const;
    std::optional<ElementPlace> first_wrong() const;
    /// The element that a person names: "35,41" of a picture, "y[3, 5]", "partial sum[2]", "first".
    /// Throws std::invalid_argument that says what can be named.
    ElementPlace find(std::string_view words) const;
    /// Runs the block that has written the element, in several orders. Throws emulator::Error and
    /// what make_replica() throws.
    WrongReason why(const ElementPlace& place, const std::stop_token& stop = {}) const;

  private:
    std::shared_ptr<const LaunchState> launch_;
    std::vector<Result> results_;
};

/// The slice of one of the two runs as text, a line for each instruction: its source line, the
/// thread, its value; at most `most` nodes.
std::vector<files::Sentence> slice_lines(const WrongReason& reason, bool right,
                                         std::size_t most = 12);

}  // namespace warpscope::experiments
