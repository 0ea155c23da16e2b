// A function for each name that the CUDA runtime and driver export, so that a program that links
// them dynamically finds all of them. The names are weak: a function of this library takes the
// place of the one here, which says its name and returns "not supported".
    .section .note.GNU-stack,"",@progbits

// A function that goes to warpscope_detour with the three words of a Detour, see api.cpp.
.macro detour name first argument then
    .text
    .weak \name
    .type \name, @function
\name:
    lea detour_of_\name(%rip), %r11
    jmp warpscope_detour
    .size \name, . - \name
    .section .data.rel.ro, "aw", @progbits
    .balign 8
detour_of_\name:
    .quad \first, \argument, \then
.endm

.macro function name
    .section .rodata
text_of_\name:
    .asciz "\name"
    detour \name, warpscope_call_missing, text_of_\name, warpscope_not_supported
.endm

// The name that programs of nvcc --default-stream per-thread call.
.macro per_thread name suffix
    detour \name\suffix, warpscope_per_thread_stream, 0, \name
.endm

#include "programs/api/names.inc"
