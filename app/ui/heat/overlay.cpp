#include "ui/heat/overlay.h"

#include <glad/gl.h>

#include <vector>

#include "gl/texture.h"

namespace warpscope::ui {

unsigned make_overlay(experiments::Size size, const std::function<ImU32(int x, int y)>& colour) {
    std::vector<ImU32> texels;
    texels.reserve(std::size_t(size.width) * std::size_t(size.height));
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) texels.push_back(colour(x, y));
    const unsigned texture = gl::make_texture(size.width, size.height);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, size.width, size.height, GL_RGBA, GL_UNSIGNED_BYTE,
                    texels.data());
    glBindTexture(GL_TEXTURE_2D, 0);
    return texture;
}

void delete_overlay(unsigned texture) {
    glDeleteTextures(1, &texture);
}

bool is_picture(launches::BufferView view, const launches::Array& array) {
    using launches::BufferView;
    if (view == BufferView::automatic) view = experiments::automatic_view(array.type, array.shape);
    return view != BufferView::plot && view != BufferView::histogram;
}

}  // namespace warpscope::ui
