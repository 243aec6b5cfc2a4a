// A method against rows: figures, groups, worst rows; and splits that hang on the rows alone.

#include "base/thread_clock.h"
#include "evaluation/calibrate.h"
#include "evaluation/evaluation.h"
#include "evaluation/evaluation_export.h"
#include "evaluation/holdout.h"
#include "evaluation/row_pricing.h"
#include "evaluation/shipped_references.h"
#include "hardware/files/catalogue.h"
#include "workload/costs.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>

using namespace orrery;

namespace {

Kernel product(std::int64_t m, std::int64_t n = 1024, std::int64_t k = 1024) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = DType::BF16;
    kernel.m = m;
    kernel.n = n;
    kernel.k = k;
    countWork(kernel);
    return kernel;
}

// One row per m = 1 … count, on two devices in turn; the time is a picosecond per multiply-accumulate.
ReferenceTable products(int count) {
    ReferenceTable table;
    table.name = "by hand";
    table.file = "hand.csv";
    table.devices = {{"H100", "h100-sxm"}, {"A100", "a100-80-sxm"}};
    for (int i = 1; i <= count; ++i) {
        ReferenceRow row;
        row.device = i % 2;
        row.kernel = product(i);
        row.seconds = row.kernel.flops / 2 * 1e-12;
        row.line = i + 1;
        table.rows.push_back(row);
    }
    return table;
}

// Answers `factor` picoseconds per multiply-accumulate for every operator.
Method scaled(double factor, std::atomic<int>* calls = nullptr) {
    Method method{};
    method.card.id = "scaled";
    method.card.version = "1";
    method.estimate = [factor, calls](const Scenario& scenario, EstimateContext& context) -> Expected<Estimate> {
        if (calls) ++*calls;
        if (context.stop.stop_requested()) return fail("study.cancelled", "stopped");
        Estimate estimate;
        estimate.method = "scaled";
        for (std::size_t i = 0; i < scenario.workload->graph.operators.size(); ++i) {
            const double seconds = scenario.workload->costs.macs[i] * factor * 1e-12;
            estimate.operators.seconds.push_back(seconds);
            estimate.operators.bound.push_back({});
            estimate.operators.flops.push_back(0);
            estimate.operators.bytes.push_back(0);
            estimate.latency.value += seconds;
        }
        estimate.interval.low = estimate.interval.high = estimate.latency;
        return estimate;
    };
    return method;
}

Expected<Evaluation> evaluated(const Method& method, const ReferenceTable& table, Executor& executor,
                               std::stop_token stop = {}) {
    const auto tables = std::span(&table, 1);
    EvaluateOptions options;
    options.executor = &executor;
    options.stop = stop;
    return evaluate(method, tables, selectRows(tables), options);
}

void work(double seconds) {
    const double begun = threadSeconds();
    while (threadSeconds() - begun < seconds) {
    }
}

// Refuses odd m at once and works on any other; a kernel that it has met costs nothing.
template <int microseconds>
class Remembering : public KernelPricer {
public:
    KernelPrice price(const Kernel& kernel) const override {
        KernelPrice price;
        price.priced = kernel.m % 2 == 0;
        price.seconds = price.low = price.high = 1e-6;
        if (price.priced && met_.insert(kernel.m).second) work(microseconds * 1e-6);
        return price;
    }
    static KernelMethod method() {
        const DeviceBinder bind = [](const DeviceRef&, const BindContext&) -> Expected<KernelPricerPtr> {
            return std::make_shared<const Remembering>();
        };
        return {.id = "remembering", .version = "1", .binder = bind};
    }

private:
    mutable std::set<std::int64_t> met_;
};

// What an answer of `method` to one of the rows takes.
double costOf(const KernelMethod& method, const ReferenceTable& table) {
    const auto executor = makeSerialExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    Diagnostics warnings;
    const auto tables = std::span(&table, 1);
    const auto priced = priceKernels(method, tables, selectRows(tables), options, warnings);
    if (!priced) qFatal("%s", toText(priced.error()).c_str());
    return priced->seconds[1];
}

std::set<int> linesOf(const ReferenceTable& table, const std::vector<RowRef>& refs) {
    std::set<int> lines;
    for (const auto ref : refs) lines.insert(table.rows[static_cast<std::size_t>(ref.row)].line);
    return lines;
}

RowSplit splitOf(const ReferenceTable& table, const Holdout& holdout) {
    auto split = splitRows(std::span(&table, 1), selectRows(std::span(&table, 1)), holdout);
    if (!split) qFatal("%s", toText(split.error()).c_str());
    return std::move(*split);
}

}  // namespace

class TestEvaluationRows : public QObject {
    Q_OBJECT
private slots:
    // A table whose kernels ran over copies of their weights is asked about such a loop, where the method can be,
    // unless the person says otherwise; another table beside it keeps its own terms.
    void cachesAreAskedAboutAsRowsWereMeasured() {
        ReferenceTable loop = products(2), single = products(2);
        loop.weightCopies = 5;
        const ReferenceTable tables[] = {loop, single};
        const auto executor = makeSerialExecutor();
        const auto times = [&](const OptionValues& chosen, bool asMeasured) {
            EvaluateOptions options;
            options.executor = executor.get();
            options.options = chosen, options.options["seconds"] = "0.1";
            options.asMeasured = asMeasured;
            const auto got = evaluate(*findMethod("gpu-interval"), tables, selectRows(tables), options);
            if (!got) qFatal("%s", toText(got.error()).c_str());
            std::map<std::pair<int, int>, double> byRow;
            for (std::size_t i = 0; i < got->rows.size(); ++i)
                byRow[{got->rows.ref[i].table, got->rows.ref[i].row}] = got->rows.predicted[i];
            return byRow;
        };
        const auto measured = times({}, true), own = times({}, false);
        const auto loops = times({{"copies", "5"}}, false), empty = times({{"copies", "0"}}, true);
        QCOMPARE(measured.size(), std::size_t{4});
        for (const auto& [row, seconds] : measured) QCOMPARE(seconds, (row.first == 0 ? loops : own).at(row));
        QVERIFY(empty == own);
        QVERIFY(measured.at({0, 0}) < own.at({0, 0}));
    }
    void figuresAreThoseOfTheMethod() {
        const auto table = products(600);
        const auto executor = makeSerialExecutor();
        const auto result = evaluated(scaled(1.25), table, *executor);
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());
        QCOMPARE(result->rows.size(), std::size_t{600});
        QVERIFY(std::fabs(result->figures.errors.mape - 0.25) < 1e-9);
        QVERIFY(std::fabs(result->figures.errors.bias - 0.25) < 1e-9);
        QCOMPARE(result->figures.errors.kendall, 1.0);
        QCOMPARE(result->figures.coverage90, 1.0);  // no error is known: a factor of two either way
        QCOMPARE(result->notCovered, std::size_t{0});
        QCOMPARE(result->families.size(), std::size_t{2});
        QCOMPARE(result->families[0].device, std::string("a100-80-sxm"));
        std::size_t inGroups = 0;
        for (const auto& group : result->groups) inGroups += group.figures.errors.rows;
        QCOMPARE(inGroups, std::size_t{600});
    }
    void theWorstComeFirst() {
        auto table = products(50);
        table.rows[7].seconds *= 3;
        table.rows[31].seconds /= 2;
        const auto executor = makeSerialExecutor();
        const auto result = evaluated(scaled(1), table, *executor);
        QVERIFY(result);
        QCOMPARE(result->worst.size(), std::size_t{20});
        QCOMPARE(result->worst[0], std::size_t{7});
        QCOMPARE(result->worst[1], std::size_t{31});
        QVERIFY(rowText(std::span(&table, 1), result->rows.ref[7]).find("hand.csv:9") != std::string::npos);
    }
    void theAnswerDoesNotHangOnTheExecutor() {
        const auto table = products(700);
        const auto one = makeSerialExecutor();
        const auto many = makeThreadExecutor(3);
        const auto a = evaluated(*findMethod("roofline"), table, *one);
        const auto b = evaluated(*findMethod("roofline"), table, *many);
        QVERIFY(a && b);
        QCOMPARE(a->rows.predicted, b->rows.predicted);
        QCOMPARE(a->rows.low, b->rows.low);
        QVERIFY(a->rows.ref == b->rows.ref);
    }
    // A kernel method that remembers what it was asked, which half of the rows it refuses: its cost is that of a kernel
    // which it has not met, however short.
    void whatIsRememberedOrRefusedIsNoCost() {
        auto table = products(40);
        for (auto& row : table.rows) row.device = 0;
        // Each kernel twice, as when two frameworks were measured.
        table.rows.insert(table.rows.end(), table.rows.begin(), table.rows.end());
        const double slow = costOf(Remembering<200>::method(), table), brief = costOf(Remembering<5>::method(), table);
        QVERIFY2(slow > 180e-6 && slow < 400e-6, qPrintable(QString::number(slow)));
        QVERIFY2(brief > 4.5e-6 && brief < 12e-6, qPrintable(QString::number(brief)));
    }
    // Kernels and models among the rows of a method that answers models alone: refusing kernels is not its cost.
    void modelsAreTheCostWhereNoKernelIsAnswered() {
        Method method = scaled(1);
        const auto good = method.estimate;
        method.estimate = [good](const Scenario& scenario, EstimateContext& context) -> Expected<Estimate> {
            if (scenario.workload->id == "reference kernels") return fail("method.refused", "no kernels");
            work(1e-3);
            return good(scenario, context);
        };
        std::vector<ReferenceTable> tables{products(300)};
        auto shipped = modelTables(shippedModelReferences().all, "published");
        QVERIFY(!shipped.empty());
        tables.push_back(std::move(shipped.front()));
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        const auto result = evaluate(method, tables, selectRows(tables), options);
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());
        const double cost = result->figures.secondsPerAnswer;
        QVERIFY2(cost > 0.95e-3 && cost < 3e-3, qPrintable(QString::number(cost)));
    }
    // The roofline of a product, from the data sheet: 989.4 TFLOP/s and 3.35 TB/s.
    void graphMethodsAreAskedKernelByKernel() {
        ReferenceTable table = products(2);
        table.rows = {table.rows[1]};
        table.rows[0].device = 0;
        table.rows[0].kernel = product(8192, 8192, 8192);
        table.rows[0].seconds = 1.405e-3;
        const auto executor = makeSerialExecutor();
        const auto result = evaluated(*findMethod("roofline"), table, *executor);
        QVERIFY(result);
        QVERIFY(std::fabs(result->rows.predicted[0] / (2 * std::pow(8192.0, 3) / 989.4e12) - 1) < 0.01);
        QVERIFY(result->rows.low[0] < result->rows.high[0]);
    }
    void oneRefusedKernelDoesNotTakeTheOthersWithIt() {
        auto table = products(300);
        Method method = scaled(1);
        const auto good = method.estimate;
        method.estimate = [good](const Scenario& scenario, EstimateContext& context) -> Expected<Estimate> {
            for (const double macs : scenario.workload->costs.macs) {
                if (macs == 77.0 * 1024 * 1024) return fail("method.refused", "not this one");
            }
            return good(scenario, context);
        };
        const auto executor = makeSerialExecutor();
        const auto result = evaluated(method, table, *executor);
        QVERIFY(result);
        QCOMPARE(result->notCovered, std::size_t{1});
        QCOMPARE(result->rows.size(), std::size_t{299});
        QCOMPARE(result->warnings.back().code, std::string("evaluation.not-covered"));
    }
    void stoppingIsAnsweredAsSuch() {
        const auto table = products(2000);
        std::stop_source stop;
        stop.request_stop();
        const auto executor = makeSerialExecutor();
        const auto result = evaluated(scaled(1), table, *executor, stop.get_token());
        QVERIFY(!result);
        QCOMPARE(result.error().code, std::string("study.cancelled"));
    }
    void nothingToEvaluateIsSaid() {
        auto table = products(3);
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        QCOMPARE(evaluate(scaled(1), std::span(&table, 1), {}, options).error().code, std::string("reference.no-rows"));
        for (auto& device : table.devices) device.catalogue.clear();
        QCOMPARE(evaluated(scaled(1), table, *executor).error().code, std::string("reference.unknown-device"));
    }
    void exportsHoldEveryRow() {
        const auto table = products(40);
        const auto executor = makeSerialExecutor();
        const auto result = evaluated(scaled(1.1), table, *executor);
        QVERIFY(result);
        const auto csv = QString::fromStdString(evaluationCsv(*result, std::span(&table, 1)));
        QCOMPARE(csv.count('\n'), 41);
        const auto json = evaluationJson(*result, std::span(&table, 1), {});
        for (const char* key : {"\"rows\"", "\"mape\"", "\"median_ape\"", "\"p90_ape\"", "\"bias\"", "\"kendall_tau\"",
                                "\"coverage90\"", "\"flagged_out_of_domain\"", "\"groups\""}) {
            QVERIFY2(json.find(key) != std::string::npos, key);
        }
    }

    void fractionsAreKeptWithinSamplingError() {
        const auto table = products(4000);
        const auto split = splitOf(table, *parseHoldout("fraction=0.8", 3));
        QCOMPARE(split.training.size() + split.test.size(), std::size_t{4000});
        QVERIFY(std::fabs(static_cast<double>(split.test.size()) / 4000 - 0.8) < 0.02);
        QVERIFY(linesOf(table, split.test) != linesOf(table, splitOf(table, *parseHoldout("fraction=0.8", 4)).test));
    }
    // From a part of the rows, in another order, in another file: every row stays on its side.
    void aRowsSideHangsOnItselfAlone() {
        const auto table = products(500);
        for (const char* text : {"fraction=0.8", "rows=50", "device=h100-sxm"}) {
            const auto split = splitOf(table, *parseHoldout(text, 7));
            ReferenceTable part = table;
            std::reverse(part.rows.begin(), part.rows.end());
            part.rows.resize(137);
            part.file = "other.csv";
            auto written = readHoldout(toText(split.holdout));
            QVERIFY2(written, text);
            const auto again = splitRows(std::span(&part, 1), selectRows(std::span(&part, 1)), *written);
            QVERIFY(again || again.error().code == "reference.empty-split");
            if (!again) continue;
            const auto tested = linesOf(table, split.test);
            for (const int line : linesOf(part, again->test)) QVERIFY(tested.contains(line));
            for (const int line : linesOf(part, again->training)) QVERIFY(!tested.contains(line));
        }
    }
    void measurementsOfOneKernelStayTogether() {
        auto table = products(300);
        const auto once = table.rows;
        for (auto row : once) {
            row.seconds *= 1.01;
            row.line += 1000;
            table.rows.push_back(row);
        }
        const auto split = splitOf(table, *parseHoldout("fraction=0.5", 1));
        const auto tested = linesOf(table, split.test);
        for (int line = 2; line <= 301; ++line) QCOMPARE(tested.contains(line), tested.contains(line + 1000));
    }
    void rowsAreCountedPerDeviceAndFamily() {
        const auto table = products(900);
        const auto split = splitOf(table, *parseHoldout("rows=50", 1));
        QCOMPARE(split.training.size(), std::size_t{100});
        QCOMPARE(split.holdout.border.size(), std::size_t{2});
    }
    void emptySplitsAreRefused() {
        auto table = products(10);
        for (const char* text : {"rows=1000", "device=t4", "fraction=0.0000001"}) {
            const auto split =
                splitRows(std::span(&table, 1), selectRows(std::span(&table, 1)), *parseHoldout(text, 1));
            QVERIFY2(!split && split.error().code == "reference.empty-split", text);
        }
        QVERIFY(splitRows(std::span(&table, 1), selectRows(std::span(&table, 1)), {})->test.empty());
    }
    void wrongHoldoutsAreRefused() {
        for (const char* text :
             {"fraction=1", "fraction=0", "fraction=x", "rows=0", "rows=1.5", "device=", "every=2", "x"}) {
            const auto holdout = parseHoldout(text, 1);
            QVERIFY2(!holdout && holdout.error().code == "usage.holdout", text);
        }
        for (const char* text :
             {"", "a fifth", "holdout none", "holdout fraction=0.8", "holdout fraction=0.8; seed=x"}) {
            QVERIFY2(readHoldout(text).error().code == "calibration.no-split", text);
        }
    }
    // Files keep splits: these numbers must never change.
    void identitiesAreStable() {
        const auto identity = kernelIdentity(product(1024, 4096, 4096));
        QCOMPARE(identity, std::uint64_t{5153197170413608328});
        std::set<std::uint64_t> all;
        for (int m = 1; m < 2000; ++m) all.insert(kernelIdentity(product(m)));
        QCOMPARE(all.size(), std::size_t{1999});
        auto other = product(1024, 4096, 4096);
        other.type = other.weightType = DType::F16;
        QVERIFY(kernelIdentity(other) != identity);
        other.type = DType::BF16;
        other.weightType = DType::I8;
        QVERIFY(kernelIdentity(other) != identity);
        const double position = splitPosition(identity, "h100-sxm", 1);
        QCOMPARE(position, 0.12962122561070288);
        QVERIFY(position != splitPosition(identity, "l40s", 1));
    }

    void publishedModelsAnswerExactlyTheirQuestion() {
        const auto& shipped = shippedModelReferences();
        for (const auto& each : shipped.warnings) qWarning("%s", toText(each).c_str());
        QVERIFY(shipped.warnings.empty() && !shipped.all.empty());
        for (const auto& each : shipped.all) QVERIFY(!each.reference.source.empty());
        WorkloadRecipe recipe{"resnet-50", {}};
        recipe.options.batch = 32;
        recipe.options.image = 224;
        const auto ask = [&](const std::string& device) {
            auto hardware = loadHardware(device);
            auto workload = loadWorkload(recipe);
            if (!hardware || !workload) qFatal("the question cannot be put");
            return Scenario{std::make_shared<const Hardware>(std::move(hardware->hardware)), *workload};
        };
        auto scenario = ask("t4");
        const auto found = referenceFor(scenario);
        QVERIFY(found);
        QVERIFY(std::fabs(found->value.value - 29.54e-3) < 1e-9);
        QVERIFY(!referenceFor(ask("l4")));
        auto edited = *scenario.hardware;
        edited.root.children.clear();
        QVERIFY(!referenceFor(Scenario{std::make_shared<const Hardware>(edited), scenario.workload}));
        recipe.options.batch = 33;
        QVERIFY(!referenceFor(ask("t4")));
    }
};

QTEST_GUILESS_MAIN(TestEvaluationRows)
#include "tst_evaluation_rows.moc"
#include "workload/kernel.h"
