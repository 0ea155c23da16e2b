#pragma once

#include "ui/dock/recent_kernels.h"
#include "ui/stage/device_facts.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// How long a frame of the window takes, smoothed over several frames; 0: unknown.
struct FrameTimes {
    float frame_ms = 0;
    float display_ms = 0;  ///< the part spent on drawing and on waiting for the monitor
};

/// A table of the kernels with their times, and the time of a frame.
class TimingsPanel {
  public:
    TimingsPanel(Stage& stage, DeviceFacts& facts) : stage_(stage), facts_(facts) {}

    void draw(Ui& ui);
    /// Draws the kernels that run on one line, as many as have room.
    void draw_line(Ui& ui);
    void set_frame_times(const FrameTimes& times) { times_ = times; }

  private:
    void engine_line(Ui& ui) const;

    Stage& stage_;
    DeviceFacts& facts_;
    FrameTimes times_;
    RecentKernels recent_;
};

}  // namespace warpscope::ui
