// As numbers_of_the_device.cu, but one thread is too many.
#define EXTRA 1
#include "numbers_of_the_device.cu"
