#pragma once

#include <string_view>

namespace warpscope::gl {

/// Text of shaders/NAME, embedded; empty for an unknown name.
std::string_view shader_source(std::string_view name);

/// A linked GLSL program.
class Shader {
  public:
    /// `name` stands in error messages. Throws Error with the compiler's or linker's log.
    Shader(std::string_view name, std::string_view vertex, std::string_view fragment);
    ~Shader();
    Shader(const Shader&) = delete;
    Shader& operator=(const Shader&) = delete;

    unsigned id() const { return id_; }
    /// Location for glUniform…; throws Error where the program has no such active uniform.
    int uniform(const char* name) const;

  private:
    unsigned id_ = 0;
};

}  // namespace warpscope::gl
