#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/edits/program_opener.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Something that a person can accept with a click, shown as long as it is on offer.
struct Offer {
    std::string label, help;
    std::function<void()> accept;
    std::string decline_label{};  ///< empty: it can't be declined
    std::function<void()> decline{};
};

/// The line at the foot: the newest message, an offer, the device.
class MessageLine {
  public:
    explicit MessageLine(Stage& stage) : stage_(stage) {}

    void draw(Ui& ui);
    void offer(std::optional<Offer> offer) { offer_ = std::move(offer); }

  private:
    Stage& stage_;
    std::optional<Offer> offer_;
};

/// The foot of a presentation: one large switch of the barrier, and one sentence.
class Caption {
  public:
    explicit Caption(Stage& stage) : stage_(stage) {}
    void draw(Ui& ui);

  private:
    Stage& stage_;
};

/// Returns "Frame 3 · 41 % · about 12 s left" for work that has taken `seconds` so far, where
/// `frame` is the frame that is computed next, and `expected` the seconds of a frame; 0: they are
/// not known, and the blocks of the launch tell how far it is. Empty for work too short to mention.
std::string work_words(Activity activity, std::uint64_t frame, double seconds,
                       const compute::LaunchProgress::Reading& launch, double expected = 0);

/// Draws the words of work_words() in the middle of a window that shows nothing else yet.
void draw_start(Ui& ui, const std::string& words);

/// For a run of the microscope: "Running the block · 41 % of the earlier blocks · 2 s so far".
std::string block_words(double seconds, const compute::LaunchProgress::Reading& earlier);

/// Returns "The next frame takes about 13 s on this machine."
std::string cost_words(double seconds);

/// Says over the picture what takes long, with a button that cancels it; or what would take long,
/// with a choice.
class WorkChip {
  public:
    WorkChip(Stage& stage, Microscope& microscope, ProgramOpener& program)
        : stage_(stage), microscope_(microscope), program_(program) {}

    /// Draws the chip in the upper right corner of the current ImGui child window, if there is long
    /// work.
    void draw(Ui& ui);
    /// True if there is work that a person may want to cancel, or a question.
    bool shows() const { return stage_.costly_change() || !words().empty(); }
    /// Ends the work, or answers the question with no.
    void cancel();

  private:
    struct Button {
        const char *id, *label, *help;
        std::function<void()> action;
    };
    void draw(Ui& ui, const char* id, const std::string& words, const std::vector<Button>& buttons);
    std::string words() const;

    Stage& stage_;
    Microscope& microscope_;
    ProgramOpener& program_;
};

}  // namespace warpscope::ui
