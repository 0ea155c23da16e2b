/* Runs the kernel of reverse.ptx without a GPU, and prints what the checks find.
 * gcc embedding.c -lwarpscope -o embedding && ./embedding reverse.ptx */
#include <stdio.h>
#include <stdlib.h>
#include <warpscope.h>

enum { count = 64 };

static char* text_of(const char* path) {
    FILE* const file = fopen(path, "rb");
    if (!file) return NULL;
    static char text[1 << 20];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void stop(void) {
    fprintf(stderr, "%s\n", warpscope_error());
    exit(1);
}

int main(int argc, char** argv) {
    char* const ptx = argc == 2 ? text_of(argv[1]) : NULL;
    if (!ptx) return fprintf(stderr, "usage: %s FILE.ptx\n", argv[0]), 2;

    warpscope_gpu* const gpu = warpscope_open("race,barrier,memory");
    if (!gpu) stop();
    warpscope_module* const module = warpscope_load(gpu, ptx);
    if (!module) stop();

    float numbers[count];
    for (int i = 0; i < count; ++i) numbers[i] = (float)i;
    float* const in = warpscope_allocate(gpu, sizeof numbers);
    float* const out = warpscope_allocate(gpu, sizeof numbers);
    if (!in || !out || warpscope_copy(gpu, in, numbers, sizeof numbers)) stop();

    const unsigned grid[3] = {1, 1, 1}, block[3] = {count, 1, 1};
    const void* const arguments[] = {&in, &out};
    if (warpscope_launch(gpu, module, "reverse", grid, block, 0, arguments, 2, 0)) stop();

    printf("out[63] = %g\n%s\n", out[63], warpscope_report(gpu));
    return warpscope_close(gpu);
}
