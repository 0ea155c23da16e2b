#pragma once

#include <functional>
#include <string>

#include "ui/commands/overlays.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/canvas.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The words of the button that records: while there is a recording, how long it is, and how many
/// frames were dropped.
std::string record_label(const ViewOptions& options);

/// The bar at the top: the experiments, files, lessons, the menu that saves, and the list of keys.
class TopBar {
  public:
    /// `speak` changes the language of the window.
    TopBar(Stage& stage, ViewOptions& options, const KeyList& keys,
           std::function<void(Language)> speak)
        : stage_(stage), options_(options), keys_(keys), speak_(std::move(speak)) {}

    void draw(Ui& ui);

  private:
    Stage& stage_;
    ViewOptions& options_;
    const KeyList& keys_;
    std::function<void(Language)> speak_;
};

/// Says that edited text runs. `files`: those that are edited, as edited_files() names them.
void draw_edited_badge(Ui& ui, const std::string& files);

/// The buttons above the picture: pause, one frame, reset; microscope, editor; the view.
class TransportPanel {
  public:
    TransportPanel(Stage& stage, Microscope& microscope, Canvas& canvas, ViewOptions& options)
        : stage_(stage), microscope_(microscope), canvas_(canvas), options_(options) {}

    /// Draws the panel into the current ImGui child window. If `narrow`, it has the buttons of the
    /// drawers.
    void draw(Ui& ui, bool narrow);

  private:
    void edited_badge(Ui& ui);
    void drawer_button(Ui& ui, Drawer drawer);

    Stage& stage_;
    Microscope& microscope_;
    Canvas& canvas_;
    ViewOptions& options_;
};

}  // namespace warpscope::ui
