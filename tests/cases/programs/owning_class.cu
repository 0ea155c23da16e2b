// The arrays belong to objects: of a template, and members of another object.
#include <vector>

template <class T>
struct Array {
    T* address = nullptr;
    size_t count = 0;
    Array() = default;
    explicit Array(size_t n) : count(n) {
        cudaMalloc(reinterpret_cast<void**>(&address), bytes());
    }
    ~Array() { cudaFree(address); }
    size_t bytes() const { return count * sizeof(T); }
    void upload(const std::vector<T>& from) {
        cudaMemcpy(address, from.data(), bytes(), cudaMemcpyHostToDevice);
    }
    operator T*() { return address; }
};

__global__ void pull(const float* where, float* speed, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) speed[i] -= where[i] * dt;
}

__global__ void wide(float* all, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) all[i] = 1;
}

class Simulation {
  public:
    Simulation(int n, float dt) : n_(n), dt_(dt), where_(n), speed_(n) {
        where_.upload(std::vector<float>(n, 8.0f));
    }
    void step() { pull<<<blocks(), 128>>>(where_, speed_, n_, dt_); }

  private:
    int blocks() const { return (n_ + 127) / 128; }
    int n_;
    float dt_;
    Array<float> where_, speed_;
};

int main() {
    Simulation simulation(900, 0.5f);
    simulation.step();
    Array<float> all(256);
    wide<<<3, 128>>>(all, 256);
}
