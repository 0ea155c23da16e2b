#include "experiments/bodies/bodies_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace warpscope::experiments {
namespace {

constexpr std::size_t most = 1 << 20;
const std::string header = "x,y,z,vx,vy,vz,mass\n";

class BodiesFile : public testing::Test {
  protected:
    ~BodiesFile() override { std::filesystem::remove(path_); }

    LoadedBodies load(const std::string& content, std::size_t limit = most) {
        std::ofstream(path_, std::ios::binary) << content;
        return load_bodies(path_, limit);
    }

    std::string complaint(const std::string& content, std::size_t limit = most) {
        try {
            load(content, limit);
        } catch (const BodiesFileError& error) {
            return error.what();
        }
        return "no error";
    }

    const std::filesystem::path path_ =
        std::filesystem::path(testing::TempDir()) /
        ("bodies_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
         std::to_string(::getpid()));
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// A tipsy file, in little-endian order, of bodies whose fields are the given ones.
struct Tipsy {
    std::int32_t counts[3] = {0, 0, 0};  ///< gas, dark, star
    std::int32_t bodies = 0, dimensions = 3;
    bool padding = true;
    std::vector<float> floats;

    void add(int kind, std::array<float, 7> fields) {
        constexpr std::size_t sizes[] = {12, 9, 11};
        ++counts[kind];
        ++bodies;
        floats.insert(floats.end(), fields.begin(), fields.end());
        // The fields that follow are not read, so NaN there has no effect.
        floats.insert(floats.end(), sizes[kind] - 7, std::numeric_limits<float>::quiet_NaN());
    }

    std::string bytes(bool big_endian = false) const {
        std::string out;
        const auto put = [&](auto value) {
            std::string raw(reinterpret_cast<const char*>(&value), sizeof value);
            if (big_endian) std::reverse(raw.begin(), raw.end());
            out += raw;
        };
        put(0.0);
        for (std::int32_t value : {bodies, dimensions, counts[0], counts[1], counts[2]}) put(value);
        if (padding) put(std::int32_t(12345));
        for (float value : floats) put(value);
        return out;
    }
};

/// One gas, two dark, one star body; mass 8, 90 % radius 4, centre of mass at rest in the origin.
Tipsy small() {
    Tipsy file;
    file.add(0, {2, 1, 0, 0, 0, 1, 0});
    file.add(1, {2, -1, 0, 0, 0, -1, 0});
    file.add(1, {2, 0, 4, 0, 3, 0, 0});
    file.add(2, {2, 0, -4, 0, -3, 0, 0});
    return file;
}

void expect_small(const LoadedBodies& loaded) {
    EXPECT_EQ(loaded.mass_unit, 8);
    EXPECT_EQ(loaded.length_unit, 4);
    ASSERT_EQ(loaded.bodies.size(), 4u);
    // Speeds in units of sqrt(8 / 4).
    const float unit = float(1 / std::sqrt(2.0));
    EXPECT_EQ(loaded.bodies[0].position, (std::array{0.25f, 0.0f, 0.0f}));
    EXPECT_FLOAT_EQ(loaded.bodies[0].velocity[1], unit);
    EXPECT_EQ(loaded.bodies[2].position, (std::array{0.0f, 1.0f, 0.0f}));
    EXPECT_FLOAT_EQ(loaded.bodies[2].velocity[0], 3 * unit);
    EXPECT_EQ(loaded.bodies[3].mass, 0.25f);
}

TEST_F(BodiesFile, TipsyOfEitherByteOrderWithAndWithoutPadding) {
    for (bool big_endian : {false, true}) {
        for (bool padding : {false, true}) {
            Tipsy file = small();
            file.padding = padding;
            const LoadedBodies loaded = load(file.bytes(big_endian));
            expect_small(loaded);
            EXPECT_EQ(loaded.bodies[0].luminosity, 1);
            EXPECT_LT(loaded.bodies[1].luminosity, 0.5) << "dark matter is faint";
            EXPECT_EQ(loaded.bodies[3].luminosity, 1);
        }
    }
}

TEST_F(BodiesFile, CsvWithAndWithoutHeading) {
    const std::string lines =
        "1,0,0,0,1,0,2\n# a remark\n\n-1, 0 ,0,0,-1,0,2\r\n0,4e0,0,+3,0,0,2\n0,-4,0,-3,0,0,2";
    expect_small(load(lines));
    expect_small(load("x,y,z,vx,vy,vz,mass\n" + lines));
}

TEST_F(BodiesFile, CsvMayBeginWithAByteOrderMark) {
    const std::string mark = "\xEF\xBB\xBF", line = "-1,0,0,0,1,0,2\n";
    EXPECT_EQ(load(mark + line).bodies.size(), 1u);
    EXPECT_EQ(load(mark + "x,y,z,vx,vy,vz,mass\n" + line).bodies.size(), 1u);
    EXPECT_SAYS(complaint(line + mark + line), "line 2: value 1 is");
}

TEST_F(BodiesFile, OnlyARegularFileIsRead) {
    const auto why = [](const std::filesystem::path& path) -> std::string {
        EXPECT_EQ(estimated_bodies(path), 0) << path;
        try {
            load_bodies(path, most);
        } catch (const BodiesFileError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(why("/dev/zero"), "bodies file /dev/zero: it is not a regular file");
    EXPECT_EQ(why("/proc"), "bodies file /proc: it is a folder");
    EXPECT_EQ(why("/nowhere"), "bodies file /nowhere: No such file or directory");
    EXPECT_EQ(why("/proc/self/mem"), "bodies file /proc/self/mem: Input/output error");
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    EXPECT_SAYS(why(path_), ": it is not a regular file");
}

TEST_F(BodiesFile, AVeryLargeFileIsRefusedBeforeItIsParsed) {
    std::ofstream(path_, std::ios::binary) << "1,0,0,0,1,0,2\n";
    std::filesystem::resize_file(path_, std::uintmax_t(1) << 40);  // its holes take no space
    try {
        load_bodies(path_, most);
        FAIL() << "it was loaded";
    } catch (const BodiesFileError& error) {
        EXPECT_SAYS(std::string(error.what()), "it is larger than 256 MiB");
    }
}

TEST_F(BodiesFile, LoadsTheGalaxyOfTheAssets) {
    const LoadedBodies galaxy = load_bodies(WARPSCOPE_SOURCE_DIR "/assets/galaxy_20k.tipsy", most);
    ASSERT_EQ(galaxy.bodies.size(), 20000u);
    EXPECT_NEAR(total_mass(galaxy.bodies), 1, 1e-5);
    EXPECT_NEAR(radius_of_share(galaxy.bodies, 0.9), 1, 1e-6);
    // 2500 dark bodies of 0.042705 and 17500 stars of 0.001191 or 0.002518.
    EXPECT_NEAR(galaxy.mass_unit, 2500 * 0.042705 + 15000 * 0.001191 + 2500 * 0.002518, 0.01);
    EXPECT_EQ(std::ranges::count(galaxy.bodies, 1.0f, &Body::luminosity), 17500);
}

TEST_F(BodiesFile, MovesToTheCentreOfMass) {
    const Bodies bodies = load(header + "5,6,7,1,2,3,1\n7,6,7,1,2,5,3\n").bodies;
    EXPECT_NEAR(bodies[0].position[0] / bodies[1].position[0], -3, 1e-6);
    EXPECT_EQ(bodies[0].position[1], 0);
    EXPECT_EQ(bodies[0].velocity[0], 0);
    EXPECT_NEAR(bodies[0].velocity[2] / bodies[1].velocity[2], -3, 1e-6);
}

TEST_F(BodiesFile, OneBodyAndMasslessBodiesKeepTheirUnits) {
    const LoadedBodies one = load(header + "5,6,7,1,2,3,4\n");
    EXPECT_EQ(one.length_unit, 1);
    EXPECT_EQ(one.mass_unit, 4);
    EXPECT_EQ(one.bodies[0].position, (std::array{0.0f, 0.0f, 0.0f}));
    const LoadedBodies two = load(header + "0,0,0,0,0,0,0\n4,0,0,0,0,0,0\n");
    EXPECT_EQ(two.mass_unit, 1);
    EXPECT_EQ(two.bodies[1].position, (std::array{1.0f, 0.0f, 0.0f}));
    EXPECT_EQ(two.bodies[1].mass, 0);
}

TEST_F(BodiesFile, TipsyInSiUnitsIsScaled) {
    Tipsy file;
    file.add(2, {2e30F, 0, 0, 0, 0, 0, 0});
    file.add(2, {6e24F, 1.5e11F, 0, 0, 0, 29780, 0});
    const LoadedBodies loaded = load(file.bytes());
    EXPECT_TRUE(loaded.is_si);
    EXPECT_NEAR(loaded.length_unit, 1.5e11, 1e6);
    const Body& planet = loaded.bodies[1];
    EXPECT_NEAR(planet.velocity[1] * planet.velocity[1] * planet.position[0], 1, 0.01)
        << "a circle";
}

TEST_F(BodiesFile, ErrorsOfATableNameTheLine) {
    const std::string good = "0,0,0,0,0,0,1\n", named = header + good;
    EXPECT_SAYS(complaint(named + "1,2,3,4,5,6\n"), "line 3: 6 values, not 7 as in the header");
    EXPECT_SAYS(complaint(good + "1,2,3,4,5,6\n"),
                "line 2: 6 values, not 7 as in the lines before");
    EXPECT_SAYS(complaint(named + good + "1,2,3,4,5,6,7,8\n"), "line 4: 8 values");
    EXPECT_SAYS(complaint(named + "1,2,three,4,5,6,7\n"), "line 3: z is \"three\", not a number");
    EXPECT_SAYS(complaint(good + "1,2,three,4,5,6,7\n"), "line 2: value 3 is \"three\", not a");
    EXPECT_SAYS(complaint(named + "1,2,3,4x,5,6,7\n"), "line 3: vx is \"4x\"");
    EXPECT_SAYS(complaint(named + "1,,3,4,5,6,7\n"), "line 3: y is \"\"");
    EXPECT_SAYS(complaint(named + "# \n1,2,3,nan,5,6,7\n"), "line 4: vx is \"nan\", not a finite");
    EXPECT_SAYS(complaint("inf,2,3,4,5,6,7\n"), "line 1: value 1 is \"inf\", not a finite");
    EXPECT_SAYS(complaint(named + "1e101,2,3,4,5,6,7\n"), "line 3: x is \"1e101\", too large");
    EXPECT_SAYS(complaint(named + "1e999,2,3,4,5,6,7\n"), "line 3: x is \"1e999\", too large");
    EXPECT_SAYS(complaint(named + "1,2,3,4,5,6,-7\n"), "line 3: the mass is negative (-7)");
    EXPECT_SAYS(complaint(good + header), "line 2: value 1 is \"x\"");
    EXPECT_SAYS(complaint(header), "no bodies");
    EXPECT_SAYS(complaint(named + good + good, 2), "line 4: more than 2 bodies");
    EXPECT_SAYS(complaint(""), "empty");
    EXPECT_SAYS(complaint(good + "1,2,3\n"), path_.string());
}

TEST_F(BodiesFile, TipsyErrorsNameTheByte) {
    const std::string good = small().bytes();
    EXPECT_SAYS(complaint(good.substr(0, good.size() - 1)), "byte 195: the file ends here");
    EXPECT_SAYS(complaint(good.substr(0, 20)), "byte 20: the file ends within the header");
    EXPECT_SAYS(complaint(good + "abc"), "byte 196: 3 bytes follow");

    Tipsy file = small();
    file.bodies = 5;
    EXPECT_SAYS(complaint(file.bytes()), "byte 8: the header says 5 bodies, but 4");
    file = small();
    file.dimensions = 2;
    EXPECT_SAYS(complaint(file.bytes()), "byte 12");
    file = small();
    file.counts[1] = -2;
    EXPECT_SAYS(complaint(file.bytes()), "byte 20: -2 dark");
    EXPECT_SAYS(complaint(Tipsy().bytes()), "byte 8: the header says 0 bodies");
    EXPECT_SAYS(complaint(good, 3), "byte 8: the header says 4 bodies; the maximum is 3");

    // The second dark body begins behind the header, one gas record and one dark record.
    constexpr std::size_t record = 32 + 4 * 12 + 4 * 9;
    const std::size_t vy = 12 + 9 + 5;
    file = small();
    file.floats[vy] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_SAYS(complaint(file.bytes()),
                "byte " + std::to_string(record + 20) + ": vy of dark body 1 is nan");
    file.floats[vy] = -std::numeric_limits<float>::infinity();
    EXPECT_SAYS(complaint(file.bytes(true)), "is -inf");
    file = small();
    file.floats[12 + 9] = -1;
    EXPECT_SAYS(complaint(file.bytes()), "byte " + std::to_string(record) + ": mass");
}

TEST_F(BodiesFile, AnUnreadablePathIsAnError) {
    EXPECT_THROW(load_bodies(path_, most), BodiesFileError);  // not there yet
    try {
        load_bodies(testing::TempDir(), most);
        FAIL();
    } catch (const BodiesFileError& error) {
        EXPECT_SAYS(std::string(error.what()), "folder");
    }
}

TEST_F(BodiesFile, DistancesThatFloatsCannotHoldAreAnError) {
    std::string lines;
    for (int i = 0; i < 18; ++i) lines += "0,0,0,0,0,0,1\n1e-10,0,0,0,0,0,1\n";
    EXPECT_SAYS(complaint(header + lines + "1e10,0,0,0,0,0,0\n"), "body 37 of 37 is too far away");
}

}  // namespace
}  // namespace warpscope::experiments
