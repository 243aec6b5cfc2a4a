// Runs of splitwise-sim and DistServe's simulator in other configurations than the recorded ones: the means that the
// simulators themselves gave for them, over the same requests of Azure's trace.

#include "serving/metrics.h"
#include "methods/system/cases/published_case.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace orrery;
namespace fs = std::filesystem;

namespace {

const std::string root = std::string(ORRERY_REFERENCE) + "/serving";

void write(const QTemporaryDir& folder, const char* name, const std::string& text) {
    std::ofstream(folder.path().toStdString() + "/" + name, std::ios::binary) << text;
}

struct Means {
    double response = 0, first = 0, each = 0;  ///< s; `each` per token of the answer, the first left out of the time
    double firstMedian = 0, firstP99 = 0;
};
Means meansOf(const PublishedCase& given, std::int32_t tokensBeyond) {
    const auto fleet = std::make_shared<const FleetSpec>(given.fleet);
    const auto stream = std::make_shared<const RequestStream>(given.requests);
    const auto run = simulate(fleet, stream);
    if (!run) return {};
    const ServingMetrics metrics = measure(*run, *fleet);
    Means means{metrics.endToEnd.mean, metrics.ttft.mean, 0, metrics.ttft.p50, metrics.ttft.p99};
    for (RequestIndex r = 0; r < stream->size(); ++r) {
        means.each += toSeconds(run->requests.ended[r] - run->requests.firstToken[r]) /
                      (stream->output[r] - tokensBeyond) / static_cast<double>(stream->size());
    }
    return means;
}

// The first `count` conversations, lengths cut to 1,500 and 500 tokens, at half the rate.
std::string cutConversations(std::size_t count) {
    std::ifstream file(root + "/data/traces/AzureLLMInferenceTrace_conv_2023.csv");
    std::string line, text = "req_id,start_time_s,prefill_lens,output_lens\n";
    std::getline(file, line);
    double begin = -1;
    for (std::size_t i = 0; i < count && std::getline(file, line); ++i) {
        // 2023-11-16 18:15:46.6805900,374,44
        std::istringstream cells(line.substr(11));
        int hours = 0, minutes = 0, prompt = 0, output = 0;
        double seconds = 0;
        char colon = 0;
        cells >> hours >> colon >> minutes >> colon >> seconds >> colon >> prompt >> colon >> output;
        const double at = 3600.0 * hours + 60.0 * minutes + seconds;
        if (begin < 0) begin = at;
        std::ostringstream row;
        row.precision(15);
        row << i << ',' << 2 * (at - begin) << ',' << std::min(prompt, 1500) << ',' << std::min(output, 500) << '\n';
        text += row.str();
    }
    return text;
}

bool near(double mine, double theirs, double resolution) {
    return std::fabs(mine - theirs) <= 0.5 * resolution + 1e-9;
}

}  // namespace

class TestServingPeers : public QObject {
    Q_OBJECT
private slots:
    void splitwise_data() {
        QTest::addColumn<QString>("args");
        QTest::addColumn<double>("response");
        QTest::addColumn<double>("first");
        QTest::addColumn<double>("each");
        QTest::newRow("four H100, BLOOM")
            << R"("token_jsq","baseline","0","4","bloom-176b")" << 11.355 << .1885 << .0420;
        QTest::newRow("two and two H100, pools that lend")
            << R"("mixed_pool","splitwise_2_2","0","4","bloom-176b")" << 9.588 << .1877 << .0355;
        QTest::newRow("prompts on H100, tokens on A100")
            << R"("mixed_pool","splitwise","2","2","bloom-176b","start_state.split_type=heterogeneous")" << 12.814
            << .1889 << .0477;
        QTest::newRow("two H100, Llama-2")
            << R"("token_jsq","baseline","0","2","llama2-70b")" << 10.255 << .1287 << .0382;
    }
    void splitwise() {
        const std::string trace = root + "/cases/splitwise_conv2000_h100x2_llama_token_jsq/trace.csv";
        if (!fs::exists(trace)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        QFETCH(QString, args);
        QTemporaryDir folder;
        fs::copy_file(trace, folder.path().toStdString() + "/trace.csv");
        write(folder, "metrics.json", "{\"args\": [\"name\",\"conv2000\"," + args.toStdString() + "]}");
        const auto given = readSplitwiseCase(folder.path().toStdString(), root + "/data/splitwise/perf_model.csv");
        QVERIFY2(given, given ? "" : given.error().message.c_str());
        const Means means = meansOf(*given, 0);
        QFETCH(double, response);
        QFETCH(double, first);
        QFETCH(double, each);
        QVERIFY2(near(means.response, response, 1e-3), qPrintable(QString::number(means.response, 'g', 8)));
        QVERIFY2(near(means.first, first, 1e-4), qPrintable(QString::number(means.first, 'g', 8)));
        QVERIFY2(near(means.each, each, 1e-4), qPrintable(QString::number(means.each, 'g', 8)));
    }

    void distServe_data() {
        QTest::addColumn<QString>("args");
        QTest::addColumn<double>("mean");  // ms, of the time to first token
        QTest::addColumn<double>("median");
        QTest::addColumn<double>("p99");
        QTest::addColumn<double>("each");
        QTest::addColumn<double>("resolution");
        QTest::newRow("OPT-13B, 2 and 1")
            << R"("backend":"distserve","model":"facebook/opt-13b","tp_prefill":2,"pp_prefill":1,"tp_decode":1,"pp_decode":1)"
            << 89.43 << 91.45 << 252.26 << 49.77 << .01;
        QTest::newRow("OPT-66B, 4 and 4")
            << R"("backend":"distserve","model":"facebook/opt-66b","tp_prefill":4,"pp_prefill":1,"tp_decode":4,"pp_decode":1)"
            << 248.55 << 209.77 << 801.6 << 62.2 << .1;
        QTest::newRow("vLLM, OPT-13B")
            << R"("backend":"vllm","model":"facebook/opt-13b","tp_prefill":1,"pp_prefill":1,"tp_decode":1,"pp_decode":1)"
            << 245.2 << 217.8 << 731.7 << 414. << 1.;
    }
    void distServe() {
        if (!fs::exists(root + "/data/distserve")) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        QFETCH(QString, args);
        QTemporaryDir folder;
        write(folder, "requests.csv", cutConversations(1000));
        write(folder, "metrics.json", "{\"args\": {" + args.toStdString() + "}}");
        const auto given = readDistServeCase(folder.path().toStdString(), root + "/data/distserve");
        QVERIFY2(given, given ? "" : given.error().message.c_str());
        QCOMPARE(given->requests.size(), std::size_t(1000));
        const Means means = meansOf(*given, 1);
        QFETCH(double, mean);
        QFETCH(double, median);
        QFETCH(double, p99);
        QFETCH(double, each);
        QFETCH(double, resolution);
        QVERIFY2(near(1e3 * means.first, mean, resolution), qPrintable(QString::number(1e3 * means.first, 'g', 8)));
        QVERIFY(near(1e3 * means.firstMedian, median, resolution));
        QVERIFY(near(1e3 * means.firstP99, p99, resolution));
        QVERIFY2(near(1e3 * means.each, each, resolution), qPrintable(QString::number(1e3 * means.each, 'g', 8)));
    }

    // start_state.py: a divided machine of eight devices holds 8 ÷ tensor parallelism instances of its own role.
    void machinesAreFilled() {
        const std::string table = root + "/data/splitwise/perf_model.csv";
        const std::string trace = root + "/cases/splitwise_conv2000_h100x2_llama_token_jsq/trace.csv";
        if (!fs::exists(trace)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        QTemporaryDir folder;
        fs::copy_file(trace, folder.path().toStdString() + "/trace.csv");
        const auto metrics = [](const std::string& words) { return "{\"args\": [\"n\",\"conv\"," + words + "]}"; };
        write(folder, "metrics.json",
              metrics(R"("kv_jsq","splitwise_1_1","0","2","llama2-70b","start_state.token.tensor_parallelism=4")"));
        const auto given = readSplitwiseCase(folder.path().toStdString(), table);
        QVERIFY(given);
        QCOMPARE(given->fleet.replicas.size(), std::size_t(3));
        QVERIFY(given->fleet.replicas[0].role == ReplicaRole::Prefill);
        QVERIFY(given->fleet.replicas[2].role == ReplicaRole::Decode);
        const double bytes = given->fleet.replicas[0].kvBytesPerToken, gibi = 1073741824.0;
        QCOMPARE(given->fleet.replicas[0].kvBlocks, std::int64_t((8 * 80 * gibi - 135e9) / bytes));
        QCOMPARE(given->fleet.replicas[1].kvBlocks, std::int64_t((4 * 80 * gibi - 135e9) / bytes));
        for (const char* state : {"orca", "unallocated", ""}) {
            write(folder, "metrics.json", metrics("\"jsq\",\"" + std::string(state) + "\",\"0\",\"2\",\"llama2-70b\""));
            const auto refused = readSplitwiseCase(folder.path().toStdString(), table);
            QVERIFY(!refused);
            QCOMPARE(QString::fromStdString(refused.error().code), QString("splitwise.no-state"));
        }
    }
};

QTEST_GUILESS_MAIN(TestServingPeers)
#include "tst_serving_peers.moc"
