#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launches/files/program_capture.h"
#include "ui/finders/program_checks.h"
#include "ui/stage/stage.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The rows of a program whose launches are shown: their list, with the verdicts, and where the
/// program pauses while it runs.
class ProgramRows {
  public:
    explicit ProgramRows(Stage& stage) : stage_(stage) {}

    /// Draws nothing unless the launch on show is one of a program.
    void draw(Ui& ui, const RowColumns& at);
    ProgramChecks& checks() { return checks_; }
    bool busy() const { return checks_.busy(); }

  private:
    void read(const std::filesystem::path& folder);
    void show_first_race(Ui& ui);
    void open(Ui& ui, const std::filesystem::path& file);
    RaceSummary verdict_on(std::size_t launch, std::size_t shown) const;
    std::vector<std::size_t> listed(std::size_t shown) const;
    bool kernel_list(Ui& ui, const char* id, const char* all, float width,
                     std::string& kernel) const;
    void head(Ui& ui, bool runs) const;
    void launch_rows(Ui& ui, const RowColumns& at, std::size_t shown);
    void launch_row(Ui& ui, std::size_t index, std::size_t shown, float height);
    void pause_rows(Ui& ui, const RowColumns& at);
    /// Has the program wait behind its next launch, or go on.
    void control(bool wait);

    Stage& stage_;
    ProgramChecks checks_;
    std::filesystem::path folder_;                     ///< of the launch that was shown last
    std::filesystem::file_time_type written_{};        ///< when the list in it was written
    std::filesystem::file_time_type begun_{};          ///< when its first launch was written
    std::optional<launches::ProgramCapture> capture_;  ///< in that folder
    std::filesystem::path on_show_, asked_;  ///< launch files; the one that open() has opened
    bool is_chosen_ = false;  ///< the launch on show was chosen, by a person or by its verdict
    std::size_t shown_ = 0;   ///< the launch to which the list has scrolled
    bool found_only_ = false;
    std::string kernel_shown_;  ///< only its launches are listed; empty: all
    bool is_paused_ = false;
    std::string kernel_;  ///< the program pauses at its launches; empty: at all launches
};

}  // namespace warpscope::ui
