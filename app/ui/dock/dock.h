#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/dock/barriers_panel.h"
#include "ui/dock/counters_panel.h"
#include "ui/dock/findings_panel.h"
#include "ui/dock/occupancy_panel.h"
#include "ui/dock/roofline_panel.h"
#include "ui/dock/timings_panel.h"
#include "ui/heat/heat_panel.h"
#include "ui/launch_form/buffer_panel.h"
#include "ui/launch_form/launch_panel.h"
#include "ui/microscope/banks_panel.h"
#include "ui/microscope/breakpoints_panel.h"
#include "ui/microscope/warps_panel.h"
#include "ui/microscope/why_panel.h"
#include "ui/timeline/timeline_panel.h"

namespace warpscope::ui {

/// The panel at the lower edge: a row of tabs, and the panel of the chosen tab below.
class Dock {
  public:
    Dock(Stage& stage, Microscope& microscope, DeviceFacts& facts, ViewOptions& options,
         EditorPanel& editor);

    /// Draws the dock into the current ImGui child window. `folded`: the tabs above one line of
    /// timings; a click on a tab opens it. `with_verdict`: the verdict stands beside the tabs.
    void draw(Ui& ui, bool folded, bool with_verdict);
    void show_findings();
    LaunchPanel& launch() { return launch_; }
    void set_frame_times(const FrameTimes& times) { timings_.set_frame_times(times); }

  private:
    struct Tab {
        const char* id;
        const char* title;
        const char* help;
        std::function<void(Ui&)> draw;
    };
    std::vector<Tab> tabs();
    void add_microscope_tabs(std::vector<Tab>& tabs);
    void list_tabs(Ui& ui, const std::vector<Tab>& all, const Tab& chosen, float width);
    void choose(const char* tab, bool was_open);
    void show_proposal();
    void grow(const Ui& ui);
    void table_menu(Ui& ui, std::string_view tab) const;
    void fold_button(Ui& ui, ImVec2 top, bool folded);

    Stage& stage_;
    const Microscope& microscope_;
    ViewOptions& options_;
    std::shared_ptr<const experiments::LaunchPlan> seen_plan_;
    bool beside_microscope_ = false;
    std::string seen_finding_;  // its sentence
    const Reason* seen_reason_ = nullptr;
    std::shared_ptr<const emulator::ScheduleFile> seen_order_;
    LaunchPanel launch_;
    BufferPanel buffer_;
    TimingsPanel timings_;
    RooflinePanel roofline_;
    OccupancyPanel occupancy_;
    FindingsPanel findings_;
    CountersPanel counters_;
    LinesPanel lines_;
    HeatPanel heat_;
    TimelinePanel timeline_;
    OrderPanel order_;
    BanksPanel banks_;
    RegistersPanel registers_;
    BreakpointsPanel breaks_;
    WhyPanel why_;
    BarriersPanel policies_;
};

}  // namespace warpscope::ui
