#version 330 core
// A zoomed and panned picture whose row 0 is the top, with grid lines before every n-th texel.
uniform sampler2D picture;
uniform vec2 top_left;           // the view's corner, framebuffer pixels from the lower left
uniform vec2 origin;             // the texel coordinate at that corner
uniform float texels_per_pixel;
uniform bool linear;
uniform float grid_texels;       // 0: no grid
uniform float grid_pixels;
uniform vec4 grid_colour;
uniform vec3 background;
out vec4 colour;

// A pixel that covers several texels shows their mean: a view from afar must not drop texels.
vec3 mean_around(vec2 centre, ivec2 last) {
    int n = int(ceil(texels_per_pixel));
    vec3 sum = vec3(0.0);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            vec2 offset = (vec2(i, j) + 0.5) / float(n) - 0.5;
            ivec2 texel = ivec2(floor(centre + offset * texels_per_pixel));
            sum += texelFetch(picture, clamp(texel, ivec2(0), last), 0).rgb;
        }
    }
    return sum / float(n * n);
}

void main() {
    vec2 pixel = vec2(gl_FragCoord.x - top_left.x, top_left.y - gl_FragCoord.y);
    vec2 texel = origin + pixel * texels_per_pixel;
    ivec2 size = textureSize(picture, 0);
    if (any(lessThan(texel, vec2(0.0))) || any(greaterThanEqual(texel, vec2(size)))) {
        colour = vec4(background, 1.0);
        return;
    }
    vec3 shown;
    if (texels_per_pixel > 1.0) {
        shown = mean_around(texel, size - 1);
    } else if (linear) {
        shown = textureLod(picture, texel / vec2(size), 0.0).rgb;
    } else {
        shown = texelFetch(picture, ivec2(texel), 0).rgb;
    }
    if (grid_texels > 0.0) {
        vec2 before = texel - grid_pixels * texels_per_pixel;
        bvec2 crossed = notEqual(floor(texel / grid_texels), floor(before / grid_texels));
        if (any(crossed)) shown = mix(shown, grid_colour.rgb, grid_colour.a);
    }
    colour = vec4(shown, 1.0);
}
