// Kernel methods against Splitwise's measured medians of prompt and token times (Llama-2 70B and BLOOM 176B on DGX A100
// and H100). The host's six numbers of a machine were fitted to the rows whose FNV hash is even; the others are judged.

#include "support/iteration_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>

using namespace orrery;
using namespace orrery::testing;

namespace {

using Key = std::tuple<std::string, std::string, int, int, int>;  // model, machine, tensor, prompt, batch
struct Row {
    std::vector<double> prompt, token, power;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::map<Key, Row> readRows(const std::string& path) {
    std::map<Key, Row> rows;
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> cells;
        std::stringstream text(line);
        for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
        // Rows of capped devices are those of uncapped ones times a constant: no measurements.
        if (cells.size() < 11 || cells[1].find("pcap") != std::string::npos) continue;
        Row& row = rows[{cells[0], cells[1], std::stoi(cells[10]), std::stoi(cells[2]), std::stoi(cells[3])}];
        row.prompt.push_back(std::stod(cells[7]));
        row.token.push_back(std::stod(cells[8]));
        if (std::stod(cells[6]) > 0) row.power.push_back(std::stod(cells[6]));
    }
    return rows;
}

bool fitted(const Key& key) {
    const auto& [model, machine, tensor, prompt, batch] = key;
    std::uint32_t hash = 2166136261u;
    for (const char c : model + "/" + machine + "/" + std::to_string(tensor) + "/" + std::to_string(prompt) + "/" +
                            std::to_string(batch)) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    }
    return (hash >> 8) % 2 == 0;
}

struct Errors {
    std::vector<double> prompt, token;
    std::vector<double> residuals;  ///< measured ÷ priced − 1, of both
    int covered = 0;                ///< of both, in the 90 % interval of their price
    static double mean(const std::vector<double>& values) {
        return values.empty() ? 0 : 100 * std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    }
};

}  // namespace

class TestSplitwiseMedians : public QObject {
    Q_OBJECT
    const std::string path_ = std::string(ORRERY_REFERENCE) + "/serving/data/splitwise/perf_model.csv";
    std::map<std::tuple<std::string, std::string, int>, std::shared_ptr<const KernelIterationTime>> times_;

    const KernelIterationTime& timeOf(const Key& key) {
        const auto& [model, machine, tensor, prompt, batch] = key;
        auto& time = times_[{model, machine, tensor}];
        const bool h100 = machine[0] == 'h';
        if (!time) {
            time = iterationTime({.model = model[0] == 'l' ? "llama-2-70b" : "bloom-176b",
                                  .hardware = h100 ? "h100-sxm" : "a100-80-sxm",
                                  .tensor = tensor,
                                  .method = "tile-hybrid",
                                  .software = h100 ? "vllm-2023-dgx-h100" : "vllm-2023-dgx-a100",
                                  .type = DType::F16});
        }
        return *time;
    }

private slots:
    void medians_data() {
        QTest::addColumn<QString>("machine");
        QTest::newRow("DGX A100") << "a100-80gb";
        QTest::newRow("DGX H100") << "h100-80gb";
    }
    void medians() {
        QFETCH(QString, machine);
        const auto rows = readRows(path_);
        if (rows.empty()) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        Errors known, unseen;
        int impossible = 0;
        for (const auto& [key, row] : rows) {
            if (std::get<1>(key) != machine.toStdString()) continue;
            const KernelIterationTime& time = timeOf(key);
            const int tensor = std::get<2>(key), prompt = std::get<3>(key), batch = std::get<4>(key);
            const double peak = tensor * (machine[0] == 'h' ? 989.5e12 : 312e12);
            const double least = 2 * time.launches().facts().activeParameters * prompt * batch / peak;
            // Llama on two devices, 64 prompts: faster than the peak allows, for the cache held a part of them only.
            if (1e-3 * median(row.prompt) < least) {
                ++impossible;
                continue;
            }
            Errors& errors = fitted(key) ? known : unseen;
            const auto compare = [&](const Work& work, double milliseconds, std::vector<double>& to) {
                const IterationPrice price = time.price(work.work());
                const double seconds = price.host + price.lastSeconds, truth = 1e-3 * milliseconds;
                to.push_back(std::fabs(seconds / truth - 1));
                errors.residuals.push_back(truth / seconds - 1);
                errors.covered += seconds * price.low <= truth && truth <= seconds * price.high;
            };
            compare(prompts(batch, prompt), median(row.prompt), errors.prompt);
            compare(decodes(batch, prompt + 64), median(row.token), errors.token);
        }
        QCOMPARE(impossible, 1);
        qInfo("%s: %zu rows fitted to: prompt %.1f %%, token %.1f %%; %zu unseen: prompt %.1f %%, token %.1f %% (MAPE)",
              qPrintable(machine), known.prompt.size(), Errors::mean(known.prompt), Errors::mean(known.token),
              unseen.prompt.size(), Errors::mean(unseen.prompt), Errors::mean(unseen.token));
        const auto share = [](const Errors& errors) {
            return 100.0 * errors.covered / double(errors.prompt.size() + errors.token.size());
        };
        qInfo("of the medians %.0f %% of the fitted and %.0f %% of the unseen rows lie in 90 %% intervals",
              share(known), share(unseen));
        // What the stack says of its own doubt is that of the rows which it was fitted to, and no others.
        auto& residuals = known.residuals;
        std::sort(residuals.begin(), residuals.end());
        const auto quantile = [&](double q) { return residuals[std::size_t(q * double(residuals.size() - 1))]; };
        const SoftwareStack& stack =
            *findSoftwareStack(machine[0] == 'h' ? "vllm-2023-dgx-h100" : "vllm-2023-dgx-a100");
        qInfo("90 %% of the fitted rows: %+.3f to %+.3f", quantile(0.05), quantile(0.95));
        QVERIFY(std::fabs(-quantile(0.05) - stack.below) < 0.01 && std::fabs(quantile(0.95) - stack.above) < 0.01);
        QVERIFY(unseen.prompt.size() > 20);
        QVERIFY(share(unseen) >= 85);
        QVERIFY(Errors::mean(unseen.prompt) <= 12);
        QVERIFY(Errors::mean(unseen.token) <= 12);
    }

    // Mean power over a request of 128 tokens as a share of the cap; H100's was not recorded. Long prompts of 8,192
    // tokens stand at 0.17 whatever the devices: not believed.
    void power() {
        const auto rows = readRows(path_);
        if (rows.empty()) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        std::vector<double> errors;
        for (const auto& [key, row] : rows) {
            if (row.power.empty() || std::get<3>(key) == 8192) continue;
            const KernelIterationTime& time = timeOf(key);
            const int tensor = std::get<2>(key), prompt = std::get<3>(key), batch = std::get<4>(key);
            const double idle = 0.3 * 400 * tensor;
            const auto joules = [&](const Work& work, double milliseconds) {
                const IterationPrice price = time.price(work.work());
                const double busy = std::min(price.lastSeconds, 1e-3 * milliseconds);
                return price.watts * busy + idle * std::max(0.0, 1e-3 * milliseconds - busy);
            };
            const double prompting = median(row.prompt), decoding = 127 * median(row.token);
            const double mean = (joules(prompts(batch, prompt), prompting) +
                                 127 * joules(decodes(batch, prompt + 64), median(row.token))) /
                                (1e-3 * (prompting + decoding)) / (400.0 * tensor);
            errors.push_back(std::fabs(mean / median(row.power) - 1));
        }
        qInfo("mean power of %zu rows of DGX A100: %.1f %% (MAPE)", errors.size(), Errors::mean(errors));
        QVERIFY(errors.size() > 30);
        QVERIFY(Errors::mean(errors) <= 6);
    }
};

QTEST_GUILESS_MAIN(TestSplitwiseMedians)
#include "tst_splitwise_medians.moc"
