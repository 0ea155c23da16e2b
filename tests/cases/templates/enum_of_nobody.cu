// Nobody says the argument of the template, and none can be guessed.
enum class Mode { add, multiply };

template <Mode mode>
__global__ void change(float* p) {
    if (mode == Mode::add) p[threadIdx.x] += 1;
}

int main() {}
