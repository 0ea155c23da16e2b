// In place of glad: OpenGL ES 3.0, which WebGL 2 has.
#pragma once
#include <GLES3/gl3.h>
#define glad_glGetShaderiv glGetShaderiv
#define glad_glGetShaderInfoLog glGetShaderInfoLog
#define glad_glGetProgramiv glGetProgramiv
#define glad_glGetProgramInfoLog glGetProgramInfoLog
