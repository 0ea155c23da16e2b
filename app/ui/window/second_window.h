#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "gl/picture_zoom.h"
#include "ui/stage/shown.h"

struct GLFWwindow;

namespace warpscope::ui {

/// A second window with the picture alone, for a projector: on another monitor, if there is one.
/// It takes no input. For the thread that draws.
class SecondWindow {
  public:
    /// `first`: the window, whose context is current and which outlives this one.
    explicit SecondWindow(GLFWwindow* first) : first_(first) {}
    ~SecondWindow() { close(); }
    SecondWindow(const SecondWindow&) = delete;
    SecondWindow& operator=(const SecondWindow&) = delete;

    /// Once a frame: opens or closes it, and draws a picture that it does not show yet. Returns
    /// whether it is open; a person may have closed it.
    bool follow(bool wanted, const ShownPicture& picture);

  private:
    bool open();
    void close();

    GLFWwindow* first_;
    GLFWwindow* window_ = nullptr;
    std::optional<gl::ZoomedPicture> zoomed_;  ///< of its own context
    using Drawn = std::pair<std::uint64_t, std::pair<int, int>>;
    Drawn drawn_;  ///< the picture's version, and the size of the window
};

}  // namespace warpscope::ui
