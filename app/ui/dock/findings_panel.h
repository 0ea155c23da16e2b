#pragma once

#include <future>
#include <memory>
#include <stop_token>
#include <vector>

#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// What the checks found: races, barriers that not every thread reaches, invalid accesses.
class FindingsPanel {
  public:
    FindingsPanel(Stage& stage, Microscope& microscope, ViewOptions& options)
        : stage_(stage), microscope_(microscope), options_(options) {}

    FindingsPanel(const FindingsPanel&) = delete;
    FindingsPanel& operator=(const FindingsPanel&) = delete;
    ~FindingsPanel() { stop_.request_stop(); }

    void draw(Ui& ui);
    /// The barriers are being examined.
    bool works() const { return examining_.valid(); }

  private:
    using Checked = std::shared_ptr<const experiments::LaunchState>;
    void draw_needed(Ui& ui, const Checked& checked, std::size_t rows);

    Stage& stage_;
    Microscope& microscope_;
    ViewOptions& options_;
    // What depends on the barriers of a launch, once a person has asked for it.
    Checked examined_;
    std::vector<emulator::Finding> needed_;
    std::future<std::vector<emulator::Finding>> examining_;
    std::shared_ptr<compute::LaunchProgress> progress_;  ///< of `examining_`
    std::stop_source stop_;
};

}  // namespace warpscope::ui
