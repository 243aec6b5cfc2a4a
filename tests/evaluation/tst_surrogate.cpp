#include "base/random.h"
#include "evaluation/surrogate_fit.h"
#include "evaluation/surrogate_table.h"

#include <QtTest/QtTest>

#include <cmath>
#include <fstream>

using namespace orrery;

namespace {

// Seconds of a design: a law of three numbers and a word, within 3 % of noise.
std::string designs(std::size_t rows, std::uint64_t seed) {
    std::string text = "units,clock,size,policy,label,time,total,energy\n";
    RandomStream random(seed);
    for (std::size_t r = 0; r < rows; ++r) {
        const double units = 1 + static_cast<double>(random.below(64)), clock = 0.5 + 2 * random.uniform();
        const double size = std::exp(8 * random.uniform());
        const char* policies[] = {"near", "far", "both"};
        const std::size_t policy = random.below(3);
        const double time = size / (units * clock) *
                            (policy == 1   ? 2
                             : policy == 2 ? 0.7
                                           : 1) *
                            std::exp(0.03 * random.normal());
        text += fmt::format("{},{},{},{},same,{},{},{}\n", units, clock, size, policies[policy], time, time + 3000,
                            time * 0.5 + units * 0.01);
    }
    return text;
}

std::string fileOf(const std::string& text, const char* name = "designs.csv") {
    const std::string folder = std::string(ORRERY_TEST_OUTPUT) + "/surrogate";
    QDir().mkpath(QString::fromStdString(folder));
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
}

SurrogateTable tableOf(const std::string& path, const std::vector<std::string>& targets,
                       const std::vector<std::string>& ignored = {}) {
    auto table = readSurrogateTable(path, targets, ignored);
    if (!table) qFatal("%s", toText(table.error()).c_str());
    return std::move(*table);
}

Surrogate fitted(const SurrogateRows& rows, SurrogateFitOptions options = {}) {
    auto surrogate = fitSurrogate(rows, options);
    if (!surrogate) qFatal("%s", toText(surrogate.error()).c_str());
    return std::move(*surrogate);
}

std::string readError(const std::string& text, const std::vector<std::string>& targets) {
    const auto table = readSurrogateTable(fileOf(text, "bad.csv"), targets, {});
    return table ? std::string() : table.error().code;
}

}  // namespace

class TestSurrogate : public QObject {
    Q_OBJECT
private slots:
    void learnsALawAndSaysHowWell() {
        const auto table = tableOf(fileOf(designs(300, 1)), {"time", "energy"}, {"total"});
        const Surrogate surrogate = fitted(table.rows);
        QCOMPARE(surrogate.targets.size(), std::size_t{2});
        const auto others = readRowsFor(surrogate, fileOf(designs(500, 2), "others.csv"));
        QVERIFY(others);
        for (const SurrogateJudgement& each : judge(surrogate, others->rows)) {
            qInfo("%s: %.1f %%, in %.1f %%", each.target.c_str(), 100 * each.stated.mape, 100 * each.stated.coverage);
            QVERIFY(each.stated.mape < 0.12);
            QVERIFY(each.stated.coverage > 0.85 && each.stated.coverage < 0.96);
            QVERIFY(each.stated.spearman > 0.98);
        }
        // What the file states of rows left out is what others find.
        QVERIFY(surrogate.targets[0].stated.rows == 60);
        QVERIFY(surrogate.targets[0].stated.mape < 0.15 && surrogate.targets[0].stated.mape > 0.01);
    }
    void aColumnThatTellsAllIsLeftOut() {
        const auto table = tableOf(fileOf(designs(60, 3)), {"time"}, {"energy"});
        QCOMPARE(table.notes.size(), std::size_t{1});
        QVERIFY(table.notes.front().message.find("`total`") != std::string::npos);
        for (const SurrogateInput& input : table.rows.inputs) QVERIFY(input.name != "total");
    }
    // A target that is another one and a constant is that one's model and the constant.
    void aConstantBetweenTargetsIsFound() {
        const auto table = tableOf(fileOf(designs(60, 4)), {"total", "time"}, {"energy"});
        const Surrogate surrogate = fitted(table.rows, {.kind = "process", .judged = 0});
        for (std::size_t r = 0; r < table.rows.rows(); ++r) {
            const double total = answerOf(surrogate, surrogate.targets[0], table.rows.row(r)).value;
            const double time = answerOf(surrogate, surrogate.targets[1], table.rows.row(r)).value;
            QVERIFY(std::abs(total - time - 3000) < 1e-3);
        }
    }
    void everyKindComesBackFromItsFile() {
        const auto table = tableOf(fileOf(designs(80, 5)), {"time"}, {"total", "energy"});
        for (const std::string_view kind : surrogateKinds()) {
            const Surrogate surrogate = fitted(table.rows, {.kind = std::string(kind), .judged = 0});
            const std::string text = writeSurrogate(surrogate);
            const auto read = parseSurrogate(text, "a.json");
            QVERIFY2(read, read ? "" : toText(read.error()).c_str());
            QCOMPARE(writeSurrogate(*read), text);
            for (std::size_t r = 0; r < 20; ++r) {
                const auto a = answerOf(surrogate, surrogate.targets[0], table.rows.row(r));
                const auto b = answerOf(*read, read->targets[0], table.rows.row(r));
                QCOMPARE(a.value, b.value);
                QCOMPARE(a.low, b.low);
                QVERIFY(a.low <= a.value && a.value <= a.high);
            }
        }
    }
    void theSameAtAnyThreadCount() {
        const auto table = tableOf(fileOf(designs(60, 6)), {"time"}, {"total", "energy"});
        const auto threads = makeThreadExecutor(3);
        QCOMPARE(writeSurrogate(fitted(table.rows)), writeSurrogate(fitted(table.rows, {.executor = threads.get()})));
    }
    void widerWhereNobodyHasBeen() {
        const auto table = tableOf(fileOf(designs(80, 7)), {"time"}, {"total", "energy"});
        const Surrogate surrogate = fitted(table.rows, {.kind = "ridge", .judged = 0});
        std::vector<double> row(table.rows.row(0).begin(), table.rows.row(0).end());
        QCOMPARE(surrogateWidening(surrogate, row), 1.0);
        const auto home = answerOf(surrogate, surrogate.targets[0], row);
        row[3] = placeOfWord(surrogate.inputs[3], "sideways");
        QCOMPARE(surrogateWidening(surrogate, row), 2.0);
        const auto abroad = answerOf(surrogate, surrogate.targets[0], row);
        QVERIFY(std::abs(std::log(abroad.high / abroad.low) / std::log(home.high / home.low) - 2) < 1e-9);
        row[0] = 640;
        QVERIFY(surrogateWidening(surrogate, row) > 30);
    }
    void tablesThatAreNoneAreRefused() {
        QCOMPARE(readError("a,b\n1,2\n", {"c"}), std::string("surrogate.no-column"));
        QCOMPARE(readError("a,b\n1,x\n", {"b"}), std::string("surrogate.bad-number"));
        QCOMPARE(readError("a,b\n1\n", {"b"}), std::string("surrogate.short-row"));
        QCOMPARE(readError("a,b\n", {"b"}), std::string("surrogate.empty"));
        QCOMPARE(readError("b\n1\n2\n", {"b"}), std::string("surrogate.inputs"));
        QVERIFY(!readSurrogateTable("/nowhere/at.csv", {"b"}, {}));
        const auto few = tableOf(fileOf("a,b\n1,2\n2,3\n3,5\n", "few.csv"), {"b"});
        QCOMPARE(fitSurrogate(few.rows, {}).error().code, std::string("surrogate.rows"));
        const auto table = tableOf(fileOf(designs(40, 8)), {"time"});
        QCOMPARE(fitSurrogate(table.rows, {.kind = "oracle"}).error().code, std::string("surrogate.option"));
        QCOMPARE(fitSurrogate(table.rows, {.judged = 2}).error().code, std::string("surrogate.option"));
    }
    // Each cut of a good file, and each number of it made another kind of thing, is refused with a place; none crashes.
    void brokenFilesAreRefused() {
        const auto table = tableOf(fileOf(designs(30, 9)), {"time"}, {"total", "energy"});
        const std::string text = writeSurrogate(fitted(table.rows, {.kind = "process", .judged = 0}));
        for (std::size_t at = 0; at + 3 < text.size(); at += 1 + text.size() / 400)
            QVERIFY(!parseSurrogate(std::string_view(text).substr(0, at), "cut.json"));
        const auto refused = [&](const std::string& from, const std::string& to) {
            std::string other = text;
            const auto at = other.find(from);
            if (at == std::string::npos) return false;
            other.replace(at, from.size(), to);
            const auto read = parseSurrogate(other, "bad.json");
            return !read && read.error().code.starts_with("surrogate.");
        };
        QVERIFY(refused("\"version\": 1", "\"version\": 2"));
        QVERIFY(refused("orrery-surrogate", "orrery-calibration"));
        QVERIFY(refused("\"reach\": ", "\"reach\": -"));
        QVERIFY(refused("matern-process", "crystal-ball"));
        QVERIFY(refused("\"name\": \"units\"", "\"name\": \"\""));
        QVERIFY(refused("\"lengths\":[", "\"lengths\":[1,"));
        QVERIFY(refused("\"part\": \"\"", "\"part\": \"kitchen\""));
        QVERIFY(refused("{\"name\": \"clock\", \"part\": \"\", \"log\": false",
                        "{\"name\": \"clock\", \"part\": \"\", \"words\": true"));
    }
    // ArchGym's rows of DRAMSys: 70, of which most are one design's.
    void archgymDesignsOfMemories() {
        const std::string path = std::string(ORRERY_REFERENCE) + "/compiler/archgym/dramsys_points.csv";
        if (!QFile::exists(QString::fromStdString(path))) QSKIP("reference data are not there");
        const auto table = tableOf(path, {"Energy", "Power"}, {"Latency", "Algorithm"});
        const Surrogate surrogate = fitted(table.rows);
        for (const SurrogateTarget& target : surrogate.targets) {
            qInfo("%s by %s: %.2f %%, median %.3f %%, in %.0f %%", target.name.c_str(), target.kind.c_str(),
                  100 * target.stated.mape, 100 * target.stated.median, 100 * target.stated.coverage);
            QVERIFY(target.stated.mape < 0.06);
            QVERIFY(target.stated.coverage >= 0.8);
        }
    }
};

QTEST_GUILESS_MAIN(TestSurrogate)
#include "tst_surrogate.moc"
