#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "experiments/export/table.h"
#include "ui/commands/command_palette.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The smallest widget with a value that the mouse is on; null: there is none.
const Widget* value_under(const WidgetMap& widgets, ImVec2 mouse);

/// The command line that makes the picture on show again.
std::string command_of(const Stage& stage);

/// A page of HTML about the frame on show. `png`: its picture; empty: there is none.
std::string page_of(const Stage& stage, std::span<const std::uint8_t> png);

/// What a person copies to the clipboard: a value, the findings, a table, the command line.
class TextClipboard {
  public:
    TextClipboard(Stage& stage, const Microscope& microscope, const ViewOptions& options)
        : stage_(stage), microscope_(microscope), options_(options) {}

    /// Returns false if the command copies nothing. `widgets` are those of the last frame.
    bool carry_out(Command command, const WidgetMap& widgets);
    /// Rows of the palette for the tables on show, but for the one that commands copy.
    std::vector<PaletteRow> other_tables();

  private:
    struct Form;
    static std::span<const Form> forms();
    void copy(const std::string& text, const std::string& what);
    void copy(const experiments::Table& table, const Form& form);
    std::vector<experiments::Table> tables() const;

    Stage& stage_;
    const Microscope& microscope_;
    const ViewOptions& options_;
};

/// Puts the bytes of a PNG on the clipboard of the desktop, where they stay until something else is
/// copied. GLFW copies only text, so the program xclip (X11) or wl-copy (Wayland) does it. Throws
/// std::runtime_error; where the program is missing, the message names its package.
void copy_png(std::span<const std::uint8_t> png);

}  // namespace warpscope::ui
