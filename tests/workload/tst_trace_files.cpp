// Traces in the forms of other tools: real files as they are, the same told by content, and damaged ones.

#include "base/random.h"
#include "base/text/csv_stream.h"
#include "base/text/tar_members.h"
#include "workload/traces/chakra.h"
#include "workload/traces/operator_table.h"
#include "workload/traces/read_trace.h"
#include "workload/traces/recorded_json.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>

using namespace orrery;

namespace {

std::string dataFile(std::string_view path) {
    return std::string(ORRERY_REFERENCE) + "/training/data/" + std::string(path);
}

ReadTrace readGood(const std::string& path, const TraceReading& how = {}) {
    auto read = readTrace(path, how);
    if (!read) qFatal("%s: %s", path.c_str(), toText(read.error()).c_str());
    return std::move(*read);
}

double recordedOf(const ExecutionTrace& trace, std::string_view begin) {
    double sum = 0;
    for (const TraceNode& node : trace.nodes)
        if (trace.name(node).starts_with(begin)) sum += node.microseconds;
    return sum;
}

std::map<TraceCollective, std::pair<std::size_t, double>> collectivesOf(const ExecutionTrace& trace) {
    std::map<TraceCollective, std::pair<std::size_t, double>> sums;
    for (const TraceNode& node : trace.nodes) {
        if (node.work != TraceWork::Collective) continue;
        ++sums[node.collective].first;
        sums[node.collective].second += static_cast<double>(node.bytes);
    }
    return sums;
}

bool hasWarning(const ExecutionTrace& trace, std::string_view code) {
    return std::any_of(trace.warnings.begin(), trace.warnings.end(), [&](const auto& one) { return one.code == code; });
}

/// An archive of files, as tar writes it.
std::string archive(const std::vector<std::pair<std::string, std::string>>& files) {
    std::string all;
    for (const auto& [name, text] : files) {
        std::string header(512, '\0');
        const auto put = [&](std::size_t at, std::string_view value) { header.replace(at, value.size(), value); };
        put(0, name);
        put(124, fmt::format("{:011o}", text.size()));
        put(148, "        ");
        put(156, "0");
        put(257, "ustar");
        unsigned sum = 0;
        for (const char c : header) sum += static_cast<unsigned char>(c);
        put(148, fmt::format("{:06o}", sum));
        header[154] = '\0';
        all += header + text + std::string((512 - text.size() % 512) % 512, '\0');
    }
    return all + std::string(1024, '\0');
}

constexpr std::string_view three_layers =
    "HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 2\n3\n"
    "a -1 10 ALLGATHER 64 20 NONE 0 30 ALLREDUCE 128 5\n"
    "b -1 11 NONE 0 21 ALLTOALL 32 31 NONE 0 5\n"
    "c -1 12 NONE 0 22 NONE 0 32 REDUCESCATTER 256 5\n";

}  // namespace

class TstTraceFiles : public QObject {
    Q_OBJECT
private slots:
    void everyFileOfOthers();
    void layersOfResnet();
    void layersOfSimai();
    void orders();
    void recomputation();
    void operatorsOfTrioSim();
    void recordedByPyTorch();
    void timelineBesidePyTorch();
    void graphAsJson();
    void archives();
    void damagedTexts();
    void damagedBytes();
};

// Whatever stands in the folders of traces loads, or is refused as what it is.
void TstTraceFiles::everyFileOfOthers() {
    if (!std::ifstream(dataFile("astra1/README.md"))) QSKIP("no reference data");
    const std::vector<std::string> tables{
        "README.md",  "SOURCE.txt",       "ata_ratio.csv",    "nic_ratio.csv",
        "busbw.yaml", "aiob_Example.txt", "nvlink_ratio.csv", "Workload_spec_v1.1.csv"};
    int read = 0, refused = 0;
    for (const char* folder : {"astra1", "simai", "triosim", "chakra"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(dataFile(folder))) {
            if (!entry.is_regular_file()) continue;
            const std::string name = entry.path().filename().string();
            const bool table = std::find(tables.begin(), tables.end(), name) != tables.end() ||
                               name.find("_tensor_") != std::string::npos;
            const auto trace = readTrace(entry.path().string());
            QVERIFY2(trace.has_value() != table, trace ? name.c_str() : toText(trace.error()).c_str());
            if (table) QCOMPARE(trace.error().code, std::string("trace.form"));
            if (trace) QVERIFY2(!trace->trace.nodes.empty(), name.c_str());
            ++(table ? refused : read);
        }
    }
    QVERIFY(read >= 24);
    QVERIFY(refused >= 10);
}

// Sums as its generator's authors count them: 1,095,314 us and 102,011,648 B in 54 layers.
void TstTraceFiles::layersOfResnet() {
    const std::string path = dataFile("astra1/Resnet50_DataParallel.txt");
    if (!std::ifstream(path)) QSKIP("no reference data");
    const ReadTrace read = readGood(path);
    QCOMPARE(read.form, std::string("layers of ASTRA-sim 1.0"));
    const TraceTotals all = totals(read.trace);
    QCOMPARE(all.computes, std::size_t{54 * 3});
    QCOMPARE(all.collectives, std::size_t{54});
    QCOMPARE(all.microseconds, 1095314.0);
    QCOMPARE(all.collectiveBytes, 102011648.0);
    // The same nodes as in the recorded case, one behind the other.
    for (std::size_t i = 0; i < read.trace.nodes.size(); ++i)
        QCOMPARE(read.trace.waitsOf(read.trace.nodes[i]).size(), std::size_t{i > 0 ? 1U : 0U});
    QCOMPARE(totals(readGood(path, {LayerOrder::Overlap, 0}).trace).microseconds, 1095314.0 - 12864.0);
}

// 9,216 devices in 12 stages: groups of 2, of 16 that share experts, their likes; all-gathers give shards.
void TstTraceFiles::layersOfSimai() {
    const std::string path = dataFile("simai/workload_analytical.txt");
    if (!std::ifstream(path)) QSKIP("no reference data");
    const ReadTrace read = readGood(path);
    QCOMPARE(read.form, std::string("layers of SimAI"));
    QCOMPARE(read.trace.ranks, std::int64_t{768});
    QCOMPARE(read.trace.groups.size(), std::size_t{4});
    const std::vector<std::pair<std::int64_t, std::int64_t>> groups{{2, 1}, {384, 2}, {16, 2}, {24, 32}};
    for (std::size_t g = 0; g < groups.size(); ++g) {
        QCOMPARE(read.trace.members[g].size, groups[g].first);
        QCOMPARE(read.trace.members[g].stride, groups[g].second);
    }
    QVERIFY(hasWarning(read.trace, "trace.pipeline"));
    const auto sums = collectivesOf(read.trace);
    QCOMPARE(sums.at(TraceCollective::AllToAll).first, std::size_t{1536});
    // The first all-gather: 2,807,758,848 B among 384.
    const auto gather = std::find_if(read.trace.nodes.begin(), read.trace.nodes.end(), [](const TraceNode& node) {
        return node.work == TraceWork::Collective && node.collective == TraceCollective::AllGather && node.group == 1;
    });
    QVERIFY(gather != read.trace.nodes.end());
    QCOMPARE(gather->bytes, std::int64_t{2807758848 / 384});
    const ReadTrace micro = readGood(dataFile("simai/microAllReduce.txt"));
    QCOMPARE(micro.trace.ranks, std::int64_t{8});
    // Nanoseconds: 556,000 and two of 1, of two rows.
    QVERIFY(std::abs(totals(micro.trace).microseconds - 2 * 556.002) < 1e-6);
    // A header that speaks of 839 layers above 33 of them.
    QVERIFY(hasWarning(readGood(dataFile("simai/L65B-M1-C05_Llama65B_megatron_tp8_pp1_mbs1_A100.txt")).trace,
                       "trace.rows"));
}

void TstTraceFiles::orders() {
    const auto table = parseLayerText(three_layers, "t");
    QVERIFY2(table.has_value(), table ? "" : toText(table.error()).c_str());
    const auto namesOf = [&](LayerOrder order) {
        const auto trace = layerTrace(*table, order, 4, "t");
        if (!trace) qFatal("%s", toText(trace.error()).c_str());
        std::string names;
        for (const TraceNode& node : trace->nodes) {
            names += trace->name(node);
            for (const std::uint32_t at : trace->waitsOf(node)) names += fmt::format("<{}", at);
            if (node.work == TraceWork::Collective)
                names += fmt::format(" {}", trace->groups[static_cast<std::size_t>(node.group)]);
            names += "; ";
        }
        return names;
    };
    QCOMPARE(
        namesOf(LayerOrder::Blocking),
        std::string(
            "a forward; a forward all-gather<0 model parallel; b forward<1; c forward<2; c input gradient<3; c weight "
            "gradient<4; c weight gradient reduce-scatter<5 data parallel; b input gradient<6; b input gradient "
            "all-to-all<7 model parallel; b weight gradient<8; a input gradient<9; a weight gradient<10; a weight "
            "gradient all-reduce<11 data parallel; "));
    QCOMPARE(
        namesOf(LayerOrder::Overlap),
        std::string(
            "a forward; a forward all-gather<0 model parallel; b forward<1; c forward<2; c weight gradient<3; c weight "
            "gradient reduce-scatter<4 data parallel; c input gradient<4; b weight gradient<6; b input gradient<7; b "
            "input gradient all-to-all<8 model parallel; a weight gradient<9; a weight gradient all-reduce<10 data "
            "parallel; "));
    const auto odd = layerTrace(*table, LayerOrder::Blocking, 5, "t");
    QVERIFY(!odd && odd.error().code == "trace.value");
}

// A recomputed layer asks for all from the last checkpoint on.
void TstTraceFiles::recomputation() {
    std::string text =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 2 checkpoints: 2 0 3 checkpoint_initiates: 2 2 "
        "4\n5\n";
    for (int i = 0; i < 5; ++i) text += fmt::format("l{} -1 {} NONE 0 1 NONE 0 1 NONE 0 0\n", i, 100 + i);
    const auto table = parseLayerText(text, "t");
    QVERIFY2(table.has_value(), table ? "" : toText(table.error()).c_str());
    QVERIFY(!table->simai);
    const auto trace = layerTrace(*table, LayerOrder::Blocking, 2, "t");
    QVERIFY(trace.has_value());
    // Forward 0 … 4, again 3, 4 and 0, 1, 2; ten gradients.
    QCOMPARE(totals(*trace).microseconds, 2 * 510.0 + 10);
    text.replace(text.find("2 2 4"), 5, "2 2 9");
    const auto beyond = parseLayerText(text, "t");
    QVERIFY(!beyond && beyond.error().code == "trace.value" && beyond.error().place.line == 1);
}

void TstTraceFiles::operatorsOfTrioSim() {
    if (!std::ifstream(dataFile("triosim/resnet50_trace_h100_bs128.csv"))) QSKIP("no reference data");
    const ReadTrace read = readGood(dataFile("triosim/resnet50_trace_h100_bs128.csv"));
    QCOMPARE(recordedOf(read.trace, "forward "), 24719.0);
    QCOMPARE(recordedOf(read.trace, "backward "), 57720.0);
    QCOMPARE(recordedOf(read.trace, "optimizer "), 870.0);
    QCOMPARE(read.trace.nodes.size(), std::size_t{396});
    QCOMPARE(read.trace.nodes.front().tensorBytes, 4.0 * (19267584 + 9408 + 102760448));
    const ReadTrace vgg = readGood(dataFile("triosim/vgg13_trace_h100_bs128.csv"));
    QCOMPARE(totals(vgg.trace).microseconds, 28204.0 + 62602 + 3656);
}

// ResNet-50 under DistributedDataParallel: two broadcasts, five buckets of gradients of 25,557,032 parameters.
void TstTraceFiles::recordedByPyTorch() {
    const std::string path = dataFile("chakra/pytorch_et_0.json.gz");
    if (!std::ifstream(path)) QSKIP("no reference data");
    const ReadTrace read = readGood(path);
    QCOMPARE(read.form, std::string("a PyTorch execution trace"));
    QCOMPARE(read.trace.schema, std::string("1.0.2-chakra.0.0.4"));
    QCOMPARE(read.trace.nodes.size(), std::size_t{4801});
    const auto sums = collectivesOf(read.trace);
    QCOMPARE(sums.size(), std::size_t{2});
    const auto [reductions, bytes] = sums.at(TraceCollective::AllReduce);
    QCOMPARE(bytes, 4.0 * (2049000 + 7875584 + 6563840 + 6637568 + 2431040));
    QCOMPARE(bytes, 4.0 * 25557032);
    QCOMPARE(reductions, std::size_t{5});
    const std::pair<std::size_t, double> sent{2, 53120.0 * 4 + 53 * 8};
    QVERIFY(sums.at(TraceCollective::Broadcast) == sent);
    QVERIFY(!hasWarning(read.trace, "trace.itself") && !hasWarning(read.trace, "trace.dangling"));
    const ReadTrace gathers = readGood(dataFile("chakra/1.0.2-chakra.0.0.4.json.gz"));
    QCOMPARE(gathers.trace.ranks, std::int64_t{2});
    QCOMPARE(collectivesOf(gathers.trace).at(TraceCollective::AllGather).first, std::size_t{10});
    for (const TraceNode& node : gathers.trace.nodes) QCOMPARE(node.group, -1);
}

// An operator that calls two, three kernels on two streams, an all-reduce: the copy had been launched and began when
// the all-reduce ended.
void TstTraceFiles::timelineBesidePyTorch() {
    const auto host = [](int id, const char* name, int caller, int function, const char* values = "") {
        return fmt::format(
            "{{\"id\": {}, \"name\": \"{}\", \"ctrl_deps\": {}, \"inputs\": {{\"values\": [{}]}}, \"attrs\": "
            "[{{\"name\": "
            "\"rf_id\", \"type\": \"uint64\", \"value\": {}}}]}}",
            id, name, caller, values, function);
    };
    const auto event = [](const char* category, const char* name, double begin, double duration,
                          std::string arguments) {
        return fmt::format(
            "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 0, \"tid\": 1, \"ts\": {}, \"dur\": {}, "
            "\"args\": {{{}}}}}",
            category, name, begin, duration, arguments);
    };
    const auto function = [](int external, int id) {
        return fmt::format("\"External id\": {}, \"Record function id\": {}", external, id);
    };
    const auto kernel = [](int external, int correlation, int stream) {
        return fmt::format("\"External id\": {}, \"correlation\": {}, \"stream\": {}", external, correlation, stream);
    };
    const std::string trace =
        "{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": [" + host(1, "process", 1, 0) + ", " + host(2, "step", 1, 5) +
        ", " + host(3, "aten::mm", 2, 6) + ", " + host(4, "record_param_comms", 2, 7) + ", " +
        host(5, "nccl:all_reduce", 4, 8, "[3, 4, 0, 1000, 4, \"cuda:0\"]") + ", " + host(6, "aten::copy_", 2, 9) + "]}";
    const std::string line = "{\"schemaVersion\": 1, \"traceEvents\": [" +
                             event("cpu_op", "step", 0, 100, function(50, 5)) + ", " +
                             event("cpu_op", "aten::mm", 10, 20, function(51, 6)) + ", " +
                             event("cpu_op", "record_param_comms", 30, 20, function(52, 7)) + ", " +
                             event("user_annotation", "nccl:all_reduce", 35, 10, function(53, 8)) + ", " +
                             event("cpu_op", "aten::copy_", 60, 30, function(54, 9)) + ", " +
                             event("cuda_runtime", "cudaLaunchKernel", 15, 5, "\"correlation\": 900") + ", " +
                             event("cuda_runtime", "cudaLaunchKernelExC", 40, 5, "\"correlation\": 901") + ", " +
                             event("cuda_runtime", "cudaMemcpyAsync", 70, 5, "\"correlation\": 902") + ", " +
                             event("gpu_memcpy", "Memcpy DtoD", 420, 30, kernel(54, 902, 7)) + ", " +
                             event("kernel", "gemm", 20, 200, kernel(51, 900, 7)) + ", " +
                             event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 221, 199, kernel(53, 901, 20)) +
                             ", {\"ph\": \"i\", \"name\": \"mark\", \"ts\": 4}]}";
    const auto timeline = parseKineto(line, "k.json");
    QVERIFY2(timeline.has_value(), timeline ? "" : toText(timeline.error()).c_str());
    QCOMPARE(timeline->kernels.size(), std::size_t{3});
    QCOMPARE(timeline->kernels.front().launched, 15.0);
    const auto linked = parsePyTorchTrace(trace, "t.json", &*timeline);
    QVERIFY2(linked.has_value(), linked ? "" : toText(linked.error()).c_str());
    QVERIFY2(linked->warnings.empty(), linked->warnings.empty() ? "" : toText(linked->warnings.front()).c_str());
    std::string seen;
    for (const TraceNode& node : linked->nodes) {
        seen += fmt::format("{} {} {}", node.id, node.microseconds, node.onHost ? "host" : "device");
        std::vector<std::uint64_t> waits;
        for (const std::uint32_t at : linked->waitsOf(node)) waits.push_back(linked->nodes[at].id);
        std::sort(waits.begin(), waits.end());
        for (const std::uint64_t id : waits) seen += fmt::format(" <{}", id);
        seen += "; ";
    }
    // The step's own: 100 without 20, 20 and 30. The gemm is 7, the copy 8.
    QCOMPARE(seen,
             std::string("1 0 host; 2 30 host <1; 3 20 host <2; 4 20 host <2; 5 199 device <4 <7; 6 30 host <2; 7 200 "
                         "device <3; 8 30 device <5 <6 <7; "));
    QCOMPARE(linked->nodes[4].bytes, std::int64_t{4000});
    const auto stranger = parseKineto("{\"traceEvents\": []}", "k.json");
    QVERIFY(!stranger && stranger.error().code == "trace.empty");
    const auto cut = parseKineto(std::string_view(line).substr(0, 300), "k.json");
    QVERIFY(!cut && cut.error().place.file == "k.json" && cut.error().place.line == 1);
    RandomStream random(77);
    for (int round = 0; round < 2000; ++round) {
        std::string bad = line;
        for (std::size_t n = 1 + random.below(3); n > 0; --n)
            bad[random.below(bad.size())] = static_cast<char>(random.below(256));
        if (const auto read = parseKineto(bad, "k"))
            if (const auto both = parsePyTorchTrace(trace, "t", &*read); !both) QVERIFY(!both.error().message.empty());
    }
}

// The same step as .et, which ASTRA-sim's feeder refuses, and as JSON: kernels of 329,543 us.
void TstTraceFiles::graphAsJson() {
    if (!std::ifstream(dataFile("chakra/chakra_tests/json_trace.tar.gz"))) QSKIP("no reference data");
    const ReadTrace json = readGood(dataFile("chakra/chakra_tests/json_trace.tar.gz"));
    QCOMPARE(json.form, std::string("a Chakra trace as JSON"));
    QCOMPARE(json.trace.nodes.size(), std::size_t{3664});
    QVERIFY(hasWarning(json.trace, "trace.archive") && hasWarning(json.trace, "trace.no-size"));
    double device = 0, host = 0;
    for (const TraceNode& node : json.trace.nodes) (node.onHost ? host : device) += node.microseconds;
    QCOMPARE(device, 329543.0);
    QCOMPARE(host, 52252.0);
    QCOMPARE(collectivesOf(json.trace).at(TraceCollective::AllReduce).first, std::size_t{5});
    const ReadTrace et = readGood(dataFile("chakra/chakra_tests/feeder_tests_trace.tar.gz"));
    QCOMPARE(et.form, std::string("a Chakra trace"));
    QCOMPARE(et.trace.nodes.size(), std::size_t{3664});
}

void TstTraceFiles::archives() {
    const std::string packed = archive({{"folder/._t.txt", "companion, the longest of all of them in this archive"},
                                        {"folder/t.txt", "hello"},
                                        {"empty", ""}});
    QVERIFY(isTar(packed));
    const auto members = tarMembers(packed, "t.tar");
    QVERIFY2(members.has_value(), members ? "" : toText(members.error()).c_str());
    QCOMPARE(members->size(), std::size_t{2});
    QCOMPARE(members->front().name, std::string("folder/t.txt"));
    QCOMPARE(std::string(members->front().text), std::string("hello"));
    // Without the empty blocks at the end, as some write it.
    QCOMPARE(tarMembers(std::string_view(packed).substr(0, packed.size() - 1024), "t.tar")->size(), std::size_t{2});
    for (std::size_t at : {std::size_t{0}, std::size_t{124}, std::size_t{1024 + 130}}) {
        std::string bad = packed;
        bad[at] = 'x';
        const auto refused = tarMembers(bad, "t.tar");
        QVERIFY(!refused && refused.error().code == "archive.damaged" && refused.error().place.file == "t.tar");
    }
    const auto cut = tarMembers(std::string_view(packed).substr(0, 530), "t.tar");
    QVERIFY(!cut && cut.error().message.find("beyond the end") != std::string::npos);
    RandomStream random(9);
    for (int round = 0; round < 2000; ++round) {
        std::string bad = packed.substr(0, random.below(packed.size() + 1));
        if (!bad.empty()) bad[random.below(bad.size())] = static_cast<char>(random.below(256));
        if (const auto read = tarMembers(bad, "t"); read)
            for (const TarMember& one : *read) QVERIFY(one.text.data() + one.text.size() <= bad.data() + bad.size());
    }
}

// What is wrong is said with its line.
void TstTraceFiles::damagedTexts() {
    struct Case {
        std::string text, code;
        int line;
    };
    const std::string layers(three_layers);
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string text = layers;
        text.replace(text.find(from), from.size(), to);
        return text;
    };
    const std::vector<Case> wrong{
        {with("model_parallel_NPU_group: 2", "model_parallel_NPU_group: 0"), "trace.value", 1},
        {with("model_parallel_NPU_group: 2", "model_parallel_NPU_group:"), "trace.value", 1},
        {with("\n3\n", "\nthree\n"), "trace.syntax", 2},
        {with("a -1 10", "a -1 ten"), "trace.value", 3},
        {with("a -1 10", "a -1 -10"), "trace.value", 3},
        {with("a -1 10", "a -1 1e300"), "trace.value", 3},
        {with("ALLTOALL 32", "ALLTOALL"), "trace.syntax", 4},
        {with("ALLTOALL 32", "ALLTONONE 32"), "trace.value", 4},
        {with("REDUCESCATTER 256", "REDUCESCATTER 9e99"), "trace.value", 5},
        {"DATA\n2\n", "trace.syntax", 2},
        {"DATA", "trace.syntax", 1}};
    for (const Case& one : wrong) {
        const auto read = parseLayerText(one.text, "layers.txt");
        QVERIFY2(!read, one.text.c_str());
        QCOMPARE(read.error().code, one.code);
        QCOMPARE(read.error().place.file, std::string("layers.txt"));
        QVERIFY2(read.error().place.line == one.line, toText(read.error()).c_str());
    }
    const std::string head =
        "OperatorID,OperatorName,Operator_input,Operator_output,Operator_cudatime,Operator_cudatimenooverlap,InputSize,"
        "OutputSize,gpuid,stage,tpflag\n1,conv,[4],[5],12,11,[100; 28],[64],0,forward,1\n";
    QVERIFY(operatorTrace(head, "t.csv").has_value());
    for (const char* row :
         {"2,conv,[4],[5],fast,11,[1],[1],0,forward,1\n", "2,conv,[4],[5],-1,11,[1],[1],0,forward,1\n",
          "2,conv,[4],[5],1,11,[1;x],[1],0,forward,1\n", "2,conv,[4],[5],1,11,1,[1],0,forward,1\n",
          "2,conv,[4],[5],1,11,[1],[1],0,sideways,1\n", "2,conv\n"}) {
        const auto read = operatorTrace(head + row, "t.csv");
        QVERIFY2(!read, row);
        QCOMPARE(read.error().place.line, 3);
        QCOMPARE(read.error().place.file, std::string("t.csv"));
    }
    const auto empty = operatorTrace(head.substr(0, head.find('\n') + 1), "t.csv");
    QVERIFY(!empty && empty.error().code == "trace.empty");
    const std::string log =
        "comm_type,comm_group,comm_group_size,msg_size,stage,_elapsed_time\n"
        "CommType.all_gather,CommGroup.tp_group,4,1024,step,0.5\n";
    const auto gather = exchangeLogTrace(log, "log.csv");
    QVERIFY(gather.has_value());
    QCOMPARE(gather->nodes.front().bytes, std::int64_t{256});
    QCOMPARE(gather->nodes.front().microseconds, 500.0);
    const auto strange = exchangeLogTrace(log + "CommType.shout,CommGroup.tp_group,4,1024,step,0.5\n", "log.csv");
    QVERIFY(!strange && strange.error().place.line == 3);
    const std::string graph =
        "{\"workload_graph\": [\n{\"Id\": 1, \"Name\": \"a\", \"NodeType\": 4, \"runtime\": 7},\n"
        "{\"Id\": 2, \"NodeType\": 9}]}";
    const auto type = parseChakraJson(graph, "t.json");
    QVERIFY(!type && type.error().code == "trace.value");
    QCOMPARE(type.error().place.line, 3);
    QCOMPARE(static_cast<int>(recordedForm("{\"traceEvents\": []}")), static_cast<int>(RecordedForm::Kineto));
}

// Bytes changed and files cut: an answer or a diagnostic, whatever the form.
void TstTraceFiles::damagedBytes() {
    const std::string json =
        "{\"schema\": \"1.0.2\", \"nodes\": [{\"id\": 1, \"name\": \"root\", \"ctrl_deps\": 1}, {\"id\": 2, \"name\": "
        "\"record_param_comms\", \"ctrl_deps\": 1, \"inputs\": {\"values\": [[[3, 4, 0, 8, 4, \"cuda:0\"]], 5, [\"7\", "
        "\"tp\"]]}}, "
        "{\"id\": 3, \"name\": \"nccl:all_reduce\", \"ctrl_deps\": 2, \"inputs\": {\"values\": [[3, 4, 0, 8, 4, "
        "\"cuda:0\"]]}}]}";
    const auto good = parsePyTorchTrace(json, "t");
    QVERIFY2(good.has_value(), good ? "" : toText(good.error()).c_str());
    QCOMPARE(good->nodes.back().bytes, std::int64_t{32});
    QCOMPARE(good->groups, std::vector<std::string>{"7"});
    RandomStream random(21);
    int refused = 0;
    const std::string texts[] = {json, std::string(three_layers)};
    for (int round = 0; round < 4000; ++round) {
        std::string bad = texts[round % 2];
        if (random.below(2) == 0) bad.resize(random.below(bad.size()));
        for (std::size_t n = random.below(3); n > 0 && !bad.empty(); --n)
            bad[random.below(bad.size())] = static_cast<char>(random.below(256));
        if (round % 2 == 0) {
            const auto read = parsePyTorchTrace(bad, "t");
            refused += read ? 0 : 1;
            if (!read) QVERIFY(!read.error().message.empty());
        } else if (const auto table = parseLayerText(bad, "t"); !table) {
            QVERIFY(!table.error().message.empty());
            ++refused;
        } else {
            const auto trace = layerTrace(*table, LayerOrder::Overlap, 0, "t");
            if (!trace) QVERIFY(!trace.error().message.empty());
        }
    }
    QVERIFY(refused > 1000);
}

QTEST_APPLESS_MAIN(TstTraceFiles)
#include "tst_trace_files.moc"
