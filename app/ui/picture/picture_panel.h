#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gl/picture_zoom.h"
#include "gl/texture.h"
#include "ui/heat/picture_paint.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/canvas.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The experiment's pixels, which a person pans and zooms, and the microscope's place in them.
class PicturePanel {
  public:
    PicturePanel(Stage& stage, Microscope& microscope, ViewOptions& options);

    void draw(Ui& ui);
    Canvas& canvas() { return canvas_; }
    /// Forgets the view, because another experiment is on show.
    void start_over();

  private:
    /// What ImGui's draw callback needs once it renders.
    struct Queued {
        std::shared_ptr<const gl::Texture> texture;
        gl::Picture picture;
        gl::View view;
        gl::Rect rect;
        int target_height = 0;
        gl::PictureStyle style;
        std::uint64_t version = 0;  ///< ShownPicture::version
    };

    static void render(const ImDrawList* list, const ImDrawCmd* command);
    void render_queued();
    void render_kept();
    void queue(Ui& ui, const gl::Texture& pixels);
    void navigate(Ui& ui, ImVec2 size);
    void choose_pixel(Ui& ui, gl::Point texel, bool hovered);
    std::string element_at(int x, int y) const;
    bool gives_mouse_to_experiment() const;
    void point(gl::Point texel, bool hovered);
    std::string value_text(const gl::Texture& pixels, int x, int y);
    ImVec2 on_screen(const Ui& ui, double x, double y) const;
    void mark_block(Ui& ui, ImVec2 low, ImVec2 high);
    void remarks(Ui& ui, ImVec2 low, ImVec2 high);
    void invite(Ui& ui, ImVec2 low, ImVec2 high);
    void draw_invitation(Ui& ui, ImVec2 middle, const std::string& words, const std::string& label,
                         std::function<void()> accept);
    void hover_line(Ui& ui, const gl::Texture& pixels, ImVec2 low, ImVec2 high);

    Stage& stage_;
    Microscope& microscope_;
    ViewOptions& options_;
    Canvas canvas_;
    gl::ZoomedPicture zoomed_picture_;
    Queued queued_;
    PictureHeat heat_{stage_};
    NeededPaint needed_{stage_, microscope_.needs()};
    const bool keeps_;  ///< what was drawn is kept in `drawn_pixels_`
    Queued drawn_;
    std::optional<gl::Framebuffer> drawn_pixels_;
    experiments::Pointer pointer_;       ///< the pointer that the experiment was told last
    bool pointed_ = false;               ///< the experiment uses the pointer
    std::vector<std::uint8_t> sampled_;  ///< the picture's pixels, for the one under the mouse
    std::uint64_t sampled_version_ = 0;  ///< ShownPicture::version that sampled_ belongs to
};

/// Whether each thread of the open microscope's launch computes one pixel of the stage's picture,
/// in square blocks. The block and the thread then have a place in the picture.
bool has_place_in_picture(const Microscope& microscope, const Stage& stage);

/// Moves the microscope to the block and the thread of a pixel; a pixel outside the picture stands
/// for the nearest one inside. Does nothing if threads have no place in the picture.
void pick_pixel(Microscope& microscope, const Stage& stage, gl::Point pixel);

/// Pauses the experiment and opens the microscope at the block and the thread of a pixel, or at the
/// launch's first block if threads have no place in the picture.
void open_microscope(Microscope& microscope, Stage& stage, gl::Point pixel);

/// Pauses the experiment and opens the microscope at Inspected::failed_block.
void open_at_failure(Microscope& microscope, Stage& stage);

}  // namespace warpscope::ui
