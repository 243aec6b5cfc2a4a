#include "mapping/nest_evaluator.h"
#include "mapping/timeloop/timeloop.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace orrery;
namespace fs = std::filesystem;

// Every dense case that Timeloop 3.0.3 was run on, counts held exactly.
class TestTimeloopReference : public QObject {
    Q_OBJECT
    using Row = std::map<std::string, std::string>;
    const fs::path folder_ = fs::path(ORRERY_REFERENCE) / "accelerators" / "timeloop";

    static std::vector<Row> table(const fs::path& path) {
        std::ifstream file(path);
        std::string line;
        std::vector<std::string> heads;
        std::vector<Row> rows;
        while (std::getline(file, line)) {
            std::vector<std::string> cells;
            std::istringstream stream(line);
            for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
            if (heads.empty()) {
                heads = cells;
                continue;
            }
            Row row;
            for (std::size_t i = 0; i < heads.size(); ++i) row[heads[i]] = i < cells.size() ? cells[i] : "";
            rows.push_back(row);
        }
        return rows;
    }
    std::vector<std::string> inputsOf(const std::string& name) const {
        for (const char* single : {"model.cfg", "input.cfg"}) {
            if (fs::exists(folder_ / name / single)) return {(folder_ / name / single).string()};
        }
        std::vector<std::string> files;
        for (const char* part : {"input_v303.yaml", "timeloop-model.ERT.yaml", "timeloop-model.ART.yaml"}) {
            if (fs::exists(folder_ / name / part)) files.push_back((folder_ / name / part).string());
        }
        return files;
    }

private slots:
    void initTestCase() {
        if (!fs::exists(folder_)) QSKIP("the reference data is not here");
    }

    void dense_data() {
        QTest::addColumn<QString>("name");
        int cases = 0;
        if (!fs::exists(folder_)) return;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            const auto name = entry.path().filename().string();
            if (!name.starts_with("tl_")) continue;
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
            ++cases;
        }
        QVERIFY(cases >= 16);
    }
    void dense() {
        QFETCH(QString, name);
        const std::string id = name.toStdString();
        const auto input = readTimeloopFiles(inputsOf(id));
        QVERIFY2(input, input ? "" : toText(input.error()).c_str());
        QVERIFY(input->mapping.has_value());
        NestEvaluator evaluator(input->problem, input->hardware);
        const auto counts = evaluator.explain(*input->mapping);
        QVERIFY2(counts, counts ? "" : toText(counts.error()).c_str());
        int compared = 0;
        for (const Row& row : table(folder_ / "levels.csv")) {
            if (row.at("case") != id || row.at("dataspace") == "compute") continue;
            const auto level = std::find_if(input->hardware.levels.begin(), input->hardware.levels.end(),
                                            [&](const NestLevel& l) { return l.name == row.at("level"); });
            const auto tensor = std::find_if(input->problem.tensors.begin(), input->problem.tensors.end(),
                                             [&](const NestTensor& t) { return t.name == row.at("dataspace"); });
            QVERIFY(level != input->hardware.levels.end() && tensor != input->problem.tensors.end());
            const LevelCounts& at = counts->levels[static_cast<std::size_t>(level - input->hardware.levels.begin())];
            const TensorCounts& is = at.tensors[static_cast<std::size_t>(tensor - input->problem.tensors.begin())];
            const auto number = [&](const char* column) { return std::stod(row.at(column)); };
            const auto where = row.at("level") + " " + row.at("dataspace");
            QVERIFY2(is.kept, where.c_str());
            QVERIFY2(at.cycles == number("cycles"), where.c_str());
            QVERIFY2(is.instances == number("instances"), where.c_str());
            QVERIFY2(is.tile == number("utilized_capacity"), where.c_str());
            QVERIFY2(is.reads == number("reads_per_inst"), where.c_str());
            QVERIFY2(is.fills == number("fills_per_inst"), where.c_str());
            QVERIFY2(is.updates == number("updates_per_inst"), where.c_str());
            const double energy = number("energy_total_pJ");
            QVERIFY2(std::abs(is.energy * 1e12 - energy) <= 1e-3 * energy + 0.01, where.c_str());
            ++compared;
        }
        int kept = 0;
        for (const LevelCounts& level : counts->levels) {
            for (const TensorCounts& one : level.tensors) kept += one.kept;
        }
        QCOMPARE(compared, kept);  // no row of ours without one of theirs
        bool summed = false;
        for (const Row& row : table(folder_ / "summary.csv")) {
            if (row.at("case") != id) continue;
            summed = true;
            QCOMPARE(counts->cycles, std::stod(row.at("cycles")));
            QVERIFY(std::abs(counts->utilisation - std::stod(row.at("utilization"))) <= 0.00501);
            QVERIFY(std::abs(counts->energy * 1e6 - std::stod(row.at("energy_uJ"))) <=
                    1e-3 * counts->energy * 1e6 + 0.00501);
            QCOMPARE(counts->operations, std::stod(row.at("computes")));
        }
        QVERIFY(summed);
    }

    // A mapping that Timeloop's mapper found and wrote: the same as the model's input.
    void foundMappingsReadTheSame() {
        int files = 0;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            const auto found = entry.path() / "timeloop-mapper.map.cfg";
            if (!fs::exists(found) || !fs::exists(entry.path() / "model.cfg")) continue;
            const auto a = readTimeloopFiles({found.string()});
            const auto b = readTimeloopFiles({(entry.path() / "model.cfg").string()});
            QVERIFY(a && b && a->mapping && b->mapping);
            QVERIFY(*a->mapping == *b->mapping && a->problem == b->problem);
            ++files;
        }
        QVERIFY(files >= 3);
    }
};

QTEST_GUILESS_MAIN(TestTimeloopReference)
#include "tst_timeloop_reference.moc"
