#pragma once

#include "ui/commands/key_help.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

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
