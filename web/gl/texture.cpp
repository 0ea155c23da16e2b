#include "gl/texture.h"

#include <glad/gl.h>

#include <utility>

namespace warpscope::gl {
namespace {

/// Textures that another thread has given up, for the thread that draws to delete.
std::mutex dead_mutex;
std::vector<unsigned> dead;

}  // namespace

Texture::Texture(int width, int height)
    : width_(width), height_(height), pixels_(std::size_t(width) * std::size_t(height) * 4) {}

Texture::~Texture() {
    const std::lock_guard lock(dead_mutex);
    if (id_) dead.push_back(id_);
}

unsigned Texture::id() const {
    if (!id_) {
        const std::lock_guard lock(dead_mutex);
        glDeleteTextures(GLsizei(dead.size()), dead.data());
        dead.clear();
        id_ = make_texture(width_, height_);
    }
    if (std::exchange(stale_, false)) {
        glBindTexture(GL_TEXTURE_2D, id_);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE,
                        pixels_.data());
        glBindTexture(GL_TEXTURE_2D, 0);
    }
    return id_;
}

}  // namespace warpscope::gl
