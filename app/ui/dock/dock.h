#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ui/dock/counters_panel.h"
#include "ui/dock/findings_panel.h"
#include "ui/dock/policies_panel.h"
#include "ui/dock/registers_panel.h"
#include "ui/dock/roofline_panel.h"
#include "ui/dock/timeline_panel.h"
#include "ui/dock/timings_panel.h"
#include "ui/microscope/banks_panel.h"

namespace warpscope::ui {

/// The panel at the lower edge: a row of tabs, and the panel of the chosen tab below.
class Dock {
  public:
    Dock(Stage& stage, Microscope& microscope, DeviceFacts& facts, ViewOptions& options);

    /// Draws the dock into the current ImGui child window.
    void draw(Ui& ui);
    void set_frame_times(const FrameTimes& times) { timings_.set_frame_times(times); }

  private:
    struct Tab {
        const char* id;
        const char* title;
        const char* help;
        std::function<void(Ui&)> draw;
    };
    std::vector<Tab> tabs();

    Stage& stage_;
    const Microscope& microscope_;
    ViewOptions& options_;
    TimingsPanel timings_;
    RooflinePanel roofline_;
    FindingsPanel findings_;
    CountersPanel counters_;
    TimelinePanel timeline_;
    BanksPanel banks_;
    RegistersPanel registers_;
    PoliciesPanel policies_;
};

}  // namespace warpscope::ui
