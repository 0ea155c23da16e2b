#include "factor.h"
__device__ inline float scaled(float value) {
    return factor * value;
}
