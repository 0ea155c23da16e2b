#include <glad/gl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "gl/context.h"
#include "gl/error.h"
#include "gl/picture_zoom.h"
#include "gl/texture.h"

namespace warpscope::gl {
namespace {

constexpr const char* plain_vertex = R"(#version 330 core
void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); })";
constexpr const char* plain_fragment = R"(#version 330 core
uniform vec4 tint;
out vec4 colour;
void main() { colour = tint; })";

std::string shader_error(const char* vertex, const char* fragment) {
    try {
        const Shader shader("sample", vertex, fragment);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// The pixels of a cleared 2x3 framebuffer.
std::vector<std::uint8_t> cleared(float red) {
    const Framebuffer framebuffer(2, 3);
    framebuffer.bind();
    glClearColor(red, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    return framebuffer.read_pixels();
}

TEST(OffscreenContextTest, NeedsNoDisplayAndIsCore33) {
    const char* display = std::getenv("DISPLAY");
    const std::optional<std::string> old = display ? std::optional(display) : std::nullopt;
    unsetenv("DISPLAY");
    {
        const OffscreenContext context;
        GLint major = 0, minor = 0, profile = 0;
        glGetIntegerv(GL_MAJOR_VERSION, &major);
        glGetIntegerv(GL_MINOR_VERSION, &minor);
        glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
        EXPECT_GE(major * 10 + minor, 33);
        EXPECT_EQ(profile, GL_CONTEXT_CORE_PROFILE_BIT);
        EXPECT_FALSE(context.where().empty());
        EXPECT_FALSE(gl_info().renderer.empty());
        EXPECT_EQ(gl_info().software, gl_info().renderer.find("llvmpipe") != std::string::npos);
    }
    if (old) setenv("DISPLAY", old->c_str(), 1);
}

TEST(OffscreenContextTest, AnUnknownCudaOrdinalUsesAnotherDisplay) {
    const OffscreenContext context(1000);
    EXPECT_EQ(context.where().find("CUDA device 1000"), std::string::npos);
    EXPECT_EQ(cleared(1)[0], 255);
}

TEST(OffscreenContextTest, CanBeCreatedAgainAfterDestruction) {
    for (const int value : {0, 51, 255}) {
        const OffscreenContext context;
        EXPECT_EQ(cleared(float(value) / 255)[0], value);
        EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    }
}

TEST(OffscreenContextTest, TwoContextsCanExistAtOnce) {
    OffscreenContext first;
    {
        OffscreenContext second;
        EXPECT_EQ(cleared(1)[0], 255);
    }
    first.make_current();
    EXPECT_EQ(cleared(1)[0], 255);
}

TEST(FramebufferTest, ReadsTheTopRowFirst) {
    const OffscreenContext context;
    const Framebuffer framebuffer(3, 2);
    framebuffer.bind();
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(2, 1, 1, 1);  // GL counts from the bottom: the right end of the top row
    glClearColor(1, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    std::vector<std::uint8_t> expected(24, 0);
    expected[8] = expected[10] = expected[11] = 255;
    EXPECT_EQ(framebuffer.read_pixels(), expected);
}

TEST(FramebufferTest, RefusesInvalidSizes) {
    const OffscreenContext context;
    EXPECT_THROW(Framebuffer(0, 1), Error);
    EXPECT_THROW(Framebuffer(1, 1 << 20), Error);
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
}

TEST(ShaderTest, FindsItsUniforms) {
    const OffscreenContext context;
    const Shader shader("sample", plain_vertex, plain_fragment);
    EXPECT_GE(shader.uniform("tint"), 0);
    EXPECT_THROW(shader.uniform("tin"), Error);
}

TEST(ShaderTest, CompileErrorsHaveStageNameAndLog) {
    const OffscreenContext context;
    const std::string fragment =
        shader_error(plain_vertex, "#version 330 core\nvoid main() { oops; }");
    EXPECT_NE(fragment.find("fragment shader of \"sample\""), std::string::npos) << fragment;
    EXPECT_NE(fragment.find("oops"), std::string::npos) << fragment;
    const std::string vertex =
        shader_error("#version 330 core\nvoid main() { hm; }", plain_fragment);
    EXPECT_NE(vertex.find("vertex shader of \"sample\""), std::string::npos) << vertex;
    EXPECT_NE(vertex.find("hm"), std::string::npos) << vertex;
    EXPECT_EQ(shader_error(plain_vertex, plain_fragment), "");
}

TEST(ShaderTest, LinkErrorsHaveTheLog) {
    const OffscreenContext context;
    const std::string error = shader_error(R"(#version 330 core
out vec2 handed_over;
void main() { handed_over = vec2(1.0); gl_Position = vec4(1.0); })",
                                           R"(#version 330 core
in vec3 handed_over;
out vec4 colour;
void main() { colour = vec4(handed_over, 1.0); })");
    EXPECT_NE(error.find("can't link"), std::string::npos) << error;
    EXPECT_NE(error.find("handed_over"), std::string::npos) << error;
}

TEST(ShaderTest, TheSourceOfAnUnknownNameIsEmpty) {
    EXPECT_FALSE(shader_source("picture.frag").empty());
    EXPECT_TRUE(shader_source("none.frag").empty());
}

TEST(WindowContextTest, WithoutADisplayTheErrorSaysWhatToDo) {
    const char* display = std::getenv("DISPLAY");
    const std::optional<std::string> old = display ? std::optional(display) : std::nullopt;
    unsetenv("DISPLAY");
    std::string error;
    try {
        const WindowContext window("Warpscope", 320, 200);
    } catch (const Error& thrown) {
        error = thrown.what();
    }
    if (old) setenv("DISPLAY", old->c_str(), 1);
    EXPECT_EQ(error.find("can't open a window: "), 0U) << error;
    EXPECT_NE(error.find("--headless"), std::string::npos) << error;
}

TEST(WindowContextTest, OpensAWindowIfThereIsADisplay) {
    if (!std::getenv("DISPLAY")) GTEST_SKIP() << "no DISPLAY";
    WindowContext window("Warpscope", 320, 200);
    EXPECT_NE(window.window(), nullptr);
    EXPECT_GE(window.content_scale(), 1.F);
    window.set_swap_interval(0);
    EXPECT_EQ(cleared(1)[0], 255);
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
}

}  // namespace
}  // namespace warpscope::gl
