// What the program with_header.cu includes.
#pragma once
constexpr int ROWS = 24;
#define COLUMNS 40
#define CHECK(call)                               \
    do {                                          \
        if ((call) != cudaSuccess) std::exit(1);  \
    } while (0)

struct Image {
    unsigned char* pixels = nullptr;
    int columns, rows;
    Image(int w, int h) : columns(w), rows(h) { CHECK(cudaMalloc(&pixels, bytes())); }
    int bytes(void) const { return columns * rows * 3; }
    unsigned char* get_pixels() const { return pixels; }
};
