// MLPerf Inference, Llama-2 70B offline and server, from presets/serving/mlperf-llama-2-70b.csv: throughput of a whole
// system by simulation of one of its replicas. Nothing is fitted to these rows.

#include "hardware/files/catalogue.h"
#include "methods/system/planned_fleet.h"
#include "serving/metrics.h"
#include "serving/result_interval.h"
#include "serving/serving_scenario.h"
#include "serving/traffic/traffic.h"
#include "support/iteration_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

using namespace orrery;

namespace {

std::vector<std::map<std::string, std::string>> table(const std::string& path) {
    std::vector<std::map<std::string, std::string>> rows;
    std::ifstream file(path);
    std::string line;
    std::vector<std::string> names;
    while (std::getline(file, line)) {
        std::vector<std::string> cells;
        std::stringstream text(line);
        for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
        if (names.empty()) {
            names = cells;
            continue;
        }
        std::map<std::string, std::string> row;
        for (std::size_t i = 0; i < names.size() && i < cells.size(); ++i) row[names[i]] = cells[i];
        rows.push_back(std::move(row));
    }
    return rows;
}

double measured(const std::string& release, const std::string& submitter, const std::string& system,
                const std::string& scenario) {
    static const auto rows = table(std::string(ORRERY_REFERENCE) + "/serving/data/bench_tables/mlperf_llm_results.csv");
    for (const auto& row : rows) {
        if (row.at("release") == release && row.at("submitter") == submitter && row.at("system") == system &&
            row.at("model") == "llama2-70b-99.9" && row.at("scenario") == scenario) {
            return std::stod(row.at("tokens_per_s"));
        }
    }
    return 0;
}

void scaleDram(Component& component, double share) {
    if (component.kind == ComponentKind::Dram) {
        if (Attribute* rate = component.find("bandwidth")) std::get<Measure>(rate->value).si *= share;
    }
    for (Component& child : component.children) scaleDram(child, share);
}

void setPowerCap(Component& component, double watts) {
    if (Attribute* cap = component.find("power_cap")) std::get<Measure>(cap->value).si = watts;
    for (Component& child : component.children) setPowerCap(child, watts);
}

/// The design of the row, its memory as fast as it is measured to be beside the devices that were calibrated, under the
/// power cap that the submission describes.
std::shared_ptr<const Hardware> designOf(const std::map<std::string, std::string>& row) {
    auto loaded = loadHardware(row.at("hardware"));
    if (!loaded) return nullptr;
    scaleDram(loaded->hardware.root, std::stod(row.at("memory_share")));
    if (!row.at("power").empty()) setPowerCap(loaded->hardware.root, std::stod(row.at("power")));
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}

ServingScenario scenarioOf(const std::map<std::string, std::string>& row) {
    ServingScenario scenario;
    scenario.model = {"llama-2-70b", *dtype(row.at("weights")), *dtype(row.at("activations")), *dtype(row.at("kv"))};
    PoolSpec& pool = scenario.pools[0];
    pool.plan.tensor = std::stoi(row.at("tensor"));
    pool.scheduler.id = row.at("scheduler");
    pool.scheduler.maxSequences = 2048;
    pool.scheduler.tokenBudget = 8192;
    pool.clock = ClockPolicy::Fixed;
    pool.clockShare = std::stod(row.at("matrix_share"));
    return scenario;
}

TrafficSpec openOrca(double rate, int requests, double output) {
    TrafficSpec traffic;
    traffic.arrivals.kind = rate > 0 ? ArrivalKind::Poisson : ArrivalKind::AllAtOnce;
    traffic.arrivals.rate = rate;
    traffic.prompt = {.kind = LengthKind::LogNormal, .mean = 294, .cv = 0.9, .least = 8, .most = 1024};
    traffic.output = {.kind = LengthKind::LogNormal, .mean = output, .cv = 0.7, .least = 8, .most = 1024};
    traffic.requests = requests;
    return traffic;
}

ServingMetrics run(const std::shared_ptr<const FleetSpec>& fleet, double rate, int requests, double output) {
    auto stream = makeTraffic(openOrca(rate, requests, output), 42);
    if (!stream) return {};
    // The result looks at the stream.
    const auto arriving = std::make_shared<const RequestStream>(std::move(*stream));
    auto result = simulate(fleet, arriving);
    return result ? measure(*result, *fleet) : ServingMetrics{};
}

}  // namespace

class TestMlperfLlama : public QObject {
    Q_OBJECT
private slots:
    void throughput() {
        const auto rows = table(std::string(ORRERY_SOURCE) + "/presets/serving/mlperf-llama-2-70b.csv");
        QVERIFY(rows.size() >= 7);
        if (measured("v4.1", "NVIDIA", "DGX-H100_H100-SXM-80GBx8_TRT", "Offline") <= 0) {
            QSKIP("needs the reference data (ORRERY_REFERENCE)");
        }
        int within = 0, all = 0, covered = 0;
        for (const auto& row : rows) {
            const auto planned = fleetOf(scenarioOf(row), designOf(row));
            QVERIFY2(planned, planned ? "" : planned.error().message.c_str());
            const double replicas = std::stod(row.at("devices")) / std::stod(row.at("tensor"));
            const auto real = [&](const char* scenario) {
                return measured(row.at("release"), row.at("submitter"), row.at("system"), scenario);
            };
            const double output = std::stod(row.at("output"));
            const double offline = replicas * run(planned->fleet, 0, 8000, output).outputTokensPerSecond;
            // Server: the largest Poisson rate that keeps 99 % of first tokens within 2 s and of times per token within
            // 200 ms, by bisection below the offline rate.
            double low = 0, high = offline / replicas / output, server = 0;
            for (int step = 0; step < 6; ++step) {
                const double rate = step == 0 ? 0.9 * high : (low + high) / 2;
                const ServingMetrics m = run(planned->fleet, rate, 6000, output);
                const bool kept = m.ttft.p99 <= 2 && m.tpot.p99 <= 0.2 && m.ttft.count > 0;
                (kept ? low : high) = rate;
                if (kept) server = replicas * rate * m.outputTokensPerSecond / std::max(1e-9, m.requestsPerSecond);
            }
            // Every iteration at an end of its interval.
            const auto end = [&](PriceEnd side) {
                const auto moved = std::make_shared<const FleetSpec>(atEnd(*planned->fleet, side));
                return replicas * run(moved, 0, 8000, output).outputTokensPerSecond;
            };
            const double fast = end(PriceEnd::Low), slow = end(PriceEnd::High);
            QVERIFY(slow <= offline && offline <= fast);
            covered += slow <= real("Offline") && real("Offline") <= fast;
            const double errors[] = {offline / real("Offline") - 1, server / real("Server") - 1};
            qInfo(
                "%s: offline %.0f (%.0f to %.0f), measured %.0f (%+.1f %%); server %.0f, measured %.0f (%+.1f %%); "
                "%lld blocks",
                row.at("system").c_str(), offline, slow, fast, real("Offline"), 100 * errors[0], server, real("Server"),
                100 * errors[1], static_cast<long long>(planned->pools[0].capacity.blocks));
            for (const double error : errors) {
                ++all;
                within += std::fabs(error) <= 0.15;
            }
        }
        qInfo("%d of %d within 15 %%; %d of %zu offline rows in their 90 %% interval", within, all, covered,
              rows.size());
        QVERIFY2(within >= 8 && all == 14, "eight B200 together, by a per cent, and MI300X are the rows that miss");
        QVERIFY2(covered == 7, "intervals of whole runs hold what is measured");
    }
};

QTEST_GUILESS_MAIN(TestMlperfLlama)
#include "tst_mlperf_llama.moc"
