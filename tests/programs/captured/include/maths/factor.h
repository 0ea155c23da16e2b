constexpr float factor = 10;
