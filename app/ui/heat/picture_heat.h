#pragma once

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/launch/launch_parameters.h"
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

}  // namespace warpscope::ui
