// Measures again, from the reference data, every constant of stated_errors_table.cpp and efficiencies.cpp. Derived from
// A100 SXM and L40S (products, attention), A100-40, V100 and T4 (element-wise), V100 and T4 (convolutions); held out:
// H100 SXM (products, attention), L4 (element-wise), A100 80 GB PCIe (convolutions). The measured figures are printed
// in the form of the table.

#include "evaluation/error_measurement.h"
#include "evaluation/error_metrics.h"
#include "evaluation/reference_sets.h"
#include "hardware/files/catalogue.h"
#include "methods/answer/efficiencies.h"
#include "support/devices.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

using namespace orrery;
using orrery::fixture::device;

namespace {

const std::string folder = std::string(ORRERY_REFERENCE) + "/gpu";
const std::vector<std::string> methods{"roofline", "hierarchical-roofline", "llm-inference"};

ReferenceSet take(Expected<ReferenceSet> set) {
    if (!set) qFatal("%s", toText(set.error()).c_str());
    return std::move(*set);
}

struct Sets {
    std::vector<ReferenceSet> derivation, heldOut;
};

ReferenceSet attention(const std::string& system, const std::string& id, bool generation) {
    return take(readAiconfiguratorAttention(folder + "/aiconfigurator", system, id, generation));
}

const Sets& sets() {
    static const Sets all = [] {
        Sets s;
        const auto gemm = [](const char* system, const char* id) {
            return take(readAiconfiguratorGemm(folder + "/aiconfigurator", system, id));
        };
        const auto vector = [](const char* file, const char* name, const char* id) {
            return take(readNeusightVector(folder + "/neusight/nv_fp32_vector_ops_" + file + ".csv.gz", name, id));
        };
        const auto conv = [](const char* name, const char* id) {
            return take(readNeusightConv(folder + "/neusight/nv_fp32_conv2d_train.csv.gz", name, id));
        };
        s.derivation.push_back(gemm("a100_sxm", "a100-80-sxm"));
        s.derivation.push_back(gemm("l40s", "l40s"));
        s.derivation.push_back(attention("a100_sxm", "a100-80-sxm", false));
        s.derivation.push_back(attention("a100_sxm", "a100-80-sxm", true));
        s.derivation.push_back(attention("l40s", "l40s", false));
        s.derivation.push_back(attention("l40s", "l40s", true));
        s.derivation.push_back(vector("train", "NVIDIA A100-PCIE-40GB", "a100-40-sxm"));
        s.derivation.push_back(vector("train", "Tesla V100-PCIE-32GB", "v100"));
        s.derivation.push_back(vector("train", "Tesla T4", "t4"));
        s.derivation.push_back(conv("Tesla V100-PCIE-32GB", "v100"));
        s.derivation.push_back(conv("Tesla T4", "t4"));
        s.heldOut.push_back(gemm("h100_sxm", "h100-sxm"));
        s.heldOut.push_back(attention("h100_sxm", "h100-sxm", false));
        s.heldOut.push_back(attention("h100_sxm", "h100-sxm", true));
        s.heldOut.push_back(vector("test", "NVIDIA L4", "l4"));
        s.heldOut.push_back(conv("NVIDIA A100 80GB PCIe", "a100-80-pcie"));
        for (auto* group : {&s.derivation, &s.heldOut}) {
            for (auto& set : *group) set = withoutWarmRows(set, *deviceView(*device(set.device)));
        }
        return s;
    }();
    return all;
}

Comparison compared(const std::string& method, const ReferenceSet& set) {
    static const auto executor = makeSerialExecutor();
    auto result = compare(*findMethod(method), set, device(set.device), *executor);
    if (!result) qFatal("%s", toText(result.error()).c_str());
    return std::move(*result);
}

void print(const std::string& line) {
    fmt::print("{}\n", line);
}

bool close(double stored, double measured) {
    return std::fabs(stored - measured) <= 0.02 * std::fmax(std::fabs(measured), 1e-12);
}

// A finding reads `MAPE 12 %, bias 2 %, …`; both within one.
bool says(const Evidence& evidence, const ErrorSummary& summary) {
    int mape = 0;
    int bias = 0;
    const std::string text(evidence.finding);
    return std::sscanf(text.c_str(), "MAPE %d %%, bias %d %%", &mape, &bias) == 2 &&
           std::fabs(mape - 100 * summary.mape) <= 1 && std::fabs(bias - 100 * summary.bias) <= 1;
}

}  // namespace

class TestEvaluationStated : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!std::filesystem::exists(folder + "/aiconfigurator")) {
            QSKIP("the reference data is not here: stated errors are not measured again");
        }
    }
    void storedQuantilesAreWhatIsMeasured() {
        bool same = true;
        for (const auto& method : methods) {
            print("// " + method);
            const auto* stored = statedErrors(method);
            ErrorQuantiles launch;
            for (int f = 0; f < operatorFamilyCount; ++f) {
                const auto family = static_cast<OperatorFamily>(f);
                std::vector<ClassQuantiles> devices;
                for (const auto& set : sets().derivation) {
                    if (set.family == family) devices.push_back(measureQuantiles(compared(method, set)));
                }
                auto all = envelope(devices);
                if (f == 0) launch = all[0];
                // Nobody measured element-wise kernels this short; what a short product takes is its launch. A host
                // timed the convolutions: of kernels shorter than its own launch it says nothing.
                if (all[0].rows == 0 || family == OperatorFamily::Convolution)
                    all[0] = {launch.p5, launch.p50, launch.p95, 0};
                std::string line = "{{";
                for (const auto& q : all) {
                    line += fmt::format("{{{:.3g}, {:.3g}, {:.3g}, {}}}, ", q.p5, q.p50, q.p95, q.rows);
                }
                print(line + "}},  // " + std::string(toText(family)));
                for (std::size_t c = 0; stored && c < all.size(); ++c) {
                    const auto& q = stored->quantiles[static_cast<std::size_t>(f)][c];
                    const bool matches = close(q.p5, all[c].p5) && close(q.p50, all[c].p50) &&
                                         close(q.p95, all[c].p95) && close(q.rows, all[c].rows);
                    if (!matches) print(fmt::format("differs: class {}", c));
                    same = same && matches;
                }
            }
            same = same && stored;
        }
        QVERIFY2(same, "copy the printed quantiles into stated_errors_table.cpp");
    }
    void heldOutDevicesAreCoveredAsStated() {
        bool same = true;
        for (const auto& method : methods) {
            const auto* stored = statedErrors(method);
            QVERIFY(stored);
            for (const auto& set : sets().heldOut) {
                const auto rows = compared(method, set);
                const auto c = coverage(*stored, std::vector{rows});
                const auto s = summarise(rows.predicted, rows.measured);
                print(fmt::format(
                    "{} · {} on {}: {} rows, {:.1f} % inside, {:.1f} % below; MAPE {:.1f} %, median {:.1f} %, "
                    "bias {:+.1f} %, Kendall {:.3f}",
                    method, toText(set.family), set.device, c.rows, 100 * c.inside, 100 * c.below, 100 * s.mape,
                    100 * s.medianError, 100 * s.bias, s.kendall));
                const auto& held = stored->heldOut[static_cast<std::size_t>(set.family)];
                const bool matches =
                    close(held.rows, static_cast<double>(c.rows)) && std::fabs(held.inside - c.inside) < 0.02;
                if (!matches) print("differs from the table");
                const bool onCard =
                    std::any_of(findMethod(method)->card.evidence.begin(), findMethod(method)->card.evidence.end(),
                                [&](const Evidence& e) { return e.workloadClass == toText(set.family) && says(e, s); });
                if (!onCard) print("the card says something else");
                same = same && matches && onCard;
            }
        }
        QVERIFY2(same, "copy the printed figures into stated_errors_table.cpp and the cards");
    }
    void efficienciesAreWhatIsMeasured() {
        double compute = 1;
        double memory = 1;
        double attention = 1;
        const auto sharesOf = [](const ReferenceSet& set) {
            const auto shares = achievedShares(set, *deviceView(*device(set.device)));
            print(fmt::format("{} {}: compute {:.3f} ({} rows), memory {:.3f} ({} rows)", set.device,
                              toText(set.family), shares.compute, shares.computeRows, shares.memory,
                              shares.memoryRows));
            return shares;
        };
        for (const auto& set : sets().derivation) {
            if (set.family == OperatorFamily::MatrixProduct) {
                const auto shares = sharesOf(set);
                compute *= shares.compute;
                memory *= shares.memory;
            } else if (set.family == OperatorFamily::PrefillAttention) {
                attention *= sharesOf(set).compute;
            }
        }
        const auto stored = efficienciesFor(Platform::Gpu);
        print(fmt::format("geometric means: compute {:.3f}, attention {:.3f}, memory {:.3f}", std::sqrt(compute),
                          std::sqrt(attention), std::sqrt(memory)));
        QVERIFY(close(stored.compute, std::sqrt(compute)));
        QVERIFY(close(stored.attention, std::sqrt(attention)));
        QVERIFY(close(stored.memory, std::sqrt(memory)));
        // The class's one number must be right within a quarter on a device that it was not derived from.
        for (const auto& set : sets().heldOut) {
            if (set.family == OperatorFamily::MatrixProduct) {
                const auto shares = sharesOf(set);
                QVERIFY(std::fabs(shares.compute / stored.compute - 1) < 0.25);
                QVERIFY(std::fabs(shares.memory / stored.memory - 1) < 0.25);
            } else if (set.family == OperatorFamily::PrefillAttention) {
                QVERIFY(std::fabs(sharesOf(set).compute / stored.attention - 1) < 0.25);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestEvaluationStated)
#include "tst_evaluation_stated.moc"
