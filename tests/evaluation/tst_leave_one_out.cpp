// Every device of the kernel tables left out in turn, as if nobody had measured it: do intervals hold nine of ten, are
// answers that are off by a factor of two flagged, and does the best of the methods lead?

#include "evaluation/evaluation.h"
#include "evaluation/holdout.h"
#include "learning/calibration.h"
#include "learning/off_by_two.h"
#include "methods/answer/stated_errors.h"
#include "methods/method.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

using namespace orrery;

namespace {

const std::string folder = std::string(ORRERY_REFERENCE) + "/gpu/aiconfigurator/";
constexpr std::size_t fewest = 40, mostRows = 240;

// A method on the kernels of one device, kind and variant.
struct Judged {
    std::string method;
    double error = 0;     ///< MAPE
    double expected = 0;  ///< as it says of itself
    double covered = 0, halfWidth = 0;
    std::size_t rows = 0, wrong = 0, flaggedWrong = 0, flaggedRight = 0;
    double feared = 0;  ///< rows off by two, by the chances that they state
};
struct Class {
    std::string name;
    std::vector<Judged> methods;
};

Judged judge(const Evaluation& evaluation, const std::vector<std::size_t>& chosen) {
    const EvaluatedRows& rows = evaluation.rows;
    Judged judged{.method = evaluation.method, .rows = chosen.size()};
    std::vector<double> widths;
    for (const std::size_t i : chosen) {
        const double low = std::max(rows.low[i], 1e-12), n = double(chosen.size());
        judged.error += std::abs(rows.error(i)) / n;
        const bool outside = rows.domain[i] == DomainVerdict::Outside;
        judged.expected += (meanError(rows.predicted[i], low, rows.high[i]) + (outside ? 0.1 : 0)) / n;
        judged.covered += (rows.measured[i] >= rows.low[i] && rows.measured[i] <= rows.high[i]) / n;
        widths.push_back((rows.high[i] - rows.low[i]) / 2 / rows.predicted[i]);
        const bool wrong = std::abs(std::log(rows.measured[i] / rows.predicted[i])) > std::log(2);
        judged.wrong += wrong;
        judged.feared += chanceOffByTwo(rows.predicted[i], rows.low[i], rows.high[i]);
        (wrong ? judged.flaggedWrong : judged.flaggedRight) += outside;
    }
    std::nth_element(widths.begin(), widths.begin() + std::ptrdiff_t(widths.size() / 2), widths.end());
    judged.halfWidth = widths[widths.size() / 2];
    return judged;
}

const std::vector<Class>& classes() {
    static const std::vector<Class> all = [] {
        std::map<std::string, Class> found;
        const auto executor = makeThreadExecutor();
        const std::pair<const char*, const char*> systems[]{
            {"a100_sxm", "a100-80-sxm"}, {"h100_sxm", "h100-sxm"}, {"l40s", "l40s"}, {"b200_sxm", "b200-sxm"}};
        for (const auto& [system, device] : systems) {
            for (const auto& entry : std::filesystem::directory_iterator(folder)) {
                const std::string name = entry.path().filename().string();
                const bool wanted = name.starts_with(std::string(system) + "__trtllm") &&
                                    (name.ends_with("__gemm.csv.gz") || name.ends_with("__context_attention.csv.gz") ||
                                     name.ends_with("__generation_attention.csv.gz"));
                if (!wanted) continue;
                const auto tables = readReferences(std::vector<std::string>{entry.path().string()}, ReadOptions{});
                if (!tables) qFatal("%s", toText(tables.error()).c_str());
                std::vector<RowRef> rows = selectRows(*tables), some;
                std::map<std::string, std::size_t> counts, seen;
                const auto variantOf = [&](RowRef ref) {
                    return kernelVariant((*tables)[0].rows[std::size_t(ref.row)].kernel);
                };
                for (const RowRef ref : rows) ++counts[variantOf(ref)];
                for (const RowRef ref : rows) {
                    const std::string variant = variantOf(ref);
                    if (seen[variant]++ % (1 + counts[variant] / mostRows) == 0) some.push_back(ref);
                }
                for (const char* id : {"tile-hybrid", "tile-wave", "interval-analysis", "booster", "forest",
                                       "wave-scaling", "llm-inference"}) {
                    EvaluateOptions options;
                    options.executor = executor.get();
                    options.leaveDeviceOut = true;
                    const auto result = evaluate(*findMethod(id), *tables, some, options);
                    if (!result) continue;  // it prices none of these
                    std::map<std::string, std::vector<std::size_t>> byClass;
                    for (std::size_t i = 0; i < result->rows.size(); ++i) {
                        const auto& kernel = (*tables)[0].rows[std::size_t(result->rows.ref[i].row)].kernel;
                        byClass[fmt::format("{} {} {}", device, toText(kernel.kind), kernelVariant(kernel))].push_back(
                            i);
                    }
                    for (const auto& [key, chosen] : byClass) {
                        if (chosen.size() < fewest) continue;
                        found[key].name = key;
                        found[key].methods.push_back(judge(*result, chosen));
                    }
                }
            }
        }
        std::vector<Class> list;
        for (auto& [key, one] : found) list.push_back(std::move(one));
        return list;
    }();
    return all;
}

}  // namespace

class TestLeaveOneOut : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!std::filesystem::exists(folder)) QSKIP("the reference data is not here: nothing to compare with");
        QVERIFY(classes().size() > 20);
    }
    void theLeaderIsAmongTheTwoBest() {
        int among = 0, first = 0;
        for (const Class& one : classes()) {
            std::vector<Judged> ranked = one.methods;
            std::ranges::sort(ranked, {}, &Judged::error);
            const auto leader = std::ranges::min_element(one.methods, {}, &Judged::expected);
            const auto place = std::ranges::find(ranked, leader->method, &Judged::method) - ranked.begin();
            among += place < 2 || leader->error < 1.1 * ranked[1].error;
            first += place == 0;
            qInfo("%s: %s leads, %.1f %% (expected %.0f), best %s %.1f %%", one.name.c_str(), leader->method.c_str(),
                  100 * leader->error, 100 * std::expm1(leader->expected), ranked[0].method.c_str(),
                  100 * ranked[0].error);
        }
        const auto count = double(classes().size());
        qInfo("leader among the two best in %.0f %% of %.0f classes, the best in %.0f %%", 100 * among / count, count,
              100 * first / count);
        QVERIFY(among >= leastAmong * count);
    }
    void intervalsHold() {
        std::map<std::string, std::vector<double>> covered, wide;
        for (const Class& one : classes()) {
            for (const Judged& m : one.methods) {
                covered[m.method].push_back(m.covered);
                wide[m.method].push_back(m.halfWidth / m.error);
                qInfo("%-16s %-44s %4zu rows, MAPE %5.1f %%, %5.1f %% inside, half-width %.2f MAPE", m.method.c_str(),
                      one.name.c_str(), m.rows, 100 * m.error, 100 * m.covered, m.halfWidth / m.error);
            }
        }
        for (auto& [method, shares] : covered) {
            double mean = 0;
            for (const double share : shares) mean += share / double(shares.size());
            std::ranges::sort(wide[method]);
            const double width = wide[method][wide[method].size() / 2];
            qInfo("%s: %.1f %% inside over %zu classes, half-width %.2f MAPE in the median class", method.c_str(),
                  100 * mean, shares.size(), width);
            if (method == "llm-inference") continue;  // its errors are stated, for bf16
            QVERIFY2(mean >= leastCovered, method.c_str());
            QVERIFY2(width <= widestMedian, method.c_str());
        }
    }
    void whatIsOffByTwoIsFlagged() {
        std::size_t wrong = 0, flagged = 0, right = 0, alarms = 0;
        double feared = 0;
        for (const Class& one : classes()) {
            for (const Judged& m : one.methods) {
                if (m.method != "tile-hybrid") continue;
                wrong += m.wrong, flagged += m.flaggedWrong, feared += m.feared;
                right += m.rows - m.wrong, alarms += m.flaggedRight;
            }
        }
        qInfo("tile-hybrid: %zu of %zu rows off by two are flagged, %zu of %zu others", flagged, wrong, alarms, right);
        // What their intervals say of them: twice too many at most, and never too few.
        qInfo("tile-hybrid: %.0f of them expected", feared);
        QVERIFY(feared >= 0.8 * double(wrong) && feared <= mostFeared * double(wrong));
        QVERIFY(double(flagged) >= leastFlagged * double(wrong));
        QVERIFY(double(alarms) <= mostAlarms * double(right));
    }

private:
    // As measured, with a little room.
    static constexpr double leastAmong = 0.7, leastCovered = 0.8, widestMedian = 4, leastFlagged = 0.9,
                            mostAlarms = 0.5, mostFeared = 2.5;
};

QTEST_GUILESS_MAIN(TestLeaveOneOut)
#include "tst_leave_one_out.moc"
