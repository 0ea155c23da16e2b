// Kernels fill and read a buffer and a texture of OpenGL, in a context without a window.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <cuda_gl_interop.h>

#include "../book.h"

constexpr int dim = 64;

__global__ void fill(uchar4* pixels) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    pixels[y * dim + x] = make_uchar4(x, y, 3, 255);
}

__global__ void count_blue(const uchar4* pixels, int* sum) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    atomicAdd(sum, pixels[y * dim + x].z);
}

__global__ void add_to(cudaSurfaceObject_t surface) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const float before = surf2Dread<float>(surface, x * sizeof(float), y);
    surf2Dwrite(before + 1000 * y, surface, x * sizeof(float), y);
}

void make_context() {
    const auto platform = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
        eglGetProcAddress("eglGetPlatformDisplayEXT"));
    EGLDisplay display = platform(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (!eglInitialize(display, nullptr, nullptr) || !eglBindAPI(EGL_OPENGL_API)) {
        std::printf("no OpenGL\n");
        std::exit(1);
    }
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, nullptr);
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

void use_buffer() {
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, dim * dim * 4, nullptr, GL_DYNAMIC_DRAW);
    cudaGraphicsResource* resource;
    HANDLE_ERROR(cudaGraphicsGLRegisterBuffer(&resource, buffer, cudaGraphicsMapFlagsNone));
    uchar4* pixels;
    std::size_t bytes;
    std::printf("before: %s\n", cudaGetErrorName(cudaGraphicsResourceGetMappedPointer(
                                    reinterpret_cast<void**>(&pixels), &bytes, resource)));
    HANDLE_ERROR(cudaGraphicsMapResources(1, &resource));
    HANDLE_ERROR(
        cudaGraphicsResourceGetMappedPointer(reinterpret_cast<void**>(&pixels), &bytes, resource));
    fill<<<dim3(2, dim), 32>>>(pixels);
    std::printf("again: %s\n", cudaGetErrorName(cudaGraphicsMapResources(1, &resource)));
    HANDLE_ERROR(cudaGraphicsUnmapResources(1, &resource));
    std::vector<unsigned char> seen(bytes);
    glGetBufferSubData(GL_PIXEL_UNPACK_BUFFER, 0, GLsizeiptr(bytes), seen.data());
    std::printf("%zu bytes, pixel (5, 7): %d %d %d %d\n", bytes, seen[4 * (7 * dim + 5)],
                seen[4 * (7 * dim + 5) + 1], seen[4 * (7 * dim + 5) + 2],
                seen[4 * (7 * dim + 5) + 3]);

    // What OpenGL writes, a kernel reads: 3 in 4096 pixels, but 11 in one of them.
    const unsigned char changed[] = {0, 0, 11, 0};
    glBufferSubData(GL_PIXEL_UNPACK_BUFFER, 400, 4, changed);
    int* sum;
    HANDLE_ERROR(cudaMallocManaged(&sum, sizeof(int)));
    *sum = 0;
    HANDLE_ERROR(cudaGraphicsMapResources(1, &resource));
    HANDLE_ERROR(
        cudaGraphicsResourceGetMappedPointer(reinterpret_cast<void**>(&pixels), &bytes, resource));
    count_blue<<<dim3(2, dim), 32>>>(pixels, sum);
    HANDLE_ERROR(cudaGraphicsUnmapResources(1, &resource));
    HANDLE_ERROR(cudaDeviceSynchronize());
    std::printf("blue %d\n", *sum);
    HANDLE_ERROR(cudaFree(sum));
    HANDLE_ERROR(cudaGraphicsUnregisterResource(resource));
    std::printf("after: %s\n", cudaGetErrorName(cudaGraphicsMapResources(1, &resource)));
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void use_texture() {
    std::vector<float> values(dim * dim);
    for (int i = 0; i < dim * dim; ++i) values[i] = float(i % dim);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, dim, dim, 0, GL_RED, GL_FLOAT, values.data());
    cudaGraphicsResource* resource;
    HANDLE_ERROR(cudaGraphicsGLRegisterImage(&resource, texture, GL_TEXTURE_2D,
                                             cudaGraphicsRegisterFlagsSurfaceLoadStore));
    HANDLE_ERROR(cudaGraphicsMapResources(1, &resource));
    cudaResourceDesc description{};
    description.resType = cudaResourceTypeArray;
    HANDLE_ERROR(
        cudaGraphicsSubResourceGetMappedArray(&description.res.array.array, resource, 0, 0));
    cudaSurfaceObject_t surface;
    HANDLE_ERROR(cudaCreateSurfaceObject(&surface, &description));
    add_to<<<dim3(2, dim), 32>>>(surface);
    HANDLE_ERROR(cudaDestroySurfaceObject(surface));
    HANDLE_ERROR(cudaGraphicsUnmapResources(1, &resource));
    HANDLE_ERROR(cudaGraphicsUnregisterResource(resource));
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RED, GL_FLOAT, values.data());
    std::printf("texel (9, 6): %g\n", values[6 * dim + 9]);
}

int main() {
    GLuint none = 1;
    cudaGraphicsResource* resource;
    std::printf("without a context: %s\n", cudaGetErrorName(cudaGraphicsGLRegisterBuffer(
                                               &resource, none, cudaGraphicsMapFlagsNone)));
    make_context();
    unsigned count = 0;
    int device = -1;
    HANDLE_ERROR(cudaGLGetDevices(&count, &device, 1, cudaGLDeviceListAll));
    std::printf("%u device, number %d\n", count, device);
    use_buffer();
    use_texture();
}
