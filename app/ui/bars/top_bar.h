#pragma once

#include <functional>
#include <string>

#include "ui/commands/key_help.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The words of the button that records: while there is a recording, how long it is, and how many
/// frames were dropped.
std::string record_label(const ViewOptions& options);

/// The bar at the top: the experiments, V-sync, screenshots and the list of keys.
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

}  // namespace warpscope::ui
