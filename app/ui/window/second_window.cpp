#include "ui/window/second_window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <glad/gl.h>

#include "gl/texture.h"
#include "ui/language/language.h"

namespace warpscope::ui {

bool SecondWindow::open() {
    glfwWindowHint(GLFW_FOCUS_ON_SHOW, GLFW_FALSE);
    window_ = glfwCreateWindow(800, 600, tr("Warpscope: the picture"), nullptr, first_);
    if (!window_) return false;
    int monitors = 0, x = 0, y = 0;
    if (GLFWmonitor** const all = glfwGetMonitors(&monitors); monitors > 1) {
        glfwGetMonitorPos(all[1], &x, &y);
        glfwSetWindowPos(window_, x, y);
        glfwMaximizeWindow(window_);
    }
    glfwShowWindow(window_);
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(0);  // the first window waits for the monitor
    zoomed_.emplace();
    drawn_ = {};
    glfwMakeContextCurrent(first_);
    return true;
}

void SecondWindow::close() {
    if (!window_) return;
    glfwMakeContextCurrent(window_);
    zoomed_.reset();
    glfwMakeContextCurrent(first_);
    glfwDestroyWindow(window_);
    window_ = nullptr;
}

bool SecondWindow::follow(bool wanted, const ShownPicture& picture) {
    if (!wanted || (window_ && glfwWindowShouldClose(window_))) {
        close();
        return false;
    }
    if (!window_ && !open()) return false;
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    const Drawn now{picture.version, {width, height}};
    if (now == drawn_ || width < 1 || height < 1) return true;
    drawn_ = now;
    glfwMakeContextCurrent(window_);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, width, height);
    glClear(GL_COLOR_BUFFER_BIT);
    if (const gl::Texture* const texture = picture.texture.get()) {
        const gl::Rect all{0, 0, width, height};
        const gl::View view = gl::fit_view(texture->width(), texture->height(), all);
        texture->begin_draw();
        zoomed_->draw({texture->id(), texture->width(), texture->height()}, view, all, height,
                      {.linear = view.pixels_per_texel < 1});
        texture->end_draw();
    }
    glfwSwapBuffers(window_);
    glfwMakeContextCurrent(first_);
    return true;
}

}  // namespace warpscope::ui
