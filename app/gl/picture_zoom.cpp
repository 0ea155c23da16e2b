#include "gl/picture_zoom.h"

#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <string>

#include "gl/error.h"

namespace warpscope::gl {
namespace {

template <class GetParameter, class GetLog>
std::string log_of(GLuint object, GetParameter get_parameter, GetLog get_log) {
    GLint length = 0;
    get_parameter(object, GL_INFO_LOG_LENGTH, &length);
    std::string log(std::size_t(length), '\0');
    GLsizei written = 0;
    if (length > 0) get_log(object, length, &written, log.data());
    log.resize(std::size_t(written));
    while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) log.pop_back();
    return log.empty() ? "the driver gives no reason" : log;
}

/// Compiles a stage and attaches it to the program. Throws Error.
void attach_stage(GLuint program, GLenum stage, std::string_view name, std::string_view source) {
    const GLuint shader = glCreateShader(stage);
    const char* text = source.data();
    const auto length = GLint(source.size());
    glShaderSource(shader, 1, &text, &length);
    glCompileShader(shader);
    GLint compiled = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    glAttachShader(program, shader);
    glDeleteShader(shader);  // deleted by GL when it is detached
    if (compiled) return;
    const char* word = stage == GL_VERTEX_SHADER ? "vertex" : "fragment";
    throw Error(fmt::format("can't compile the {} shader of \"{}\": {}", word, name,
                            log_of(shader, glad_glGetShaderiv, glad_glGetShaderInfoLog)));
}

}  // namespace

Shader::Shader(std::string_view name, std::string_view vertex, std::string_view fragment)
    : id_(glCreateProgram()) {
    try {
        attach_stage(id_, GL_VERTEX_SHADER, name, vertex);
        attach_stage(id_, GL_FRAGMENT_SHADER, name, fragment);
        glLinkProgram(id_);
        GLint linked = GL_FALSE;
        glGetProgramiv(id_, GL_LINK_STATUS, &linked);
        if (!linked)
            throw Error(fmt::format("can't link the shaders of \"{}\": {}", name,
                                    log_of(id_, glad_glGetProgramiv, glad_glGetProgramInfoLog)));
    } catch (...) {
        glDeleteProgram(id_);
        throw;
    }
}

Shader::~Shader() {
    glDeleteProgram(id_);
}

int Shader::uniform(const char* name) const {
    const GLint location = glGetUniformLocation(id_, name);
    if (location < 0) throw Error(fmt::format("a shader has no active uniform \"{}\"", name));
    return location;
}

namespace {

constexpr double smallest_zoom = 1.0 / 64;
constexpr double largest_zoom = 256;
constexpr double hidden_tile_pixels = 8;
constexpr double clear_tile_pixels = 32;

}  // namespace

View fit_view(int picture_width, int picture_height, const Rect& rect) {
    View view{picture_width / 2.0, picture_height / 2.0, 1};
    if (picture_width < 1 || picture_height < 1 || rect.width < 1 || rect.height < 1) return view;
    view.pixels_per_texel =
        std::min(double(rect.width) / picture_width, double(rect.height) / picture_height);
    return view;
}

Point screen_to_texel(const View& view, const Rect& rect, Point screen) {
    return {view.centre_x + (screen.x - rect.x - rect.width / 2.0) / view.pixels_per_texel,
            view.centre_y + (screen.y - rect.y - rect.height / 2.0) / view.pixels_per_texel};
}

Point texel_to_screen(const View& view, const Rect& rect, Point texel) {
    return {rect.x + rect.width / 2.0 + (texel.x - view.centre_x) * view.pixels_per_texel,
            rect.y + rect.height / 2.0 + (texel.y - view.centre_y) * view.pixels_per_texel};
}

View zoomed(const View& view, const Rect& rect, Point anchor, double factor) {
    const Point texel = screen_to_texel(view, rect, anchor);
    View result = view;
    result.pixels_per_texel =
        std::clamp(view.pixels_per_texel * factor, smallest_zoom, largest_zoom);
    const double moved = view.pixels_per_texel / result.pixels_per_texel;
    result.centre_x = texel.x + (view.centre_x - texel.x) * moved;
    result.centre_y = texel.y + (view.centre_y - texel.y) * moved;
    return result;
}

View panned(const View& view, double dx, double dy) {
    return {view.centre_x - dx / view.pixels_per_texel, view.centre_y - dy / view.pixels_per_texel,
            view.pixels_per_texel};
}

double grid_visibility(double tile_pixels) {
    return std::clamp((tile_pixels - hidden_tile_pixels) / (clear_tile_pixels - hidden_tile_pixels),
                      0.0, 1.0);
}

ZoomedPicture::ZoomedPicture()
    : shader_("picture", shader_source("picture.vert"), shader_source("picture.frag")) {
    glGenVertexArrays(1, &vertices_);
    glGenSamplers(1, &sampler_);
    glSamplerParameteri(sampler_, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glSamplerParameteri(sampler_, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glSamplerParameteri(sampler_, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glSamplerParameteri(sampler_, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

ZoomedPicture::~ZoomedPicture() {
    glDeleteSamplers(1, &sampler_);
    glDeleteVertexArrays(1, &vertices_);
}

void ZoomedPicture::draw(const Picture& picture, const View& view, const Rect& rect,
                         int target_height, const PictureStyle& style) {
    const Point origin = screen_to_texel(view, rect, {double(rect.x), double(rect.y)});
    const int gl_top = target_height - rect.y;
    const double visible = grid_visibility(style.grid_texels * view.pixels_per_texel);
    const auto& grid = style.grid_colour;

    glViewport(rect.x, gl_top - rect.height, rect.width, rect.height);
    glUseProgram(shader_.id());
    glUniform1i(shader_.uniform("picture"), 0);
    glUniform2f(shader_.uniform("top_left"), float(rect.x), float(gl_top));
    glUniform2f(shader_.uniform("origin"), float(origin.x), float(origin.y));
    glUniform1f(shader_.uniform("texels_per_pixel"), float(1 / view.pixels_per_texel));
    glUniform1i(shader_.uniform("linear"), style.linear);
    glUniform1f(shader_.uniform("grid_texels"), visible > 0 ? float(style.grid_texels) : 0.F);
    glUniform1f(shader_.uniform("grid_pixels"), float(style.grid_pixels));
    glUniform4f(shader_.uniform("grid_colour"), grid[0], grid[1], grid[2],
                float(grid[3] * visible));
    glUniform3fv(shader_.uniform("background"), 1, style.background.data());

    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, picture.texture);
    glBindSampler(0, sampler_);
    glBindVertexArray(vertices_);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    glBindSampler(0, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
    glUseProgram(0);
}

}  // namespace warpscope::gl
