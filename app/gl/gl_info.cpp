#include "gl/gl_info.h"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace warpscope::gl {
namespace {

std::string text(GLenum name) {
    const GLubyte* value = glGetString(name);
    return value ? reinterpret_cast<const char*>(value) : "unknown";
}

bool draws_on_the_cpu(std::string_view renderer) {
    constexpr std::array<std::string_view, 4> rasterizers{"llvmpipe", "softpipe", "swrast",
                                                          "Software Rasterizer"};
    return std::any_of(rasterizers.begin(), rasterizers.end(), [&](std::string_view name) {
        return renderer.find(name) != std::string_view::npos;
    });
}

}  // namespace

GlInfo gl_info() {
    GlInfo info{text(GL_VENDOR), text(GL_RENDERER), text(GL_VERSION)};
    info.software = draws_on_the_cpu(info.renderer);
    return info;
}

}  // namespace warpscope::gl
