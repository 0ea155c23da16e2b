#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "launches/files/program_capture.h"
#include "ui/stage/stage.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The rows of a program whose launches are shown: the choice among them, and where the program
/// pauses while it runs.
class ProgramRows {
  public:
    explicit ProgramRows(Stage& stage) : stage_(stage) {}

    /// Draws nothing unless the launch on show is one of a program.
    void draw(Ui& ui, const RowColumns& at);

  private:
    void read(const std::filesystem::path& folder);
    void launch_row(Ui& ui, const RowColumns& at, std::size_t chosen);
    void pause_rows(Ui& ui, const RowColumns& at);
    /// Has the program wait behind its next launch, or go on.
    void control(bool wait);

    Stage& stage_;
    std::filesystem::path folder_;                     ///< of the launch that was shown last
    std::filesystem::file_time_type written_{};        ///< when the list in it was written
    std::optional<launches::ProgramCapture> capture_;  ///< in that folder
    bool is_paused_ = false;
    std::string kernel_;  ///< the program pauses at its launches; empty: at all launches
};

}  // namespace warpscope::ui
