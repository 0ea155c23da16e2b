#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diagnostic.h"
#include "compute/device/kernel_edit.h"

namespace warpscope::ui {

/// The kernel files as a person has them on screen, and what became of each text. A model: draws
/// nothing, compiles nothing. The editor and the watched folder change texts; the stage has them
/// tried and says here what came out.
class KernelTexts {
  public:
    enum class State {
        shipped,  ///< the build's text
        waiting,  ///< typed, not yet tried
        running,  ///< this text's kernel is what runs
        failed,   ///< it does not compile or failed; error() says why, and another one runs
    };

    /// The text on screen: typed, else the build's. `file`: "ripple".
    const std::string& text(const std::string& file);
    /// The build's.
    static std::string_view shipped(std::string_view file);
    bool edited(const std::string& file) { return text(file) != shipped(file); }

    /// Counts a change where the text is another.
    void set(const std::string& file, std::string text);
    void revert(const std::string& file) { set(file, std::string(shipped(file))); }
    /// Another number: some text was changed.
    std::uint64_t version() const { return version_; }

    /// Every text that differs from the build's.
    compute::Sources edited_sources() const;

    /// Files whose text is waiting.
    std::vector<std::string> waiting() const;
    State state(const std::string& file) const;
    /// Of the newest text that was tried: it may be older than the one on screen.
    const std::vector<compiler::Diagnostic>& diagnostics(const std::string& file) const;
    /// A sentence where state() is failed and no diagnostic is an error, or a kernel that ran has
    /// failed since.
    const std::string& error(const std::string& file) const;
    /// The text that diagnostics() and error() are about.
    const std::string& tried(const std::string& file) const;
    /// Counts the calls of outcome().
    std::uint64_t outcomes() const { return outcomes_; }
    /// What came of trying: `text` is what was tried.
    void outcome(const std::string& file, std::string_view text, State state,
                 std::vector<compiler::Diagnostic> diagnostics, std::string error);

  private:
    struct Text {
        std::string text, tried;
        State state = State::shipped;
        std::vector<compiler::Diagnostic> diagnostics;
        std::string error;
    };
    Text& find(const std::string& file);

    std::map<std::string, Text, std::less<>> texts_;
    std::uint64_t version_ = 0, outcomes_ = 0;
};

}  // namespace warpscope::ui
