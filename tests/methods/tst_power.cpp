// The power model against measured GPUs: mean board power while a tensor-parallel group serves one prompt.

#include "hardware/files/catalogue.h"
#include "methods/model/power.h"

#include <QFile>
#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

using namespace orrery;

namespace {

GpuView gpu(const char* id) {
    const auto loaded = loadHardware(id);
    return *gpuView(loaded->hardware);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Model {
    double parameters, cacheBytesPerToken;
};
// Layers, heads of keys and values, elements: 80 × 8 × 128 and 70 × 112 × 128, two bytes each.
const std::map<QString, Model> models{{"llama2-70b", {68.98e9, 2.0 * 80 * 8 * 128 * 2}},
                                      {"bloom-176b", {176.2e9, 2.0 * 70 * 112 * 128 * 2}}};

/// Relative errors of the mean power of the settings of one model, prompts of at most `longest` tokens.
std::vector<double> meanPowerErrors(const QString& wanted, int longest) {
    QFile file(QString(ORRERY_REFERENCE) + "/serving/data/splitwise/perf_model.csv");
    if (!file.open(QIODevice::ReadOnly)) return {};
    const QStringList head = QString::fromUtf8(file.readLine()).trimmed().split(',');
    struct Runs {
        std::vector<double> power, prompt, token;
    };
    std::map<std::tuple<int, int, int, int>, Runs> settings;  // ranks, prompt, batch, tokens
    while (!file.atEnd()) {
        const QStringList cells = QString::fromUtf8(file.readLine()).trimmed().split(',');
        const auto cell = [&](const char* name) { return cells.value(head.indexOf(name)); };
        if (cell("model") != wanted || cell("hardware") != "a100-80gb" || cell("average_power").toDouble() <= 0)
            continue;
        if (cell("prompt_size").toInt() > longest) continue;
        Runs& runs = settings[{cell("tensor_parallel").toInt(), cell("prompt_size").toInt(), cell("batch_size").toInt(),
                               cell("token_size").toInt()}];
        runs.power.push_back(cell("average_power").toDouble() * 400);  // of the board's 400 W
        runs.prompt.push_back(cell("prompt_time").toDouble() * 1e-3);
        runs.token.push_back(cell("token_time").toDouble() * 1e-3);
    }
    const GpuView a100 = gpu("a100-80-sxm");
    const PowerModel power = powerModel(a100);
    const Model& model = models.at(wanted);
    Kernel product;
    product.kind = KernelKind::Gemm;
    product.type = DType::F16;
    std::vector<double> errors;
    for (const auto& [setting, runs] : settings) {
        const auto [ranks, prompt, batch, tokens] = setting;
        const double promptSeconds = median(runs.prompt), tokenSeconds = median(runs.token);
        const double weights = 2 * model.parameters / ranks;  // bytes, and operations per token
        const double cached = batch * model.cacheBytesPerToken * (prompt + tokens / 2.0) / ranks;
        const double reading =
            powerOf(power, a100, product, weights * prompt * batch, weights, promptSeconds).watts * promptSeconds;
        const double writing = powerOf(power, a100, product, weights * batch, weights + cached, tokenSeconds).watts *
                               tokenSeconds * (tokens - 1);
        const double mean = (reading + writing) / (promptSeconds + tokenSeconds * (tokens - 1));
        errors.push_back(mean / median(runs.power) - 1);
    }
    return errors;
}

struct Row {
    QString model;
    int ranks, prompt, batch, tokens;
    double promptSeconds, tokenSeconds;
};
/// H100 at its full power, one row per setting (the first of its repetitions).
std::vector<Row> uncappedRows() {
    QFile file(QString(ORRERY_REFERENCE) + "/serving/data/splitwise/perf_model.csv");
    std::vector<Row> rows;
    if (!file.open(QIODevice::ReadOnly)) return rows;
    const QStringList head = QString::fromUtf8(file.readLine()).trimmed().split(',');
    std::map<QString, bool> seen;
    while (!file.atEnd()) {
        const QStringList cells = QString::fromUtf8(file.readLine()).trimmed().split(',');
        const auto cell = [&](const char* name) { return cells.value(head.indexOf(name)); };
        if (cell("hardware") != "h100-80gb") continue;
        const QString setting = QStringList(cells.mid(0, 5) << cell("tensor_parallel")).join(' ');
        if (std::exchange(seen[setting], true)) continue;
        rows.push_back({cell("model"), cell("tensor_parallel").toInt(), cell("prompt_size").toInt(),
                        cell("batch_size").toInt(), cell("token_size").toInt(), cell("prompt_time").toDouble() * 1e-3,
                        cell("token_time").toDouble() * 1e-3});
    }
    return rows;
}

}  // namespace

class TestPower : public QObject {
    Q_OBJECT
private slots:
    // An operation costs what it costs, whether 66 or 264 multiprocessors do it: their units draw in proportion.
    void drawnUnitsKeepTheirEnergy() {
        const auto watts = [](const char* count) {
            const auto loaded = loadHardware("h100-sxm");
            const auto changed = withAttribute(loaded->hardware, "sm.count", count);
            if (!changed) return 0.0;
            return powerModel(*gpuView(*changed)).unitWatts;
        };
        const double drawn = watts("132");
        QVERIFY(drawn > 0);
        QVERIFY(std::fabs(watts("264") / drawn - 2) < 1e-4);
        QVERIFY(std::fabs(watts("66") / drawn - 0.5) < 1e-4);
    }
    void presetsAreRatedAsDrawn() {
        int rated = 0;
        for (const CatalogueEntry& entry : hardwareCatalogue()) {
            const auto loaded = loadHardware(entry.id);
            QVERIFY(loaded);
            const auto views = deviceViews(loaded->hardware);
            if (!views) continue;
            for (const DeviceView& view : *views) {
                QVERIFY2(view.drawnToRated == 1, entry.id.c_str());
                rated += view.powerCap.value > 0;
            }
        }
        QVERIFY(rated > 60);
    }
    void measuredMeanPowerIsMet_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("longest");
        QTest::addColumn<int>("settings");
        QTest::addColumn<double>("most");
        // Above 4096 tokens the recorded means of Llama-2 lie below the power of an idle board: a fault of the record.
        QTest::newRow("fitted: Llama-2 70B") << "llama2-70b" << 4096 << 30 << 0.06;
        QTest::newRow("held out: BLOOM-176B") << "bloom-176b" << 8192 << 11 << 0.06;
    }
    void measuredMeanPowerIsMet() {
        QFETCH(QString, model);
        QFETCH(int, longest);
        QFETCH(int, settings);
        QFETCH(double, most);
        const auto errors = meanPowerErrors(model, longest);
        if (errors.empty()) QSKIP("the reference data are not here");
        QCOMPARE(static_cast<int>(errors.size()), settings);
        double sum = 0, bias = 0;
        for (const double error : errors) {
            sum += std::fabs(error);
            bias += error;
        }
        const auto count = static_cast<double>(errors.size());
        qInfo("%s: mean error %.1f %%, bias %+.1f %%", qPrintable(model), 100 * sum / count, 100 * bias / count);
        QVERIFY(sum / count < most);
    }
    // The only word on another GPU: with H100 capped at half of its 700 W, Splitwise lets prompts take 1.3 times as
    // long and tokens as long as before. Each capped row is the other times exactly that, so nothing is measured per
    // setting. What is asked: is that what the power model makes of the uncapped times? Nothing of H100 was fitted.
    void halfThePowerOfAnH100() {
        const auto rows = uncappedRows();
        if (rows.empty()) QSKIP("the reference data are not here");
        std::vector<double> prompts, tokens;
        const GpuView h100 = gpu("h100-sxm");
        PowerModel capped = powerModel(h100);
        capped.capWatts = 350;
        Kernel product;
        product.kind = KernelKind::Gemm;
        product.type = DType::F16;
        double worstTokens = 0;
        for (const Row& row : rows) {
            const Model& model = models.at(row.model);
            const double weights = 2 * model.parameters / row.ranks;
            const double cached = row.batch * model.cacheBytesPerToken * (row.prompt + row.tokens / 2.0) / row.ranks;
            const double work = weights * row.prompt * row.batch;
            // Long enough that arithmetic takes most of the time.
            if (row.prompt * row.batch >= 1024) {
                prompts.push_back(1 / powerOf(capped, h100, product, work, weights, row.promptSeconds).clockShare);
            }
            PowerModel free = powerModel(h100);
            const PowerPoint point =
                powerOf(free, h100, product, weights * row.batch, weights + cached, row.tokenSeconds);
            if (row.ranks == 8) worstTokens = std::max(worstTokens, point.watts);
            tokens.push_back(point.watts);
        }
        QVERIFY(prompts.size() >= 20 && tokens.size() >= 40);
        const auto tenth = [](std::vector<double> all, double share) {
            std::sort(all.begin(), all.end());
            return all[std::size_t(share * double(all.size() - 1))];
        };
        qInfo(
            "prompts at 350 W: %.2f times as long in the median (%.2f to %.2f; stated 1.3); tokens draw %.0f W in the "
            "median, %.0f at most among eight, %.0f at most (stated: not above 350)",
            median(prompts), tenth(prompts, 0.1), tenth(prompts, 0.9), median(tokens), worstTokens, tenth(tokens, 1));
        QVERIFY(median(prompts) > 1 && median(prompts) < 1.3 * 1.3);
        QVERIFY(median(tokens) < 350);
    }
    void powerStaysBetweenStaticAndCap_data() {
        QTest::addColumn<QString>("id");
        for (const char* id : {"a100-80-sxm", "h100-sxm", "l40s", "l4", "t4", "v100", "mi300x", "a30", "rtx-4090"})
            QTest::newRow(id) << QString(id);
    }
    // More bytes or operations in the same time never draw less.
    void powerStaysBetweenStaticAndCap() {
        QFETCH(QString, id);
        const GpuView view = gpu(qPrintable(id));
        const PowerModel model = powerModel(view);
        QVERIFY(model.known());
        Kernel product;
        product.kind = KernelKind::Gemm;
        product.type = DType::F16;
        const double peak = view.peak(true, DType::F16), rate = view.device.main().bandwidth.value;
        double before = 0;
        for (double share = 0; share <= 1.001; share += 0.1) {
            const double idle = powerOf(model, view, product, 0, share * rate, 1).watts;
            const double busy = powerOf(model, view, product, share * peak, share * rate, 1).watts;
            QVERIFY(idle >= model.staticWatts && busy <= model.capWatts * (1 + 1e-9));
            QVERIFY(busy >= idle - 1e-9 && idle >= before - 1e-9);
            before = idle;
        }
    }
};

QTEST_GUILESS_MAIN(TestPower)
#include "tst_power.moc"
