// Do density models say what is in a tile? Against counting every placement, against samples, and against the tiles
// themselves.

#include "mapping/sparse/density.h"
#include "mapping/sparse/sparse_design.h"
#include "mapping/sparse/sparse_read.h"

#include <QtTest/QtTest>

#include <bit>
#include <cmath>
#include <random>

using namespace orrery;

namespace {

TileShape box(std::initializer_list<std::int64_t> extents) {
    TileShape shape;
    for (const std::int64_t extent : extents) shape.extents[shape.ranks++] = extent;
    return shape;
}

double probabilityOf(const OccupancyDistribution& spread, double occupancy) {
    const double at = occupancy - spread.first;
    return at < 0 || at >= static_cast<double>(spread.probability.size())
               ? 0
               : spread.probability[static_cast<std::size_t>(at)];
}

DensityModel uniform(double density, const TileShape& tensor) {
    DensityModel model;
    model.kind = DensityKind::Hypergeometric;
    model.density = density;
    return model.boundTo(tensor);
}

DensityModel banded(std::int64_t width, std::int64_t rows, std::int64_t columns) {
    DensityModel model;
    model.kind = DensityKind::Banded;
    model.bandWidth = width;
    return model.boundTo(box({rows, columns}));
}

bool close(double a, double b, double relative = 1e-10) {
    return std::abs(a - b) <= relative * std::max({1e-300, std::abs(a), std::abs(b)}) + 1e-13;
}

/// Tiles of a matrix of zeros and ones, cut at its ends: occupancy → tiles.
std::map<double, double> tilesByHand(const std::vector<std::vector<int>>& matrix, std::size_t high, std::size_t wide) {
    std::map<double, double> tiles;
    for (std::size_t r = 0; r < matrix.size(); r += high)
        for (std::size_t c = 0; c < matrix[0].size(); c += wide) {
            double held = 0;
            for (std::size_t i = r; i < std::min(r + high, matrix.size()); ++i)
                for (std::size_t j = c; j < std::min(c + wide, matrix[0].size()); ++j) held += matrix[i][j];
            ++tiles[held];
        }
    return tiles;
}

void compareTiles(const DensityModel& model, const std::vector<std::vector<int>>& matrix, std::int64_t high,
                  std::int64_t wide) {
    const auto expected = tilesByHand(matrix, static_cast<std::size_t>(high), static_cast<std::size_t>(wide));
    double all = 0, held = 0;
    for (const auto& [occupancy, tiles] : expected) all += tiles, held += tiles * occupancy;
    const OccupancyDistribution spread = occupancyDistribution(model, box({high, wide}));
    for (const auto& [occupancy, tiles] : expected) QVERIFY(close(probabilityOf(spread, occupancy), tiles / all));
    QVERIFY(close(expectedOccupancy(model, box({high, wide})), held / all));
    QVERIFY(close(emptyProbability(model, box({high, wide})), expected.contains(0) ? expected.at(0) / all : 0));
    QCOMPARE(maximumOccupancy(model, box({high, wide})), expected.rbegin()->first);
}

}  // namespace

class TestSparseDensity : public QObject {
    Q_OBJECT
private slots:
    /// Every way to mark r of N words, for all small N, r and tiles.
    void hypergeometricIsTheShareOfAllPlacements() {
        for (unsigned words = 1; words <= 11; ++words)
            for (unsigned marked = 0; marked <= words; ++marked)
                for (unsigned drawn = 0; drawn <= words; ++drawn) {
                    std::vector<double> placements(words + 1, 0.0);
                    double all = 0;
                    for (unsigned mask = 0; mask < (1u << words); ++mask) {
                        if (std::popcount(mask) != static_cast<int>(marked)) continue;
                        ++placements[static_cast<unsigned>(std::popcount(mask & ((1u << drawn) - 1)))];
                        ++all;
                    }
                    const OccupancyDistribution spread = hypergeometric(words, marked, drawn);
                    for (unsigned k = 0; k <= words; ++k)
                        QVERIFY2(close(probabilityOf(spread, k), placements[k] / all, 1e-9),
                                 qPrintable(QString("%1 %2 %3 %4").arg(words).arg(marked).arg(drawn).arg(k)));
                    QVERIFY(close(hypergeometricEmpty(words, marked, drawn), placements[0] / all, 1e-9));
                }
    }

    void longProductsMeetLogarithms() {
        // On both sides of the length at which the way of computing changes.
        for (const double drawn : {500.0, 512.0, 513.0, 600.0, 2000.0}) {
            const double population = 1e6, marked = 3000;
            double product = 1;
            for (double i = 0; i < drawn; ++i) product *= (population - marked - i) / (population - i);
            QVERIFY(close(hypergeometricEmpty(population, marked, drawn), product, 1e-7));
        }
    }

    void samplesAgree() {
        std::mt19937_64 random(20221001);
        constexpr int words = 2000, marked = 60, drawn = 50, samples = 20000;
        std::vector<int> order(words);
        for (int i = 0; i < words; ++i) order[static_cast<std::size_t>(i)] = i;
        double empty = 0, sum = 0;
        for (int s = 0; s < samples; ++s) {
            int held = 0;
            for (int i = 0; i < drawn; ++i) {
                const auto j = static_cast<std::size_t>(i) + random() % static_cast<std::uint64_t>(words - i);
                std::swap(order[static_cast<std::size_t>(i)], order[j]);
                held += order[static_cast<std::size_t>(i)] < marked;
            }
            empty += held == 0;
            sum += held;
        }
        const DensityModel model = uniform(0.03, box({words}));
        const double p = emptyProbability(model, box({drawn}));
        QVERIFY(std::abs(empty / samples - p) < 4 * std::sqrt(p * (1 - p) / samples));
        QVERIFY(std::abs(sum / samples - expectedOccupancy(model, box({drawn}))) < 4 * 1.2 / std::sqrt(samples));
    }

    /// What is known of a tile, averaged over what it may hold, is what is known of the tensor.
    void totalProbabilityHolds() {
        std::mt19937 random(7);
        for (int trial = 0; trial < 60; ++trial) {
            const std::int64_t part = 1 + random() % 8, tile = part * (1 + random() % 20),
                               whole = tile * (1 + random() % 30);
            const double density = (1 + random() % 99) / 100.0;
            const DensityModel model = uniform(density, box({whole}));
            const OccupancyDistribution spread = occupancyDistribution(model, box({tile}));
            double sum = 0, empty = 0;
            for (std::size_t i = 0; i < spread.probability.size(); ++i) {
                sum += spread.probability[i];
                empty += spread.probability[i] *
                         emptyProbability(model, box({part}), {box({tile}), spread.first + static_cast<double>(i)});
            }
            QVERIFY(close(sum, 1));
            QVERIFY(close(spread.mean(), expectedOccupancy(model, box({tile})), 1e-9));
            QVERIFY2(close(empty, emptyProbability(model, box({part})), 1e-8),
                     qPrintable(QString("%1 %2").arg(empty).arg(emptyProbability(model, box({part})))));
        }
    }

    void largerTilesAreLessOftenEmpty() {
        const DensityModel models[] = {uniform(0.05, box({64, 64})), banded(2, 64, 64)};
        for (const DensityModel& model : models) {
            double before = 1;
            for (std::int64_t edge = 1; edge <= 64; edge *= 2) {
                const double now = emptyProbability(model, box({edge, edge}));
                QVERIFY(now <= before + 1e-12 && now >= 0);
                before = now;
            }
            QCOMPARE(before, 0.0);
        }
    }

    void structuredTilesHoldTheirShare() {
        DensityModel model;
        model.density = 0.3;
        model = model.boundTo(box({1000}));
        for (std::int64_t tile = 1; tile <= 1000; ++tile) {
            const OccupancyDistribution spread = occupancyDistribution(model, box({tile}));
            QVERIFY(spread.probability.size() <= 2);
            QVERIFY(close(spread.mean(), 0.3 * static_cast<double>(tile)));
            QVERIFY(maximumOccupancy(model, box({tile})) <= std::ceil(0.3 * static_cast<double>(tile)));
        }
        QVERIFY(close(emptyProbability(model, box({1})), 0.7));
        QCOMPARE(emptyProbability(model, box({4})), 0.0);
        QVERIFY(close(emptyProbability(model, box({2}), {box({8}), 2}), 0.5));
        QCOMPARE(maximumElements(model, box({10}), box({1})), 3.0);
        QCOMPARE(maximumElements(uniform(0.5, box({64})), box({8}), box({1})), 8.0);
    }

    void bandsAreCountedTileByTile() {
        for (const int rows : {12, 17})
            for (const int columns : {12, 23})
                for (const int width : {0, 1, 3, 30}) {
                    const DensityModel model = banded(width, rows, columns);
                    std::vector<std::vector<int>> matrix(static_cast<std::size_t>(rows),
                                                         std::vector<int>(static_cast<std::size_t>(columns)));
                    double nonzeros = 0;
                    for (int r = 0; r < rows; ++r)
                        for (int c = 0; c < columns; ++c)
                            nonzeros += matrix[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] =
                                std::abs(r - c) <= width;
                    QCOMPARE(model.nonzeros, nonzeros);
                    for (const int high : {1, 3, 4, 12})
                        for (const int wide : {1, 2, 5, 12}) compareTiles(model, matrix, high, wide);
                }
    }

    void partsOfBandsAreCounted() {
        const DensityModel model = banded(1, 16, 16);
        // Tiles of 4 × 4 on the diagonal hold 10; of their 2 × 2 parts all hold something. Beside it they hold 1: one
        // part of four does.
        QVERIFY(close(emptyProbability(model, box({2, 2}), {box({4, 4}), 10}), 0));
        QVERIFY(close(emptyProbability(model, box({2, 2}), {box({4, 4}), 1}), 0.75));
        QVERIFY(close(emptyProbability(model, box({1, 1}), {box({4, 4}), 10}), 6.0 / 16));
    }

    void actualTilesAreCounted() {
        std::mt19937 random(11);
        const TileShape tensor = box({20, 30});
        std::vector<std::vector<int>> matrix(20, std::vector<int>(30));
        std::string lines = "# row column\n", market = "%%MatrixMarket matrix coordinate real general\n% made up\n",
                    mask;
        int nonzeros = 0;
        for (int r = 0; r < 20; ++r)
            for (int c = 0; c < 30; ++c) {
                const bool is = random() % 10 < 2 && c > r / 2;
                matrix[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] = is;
                nonzeros += is;
                mask += is ? '1' : '0';
                if (c == 14) mask += '\n';
                if (is) lines += std::to_string(r) + ", " + std::to_string(c) + "\n";
            }
        market += "20 30 " + std::to_string(nonzeros + 1) + "\n";
        for (int r = 0; r < 20; ++r)
            for (int c = 0; c < 30; ++c)
                if (matrix[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)])
                    market += std::to_string(r + 1) + " " + std::to_string(c + 1) + " -2.5e-1\n";
        market += "20 1 0.0\n";
        matrix[19][0] = 0;
        for (const std::string& text : {lines, market, mask}) {
            auto data = parseActualData(text, tensor, "here");
            QVERIFY2(data, data ? "" : toText(data.error()).c_str());
            DensityModel model;
            model.kind = DensityKind::Actual;
            model.data = std::make_shared<const ActualData>(std::move(*data));
            model = model.boundTo(tensor);
            QCOMPARE(model.nonzeros, static_cast<double>(nonzeros));
            for (const int high : {1, 3, 5, 20})
                for (const int wide : {1, 2, 7, 30}) compareTiles(model, matrix, high, wide);
            // Given what a row holds, that share of its words is not empty.
            for (int r = 0; r < 20; ++r) {
                double held = 0;
                for (const int word : matrix[static_cast<std::size_t>(r)]) held += word;
                if (held > 0) QVERIFY(close(emptyProbability(model, box({1, 1}), {box({1, 30}), held}), 1 - held / 30));
            }
        }
    }

    void actualDataAreRefusedWithAPlace() {
        const struct {
            const char *text, *code;
            int line;
        } bad[] = {{"0 0\n1 2 3\n", "sparse.data", 2},
                   {"0 0\n4 0\n", "sparse.data", 2},
                   {"0 -1\n", "sparse.data", 1},
                   {"0 x\n", "sparse.data", 1},
                   {"0 0\n1 1\n0 0\n", "sparse.data", 0},
                   {"0101\n0101\n01\n", "sparse.data-size", 3},
                   {"0101\n0101\n010101010\n", "sparse.data-size", 3},
                   {"0101\n0121\n", "sparse.data", 2},
                   {"%%MatrixMarket matrix array real general\n4 4\n", "sparse.data", 1},
                   {"%%MatrixMarket matrix coordinate real symmetric\n", "sparse.data", 1},
                   {"%%MatrixMarket matrix coordinate real general\n5 4 1\n1 1 1\n", "sparse.data-size", 2},
                   {"%%MatrixMarket matrix coordinate pattern general\n4 4 1\n0 1\n", "sparse.data", 3},
                   {"99999999999999999999 0\n", "sparse.data", 1}};
        for (const auto& [text, code, line] : bad) {
            const auto read = parseActualData(text, box({4, 4}), "bad.txt");
            QVERIFY2(!read, text);
            QCOMPARE(read.error().code, std::string(code));
            QCOMPARE(read.error().place.line, line);
            QCOMPARE(read.error().place.file, std::string("bad.txt"));
            QVERIFY(!read.error().hint.empty() && !read.error().expected.empty());
        }
        QVERIFY(!readActualData("/nowhere/at/all.txt", box({4, 4})));
    }

    void extremesStayWithinBounds() {
        for (const double density : {0.0, 1.0}) {
            for (const DensityModel& model : {uniform(density, box({8, 8})), [&] {
                                                  DensityModel fixed;
                                                  fixed.density = density;
                                                  return fixed.boundTo(box({8, 8}));
                                              }()}) {
                QCOMPARE(emptyProbability(model, box({2, 2})), 1 - density);
                QCOMPARE(expectedOccupancy(model, box({2, 2})), 4 * density);
                QCOMPARE(maximumOccupancy(model, box({2, 2})), 4 * density);
                QCOMPARE(occupancyDistribution(model, box({2, 2})).probability.size(), std::size_t{1});
            }
        }
        // A huge tensor costs as little as its spread is narrow.
        const DensityModel huge = uniform(0.5, box({1 << 15, 1 << 15}));
        const OccupancyDistribution spread = occupancyDistribution(huge, box({1 << 12, 1 << 12}));
        QVERIFY(spread.probability.size() < 100000);
        QVERIFY(close(spread.mean(), 0.5 * (1 << 24), 1e-9));
    }
};

QTEST_APPLESS_MAIN(TestSparseDensity)
#include "tst_sparse_density.moc"
