#include "programs/runtime_api/opengl.h"

#include <GL/glcorearb.h>
#include <dlfcn.h>

#include <algorithm>

#include "programs/images/status.h"

namespace warpscope::programs::opengl {

namespace {

using Numbers = emulator::Texture::Numbers;

/// The OpenGL that the program has loaded: linked, by GLFW or by itself.
void* library() {
    static void* const loaded = [] {
        if (dlsym(RTLD_DEFAULT, "glGetString")) return RTLD_DEFAULT;
        void* found = dlopen("libOpenGL.so.0", RTLD_LAZY | RTLD_NOLOAD);
        if (!found) found = dlopen("libGL.so.1", RTLD_LAZY | RTLD_NOLOAD);
        demand(found != nullptr, Status::invalid_graphics_context,
               "the program has loaded no library of OpenGL");
        return found;
    }();
    return loaded;
}

template <class Function>
Function function(const char* name) {
    void* const found = dlsym(library(), name);
    demand(found != nullptr, Status::invalid_graphics_context,
           "the program's library of OpenGL is too old");
    return reinterpret_cast<Function>(found);
}
#define GL(type, name) function<type>(#name)

void demand_context() {
    demand(GL(PFNGLGETSTRINGPROC, glGetString)(GL_VERSION) != nullptr,
           Status::invalid_graphics_context, "no context of OpenGL is current in this thread");
}

/// Binds a buffer or a texture, and at the end the one that was bound before.
class Binding {
  public:
    using Bind = void(APIENTRYP)(GLenum, GLuint);
    Binding(Bind bind, GLenum target, GLenum query, GLuint name) : bind_(bind), target_(target) {
        GLint before = 0;
        GL(PFNGLGETINTEGERVPROC, glGetIntegerv)(query, &before);
        before_ = GLuint(before);
        bind_(target_, name);
    }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
    ~Binding() { bind_(target_, before_); }

  private:
    Bind bind_;
    GLenum target_;
    GLuint before_ = 0;
};

constexpr GLenum copy_target = GL_COPY_WRITE_BUFFER;

/// Copies between the host and a buffer or texture go without a gap between rows, and neither from
/// nor to a pixel buffer of the program.
class PlainPixels {
  public:
    PlainPixels()
        : pack_(GL(PFNGLBINDBUFFERPROC, glBindBuffer), GL_PIXEL_PACK_BUFFER,
                GL_PIXEL_PACK_BUFFER_BINDING, 0),
          unpack_(GL(PFNGLBINDBUFFERPROC, glBindBuffer), GL_PIXEL_UNPACK_BUFFER,
                  GL_PIXEL_UNPACK_BUFFER_BINDING, 0) {
        for (std::size_t i = 0; i < std::size(settings); ++i) {
            GL(PFNGLGETINTEGERVPROC, glGetIntegerv)(settings[i], &before_[i]);
            const bool is_alignment =
                settings[i] == GL_PACK_ALIGNMENT || settings[i] == GL_UNPACK_ALIGNMENT;
            GL(PFNGLPIXELSTOREIPROC, glPixelStorei)(settings[i], is_alignment);
        }
    }
    PlainPixels(const PlainPixels&) = delete;
    PlainPixels& operator=(const PlainPixels&) = delete;
    ~PlainPixels() {
        for (std::size_t i = 0; i < std::size(settings); ++i)
            GL(PFNGLPIXELSTOREIPROC, glPixelStorei)(settings[i], before_[i]);
    }

  private:
    static constexpr GLenum settings[] = {
        GL_PACK_ALIGNMENT,   GL_PACK_ROW_LENGTH,   GL_PACK_SKIP_ROWS,   GL_PACK_SKIP_PIXELS,
        GL_UNPACK_ALIGNMENT, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS};
    Binding pack_, unpack_;
    GLint before_[std::size(settings)] = {};
};

/// Formats of textures that CUDA takes, and how OpenGL names the numbers of an element.
struct TextureFormat {
    GLint internal;
    GLenum format, type;
    ElementFormat element;
};
constexpr TextureFormat formats[] = {
    {GL_R8, GL_RED, GL_UNSIGNED_BYTE, {Numbers::unsigned_, 1, 1}},
    {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, {Numbers::unsigned_, 1, 4}},
    {GL_R32F, GL_RED, GL_FLOAT, {Numbers::float_, 4, 1}},
    {GL_RG32F, GL_RG, GL_FLOAT, {Numbers::float_, 4, 2}},
    {GL_RGBA32F, GL_RGBA, GL_FLOAT, {Numbers::float_, 4, 4}},
    {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, {Numbers::unsigned_, 1, 1}},
    {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, {Numbers::unsigned_, 1, 4}},
    {GL_R32I, GL_RED_INTEGER, GL_INT, {Numbers::signed_, 4, 1}},
    {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, {Numbers::unsigned_, 4, 1}},
    {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, {Numbers::unsigned_, 4, 4}},
};

GLint level_parameter(GLenum parameter) {
    GLint value = 0;
    GL(PFNGLGETTEXLEVELPARAMETERIVPROC, glGetTexLevelParameteriv)
    (GL_TEXTURE_2D, 0, parameter, &value);
    return value;
}

const TextureFormat& format_of_bound() {
    const GLint internal = level_parameter(GL_TEXTURE_INTERNAL_FORMAT);
    const auto* const found = std::ranges::find(formats, internal, &TextureFormat::internal);
    demand(found != std::end(formats), Status::not_supported,
           "this internal format of a texture is not supported");
    return *found;
}

Binding bound_buffer(unsigned buffer) {
    demand_context();
    demand(GL(PFNGLISBUFFERPROC, glIsBuffer)(buffer), Status::invalid_value,
           "no buffer of OpenGL has this name");
    return {GL(PFNGLBINDBUFFERPROC, glBindBuffer), copy_target, GL_COPY_WRITE_BUFFER_BINDING,
            buffer};
}

Binding bound_texture(unsigned texture) {
    demand_context();
    demand(GL(PFNGLISTEXTUREPROC, glIsTexture)(texture), Status::invalid_value,
           "no texture of OpenGL has this name");
    return {GL(PFNGLBINDTEXTUREPROC, glBindTexture), GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D, texture};
}

std::size_t bytes_of_bound_buffer() {
    GLint bytes = 0;
    GL(PFNGLGETBUFFERPARAMETERIVPROC, glGetBufferParameteriv)(copy_target, GL_BUFFER_SIZE, &bytes);
    return std::size_t(bytes);
}

}  // namespace

std::size_t buffer_bytes(unsigned buffer) {
    const Binding bound = bound_buffer(buffer);
    return bytes_of_bound_buffer();
}

std::vector<std::byte> read_buffer(unsigned buffer) {
    const Binding bound = bound_buffer(buffer);
    std::vector<std::byte> bytes(bytes_of_bound_buffer());
    GL(PFNGLGETBUFFERSUBDATAPROC, glGetBufferSubData)
    (copy_target, 0, GLsizeiptr(bytes.size()), bytes.data());
    return bytes;
}

void write_buffer(unsigned buffer, std::span<const std::byte> bytes) {
    const Binding bound = bound_buffer(buffer);
    demand(bytes.size() <= bytes_of_bound_buffer(), Status::invalid_value,
           "the buffer of OpenGL has become smaller while it was mapped");
    GL(PFNGLBUFFERSUBDATAPROC, glBufferSubData)
    (copy_target, 0, GLsizeiptr(bytes.size()), bytes.data());
}

Array texture_shape(unsigned texture, unsigned target) {
    demand(target == GL_TEXTURE_2D, Status::not_supported,
           "only textures of the target GL_TEXTURE_2D are supported");
    const Binding bound = bound_texture(texture);
    return {.format = format_of_bound().element,
            .width = std::size_t(level_parameter(GL_TEXTURE_WIDTH)),
            .height = std::size_t(level_parameter(GL_TEXTURE_HEIGHT)),
            .flags = Array::surface};
}

std::vector<std::byte> read_texture(unsigned texture) {
    const Binding bound = bound_texture(texture);
    const PlainPixels plain;
    const TextureFormat& f = format_of_bound();
    std::vector<std::byte> bytes(std::size_t(level_parameter(GL_TEXTURE_WIDTH)) *
                                 std::size_t(level_parameter(GL_TEXTURE_HEIGHT)) *
                                 f.element.element_bytes());
    GL(PFNGLGETTEXIMAGEPROC, glGetTexImage)(GL_TEXTURE_2D, 0, f.format, f.type, bytes.data());
    return bytes;
}

void write_texture(unsigned texture, std::span<const std::byte> bytes) {
    const Binding bound = bound_texture(texture);
    const PlainPixels plain;
    const TextureFormat& f = format_of_bound();
    const GLint width = level_parameter(GL_TEXTURE_WIDTH);
    const GLint height = level_parameter(GL_TEXTURE_HEIGHT);
    demand(bytes.size() == std::size_t(width) * std::size_t(height) * f.element.element_bytes(),
           Status::invalid_value, "the texture of OpenGL has changed while it was mapped");
    GL(PFNGLTEXSUBIMAGE2DPROC, glTexSubImage2D)
    (GL_TEXTURE_2D, 0, 0, 0, width, height, f.format, f.type, bytes.data());
}

}  // namespace warpscope::programs::opengl
