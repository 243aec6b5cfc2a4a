// Methods by scenario: do cells hold the figures of their rows alone, is a missing truth told from a missing answer,
// and is a mark gone when its reference is?

#include "base/executor.h"
#include "evaluation/assumptions.h"
#include "evaluation/left_out.h"
#include "evaluation/method_matrix.h"
#include "evaluation/row_facets.h"
#include "evaluation/tool_claims.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "serving/serving_study.h"
#include "study/comparison/row_detail.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <deque>

using namespace orrery;

namespace {

struct JudgedByAll {
    std::deque<Evaluation> evaluations;
    std::vector<MatrixEntry> entries;
    std::vector<RowRef> rows;
};

JudgedByAll judgeAll(const std::vector<ReferenceTable>& tables, std::vector<std::string> ids, bool asMeasured = true) {
    JudgedByAll all;
    all.rows = selectRows(tables);
    const auto executor = makeSerialExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    options.asMeasured = asMeasured;
    for (const std::string& id : ids) {
        const Method* method = findMethod(id);
        auto judged = evaluate(*method, tables, all.rows, options);
        if (judged) {
            all.evaluations.push_back(std::move(*judged));
            all.entries.push_back({id, &method->card, &all.evaluations.back(), {}});
        } else {
            all.entries.push_back({id, &method->card, nullptr, judged.error().message});
        }
    }
    return all;
}

std::size_t columnOf(const MethodMatrix& matrix, const std::string& word) {
    const auto found = std::find_if(matrix.columns.begin(), matrix.columns.end(),
                                    [&](const MatrixColumn& each) { return each.word == word; });
    return static_cast<std::size_t>(found - matrix.columns.begin());
}

}  // namespace

class TestMethodMatrix : public QObject {
    Q_OBJECT
private slots:
    // What ships speaks of four platforms and of kernels and whole models; counts of chips add up to the rows.
    void chipsCountTheRows() {
        const auto& tables = shippedReferences();
        const auto rows = selectRows(tables);
        for (const Facet facet : facets) {
            std::size_t sum = 0;
            for (const FacetCount& each : facetCounts(facet, tables, rows)) {
                QVERIFY(each.on && each.rows > 0);
                sum += each.rows;
            }
            QCOMPARE(sum, rows.size());
        }
        std::set<std::string> platforms;
        for (const FacetCount& each : facetCounts(Facet::Platform, tables, rows)) platforms.insert(each.word);
        for (const char* platform : {"GPU", "TPU", "Accelerator", "Edge"})
            QVERIFY2(platforms.contains(platform), platform);
        // What may be asked for is what rows can be of: a system of GPUs is a GPU, no platform of its own.
        const std::vector<std::string> words = platformWords();
        QVERIFY(std::ranges::includes(words, platforms));
        std::set<std::string> possible{"unknown"};
        for (const CatalogueEntry& entry : hardwareCatalogue()) {
            ReferenceTable table;
            table.devices.emplace_back();
            table.devices.front().catalogue = entry.id;
            table.rows.emplace_back();
            possible.insert(facetOf(Facet::Platform, table, table.rows.front()));
        }
        QVERIFY2(std::ranges::equal(words, possible), "a word that no row can be of, or one that is missing");
        // What is left out is what --where leaves out by the terms.
        FacetsOff off;
        off[Facet::Platform] = {"GPU"};
        off[Facet::Truth] = {"simulated"};
        const auto left = rowsWithout(tables, rows, off);
        QVERIFY(!left.empty() && left.size() < rows.size());
        const std::string terms = facetTerms(tables, rows, off);
        const auto filter = parseFilter(terms);
        QVERIFY2(filter, terms.c_str());
        QCOMPARE(selectRows(tables, *filter), left);
        // A chip's count is what it would bring: GPUs are not counted out by their own chip.
        const auto counts = facetCounts(Facet::Platform, tables, rows, off);
        QVERIFY(!counts.front().on && counts.front().word == "GPU" && counts.front().rows > 0);
        QVERIFY(!parseFilter("truth=guessed"));
        QVERIFY(!parseFilter("level=everything"));
    }

    void cellsAreOfTheirRowsAlone() {
        const auto& tables = shippedReferences();
        const JudgedByAll all = judgeAll(tables, {"roofline", "tile-wave", "npu-tile"});
        const MethodMatrix own = methodMatrix(all.entries, tables, all.rows, Facet::Platform, false);
        for (std::size_t m = 0; m < all.entries.size(); ++m) {
            std::size_t rows = 0;
            for (const MatrixCell& cell : own.cells[m]) {
                rows += cell.rows;
                QVERIFY(cell.low <= cell.median && cell.median <= cell.high);
                QCOMPARE(cell.which.size(), cell.rows);
            }
            QVERIFY(all.entries[m].evaluation);
            QCOMPARE(rows, all.entries[m].evaluation->rows.size());
        }
        const std::size_t gpu = columnOf(own, "GPU"), cpu = columnOf(own, "CPU");
        // Tiles of an NPU price no GPU and say why; of CPUs nothing is published here, which is not their fault.
        QVERIFY(own.cells[2][gpu].state == MatrixCell::State::NotApplicable);
        QVERIFY(!own.cells[2][gpu].reason.empty());
        QVERIFY(cpu < own.columns.size() && own.columns[cpu].asked == 0);
        for (const auto& cells : own.cells) QVERIFY(cells[cpu].state == MatrixCell::State::NoTruth);
        // In common: the same rows for all who price at least half.
        const MethodMatrix common = methodMatrix(all.entries, tables, all.rows, Facet::Platform, true);
        QVERIFY(common.cells[0][gpu].common && common.cells[1][gpu].common);
        QCOMPARE(common.cells[0][gpu].rows, common.cells[1][gpu].rows);
        QCOMPARE(common.cells[0][gpu].which, common.cells[1][gpu].which);
        QCOMPARE(common.columns[gpu].common, common.cells[0][gpu].rows);
        const std::string csv = matrixCsv(common, all.entries), tex = matrixTex(common, all.entries);
        QCOMPARE(std::count(csv.begin(), csv.end(), '\n'),
                 static_cast<std::ptrdiff_t>(1 + all.entries.size() * common.columns.size()));
        QVERIFY(tex.find("\\begin{tabular}") == 0 && tex.find("cycle-accurate") != std::string::npos);
    }

    // The reference taken away, its marks are gone.
    void aMarkGoesWithItsReference() {
        std::vector<ReferenceTable> tables = shippedReferences();
        const JudgedByAll before = judgeAll(tables, {"npu-tile"});
        const MethodMatrix with = methodMatrix(before.entries, tables, before.rows, Facet::Platform, true);
        const std::size_t tpu = columnOf(with, "TPU");
        QVERIFY(with.cells[0][tpu].state == MatrixCell::State::Judged && with.cells[0][tpu].rows > 0);
        std::erase_if(tables, [](const ReferenceTable& table) {
            return std::any_of(table.devices.begin(), table.devices.end(),
                               [](const ReferenceDevice& device) { return device.catalogue.starts_with("tpu"); });
        });
        const JudgedByAll after = judgeAll(tables, {"npu-tile"});
        const MethodMatrix without = methodMatrix(after.entries, tables, after.rows, Facet::Platform, true);
        QVERIFY(without.cells[0][columnOf(without, "TPU")].state == MatrixCell::State::NoTruth);
    }

    void theMedianLiesInItsInterval() {
        std::vector<double> values;
        for (int i = 1; i <= 99; ++i) values.push_back(i);
        const MedianInterval hundred = aroundMedian(values);
        QCOMPARE(hundred.median, 50.0);
        // Ranks of a binomial: 49.5 ± 0.82 √99, so about 41 and 59.
        QVERIFY(hundred.low >= 40 && hundred.low <= 42 && hundred.high >= 58 && hundred.high <= 60);
        QCOMPARE(aroundMedian({3, 1, 2}).low, 1.0);
        QCOMPARE(aroundMedian({3, 1, 2}).high, 3.0);
        QCOMPARE(aroundMedian({}).median, 0.0);
    }

    // A whole model is priced as `run` does it, launched and fused as it was measured.
    void wholeModelsAreRowsToo() {
        const auto& tables = shippedReferences();
        const auto filter = parseFilter("level=model,device=a100-40-pcie");
        QVERIFY(filter);
        const auto rows = selectRows(tables, *filter);
        QCOMPARE(rows.size(), std::size_t(1));  // BERT large under eager PyTorch
        const auto executor = makeSerialExecutor();
        const auto priced = [&](bool asMeasured) {
            EvaluateOptions options;
            options.executor = executor.get();
            options.asMeasured = asMeasured;
            const auto judged = evaluate(*findMethod("tile-hybrid"), tables, rows, options);
            return judged ? judged->rows.predicted.at(0) : -1;
        };
        const auto hardware = std::make_shared<const Hardware>(loadHardware("a100-40-pcie")->hardware);
        const ReferenceTable& table = tables[static_cast<std::size_t>(rows[0].table)];
        const ModelRow& model = table.models[static_cast<std::size_t>(rows[0].row)];
        QCOMPARE(model.launch, std::string("eager"));
        EstimateContext context{*executor};
        context.wantTimeline = false;
        context.options = {{"launch", "eager"}, {"fusion", "none"}};
        const auto answer = estimate(*findMethod("tile-hybrid"), {hardware, *loadWorkload(model.recipe)}, context);
        QVERIFY(answer);
        QVERIFY(std::fabs(priced(true) / answer->latency.value - 1) < 1e-9);
        QVERIFY(priced(false) < priced(true));  // a captured graph and fused kernels take less
        // One that asks for no kernel of a model can still not be fitted to it.
        Diagnostics warnings;
        QVERIFY(!kernelRows(tables, rows, warnings));
    }

    void whatDiffersIsSaid() {
        const auto& tables = shippedReferences();
        const auto rows = selectRows(tables);
        EvaluateOptions options;
        const auto of = [&](const char* id) { return assumptionsOf(findMethod(id)->card, tables, rows, options); };
        const std::vector<Assumptions> all{of("roofline"), of("tile-wave"), of("tile-hybrid")};
        QCOMPARE(all[0][static_cast<std::size_t>(Aspect::Launch)].value, std::string("not modelled"));
        QCOMPARE(all[1][static_cast<std::size_t>(Aspect::Launch)].value, std::string("as measured"));
        const auto found = differing(all);
        QVERIFY(std::find(found.begin(), found.end(), Aspect::Launch) != found.end());
        QVERIFY(differing(std::vector<Assumptions>{all[1], all[1]}).empty());
        // A person's own choice stands.
        options.options = {{"launch", "graph"}};
        QCOMPARE(of("tile-wave")[static_cast<std::size_t>(Aspect::Launch)].value, std::string("graph"));
        const CalibrationSet& shipped = shippedCalibrations().set;
        QCOMPARE(samplesBehind("roofline", tables, rows, shipped), std::int64_t(0));
        QVERIFY(samplesBehind("tile-hybrid", tables, rows, shipped) > 1000);
    }

    // A serving run's iterations are priced by its pools' method, unless another is chosen: what that was fitted to
    // counts.
    void aServingRunStandsOnItsPoolsMethod() {
        auto study = std::make_shared<ServingStudy>();
        study->scenario.pools.front().time.method = "tile-wave(launch=eager)";
        ReferenceTable table;
        table.models.resize(1);
        table.models.front().task = ServingRun{study};
        table.rows.resize(1);
        const std::vector<RowRef> rows{{0, 0}};
        const std::span tables(&table, 1);
        const MethodCard& card = findMethod("serving")->card;
        const CalibrationSet& shipped = shippedCalibrations().set;
        const auto samples = [&](const char* asked) { return samplesBehindAll(card, asked, tables, rows, shipped); };
        QCOMPARE(standsOn(card, "serving", tables, rows), (std::vector<std::string>{"serving", "tile-wave"}));
        QVERIFY(samples("serving") > 1000);
        QCOMPARE(samples("serving"), samplesBehind("tile-wave", tables, rows, shipped));
        QCOMPARE(samples("serving(compute=tile-hybrid)"), samplesBehind("tile-hybrid", tables, rows, shipped));
    }

    // By what stands in the sections: rows of the software that they were learned from, of another, and kinds of which
    // nothing was learned.
    void whatIsKnownOfTheRowsSoftwareIsSaid() {
        const auto value = [](const Assumptions& all, Aspect aspect) {
            return all[static_cast<std::size_t>(aspect)].value;
        };
        const auto tableOn = [](const char* software) {
            QTemporaryDir folder;
            QFile file(folder.filePath("t.yaml"));
            if (!file.open(QIODevice::WriteOnly)) return std::vector<ReferenceTable>();
            file.write(
                QByteArray("orrery: references/1\nname: T\nsource: made\nsoftware: ") + software +
                "\ndevice: h100-sxm\ntime: {value: t, unit: us}\nrows: |\n  kind,dtype,m,n,k,t\n  gemm,bf16,1024,"
                "4096,4096,60\n  gemm,bf16,2048,4096,4096,110\n");
            file.close();
            auto read = readReferences(std::vector{file.fileName().toStdString()});
            if (!read) qWarning("%s", toText(read.error()).c_str());
            return read ? std::move(*read) : std::vector<ReferenceTable>();
        };
        EvaluateOptions options;
        const auto said = [&](const char* id, const std::vector<ReferenceTable>& tables) {
            return assumptionsOf(findMethod(id)->card, tables, selectRows(tables), options);
        };
        const auto theirs = tableOn("trtllm-1.3.0rc20"), others = tableOn("made-up-1.0");
        QCOMPARE(value(said("roofline", theirs), Aspect::Stack), std::string("none"));
        QCOMPARE(value(said("roofline", theirs), Aspect::Clock), std::string("the design's"));
        QCOMPARE(value(said("tile-hybrid", theirs), Aspect::Stack), std::string("the rows'"));
        QCOMPARE(value(said("tile-hybrid", theirs), Aspect::Clock), std::string("as fitted"));
        QCOMPARE(value(said("tile-hybrid", others), Aspect::Stack), std::string("another"));
        std::vector<ReferenceTable> both = theirs;
        both.push_back(others.front());
        QCOMPARE(value(said("tile-hybrid", both), Aspect::Stack), std::string("the rows' of 2, another of 2"));
        const std::vector<Assumptions> all{said("roofline", both), said("tile-hybrid", both), said("tile-wave", both),
                                           said("hierarchical-roofline", both)};
        QCOMPARE(equalsOf(all), (std::vector<std::size_t>{0, 1, 1, 0}));
    }

    // Other words are no other terms: equals hold the same of three quarters of the rows, row by row.
    void equalsAreFoundByFactsAndNotByWords() {
        const auto holding = [](std::string value, std::vector<AssumedOf> stack) {
            Assumptions all;
            for (Assumption& each : all) {
                each.value = "same";
                for (const AssumedOf& of : stack) each.facts.push_back({"same", of.rows});
            }
            all[static_cast<std::size_t>(Aspect::Stack)] = {std::move(value), "", std::move(stack)};
            return all;
        };
        const Assumptions most = holding("the rows' of 80, another of 20", {{"the rows'", 80}, {"another", 20}}),
                          whole = holding("the rows'", {{"the rows'", 80}, {"the rows'", 20}}),
                          other = holding("another", {{"another", 80}, {"another", 20}}),
                          // The words of `most`, about other rows.
            swapped = holding("the rows' of 20, another of 80", {{"another", 80}, {"the rows'", 20}});
        QCOMPARE(agreement(most, whole), 0.8);
        QCOMPARE(agreement(whole, other), 0.0);
        QCOMPARE(agreement(most, swapped), 0.0);
        QCOMPARE(equalsOf(std::vector{most, whole, other, swapped}), (std::vector<std::size_t>{0, 0, 1, 1}));
        QCOMPARE(differing(std::vector{most, whole}), std::vector<Aspect>{Aspect::Stack});
        // Of what says nothing nothing is assumed but that it says nothing.
        Assumptions silent;
        for (Assumption& each : silent) each = {"not said", ""};
        QCOMPARE(agreement(silent, silent), 1.0);
        QCOMPARE(agreement(silent, whole), 0.0);
        QCOMPARE(agreement(whole, silent), 0.0);
    }

    // Asked with eager launches by an option, or because the row ran so: the same fact.
    void anOptionAndTheRowsOwnWayAreTheSameFact() {
        const auto& tables = shippedReferences();
        const auto rows = selectRows(tables, *parseFilter("level=model,device=a100-40-pcie"));
        QVERIFY(!rows.empty());
        EvaluateOptions asMeasured, asChosen;
        asMeasured.asMeasured = true;
        asChosen.options = {{"launch", "eager"}, {"fusion", "none"}};
        const MethodCard& card = findMethod("tile-hybrid")->card;
        const Assumptions a = assumptionsOf(card, tables, rows, asMeasured),
                          b = assumptionsOf(card, tables, rows, asChosen);
        QVERIFY(a[static_cast<std::size_t>(Aspect::Launch)].value != b[static_cast<std::size_t>(Aspect::Launch)].value);
        QCOMPARE(agreement(a, b), 1.0);
        asChosen.options = {{"launch", "graph"}, {"fusion", "none"}};
        QCOMPARE(agreement(a, assumptionsOf(card, tables, rows, asChosen)), 0.0);
    }

    // What was learned of a device does not speak where the device is left out; found without copying calibrations.
    void aDeviceThatIsLeftOutIsNotKnown() {
        const auto& tables = shippedReferences();
        const auto rows = selectRows(tables, *parseFilter("kind=gemm,device=h100-sxm"));
        const MethodCard& card = findMethod("booster")->card;
        EvaluateOptions options;
        const auto of = [&](const EvaluateOptions& how) {
            return assumptionsOf(card, tables, rows, how)[static_cast<std::size_t>(Aspect::Clock)];
        };
        const CalibrationSet without = withoutDevice(shippedCalibrations().set, "h100-sxm");
        options.leaveDeviceOut = true;
        EvaluateOptions copied;
        copied.calibrations = &without;
        QCOMPARE(of(options).facts, of(copied).facts);
    }

    // Steps lead from one method to the other and to the truth, with nothing lost.
    void stepsAddUp() {
        const auto& tables = shippedReferences();
        for (const char* where : {"kind=gemm,device=h100-sxm", "level=model,device=a100-40-pcie"}) {
            const auto rows = selectRows(tables, *parseFilter(where));
            QVERIFY(!rows.empty());
            const auto executor = makeSerialExecutor();
            EvaluateOptions options;
            options.executor = executor.get();
            const auto detail = rowDetail(tables, rows.front(), "tile-wave", "tile-hybrid", options);
            QVERIFY2(detail, detail ? "" : toText(detail.error()).c_str());
            QVERIFY(!detail->terms.empty() && !detail->first.empty());
            double at = 0;
            for (const RowStep& step : detail->steps) {
                if (step.of == RowStep::Of::Total) {
                    if (at > 0) QVERIFY(std::fabs(at / step.seconds - 1) < 1e-9);
                    at = step.seconds;
                } else {
                    at += step.seconds;
                }
            }
            QCOMPARE(at, detail->measured);
            QVERIFY(!rowDetail(tables, rows.front(), "tile-wave", "no-such-method", options));
        }
    }

    void claimsHaveSources() {
        const ShippedClaims& shipped = shippedClaims();
        for (const Diagnostic& each : shipped.warnings) qWarning("%s", toText(each).c_str());
        QVERIFY(shipped.warnings.empty() && shipped.all.size() >= 10);
        for (const Claim& claim : shipped.all) QVERIFY(claim.error > 0 && !claim.source.empty() && !claim.what.empty());
        QTemporaryDir folder;
        const auto refused = [&](const char* text) {
            QFile file(folder.filePath("c.yaml"));
            if (!file.open(QIODevice::WriteOnly)) return std::string();
            file.write(text);
            file.close();
            const auto read = readClaims(file.fileName().toStdString());
            return read ? std::string() : read.error().code;
        };
        QCOMPARE(refused("orrery: claims/2\nclaims: []\n"), std::string("claims.format"));
        QCOMPARE(refused("orrery: claims/1\nclaims:\n  - {tool: X, methodology: magic, level: kernel, error: 0.1, "
                         "source: y}\n"),
                 std::string("claims.description"));
        QCOMPARE(refused("orrery: claims/1\nclaims:\n  - {tool: X, methodology: hybrid, level: kernel, error: 0.1}\n"),
                 std::string("claims.description"));
    }
};

QTEST_GUILESS_MAIN(TestMethodMatrix)
#include "tst_method_matrix.moc"
