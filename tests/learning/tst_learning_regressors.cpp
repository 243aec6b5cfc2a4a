#include "learning/blend.h"
#include "learning/gaussian_process.h"
#include "learning/lattice.h"
#include "learning/linear.h"
#include "learning/regressor.h"
#include "learning/trees.h"
#include "support/learning_fixture.h"

#include <xgboost/c_api.h>

#include <limits>

using namespace orrery;
using namespace orrery::learningtest;

namespace {

// What stock XGBoost predicts with a model in its JSON; empty with its message if it refuses.
std::vector<float> stockPredictions(const std::string& json, const TrainingData& data, QByteArray& problem) {
    const std::vector<float> values(data.features.begin(), data.features.end());
    DMatrixHandle matrix = nullptr;
    BoosterHandle booster = nullptr;
    std::vector<float> out;
    bst_ulong size = 0;
    const float* predicted = nullptr;
    if (XGDMatrixCreateFromMat(values.data(), data.rows(), data.columns(), NAN, &matrix) == 0 &&
        XGBoosterCreate(nullptr, 0, &booster) == 0 &&
        XGBoosterLoadModelFromBuffer(booster, json.data(), json.size()) == 0 &&
        XGBoosterPredict(booster, matrix, 0, 0, 0, &size, &predicted) == 0) {
        out.assign(predicted, predicted + size);
    } else {
        problem = XGBGetLastError();
    }
    XGBoosterFree(booster);
    XGDMatrixFree(matrix);
    return out;
}

// A model that XGBoost trained and wrote by itself, whole.
std::string stockModel(const TrainingData& data, const char* objective, int parallel, QByteArray& problem) {
    const std::vector<float> values(data.features.begin(), data.features.end());
    const std::vector<float> target(data.target.begin(), data.target.end());
    DMatrixHandle matrix = nullptr;
    BoosterHandle booster = nullptr;
    bool good = XGDMatrixCreateFromMat(values.data(), data.rows(), data.columns(), NAN, &matrix) == 0 &&
                XGDMatrixSetFloatInfo(matrix, "label", target.data(), target.size()) == 0 &&
                XGBoosterCreate(&matrix, 1, &booster) == 0;
    const std::pair<const char*, std::string> parameters[] = {{"tree_method", "hist"},
                                                              {"objective", objective},
                                                              {"nthread", "1"},
                                                              {"subsample", "0.8"},
                                                              {"num_parallel_tree", std::to_string(parallel)},
                                                              {"max_depth", "5"}};
    for (const auto& [name, value] : parameters) good = good && XGBoosterSetParam(booster, name, value.c_str()) == 0;
    for (int i = 0; good && i < 12; ++i) good = XGBoosterUpdateOneIter(booster, i, matrix) == 0;
    bst_ulong size = 0;
    const char* text = nullptr;
    good = good && XGBoosterSaveModelToBuffer(booster, R"({"format":"json"})", &size, &text) == 0;
    std::string out;
    if (good)
        out.assign(text, size);
    else
        problem = XGBGetLastError();
    XGBoosterFree(booster);
    XGDMatrixFree(matrix);
    return out;
}

}  // namespace

class TestLearningRegressors : public QObject {
    Q_OBJECT
private slots:
    void treesByHand() {
        // x0 < 1.5 ? 0.25 : (x1 < 10 ? -0.5 : 1), and a second tree that is one leaf.
        const TreeNodes tree{
            {1, -1, 3, -1, -1}, {2, -1, 4, -1, -1}, {0, 0, 1, 0, 0}, {1.5f, 0.25f, 10, -0.5f, 1}, {1, 0, 0, 0, 0}};
        const TreeNodes leaf{{-1}, {-1}, {0}, {2}, {0}};
        QCOMPARE(QString::fromStdString(findFault(tree, 2)), QString());
        const Trees model(2, 0.125, std::vector{tree, leaf});
        const auto at = [&](double a, double b) { return model.predict(std::vector{a, b}); };
        QCOMPARE(at(1, 0), 2.375);
        QCOMPARE(at(1.5, 9.99), 1.625);  // not below the threshold: right
        QCOMPARE(at(1.5, 10), 3.125);
        const double missing = std::numeric_limits<double>::quiet_NaN(),
                     infinite = std::numeric_limits<double>::infinity();
        QCOMPARE(at(missing, 0), 2.375);  // missing goes left at the root, right at node 2
        QCOMPARE(at(9, missing), 3.125);
        QCOMPARE(at(infinite, -infinite), 1.625);
    }

    void stockModelsAreReadAsStockPredicts_data() {
        QTest::addColumn<QByteArray>("objective");
        QTest::addColumn<int>("parallel");
        QTest::newRow("squared") << QByteArray("reg:squarederror") << 1;
        QTest::newRow("absolute") << QByteArray("reg:absoluteerror") << 1;
        QTest::newRow("pseudo-Huber") << QByteArray("reg:pseudohubererror") << 1;
        QTest::newRow("forests") << QByteArray("reg:squarederror") << 5;
    }
    void stockModelsAreReadAsStockPredicts() {
        QFETCH(QByteArray, objective);
        QFETCH(int, parallel);
        const TrainingData data = smoothRows(500, 1, 0.1);
        QByteArray problem;
        const std::string json = stockModel(data, objective.constData(), parallel, problem);
        QVERIFY2(!json.empty(), problem);
        const auto stock = stockPredictions(json, data, problem);
        QCOMPARE(stock.size(), data.rows());
        const auto model = parseRegressor("trees", json);
        QVERIFY2(model, model ? "" : toText(model.error()).c_str());
        for (std::size_t r = 0; r < data.rows(); ++r) {
            const double ours = (*model)->predict(rowOf(data, r));
            QVERIFY2(std::abs(ours - double(stock[r])) < 1e-6 * std::max(1.0, std::abs(ours)),
                     qPrintable(QString::number(r)));
        }
    }

    void latticesAndSumsByHand() {
        const std::vector<LatticeAxis> axes{{0, {0, 1, 3}}, {2, {0, 10}}};
        const std::vector<double> values{1, 2, 3, 5, 7, 4};
        const Lattice lattice(3, axes, values);
        const auto at = [](const Regressor& model, double a, double b) {
            return model.predict(std::vector{a, 99., b});
        };
        QCOMPARE(at(lattice, 0, 0), 1.0);
        QCOMPARE(at(lattice, 3, 10), 4.0);
        QCOMPARE(at(lattice, 0.5, 5), (1 + 2 + 3 + 5) / 4.0);
        QCOMPARE(at(lattice, 2, 10), 4.5);
        QCOMPARE(at(lattice, -7, 99), 2.0);  // constant beyond the knots
        const auto linear = std::make_shared<const Linear>(1, std::vector{0., 0., 0.}, std::vector{2., 0., 0.});
        const Sum sum({std::make_shared<const Lattice>(lattice), linear});
        QCOMPARE(at(sum, 1, 0), 3.0 + 3.0);
        for (const Regressor* model : {static_cast<const Regressor*>(&lattice), static_cast<const Regressor*>(&sum)}) {
            const auto read = parseRegressor(model->kind(), model->toJson());
            QVERIFY2(read, read ? "" : toText(read.error()).c_str());
            QCOMPARE(at(**read, 1.7, 3.2), at(*model, 1.7, 3.2));
            QCOMPARE((*read)->toJson(), model->toJson());
        }
        for (const char* wrong : {R"({"inputs":3,"axes":[{"feature":3,"knots":[0,1]}],"values":[1,2]})",
                                  R"({"inputs":3,"axes":[{"feature":0,"knots":[1,1]}],"values":[1,2]})",
                                  R"({"inputs":3,"axes":[{"feature":0,"knots":[0,1]}],"values":[1]})",
                                  R"({"inputs":3,"axes":[],"values":[1]})"}) {
            QVERIFY2(!parseRegressor("lattice", wrong), wrong);
        }
        QVERIFY(!parseRegressor("sum", "[]"));
        QVERIFY(!parseRegressor("sum", R"([{"kind":"sum","model":[]}])"));
    }

    void whatFallsTooFarIsRaised() {
        const std::vector<LatticeAxis> axes{{0, {0, 1, 2, 3}}, {1, {0, 1}}};
        std::vector<double> values{1, 2, 3, 2, 2, 4, 5, 6};
        const std::vector<std::vector<double>> none{{0, 0, 0, 0}, {0, 0}};
        auto strict = values;
        makeMonotone(axes, none, strict);
        for (std::size_t i = 0; i < strict.size(); ++i) {
            if (i % 2 > 0) QVERIFY(strict[i] >= strict[i - 1]);
            if (i > 1) QVERIFY(strict[i] >= strict[i - 2]);
            QVERIFY(std::abs(strict[i] - values[i]) <= 0.5);  // half of the deepest fall
        }
        auto slack = values;
        makeMonotone(axes, std::vector<std::vector<double>>{{0, 1, 2, 3}, {0, 1}}, slack);
        for (std::size_t i = 0; i < slack.size(); ++i) QVERIFY(std::abs(slack[i] - values[i]) < 1e-12);
    }

    // What we write, thinned, is a model to XGBoost, and both predict the same, on rows of the training and others.
    void ourFilesLoadInXgboost_data() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<int>("leaves");
        QTest::newRow("trees") << "trees" << 0;
        QTest::newRow("trees by leaves") << "trees" << 20;
        QTest::newRow("forest") << "forest" << 0;
    }
    void ourFilesLoadInXgboost() {
        QFETCH(QString, kind);
        QFETCH(int, leaves);
        TrainingOptions options;
        options.kind = kind.toStdString();
        options.steps = 20;
        options.leaves = leaves;
        const auto model = train(smoothRows(400, 2, 0.1), nullptr, options);
        QVERIFY(model);
        const TrainingData other = smoothRows(300, 3, 0);
        QByteArray problem;
        const auto stock = stockPredictions((*model)->toJson(), other, problem);
        QVERIFY2(stock.size() == other.rows(), problem);
        for (std::size_t r = 0; r < other.rows(); ++r) {
            const double ours = (*model)->predict(rowOf(other, r));
            QVERIFY(std::abs(ours - double(stock[r])) < 1e-6 * std::max(1.0, std::abs(ours)));
        }
    }

    void filesReadBackToTheSameBits_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"trees", "compact-trees", "forest", "network", "linear", "blend"})
            QTest::newRow(kind) << kind;
    }
    void filesReadBackToTheSameBits() {
        QFETCH(QString, kind);
        TrainingOptions options;
        options.kind = kind.toStdString();
        options.steps = 10;
        options.width = 8;
        const TrainingData data = smoothRows(200, 4, 0.1);
        const auto model = train(data, nullptr, options);
        QVERIFY(model);
        const std::string json = (*model)->toJson();
        const auto again = parseRegressor((*model)->kind(), json);
        QVERIFY2(again, again ? "" : toText(again.error()).c_str());
        QCOMPARE(QString::fromStdString((*again)->toJson()), QString::fromStdString(json));
        for (std::size_t r = 0; r < data.rows(); ++r) {
            QCOMPARE((*again)->predict(rowOf(data, r)), (*model)->predict(rowOf(data, r)));
        }
    }

    void gaussianProcessByHand() {
        // Two points of the first and third input; the second does not count.
        const GaussianProcess process({2, 0, 1}, {0, 0, 4, 1}, {1, -0.5});
        QVERIFY(std::abs(process.predict(std::vector{0.0, 9.0, 0.0}) - (1 - 0.5 * std::exp(-3.0))) < 1e-15);
        QVERIFY(std::abs(process.predict(std::vector{4.0, -9.0, 1.0}) - (std::exp(-3.0) - 0.5)) < 1e-15);
        QVERIFY(std::abs(process.predict(std::vector{1e6, 0.0, 0.0})) < 1e-15);  // far away nothing is known
    }

    void gaussianProcessesFollowTheirRows() {
        const TrainingData data = smoothRows(150, 3, 0.01), unseen = smoothRows(400, 4, 0);
        TrainingOptions options;
        options.kind = "gaussian-process";
        options.scales = {2, 2, 2, 0};
        const auto model = train(data, nullptr, options);
        QVERIFY2(model, model ? "" : toText(model.error()).c_str());
        QVERIFY2(meanAbsoluteError(**model, data) < 0.03, QByteArray::number(meanAbsoluteError(**model, data)));
        QVERIFY2(meanAbsoluteError(**model, unseen) < 0.2, QByteArray::number(meanAbsoluteError(**model, unseen)));
        const auto again = parseRegressor("gaussian-process", (*model)->toJson());
        QVERIFY2(again, again ? "" : toText(again.error()).c_str());
        for (std::size_t r = 0; r < unseen.rows(); ++r) {
            QCOMPARE((*again)->predict(rowOf(unseen, r)), (*model)->predict(rowOf(unseen, r)));
        }
        options.scales = {2, 2, 2};
        QVERIFY(!train(data, nullptr, options));
        options.scales = {2, 2, -1, 0};
        QVERIFY(!train(data, nullptr, options));
        options.scales = {0, 0, 0, 0};
        QVERIFY(!train(data, nullptr, options));
        for (const char* none :
             {R"({"scales":[1,0],"points":[1,2],"weights":[1]})", R"({"scales":[0],"points":[],"weights":[1]})",
              R"({"scales":[-1,1],"points":[1],"weights":[1]})", R"({"scales":[1],"points":[],"weights":[]})"}) {
            const auto bad = parseRegressor("gaussian-process", none);
            QVERIFY2(!bad && bad.error().code == "learning.model", none);
        }
    }

    void networkByHand() {
        // Hidden sums 1 and −1 become 0.75 and −0.25 (x·(1 + x ⁄ (1 + |x|)) ⁄ 2); 2·0.75 + 4·(−0.25) + 0.5 = 1; ×10
        // + 3.
        const auto model = parseRegressor("network", R"({"activation":"smooth-rectifier","mean":[5,1],"scale":[2,0],
            "target_mean":3,"target_scale":10,"layers":[{"outputs":2,"weights":[1,-1,100,100],"bias":[0,0]},
            {"outputs":1,"weights":[2,4],"bias":[0.5]}]})");
        QVERIFY2(model, model ? "" : toText(model.error()).c_str());
        QCOMPARE((*model)->inputs(), std::size_t(2));
        QCOMPARE((*model)->predict(std::vector{7.0, 99.0}), 13.0);
    }

    void linearByHand() {
        const auto model = parseRegressor("linear", R"({"intercept":1,"mean":[10,20],"coefficients":[0.5,-2]})");
        QVERIFY(model);
        QCOMPARE((*model)->predict(std::vector{12.0, 21.0}), 0.0);
    }

    void compactTreesByHand() {
        // x0 < 2: 10, else x1 < 5: 20, else 30.
        const auto model = parseRegressor("compact-trees", R"({"inputs":2,"base":0.5,"trees":[
            {"split":[0,-1,1,-1,-1],"value":[2,10,5,20,30]},{"split":[-1],"value":[100]}]})");
        QVERIFY2(model, model ? "" : toText(model.error()).c_str());
        QCOMPARE((*model)->predict(std::vector{1.9, 9.0}), 110.5);
        QCOMPARE((*model)->predict(std::vector{2.0, 4.0}), 120.5);
        QCOMPARE((*model)->predict(std::vector{2.0, 5.0}), 130.5);
    }

    void compactTreesAreTheSameTreesInLessText() {
        TrainingOptions options;
        options.steps = 20;
        const TrainingData data = smoothRows(300, 4, 0.1);
        const auto plain = train(data, nullptr, options);
        options.kind = "compact-trees";
        const auto compact = train(data, nullptr, options);
        QVERIFY(plain && compact);
        QVERIFY((*compact)->toJson().size() * 2.5 < (*plain)->toJson().size());
        for (std::size_t r = 0; r < data.rows(); ++r) {
            QVERIFY(std::abs((*compact)->predict(rowOf(data, r)) - (*plain)->predict(rowOf(data, r))) < 2e-3);
        }
    }

    void compactTreesThatAreNone_data() {
        QTest::addColumn<QByteArray>("trees");
        QTest::newRow("lengths") << QByteArray(R"([{"split":[0,-1,-1],"value":[1,2]}])");
        QTest::newRow("too few leaves") << QByteArray(R"([{"split":[0,0,-1],"value":[1,2,3]}])");
        QTest::newRow("leads back") << QByteArray(R"([{"split":[-1,0,-1],"value":[1,2,3]}])");
        QTest::newRow("unknown feature") << QByteArray(R"([{"split":[2,-1,-1],"value":[1,2,3]}])");
        QTest::newRow("half a feature") << QByteArray(R"([{"split":[0.5,-1,-1],"value":[1,2,3]}])");
        QTest::newRow("below a leaf") << QByteArray(R"([{"split":[0,-2,-1],"value":[1,2,3]}])");
        QTest::newRow("not finite") << QByteArray(R"([{"split":[0,-1,-1],"value":[1,1e31,3]}])");
        QTest::newRow("none") << QByteArray("[]");
        QTest::newRow("empty") << QByteArray(R"([{"split":[],"value":[]}])");
    }
    void compactTreesThatAreNone() {
        QFETCH(QByteArray, trees);
        const auto model =
            parseRegressor("compact-trees", R"({"inputs":2,"base":0,"trees":)" + trees.toStdString() + "}");
        QVERIFY(!model);
        QCOMPARE(QString::fromStdString(model.error().code), QString("learning.model"));
        QVERIFY(!model.error().message.empty());
    }

    void treesThatAreNone_data() {
        QTest::addColumn<QByteArray>("left");
        QTest::addColumn<QByteArray>("right");
        QTest::addColumn<QString>("why");
        QTest::newRow("cycle") << QByteArray("[1,0,-1]") << QByteArray("[2,2,-1]") << "led to";
        QTest::newRow("self") << QByteArray("[0,-1,-1]") << QByteArray("[2,-1,-1]") << "led to twice";
        QTest::newRow("shared child") << QByteArray("[1,-1,-1]") << QByteArray("[1,-1,-1]") << "led to twice";
        QTest::newRow("beyond the end") << QByteArray("[1,-1,-1]") << QByteArray("[7,-1,-1]") << "leads to node 7";
        QTest::newRow("one child") << QByteArray("[1,-1,-1]") << QByteArray("[-1,-1,-1]") << "one child";
        QTest::newRow("columns") << QByteArray("[1,-1]") << QByteArray("[2,-1,-1]") << "differ in length";
    }
    void treesThatAreNone() {
        QFETCH(QByteArray, left);
        QFETCH(QByteArray, right);
        QFETCH(QString, why);
        const std::string json =
            R"({"learner":{"gradient_booster":{"model":{"trees":[{"left_children":)" + left.toStdString() +
            R"(,"right_children":)" + right.toStdString() +
            R"(,"split_indices":[0,0,0],"split_conditions":[1,2,3],"default_left":[0,0,0]}]},"name":"gbtree"},
               "learner_model_param":{"base_score":"0","num_feature":"1"},"objective":{"name":"reg:squarederror"}}})";
        const auto model = parseRegressor("trees", json);
        QVERIFY(!model);
        QCOMPARE(QString::fromStdString(model.error().code), QString("learning.model"));
        QVERIFY2(QString::fromStdString(toText(model.error())).contains(why), toText(model.error()).c_str());
    }
};

QTEST_GUILESS_MAIN(TestLearningRegressors)
#include "tst_learning_regressors.moc"
