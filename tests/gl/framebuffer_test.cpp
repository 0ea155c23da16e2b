#include "gl/texture.h"

#include <glad/gl.h>
#include <gtest/gtest.h>

#include "gl/context.h"

namespace warpscope::gl {
namespace {

void fill(const Framebuffer& framebuffer, float red) {
    framebuffer.bind();
    glClearColor(red, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
}

TEST(FramebufferTest, CopiesItsPixelsToAPlaceOfAnother) {
    const OffscreenContext context;
    const Framebuffer small(2, 1), large(5, 3);
    fill(large, 0);
    GLint id = 0;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &id);
    fill(small, 1);
    small.copy_to(unsigned(id), 3, 0);
    GLint bound = 0;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
    EXPECT_EQ(bound, id);
    const std::vector<std::uint8_t> pixels = large.read_pixels();  // the top row first
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 5; ++x)
            EXPECT_EQ(pixels[std::size_t(y * 5 + x) * 4], y == 2 && x >= 3 ? 255 : 0)
                << x << ", " << y;
}

}  // namespace
}  // namespace warpscope::gl
