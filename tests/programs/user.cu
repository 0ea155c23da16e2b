// Calls a library that was linked with it, before its own constructors have ended, and again.
#include <cstdio>

extern "C" int twice_of(int x);
static const int early = twice_of(4);

int main() {
    std::printf("%d %d\n", early, twice_of(21));
}
