#pragma once

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ui/needed/dependence.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

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
