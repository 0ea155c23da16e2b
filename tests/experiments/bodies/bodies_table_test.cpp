#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/bodies/bodies_file.h"

/// Texts with a body in each line: their columns, separators and units.
namespace warpscope::experiments {
namespace {

class BodiesTable : public testing::Test {
  protected:
    ~BodiesTable() override { std::filesystem::remove(path_); }

    LoadedBodies load(const std::string& content) {
        std::ofstream(path_, std::ios::binary) << content;
        return load_bodies(path_, 1000);
    }

    std::string complaint(const std::string& content) {
        try {
            load(content);
        } catch (const BodiesFileError& error) {
            return error.what();
        }
        return "no error";
    }

    /// Four bodies of mass 1/4 at rest in their centre of mass, whose largest distance is 2; y of
    /// one body is 1 and vx of one body is 3.
    void expect_four(const std::string& content) {
        SCOPED_TRACE(content);
        const LoadedBodies loaded = load(content);
        EXPECT_EQ(loaded.total_mass, 1);
        EXPECT_EQ(loaded.length_unit, 2);
        ASSERT_EQ(loaded.bodies.size(), 4u);
        const float speed = float(std::sqrt(2.0));  // 1 in units of sqrt(1 / 2)
        const float expected[4][6] = {{1, 0, 0, 0, speed, 0},
                                      {-1, 0, 0, 0, -speed, 0},
                                      {0, 0.5F, 0, 3 * speed, 0, 0},
                                      {0, -0.5F, 0, -3 * speed, 0, 0}};
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 3; ++k) {
                EXPECT_FLOAT_EQ(loaded.bodies[i].position[k], expected[i][k]) << i << " " << k;
                EXPECT_FLOAT_EQ(loaded.bodies[i].velocity[k], expected[i][3 + k]) << i << " " << k;
            }
    }

    /// The four bodies, with the columns in the order of `columns`, each `before` and `behind` it.
    static std::string four(const std::vector<std::string>& columns, const std::string& separator,
                            const std::string& before = "", const std::string& behind = "") {
        static const std::vector<std::string> names{"x", "y", "z", "vx", "vy", "vz", "m"};
        static const char* const values[4][7] = {{"2", "0", "0", "0", "1", "0", "0.25"},
                                                 {"-2", "0.0", "0", "0", "-1", "0", "2.5e-01"},
                                                 {"0", "+1", "0", "3", "0", "0", "0.25"},
                                                 {"0", "-1", "0e0", "-3", "0", "0", "25E-2"}};
        std::string text;
        for (const auto& row : values) {
            text += before;
            for (std::size_t k = 0; k < columns.size(); ++k) {
                const auto at = std::find(names.begin(), names.end(), columns[k]);
                text += (k ? separator : "") +
                        (at == names.end() ? "7" : std::string(row[at - names.begin()]));
            }
            text += behind + "\n";
        }
        return text;
    }

    const std::vector<std::string> usual_{"x", "y", "z", "vx", "vy", "vz", "m"};
    const std::vector<std::string> mass_first_{"m", "x", "y", "z", "vx", "vy", "vz"};
    const std::filesystem::path path_ =
        std::filesystem::path(testing::TempDir()) /
        ("table_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
         std::to_string(::getpid()));
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(BodiesTable, AHeaderNamesTheColumnsInAnyOrder) {
    expect_four("mass,x,y,z,vx,vy,vz\n" + four(mass_first_, ","));
    expect_four("x, y, z, vx, vy, vz, mass\n" + four(usual_, ", "));
    expect_four("vz,vy,vx,Z,Y,X,M\n" + four({"vz", "vy", "vx", "z", "y", "x", "m"}, ","));
    expect_four("pos_x,pos_y,pos_z,mass,vel_x,vel_y,vel_z\n" +
                four({"x", "y", "z", "m", "vx", "vy", "vz"}, ","));
    expect_four("\"x\",\"y\",\"z\",\"VelX\",\"VelY\",\"VelZ\",\"Mass\"\r\n" +
                four(usual_, ",", "", "\r"));
    expect_four("# x y z vx vy vz mass\n" + four(usual_, " "));
    expect_four("# four bodies\n\n# columns: m x y z vx vy vz\n# end\n" + four(mass_first_, "  "));
}

TEST_F(BodiesTable, AnyUsualSeparatorIsRead) {
    for (const char* separator :
         {",", ";", "\t", "|", " ", "   ", ", ", " ; ", " | ", ",\t", " \t"}) {
        expect_four(four(usual_, separator));
        expect_four(four(mass_first_, separator));
        expect_four("m x y z vx vy vz\n" + four(mass_first_, separator));
        expect_four(four(usual_, separator, " ", " "));
    }
    // A separator at the end of each line, and a comment.
    expect_four(four(usual_, ",", "", ","));
    expect_four(four(usual_, " ", "", " # a body"));
}

TEST_F(BodiesTable, OtherColumnsAreIgnoredAndNamed) {
    const LoadedBodies loaded =
        load("id,x,y,z,vx,vy,vz,mass,radius\n" +
             four({"id", "x", "y", "z", "vx", "vy", "vz", "m", "radius"}, ","));
    EXPECT_EQ(loaded.said, "Ignored columns: id, radius.");
    EXPECT_EQ(loaded.total_mass, 1);
    expect_four("name;x;y;z;vx;vy;vz;m\n" + four(usual_, ";", "Body, the \"first; of\" #1;"));
    expect_four(four(usual_, ",", "a star,"));
    expect_four(four(mass_first_, ",", "a star,"));
    expect_four(four(usual_, " ", "", " \"a star\""));
    expect_four(four(mass_first_, "\t", "a star\t"));
}

TEST_F(BodiesTable, WithoutAHeaderTheValuesTellWhetherTheMassIsFirst) {
    const LoadedBodies first = load(four(mass_first_, " "));
    EXPECT_EQ(first.said,
              "The file has no header: by its values, the columns are mass, x, y, z, vx, vy, vz.");
    EXPECT_EQ(load(four(usual_, " ")).said,
              "The file has no header: by its values, the columns are x, y, z, vx, vy, vz, mass.");
    EXPECT_EQ(load("m,x,y,z,vx,vy,vz\n" + four(mass_first_, ",")).said, "");
    // Bodies in a plane, with equal masses or different ones: vz is 0.
    EXPECT_EQ(load("0.5,1,0,0,0,1,0\n0.5,-1,0,0,0,-1,0\n0.5,0,3,0,0,0,0\n").total_mass, 1.5);
    EXPECT_EQ(load("0.5,1,0,0,0,1,0\n2,-1,0,0,0,-1,0\n").total_mass, 2.5);
    // Speeds in one direction, and masses that differ.
    EXPECT_EQ(load("3,1,0,0,0,1,-5\n1,-1,0,0,0,-1,6\n0,0,3,0,0,0,7\n").total_mass, 4);
    EXPECT_EQ(load("-1,1,0,0,0,1,4\n2,-1,0,0,0,-1,0\n3,0,3,0,0,0,8\n").total_mass, 12);
}

TEST_F(BodiesTable, WithoutANumberBelow0InOneOfTheTwoColumnsAHeaderIsAskedFor) {
    for (const char* content :
         {"0,0,0,0,0,0,1\n1,0,0,0,1,0,2\n", "1,0,0,0,0,0,0\n2,1,0,0,0,1,4\n",
          "3,1,0,0,0,1,5\n3,-1,0,0,0,-1,6\n3,0,3,0,0,0,7\n",
          "1 1 0 0 0 1 4\n2 -1 0 0 0 -1 4\n3 0 3 0 0 0 4\n", "a star,1,0,0,0,1,0,2\n"}) {
        const std::string says = complaint(content);
        EXPECT_SAYS(says,
                    ": without a header it is not clear whether the masses are the first or the "
                    "last column, as neither has a number below 0: write a first line with the "
                    "names of the columns, such as \"mass x y z vx vy vz\" or \"x y z vx vy vz "
                    "mass\"");
        EXPECT_EQ(says.find('\n'), says.npos);
    }
    // The advice works.
    const std::string rows = "3,1,0,0,0,1,5\n3,-1,0,0,0,-1,6\n3,0,3,0,0,0,7\n";
    EXPECT_EQ(load("mass x y z vx vy vz\n" + rows).total_mass, 9);
    EXPECT_EQ(load("x y z vx vy vz mass\n" + rows).total_mass, 18);
}

TEST_F(BodiesTable, ADecimalCommaIsReadWhereAnotherCharacterSeparates) {
    const auto with_commas = [](std::string text) {
        std::replace(text.begin(), text.end(), '.', ',');
        return text;
    };
    for (const std::string separator : {";", "\t", " ", " ; ", "|", " | "}) {
        SCOPED_TRACE(separator);
        const auto rows = [&](const char* decimal) {
            std::string text;
            for (const char* row : {"0.5 1.5 0 0.0 1.0 0 0.25", "-0.5 -1.5 2 0 -1.0 0.5 0.75"}) {
                std::string line(row);
                for (std::size_t at = 0; (at = line.find(' ', at)) != line.npos;
                     at += separator.size())
                    line.replace(at, 1, separator);
                text += line + "\n";
            }
            return *decimal == ',' ? with_commas(text) : text;
        };
        for (const std::string header : {"", "x y z vx vy vz mass\n"}) {
            const LoadedBodies points = load(header + rows("."));
            const LoadedBodies loaded = load(header + rows(","));
            ASSERT_EQ(loaded.bodies.size(), 2u);
            EXPECT_EQ(loaded.total_mass, 1);
            EXPECT_EQ(loaded.length_unit, points.length_unit);
            EXPECT_EQ(loaded.bodies[1].position, points.bodies[1].position);
            EXPECT_EQ(loaded.bodies[1].velocity, points.bodies[1].velocity);
            EXPECT_SAYS(loaded.said, "Its commas are read as points.");
            EXPECT_EQ(points.said.find("commas"), points.said.npos);
        }
    }
    // Quotes keep the comma within the number.
    EXPECT_EQ(load("\"-1,5\",0,0,0,0,0,\"2,5\"\n").total_mass, 2.5);
}

TEST_F(BodiesTable, ACommaThatMayBeADecimalCommaIsRefusedWithAdvice) {
    const std::string advice = "if the commas are within the numbers, put semicolons between them";
    EXPECT_SAYS(complaint("-1,5,0,0,0,0,0,0,0,1,0,0,0,2,5\n"), "line 1: 15 values");
    for (const char* row : {"-1,5,0,0,0,0,0,0,0,1,0,0,2,5\n", "-1,5, 0, 0, 0, 0, 0, 2,5\n"}) {
        EXPECT_SAYS(complaint(row), advice);
        EXPECT_SAYS(complaint("x,y,z,vx,vy,vz,mass\n" + std::string(row)), advice);
    }
    // Groups of digits, and both signs in one file.
    EXPECT_SAYS(complaint("-1,234,567;0;0;0;0;0;1\n"), "value 1 is \"-1,234,567\", not a number");
    EXPECT_SAYS(complaint("-1,234.5;0;0;0;0;0;1\n"), "value 1 is \"-1,234.5\", not a number");
    EXPECT_SAYS(complaint("-1,234;0;0;0;0;0;1\n-2;0;0;0;0;0.5;1\n"),
                "line 2: numbers have commas and numbers have points: write all of them with "
                "points, such as 1234.5");
}

TEST_F(BodiesTable, BarsMaySeparateAsInATableOfMarkdown) {
    expect_four("| m | x | y | z | vx | vy | vz |\n|---|:-:|---|---|---|---|--:|\n" +
                four(mass_first_, " | ", "| ", " |"));
    expect_four("x|y|z|vx|vy|vz|m\n" + four(usual_, "|"));
    expect_four("name|x|y|z|vx|vy|vz|m\n" + four(usual_, "|", "Body, the first|"));
    // A bar in a name separates nothing.
    expect_four(four(usual_, ",", "a|b,"));
}

TEST_F(BodiesTable, WhatIsNotClearIsRefusedWithAdvice) {
    const std::string advice = "write a first line with the names of the columns";
    const auto refused = [&](const std::string& content, const std::string& why) {
        const std::string says = complaint(content);
        EXPECT_SAYS(says, why);
        EXPECT_SAYS(says, advice);
    };
    refused("1,0,0,0,1,0,2\n3,0,0,0,1,0,4\n2,0,0,0,0,0,1\n", "the first or the last column");
    refused("5,6,7,1,2,3,4\n", "the first or the last column");
    refused("1,0,0,0,1,0,2\n1,0,0,0,1,0,2\n1,0,0,0,0,0,2\n", "the first or the last column");
    // The mass is in the middle; in a plane, where vz is 0; no mass at all.
    refused("1,0,0,2,1,0,-2\n-3,0,0,2,1,0,4\n", "both have negative numbers or only 0");
    refused("1,0,0,2,1,1,0\n-3,0,0,2,1,0,0\n", "both have negative numbers or only 0");
    refused("7,1,0,0,0,1,0,2\n8,-1,0,0,0,-1,0,2\n", "line 1: 8 values");
    refused("1 2 3 4 5 6\n", "line 1: 6 values");
    refused("64\n1 2 3 4 5 6 7\n", "line 1: 1 values");
}

TEST_F(BodiesTable, AHeaderThatLacksAColumnOrHasItTwiceIsRefused) {
    const std::string row = "1,2,3,4,5,6,7\n";
    EXPECT_SAYS(complaint("a,b,c,d,e,f,g\n" + row),
                "line 1: the header \"a,b,c,d,e,f,g\" has no column x: it needs x, y, z, vx, vy, "
                "vz, mass");
    EXPECT_SAYS(complaint("x,y,vx,vy,vz,z,weight\n" + row), "has no column mass");
    EXPECT_SAYS(complaint("# a remark\nx,y,z,vx,vy,vz,mass,m\n1,2,3,4,5,6,7,8\n"),
                "line 2: columns 7 and 8 are both mass: rename one");
    EXPECT_SAYS(complaint("x,y,z,vx,vy,vz,mass\n1;2;3;4;5;6\n"),
                "line 2: 6 values, not 7 as in the header");
}

/// Sun, earth and mars; speeds for circular orbits within 1 %.
constexpr const char* solar_rows = "0,0,0,0,0,0,{0}\n{1},0,0,0,{2},0,{3}\n-{4},0,0,0,-{5},0,{6}\n";

TEST_F(BodiesTable, SiUnitsAreScaledAndSaid) {
    const LoadedBodies solar =
        load("x,y,z,vx,vy,vz,mass\n" + fmt::format(solar_rows, "1.989e30", "1.496e11", "29780",
                                                   "5.972e24", "2.28e11", "24070", "6.39e23"));
    EXPECT_TRUE(solar.is_si);
    EXPECT_EQ(solar.said,
              "Its large masses are taken as kilograms, and its other numbers as metres and metres "
              "per second.");
    EXPECT_NEAR(solar.total_mass, 1.989e30 + 5.972e24 + 6.39e23, 1e21);
    EXPECT_NEAR(solar.length_unit, 2.28e11, 1e7);
    EXPECT_FLOAT_EQ(solar.bodies[0].mass, float(1.989e30 / solar.total_mass));
    EXPECT_NEAR(solar.bodies[2].mass, 6.39e23 / solar.total_mass, 1e-13);
    // The earth's orbit stays one: v^2 r = G M = 1.
    const Body& earth = solar.bodies[1];
    EXPECT_NEAR(earth.velocity[1] * earth.velocity[1] * earth.position[0], 1, 0.01);
}

TEST_F(BodiesTable, UnitsOfTheHeaderAreConverted) {
    const std::vector<std::string> si{
        "x,y,z,vx,vy,vz,mass", fmt::format(solar_rows, "1.989e30", "1.496e11", "29780", "5.972e24",
                                           "2.28e11", "24070", "6.39e23")};
    const LoadedBodies expected = load(si[0] + "\n" + si[1]);
    const std::string kilometres = fmt::format(solar_rows, "1.989e30", "1.496e8", "29.78",
                                               "5.972e24", "2.28e8", "24.07", "6.39e23");
    const std::string grams = fmt::format(solar_rows, "1.989e33", "1.496e13", "2978000", "5.972e27",
                                          "2.28e13", "2407000", "6.39e26");
    for (const std::string& content :
         {"x [km],y [km],z [km],vx [km/s],vy [km/s],vz [km/s],mass [kg]\n" + kilometres,
          "x_km,y_km,z_km,vx_km_s,vy_km_s,vz_km_s,mass_kg\n" + kilometres,
          "x(cm),y(cm),z(cm),vx(cm/s),vy(cm/s),vz(cm/s),M(g)\n" + grams}) {
        const LoadedBodies loaded = load(content);
        EXPECT_TRUE(loaded.is_si);
        EXPECT_EQ(loaded.said, "");
        EXPECT_NEAR(loaded.total_mass / expected.total_mass, 1, 1e-12);
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t k = 0; k < 3; ++k) {
                EXPECT_NEAR(loaded.bodies[i].position[k], expected.bodies[i].position[k], 1e-6);
                EXPECT_NEAR(loaded.bodies[i].velocity[k], expected.bodies[i].velocity[k], 1e-6);
            }
    }
    // One astronomical unit and 2 pi of them in a year: v^2 r = G M.
    const LoadedBodies orbit = load(
        "x[au] y[au] z[au] vx[au/yr] vy[au/yr] vz[au/yr] m[Msun]\n"
        "0 0 0 0 0 0 1\n1 0 0 0 6.283185 0 0\n");
    const Body& planet = orbit.bodies[1];
    EXPECT_NEAR(planet.velocity[1] * planet.velocity[1] * planet.position[0], 1, 1e-4);
    EXPECT_NEAR(orbit.total_mass, 1.98841e30, 1e25);
}

TEST_F(BodiesTable, UnitsThatAreNotClearAreRefusedWithAdvice) {
    const std::string header = "x,y,z,vx,vy,vz,mass\n", advice = "name all units in a header";
    // Kilometres with kilograms, and centimetres with grams.
    EXPECT_SAYS(complaint(header + fmt::format(solar_rows, "1.989e30", "1.496e8", "29.78",
                                               "5.972e24", "2.28e8", "24.07", "6.39e23")),
                advice);
    EXPECT_SAYS(complaint(header + fmt::format(solar_rows, "1.989e33", "1.496e13", "2978000",
                                               "5.972e27", "2.28e13", "2407000", "6.39e26")),
                advice);
    EXPECT_SAYS(complaint("x [furlong],y,z,vx,vy,vz,mass\n1,2,3,4,5,6,7\n"),
                "line 1: the unit \"furlong\" is not known");
    EXPECT_SAYS(complaint("x [km],y [km],z [km],vx,vy,vz,mass\n1,2,3,4,5,6,7\n"),
                "some columns have a unit and others have none");
    // At rest any unit of time fits.
    EXPECT_TRUE(load(header + "0,0,0,0,0,0,2e30\n1e11,0,0,0,0,0,6e24\n").is_si);
    EXPECT_FALSE(load(header + "0,0,0,0,0,0,2e15\n1e11,0,0,0,0,0,6e10\n").is_si);
}

}  // namespace
}  // namespace warpscope::experiments
