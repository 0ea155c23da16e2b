/* Warpscope in a program of one's own: CUDA kernels, as PTX, run in the emulator of this library.
 * docs/embedding.md is the guide.
 *
 * A function that fails returns null or a number that is not 0, and warpscope_error() says why.
 * Several threads may call; the calls of one emulator take turns. */
#ifndef WARPSCOPE_H
#define WARPSCOPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 10000 * major + 100 * minor + patch. The soname changes with what a program must be changed for:
 * libwarpscope.so.1 has all functions below. */
#define WARPSCOPE_VERSION 100

#define WARPSCOPE_API __attribute__((visibility("default")))

typedef struct warpscope_gpu warpscope_gpu;       /* an emulated GPU with its memory */
typedef struct warpscope_module warpscope_module; /* the kernels and variables of one PTX text */

/* The version of the library, as WARPSCOPE_VERSION. */
WARPSCOPE_API unsigned warpscope_version(void);

/* Why the last call of this thread has failed: one sentence, never null. */
WARPSCOPE_API const char* warpscope_error(void);

/* Makes an emulator. `checks`: "race", "barrier" and "memory" with commas between them; empty or
 * null: nothing is checked, and kernels run faster. */
WARPSCOPE_API warpscope_gpu* warpscope_open(const char* checks);
/* Frees the emulator with all that it has. */
WARPSCOPE_API int warpscope_close(warpscope_gpu*);

/* Loads what nvcc, NVRTC and others make: a text of PTX that ends with a zero byte, or what
 * cuModuleLoadData() takes and has PTX in it. */
WARPSCOPE_API warpscope_module* warpscope_load(warpscope_gpu*, const void* ptx);
WARPSCOPE_API int warpscope_unload(warpscope_gpu*, warpscope_module*);
/* The address of a __device__ or __constant__ variable. `bytes` gets its size; it may be null. */
WARPSCOPE_API void* warpscope_variable(warpscope_gpu*, warpscope_module*, const char* name,
                                       size_t* bytes);

/* Allocates memory of the emulator. Its address is valid in kernels and in this process. The bytes
 * are zero, and count as unwritten until a kernel or warpscope_copy() writes them. */
WARPSCOPE_API void* warpscope_allocate(warpscope_gpu*, size_t bytes);
/* Lets kernels use memory of this process, whose bytes count as written. */
WARPSCOPE_API int warpscope_attach(warpscope_gpu*, void* memory, size_t bytes);
/* Frees memory of warpscope_allocate(), and takes that of warpscope_attach() from kernels. */
WARPSCOPE_API int warpscope_free(warpscope_gpu*, void* memory);
/* Copies between memory of this process and of the emulator, in any direction. */
WARPSCOPE_API int warpscope_copy(warpscope_gpu*, void* to, const void* from, size_t bytes);

/* Runs a kernel to its end. `kernel`: its name in the PTX; null: the only one. `grid` and `block`
 * are {x, y, z}. `arguments` has, for each of the `count` parameters, a pointer to its value.
 * `milliseconds`: a launch that takes longer fails; 0: it may take any time. */
WARPSCOPE_API int warpscope_launch(warpscope_gpu*, warpscope_module*, const char* kernel,
                                   const unsigned grid[3], const unsigned block[3],
                                   size_t dynamic_shared_bytes, const void* const* arguments,
                                   size_t count, unsigned milliseconds);

/* What the checks have found since warpscope_open(), and what printf() in kernels has printed since
 * the last report: JSON, valid until the next report of this emulator. */
WARPSCOPE_API const char* warpscope_report(warpscope_gpu*);

#ifdef __cplusplus
}
#endif

#endif
