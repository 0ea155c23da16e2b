// What the programs of this folder need of the host: a check of statuses, a picture whose
// display_and_exit() prints a checksum in place of a window, and functions of the driver API.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

inline void handle_error(cudaError_t status, const char* file, int line) {
    if (status == cudaSuccess) return;
    std::printf("%s in %s at line %d\n", cudaGetErrorString(status), file, line);
    std::exit(1);
}
#define HANDLE_ERROR(status) handle_error(status, __FILE__, __LINE__)

struct CPUBitmap {
    int width, height;
    std::vector<unsigned char> pixels;
    CPUBitmap(int w, int h) : width(w), height(h), pixels(std::size_t(4) * w * h) {}
    unsigned char* get_ptr() { return pixels.data(); }
    long image_size() const { return long(pixels.size()); }
    void display_and_exit() {
        unsigned long sum = 0;
        for (const unsigned char value : pixels) sum += value;
        std::printf("%d x %d pixels, sum %lu\n", width, height, sum);
        std::exit(0);
    }
};

// A function of the driver API in a program that is not linked with it. It needs <cuda.h> and
// <dlfcn.h>.
#define NAME(function) #function
#define NAME_OF(function) NAME(function)
#define DRIVER(function)                   \
    reinterpret_cast<decltype(&function)>( \
        dlsym(dlopen("libcuda.so.1", RTLD_LAZY), NAME_OF(function)))
