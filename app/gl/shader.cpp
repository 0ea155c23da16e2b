#include "gl/shader.h"

#include <fmt/format.h>
#include <glad/gl.h>

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

}  // namespace warpscope::gl
