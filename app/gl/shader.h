#pragma once

#include <string_view>

namespace warpscope::gl {

/// The source of shaders/NAME, built into the app; empty for an unknown name.
std::string_view shader_source(std::string_view name);

/// A linked GLSL program.
class Shader {
  public:
    /// `name` is for error messages. Throws Error with the log of the compiler or linker.
    Shader(std::string_view name, std::string_view vertex, std::string_view fragment);
    ~Shader();
    Shader(const Shader&) = delete;
    Shader& operator=(const Shader&) = delete;

    unsigned id() const { return id_; }
    /// Location for glUniform…. Throws Error if the program has no such active uniform.
    int uniform(const char* name) const;

  private:
    unsigned id_ = 0;
};

}  // namespace warpscope::gl
