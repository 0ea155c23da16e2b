#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gl/picture_view.h"
#include "ui/dock/dock.h"
#include "ui/editor/editor_panel.h"
#include "ui/microscope/listing.h"
#include "ui/microscope/microscope.h"
#include "ui/microscope/recent_registers.h"
#include "ui/source/kernel_text.h"
#include "ui/stage/device_facts.h"
#include "ui/stage/inspector.h"
#include "ui/stage/stage.h"
#include "ui/widgets/canvas.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"
#include "ui/window/layout.h"

namespace warpscope::ui {

enum class Shot { none, window, picture };

/// A tree's part on show: which column comes first, and how wide its cells are.
struct TreeView {
    double first = 0;
    float cell = 0;            ///< logical pixels; 0: not chosen yet
    bool in_overview = false;  ///< where the mouse button went down
};

/// The microscope's texts, of its newest copy.
struct SourceView {
    std::uint64_t copy = 0, version = 0;  ///< the microscope's, when they were read and drawn
    KernelText source, ptx;
    std::uint64_t warps_version = 0;  ///< the same of the list of warps
    bool show_ptx = false;
    std::uint64_t writes_copy = 0;
    RegisterWrites writes;
    ListingView left, right;
};

/// What the picture's draw callback needs once ImGui renders.
struct PictureDraw {
    gl::Picture picture;
    gl::View view;
    gl::Rect rect;
    int target_height = 0;
    gl::PictureStyle style;
};

/// Something that a person can have done, on the message line for as long as it stands.
struct Offer {
    std::string label, help;
    std::function<void()> take;
    std::function<void()> decline;  ///< empty: it stands
};

/// One window's (or one screenshot's) interface: what is on show and how it is looked at.
/// Made and drawn with an ImGui context current.
struct Interface : Ui {
    Interface(Stage& on_show, const ViewOptions& chosen, float ui_scale, float framebuffer_ratio);

    /// Decides where the panels are, `size` in layout units.
    void place(ImVec2 size);
    /// Draws everything into the current ImGui frame.
    void draw(ImVec2 size);
    /// Draws the picture alone.
    void draw_view(ImVec2 size);
    /// Shows the whole picture.
    void fit();
    /// Opens the microscope at a pixel of the picture; without one at the picture's middle.
    void open_microscope(std::optional<gl::Point> pixel = {});
    /// The same at a block and a step of it; a block that isn't there becomes the nearest one.
    void open_microscope(const MicroscopePlace& place);
    /// Opens the editor, which the microscope makes way for, or closes it.
    void toggle_editor();
    bool editor_shows() const { return options.editor && !microscope.is_open(); }
    /// Whether the open microscope's launch computes one pixel a thread, in square blocks.
    bool block_shows() const;
    /// Moves it to that pixel's block and thread.
    void pick_pixel(gl::Point pixel);
    /// Runs what the panels asked for; between frames, as it may remake the experiment.
    void run_requests();
    /// Framebuffer pixels of the picture's area.
    experiments::Size view_size() const;

    Stage& stage;
    Microscope microscope;
    Inspector inspector;
    DeviceFacts facts;
    DockState dock;
    ViewOptions options;
    Layout layout;
    Canvas canvas;
    TreeView tree;
    SourceView source;
    EditorPanel editor{stage, options};
    gl::PictureView picture_view;
    PictureDraw picture_draw;
    experiments::Pointer pointer;  ///< as the experiment knows it
    bool pointed = false;          ///< it has a use for it
    std::string shown;             ///< the experiment whose picture the canvas is set for
    std::string noticed;           ///< the microscope's newest notice
    std::optional<Offer> offer;
    Shot shot = Shot::none;
    bool show_keys = false;
    bool measuring = false;         ///< a comparison begins after this frame
    bool bring_comparison = false;  ///< scroll to it in the next frame
    float frame_ms = 0;             ///< a frame of the window, smoothed; 0: unknown (a screenshot)
    float present_ms = 0;           ///< of that: drawing, and waiting for the monitor
    std::vector<std::string> devices;   ///< for the list; made when it opens
    std::vector<std::uint8_t> sampled;  ///< the picture's pixels, for the one under the mouse
    std::uint64_t sampled_version = 0;
};

}  // namespace warpscope::ui
