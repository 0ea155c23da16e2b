#pragma once

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/launch/launch_parameters.h"
#include "ui/finders/need_finder.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The accesses to each element of a launch file's buffer, painted over the buffer's picture as the
/// parameter "paint" says. It needs a current OpenGL context.
class PictureHeat {
  public:
    explicit PictureHeat(Stage& stage) : stage_(stage) {}
    ~PictureHeat() { forget(); }
    PictureHeat(const PictureHeat&) = delete;
    PictureHeat& operator=(const PictureHeat&) = delete;

    /// `low` and `high`: corners of the picture, of `pixels`, on the screen. The scale is drawn at
    /// the upper right corner of the panel.
    void draw(Ui& ui, experiments::Size pixels, ImVec2 low, ImVec2 high, ImVec2 panel_corner);
    /// All counts of the element at a pixel; empty where none are painted.
    std::string words_at(int x, int y) const;

  private:
    /// What the texture was made of.
    struct Source {
        std::shared_ptr<const experiments::Inspection> inspection;
        const emulator::HeatArray* array = nullptr;
        emulator::HeatFigure figure{};
        std::vector<std::size_t> shape;
        std::size_t element_bytes = 0;
        int width = 0, height = 0;
        bool operator==(const Source&) const = default;
    };

    /// The counts to paint. Where Source::array is null, nothing is painted and why_not_ says why.
    Source wanted(const experiments::LaunchParameters& parameters, experiments::Size pixels);
    void paint();
    void forget();

    Stage& stage_;
    Source source_;
    std::string why_not_;
    std::uint64_t most_ = 0;  ///< the highest count of all elements
    unsigned texture_ = 0;    ///< 0: none
};

/// A rectangle on the screen.
struct ScreenArea {
    ImVec2 low, high;
};

/// What depends on the barrier at which a person looks, painted over the picture: pixels, bodies,
/// or cells for the elements of other results. Grey is what stays as it is without the barrier. It
/// needs a current OpenGL context.
class NeededPaint {
  public:
    NeededPaint(Stage& stage, const NeedFinder& needs) : stage_(stage), needs_(needs) {}
    ~NeededPaint() { forget(); }
    NeededPaint(const NeededPaint&) = delete;
    NeededPaint& operator=(const NeededPaint&) = delete;

    /// Whether there is something to paint.
    bool shows() const;
    /// `picture`: where the experiment's picture is on the screen; nullopt: it has none. `panel`:
    /// the room for the words and for cells.
    void draw(Ui& ui, const std::optional<ScreenArea>& picture, const ScreenArea& panel);

  private:
    using Elements = std::vector<experiments::Dependence>;
    struct Source {
        NeedFinder::Answer answer;
        const NeedFinder::Barrier* barrier = nullptr;
        std::size_t result = 0;
        int width = 0, height = 0;
        bool operator==(const Source&) const = default;
    };
    std::optional<std::size_t> result_in_picture() const;
    void paint_pixels(const ScreenArea& picture, std::size_t result);
    void paint_bodies(Ui& ui, const ScreenArea& picture) const;
    void paint_cells(Ui& ui, ScreenArea room) const;
    float caption(Ui& ui, const ScreenArea& panel) const;
    void forget();

    Stage& stage_;
    const NeedFinder& needs_;
    Source source_;
    unsigned texture_ = 0;  ///< 0: none
};

}  // namespace warpscope::ui
