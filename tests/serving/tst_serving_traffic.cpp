#include "base/random.h"
#include "serving/metrics.h"
#include "serving/traffic/traffic.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

using namespace orrery;

namespace {

TrafficSpec specOf(ArrivalKind kind, double rate, std::int64_t requests) {
    TrafficSpec spec;
    spec.arrivals.kind = kind;
    spec.arrivals.rate = rate;
    spec.requests = requests;
    return spec;
}

// Mean and coefficient of variation of the gaps.
std::pair<double, double> gapsOf(const RequestStream& stream) {
    double sum = 0, squares = 0;
    const auto n = static_cast<double>(stream.size() - 1);
    for (std::size_t i = 1; i < stream.size(); ++i) {
        const double gap = toSeconds(stream.arrival[i] - stream.arrival[i - 1]);
        sum += gap;
        squares += gap * gap;
    }
    const double mean = sum / n;
    return {mean, std::sqrt(std::max(squares / n - mean * mean, 0.0)) / mean};
}

}  // namespace

class TestServingTraffic : public QObject {
    Q_OBJECT
private slots:
    // Recorded by VIDUR itself: its Poisson gaps and uniform lengths, from Python's generator seeded 42.
    void vidursDrawsAreFollowedExactly_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("requests");
        QTest::addColumn<double>("rate");
        QTest::addColumn<int>("least");
        QTest::addColumn<int>("most");
        QTest::addColumn<double>("ratio");
        QTest::newRow("W1") << "l7_vllm_W1" << 400 << 6.0 << 128 << 1024 << 4.0;
        QTest::newRow("W2") << "l7_vllm_W2_blk600" << 200 << 8.0 << 256 << 1024 << 1.0;
        QTest::newRow("34B") << "c34_tp2_vllm" << 200 << 1.5 << 256 << 2048 << 4.0;
        QTest::newRow("fixed") << "l7_vllm_fixed" << 200 << 6.0 << 0 << 0 << 0.0;
    }
    void vidursDrawsAreFollowedExactly() {
        QFETCH(QString, name);
        QFETCH(int, requests);
        QFETCH(double, rate);
        QFETCH(int, least);
        QFETCH(int, most);
        QFETCH(double, ratio);
        const std::string path = ORRERY_REFERENCE "/serving/cases/" + name.toStdString() + "/trace.csv";
        if (!std::filesystem::exists(path)) QSKIP("the reference data is not there");
        TrafficSpec spec = specOf(ArrivalKind::Poisson, rate, requests);
        spec.compatibility = "vidur";
        spec.ratio = ratio;
        if (ratio > 0) {
            spec.prompt.least = least;
            spec.prompt.most = most;
        } else {
            spec.prompt.kind = spec.output.kind = LengthKind::Fixed;
            spec.prompt.mean = 256;
            spec.output.mean = 64;
        }
        const auto stream = makeTraffic(spec, 42);
        QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
        std::ifstream file(path);
        std::string line;
        std::getline(file, line);
        std::size_t i = 0;
        for (; std::getline(file, line); ++i) {
            std::istringstream cells(line);
            std::string cell;
            std::getline(cells, cell, ',');
            QCOMPARE(stream->arrival[i], toTicks(std::stod(cell)));
            std::getline(cells, cell, ',');
            QCOMPARE(stream->prompt[i], std::stoi(cell));
            std::getline(cells, cell, ',');
            QCOMPARE(stream->output[i], std::stoi(cell));
        }
        QCOMPARE(i, stream->size());
    }
    void arrivalsHaveTheirRateAndSpread_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("cv");
        QTest::newRow("poisson") << static_cast<int>(ArrivalKind::Poisson) << 1.0;
        QTest::newRow("constant") << static_cast<int>(ArrivalKind::Constant) << 0.0;
        QTest::newRow("gamma 2") << static_cast<int>(ArrivalKind::Gamma) << 2.0;
        QTest::newRow("gamma 0.4") << static_cast<int>(ArrivalKind::Gamma) << 0.4;
        QTest::newRow("bursts") << static_cast<int>(ArrivalKind::Bursts) << -1.0;
        QTest::newRow("diurnal") << static_cast<int>(ArrivalKind::Diurnal) << -1.0;
    }
    void arrivalsHaveTheirRateAndSpread() {
        QFETCH(int, kind);
        QFETCH(double, cv);
        TrafficSpec spec = specOf(static_cast<ArrivalKind>(kind), 5, 40000);
        spec.arrivals.cv = cv;
        spec.arrivals.burstSeconds = 2;
        spec.arrivals.period = 500;
        const auto stream = makeTraffic(spec, 7);
        QVERIFY(stream.has_value());
        const auto [mean, spreadOfGaps] = gapsOf(*stream);
        // Five standard errors of the mean of 40,000 gaps (of bursts: of 400 bursts).
        QVERIFY2(std::abs(mean * 5 - 1) < (cv < 0 ? 0.15 : 5 * std::max(cv, 1e-9) / 200 + 1e-9),
                 qPrintable(QString::number(mean)));
        if (cv >= 0)
            QVERIFY2(std::abs(spreadOfGaps - cv) < 0.05 * cv + 1e-6, qPrintable(QString::number(spreadOfGaps)));
        if (kind == static_cast<int>(ArrivalKind::Bursts)) QVERIFY(spreadOfGaps > 1.1);
    }
    void lengthsAreWhatTheySay() {
        TrafficSpec spec = specOf(ArrivalKind::AllAtOnce, 1, 40000);
        spec.prompt = {.kind = LengthKind::LogNormal, .mean = 500, .cv = 0.8, .theta = 0, .least = 1, .most = 1 << 20};
        spec.output = {.kind = LengthKind::Zipf, .mean = 1, .cv = 0, .theta = 1, .least = 10, .most = 12};
        const auto stream = makeTraffic(spec, 3);
        QVERIFY(stream.has_value());
        double sum = 0, squares = 0;
        std::array<double, 3> counts{};
        for (std::size_t i = 0; i < stream->size(); ++i) {
            sum += stream->prompt[i];
            squares += static_cast<double>(stream->prompt[i]) * stream->prompt[i];
            QVERIFY(stream->output[i] >= 10 && stream->output[i] <= 12);
            counts[static_cast<std::size_t>(stream->output[i] - 10)] += 1 / 40000.0;
        }
        const double mean = sum / 40000, deviation = std::sqrt(squares / 40000 - mean * mean);
        QVERIFY(std::abs(mean - 500) < 5 * 400 / 200.0);
        QVERIFY(std::abs(deviation / mean - 0.8) < 0.05);
        // Weights 1, 1/2, 1/3 of 11/6.
        QVERIFY(std::abs(counts[0] - 6 / 11.0) < 0.013 && std::abs(counts[1] - 3 / 11.0) < 0.012 &&
                std::abs(counts[2] - 2 / 11.0) < 0.01);
        TrafficSpec split = specOf(ArrivalKind::Poisson, 1, 2000);
        split.ratio = 20;
        split.prompt.least = 128;
        split.prompt.most = 512;
        const auto parts = makeTraffic(split, 3);
        for (std::size_t i = 0; i < parts->size(); ++i) {
            const int total = parts->prompt[i] + parts->output[i];
            QVERIFY(total >= 128 && total <= 512);
            QCOMPARE(parts->output[i], static_cast<int>(std::ceil(total / 21.0)));
        }
    }
    void conversationsGrowAndShareTheirText() {
        TrafficSpec spec = specOf(ArrivalKind::Poisson, 1, 400);
        spec.sessions = {.turns = 4, .geometric = false, .think = 5, .context = 0};
        spec.sharedPrompt = 160;
        spec.agents.calls = 1;
        spec.agents.geometric = false;
        const auto stream = makeTraffic(spec, 11);
        QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
        QCOMPARE(stream->size(), std::size_t{400});  // 50 sessions of 4 turns of 2 requests
        for (std::size_t i = 0; i < stream->size(); ++i) {
            const bool first = i % 8 == 0;
            QCOMPARE(stream->after[i] == no_request, first);
            const auto* mine = &stream->hashes[stream->hashBegin[i]];
            const std::size_t count = stream->hashBegin[i + 1] - stream->hashBegin[i];
            QCOMPARE(count, static_cast<std::size_t>((stream->prompt[i] + stream->output[i]) / 16));
            // All begin with the ten blocks of the shared prompt.
            for (std::size_t k = 0; k < 10; ++k) QCOMPARE(mine[k], stream->hashes[k]);
            if (first) continue;
            QCOMPARE(stream->after[i], static_cast<RequestIndex>(i - 1));
            QVERIFY(stream->prompt[i] > stream->prompt[i - 1] + stream->output[i - 1]);
            // The text so far, answer included, is found again: all full blocks of it.
            const auto* before = &stream->hashes[stream->hashBegin[i - 1]];
            const auto common = static_cast<std::size_t>((stream->prompt[i - 1] + stream->output[i - 1]) / 16);
            for (std::size_t k = 0; k < common; ++k) QCOMPARE(mine[k], before[k]);
        }
        // Another session shares the system prompt only.
        const auto* one = &stream->hashes[stream->hashBegin[0]];
        const auto* two = &stream->hashes[stream->hashBegin[8]];
        QVERIFY(one[10] != two[10]);
    }
    void samplesShareTheirPromptAndThoughtsAreForgotten() {
        TrafficSpec spec = specOf(ArrivalKind::Poisson, 1, 80);
        spec.sessions = {.turns = 2, .geometric = false, .think = 1, .context = 0};
        spec.agents.samples = 4;
        spec.agents.reasoning = 2;
        const auto stream = makeTraffic(spec, 5);
        QVERIFY(stream.has_value());
        QCOMPARE(stream->size(), std::size_t{80});
        for (std::size_t group = 0; group < 80; group += 4) {
            std::size_t longest = group;
            for (std::size_t i = group; i < group + 4; ++i) {
                QCOMPARE(stream->prompt[i], stream->prompt[group]);
                if (stream->output[i] > stream->output[longest]) longest = i;
            }
            if (group % 8 == 0) QCOMPARE(stream->after[group + 4], static_cast<RequestIndex>(longest));
        }
    }
    void closedLoopsOfSessionsAreUsers() {
        TrafficSpec spec = specOf(ArrivalKind::ClosedLoop, 1, 60);
        spec.arrivals.concurrency = 3;
        spec.sessions = {.turns = 2, .geometric = false, .think = 1, .context = 0};
        const auto stream = makeTraffic(spec, 5);
        QVERIFY(stream.has_value());
        QCOMPARE(stream->concurrency, 0);
        for (std::size_t session = 3; session < 30; ++session) {
            QCOMPARE(stream->after[2 * session], static_cast<RequestIndex>(2 * (session - 3) + 1));
        }
        spec.sessions.turns = 1;
        QCOMPARE(makeTraffic(spec, 5)->concurrency, 3);
    }
    void partsAndScales() {
        const std::string path = ORRERY_REFERENCE "/serving/data/traces/splitwise_conv.csv";
        if (!std::filesystem::exists(path)) QSKIP("the reference data is not there");
        TrafficSpec spec;
        spec.requests = 0;
        spec.arrivals.kind = ArrivalKind::Trace;
        spec.prompt.kind = spec.output.kind = LengthKind::Trace;
        spec.trace.file = path;
        const auto whole = makeTraffic(spec, 1);
        QVERIFY(whole.has_value());
        QCOMPARE(whole->size(), std::size_t{19366});
        spec.edit.from = 600;
        spec.edit.until = 1200;
        spec.edit.rate = 2;
        spec.edit.prompt = 0.5;
        const auto part = makeTraffic(spec, 1);
        QVERIFY(part.has_value());
        const auto from = static_cast<std::size_t>(
            std::lower_bound(whole->arrival.begin(), whole->arrival.end(), toTicks(600)) - whole->arrival.begin());
        const auto to = static_cast<std::size_t>(
            std::lower_bound(whole->arrival.begin(), whole->arrival.end(), toTicks(1200)) - whole->arrival.begin());
        QCOMPARE(part->size(), to - from);
        QVERIFY(toSeconds(part->arrival.back()) < 300);
        for (std::size_t i = 0; i < part->size(); ++i) {
            QVERIFY(std::abs(part->prompt[i] - whole->prompt[from + i] / 2.0) <= 0.5);
            QCOMPARE(part->output[i], whole->output[from + i]);
        }
        spec.edit = {};
        spec.edit.mostText = 1000;
        spec.requests = 50;
        QCOMPARE(makeTraffic(spec, 1)->size(), std::size_t{50});
        // Its lengths at another rate, drawn in pairs that the trace has.
        spec.arrivals.kind = ArrivalKind::Poisson;
        spec.edit = {};
        QVERIFY(makeTraffic(spec, 1).has_value());
    }
    void nonsenseIsRefusedWithItsField() {
        const auto field = [](auto change) {
            TrafficSpec spec;
            change(spec);
            const auto made = makeTraffic(spec, 1);
            return made ? QString("accepted") : QString::fromStdString(made.error().place.path);
        };
        QCOMPARE(field([](TrafficSpec& s) { s.arrivals.rate = 0; }), QString("traffic/arrivals/rate"));
        QCOMPARE(field([](TrafficSpec& s) { s.arrivals.rate = std::nan(""); }), QString("traffic/arrivals/rate"));
        QCOMPARE(field([](TrafficSpec& s) { s.requests = -1; }), QString("traffic/requests"));
        QCOMPARE(field([](TrafficSpec& s) { s.requests = 0; }), QString("traffic/requests"));
        QCOMPARE(field([](TrafficSpec& s) { s.requests = std::int64_t{1} << 50; }), QString("traffic/requests"));
        QCOMPARE(field([](TrafficSpec& s) { s.ratio = -1; }), QString("traffic/ratio"));
        QCOMPARE(field([](TrafficSpec& s) { s.prompt.least = 0; }), QString("traffic/prompt/least"));
        QCOMPARE(field([](TrafficSpec& s) {
                     s.prompt.most = 5;
                     s.prompt.least = 6;
                 }),
                 QString("traffic/prompt/most"));
        QCOMPARE(field([](TrafficSpec& s) {
                     s.output.kind = LengthKind::Zipf;
                     s.output.theta = -1;
                 }),
                 QString("traffic/output/theta"));
        QCOMPARE(field([](TrafficSpec& s) {
                     s.arrivals.kind = ArrivalKind::ClosedLoop;
                     s.arrivals.concurrency = 0;
                 }),
                 QString("traffic/arrivals/concurrency"));
        QCOMPARE(field([](TrafficSpec& s) { s.arrivals.kind = ArrivalKind::Trace; }), QString("traffic/trace/file"));
        QCOMPARE(field([](TrafficSpec& s) { s.arrivals.rate = 1e-6; }), QString("traffic/arrivals/rate"));
        QCOMPARE(field([](TrafficSpec& s) {
                     s.edit.from = 5;
                     s.edit.until = 4;
                 }),
                 QString("traffic/edit/until"));
        QCOMPARE(field([](TrafficSpec& s) { s.agents.samples = 0; }), QString("traffic/agents/samples"));
        QCOMPARE(field([](TrafficSpec& s) { s.compatibility = "mine"; }), QString("traffic/compatibility"));
        QCOMPARE(field([](TrafficSpec& s) {
                     s.compatibility = "vidur";
                     s.arrivals.kind = ArrivalKind::Gamma;
                 }),
                 QString("traffic/compatibility"));
        QCOMPARE(field([](TrafficSpec& s) { s.edit.mostPrompt = 1; }), QString("traffic"));  // nothing is left
    }
    void percentilesAreThoseOfNumpy() {
        // numpy.percentile(x, [50, 90, 95, 99]) of x = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]: linear interpolation.
        const Spread spread = orrery::spread({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5});
        QCOMPARE(spread.count, std::size_t{11});
        QCOMPARE(spread.mean, 4.0);
        QCOMPARE(spread.p50, 4.0);
        QCOMPARE(spread.p90, 6.0);
        QCOMPARE(spread.p95, 7.5);
        QVERIFY(std::abs(spread.p99 - 8.7) < 1e-12);
        QCOMPARE(spread.max, 9.0);
        QCOMPARE(orrery::spread({}).count, std::size_t{0});
        QCOMPARE(orrery::spread({7}).p99, 7.0);
    }
    void gapsFromAHistogramAreWithinABin() {
        ServingResult result;
        result.gapBins = 200;
        result.gapHistogram.assign(2000, 0);
        RandomStream random(3);
        std::vector<double> gaps;
        for (int i = 0; i < 20000; ++i) {
            const double gap = 1e-3 * std::exp(random.normal());
            gaps.push_back(gap);
            result.gapHistogram[static_cast<std::size_t>((std::log10(gap) + 6) * 200)] += 1;
            result.gapSum += gap;
            ++result.gaps;
        }
        const Spread exact = spread(gaps), binned = spreadOfGaps(result);
        QCOMPARE(binned.mean, exact.mean);
        for (const auto& [a, b] :
             {std::pair{exact.p50, binned.p50}, {exact.p90, binned.p90}, {exact.p99, binned.p99}}) {
            QVERIFY(std::abs(b / a - 1) < 0.0116);
        }
        QVERIFY(binned.max >= exact.max && binned.max < exact.max * 1.012);
    }
};

QTEST_APPLESS_MAIN(TestServingTraffic)
#include "tst_serving_traffic.moc"
