// Methods over kernels against whole models that others measured: NeuSight's labels (fp32, PyTorch 2.1 eager and
// compiled, one GPU; repo sitar-lab/NeuSight 6945927d), none of which is used to fit anything.

#include "evaluation/csv_file.h"
#include "evaluation/error_metrics.h"
#include "hardware/files/catalogue.h"
#include "methods/among_all.h"
#include "methods/model/model_methods.h"
#include "workload/costs.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

using namespace orrery;

namespace {

const std::string folder = ORRERY_REFERENCE;

const std::map<std::string, std::string> devices{{"NVIDIA_A100-PCIE-40GB", "a100-40-pcie"},
                                                 {"NVIDIA_A100_80GB_PCIe", "a100-80-pcie"},
                                                 {"Tesla_V100-PCIE-32GB", "v100-pcie"},
                                                 {"Tesla_P100-PCIE-16GB", "p100"},
                                                 {"Tesla_P4", "p4"},
                                                 {"Tesla_T4", "t4"},
                                                 {"NVIDIA_L4", "l4"},
                                                 {"NVIDIA_H100_80GB_HBM3", "h100-sxm"},
                                                 {"AMD_Instinct_MI100", "mi100"},
                                                 {"AMD_Instinct_MI210", "mi210"}};

struct Label {
    std::string device, model, option;
    bool training = false;
    std::int64_t sequence = 0, batch = 0;
    double seconds = 0;
};

std::vector<Label> labels() {
    const auto file = readCsv(folder + "/gpu/neusight/e2e_measured_labels.csv");
    std::vector<Label> all;
    if (!file) return all;
    for (std::size_t i = 0; i < file->rows.size(); ++i) {
        const auto& r = file->rows[i];
        if (r.size() < 9) continue;
        all.push_back({r[0], r[1], r[5], r[2] == "train", static_cast<std::int64_t>(*file->number(i, 3)),
                       static_cast<std::int64_t>(*file->number(i, 4)), *file->number(i, 7) * 1e-3});
    }
    return all;
}

/// Hugging Face's configurations. GPT-3's of Brown et al. (arXiv:2005.14165, table 2.1), as NeuSight builds them on
/// GPT-2's code. The table gives XL 24 heads of 128 and a width of 2048, which do not agree; the heads are taken, since
/// NeuSight predicts 1822 ms for XL on A100-40 (batch 2 of 2048 tokens) and a width of 2048 could be done in 650. The
/// measured label agrees with the wider one, so these rows are not wholly blind.
std::string configOf(const std::string& model) {
    const auto gpt = [](int layers, int heads, int width, int positions) {
        return fmt::format(R"({{"model_type": "gpt2", "n_layer": {}, "n_head": {}, "n_embd": {}, "n_positions": {},
            "vocab_size": 50257}})",
                           layers, heads, width, positions);
    };
    if (model == "gpt2_large") return gpt(36, 20, 1280, 1024);
    if (model == "gpt3_xl") return gpt(24, 24, 3072, 2048);
    if (model == "gpt3_27") return gpt(32, 32, 2560, 2048);
    if (model == "opt_13") {
        return R"({"model_type": "opt", "num_hidden_layers": 24, "num_attention_heads": 32, "hidden_size": 2048,
            "ffn_dim": 8192, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 2048,
            "do_layer_norm_before": true, "activation_function": "relu"})";
    }
    return {};
}

/// The masked-language head that BERT is trained with: dense, GeLU, norm, and the vocabulary (BertForPreTraining).
WorkloadPtr withHead(const Workload& bert) {
    Graph graph = bert.graph;
    TensorId last = -1;
    for (const Operator& op : graph.operators) {
        if (op.kind == OperatorKind::Normalization) last = op.outputs[0];
    }
    const Tensor hidden = *graph.tensor(last);
    const auto add = [&](std::string name, std::string type, OperatorKind kind, std::vector<Shape> weights,
                         std::int64_t width) {
        Operator op;
        op.name = std::move(name);
        op.type = std::move(type);
        op.kind = kind;
        op.inputs = {last};
        for (Shape& shape : weights) {
            op.inputs.push_back(
                graph.addTensor({op.name + ".weight", hidden.type, shape, true, TensorRole::Weight, 0}));
        }
        Tensor out = hidden;
        out.name = op.name;
        out.shape.back() = width;
        out.role = TensorRole::Activation;
        last = graph.addTensor(out);
        op.outputs = {last};
        graph.operators.push_back(std::move(op));
    };
    add("transform", "Linear", OperatorKind::MatMul, {{1024, 1024}, {1024}}, 1024);
    add("transform_act", "Gelu", OperatorKind::Elementwise, {}, 1024);
    add("transform_norm", "LayerNormalization", OperatorKind::Normalization, {{1024}, {1024}}, 1024);
    add("decoder", "Linear", OperatorKind::MatMul, {{1024, 30522}, {30522}}, 30522);
    graph.outputs.insert(graph.outputs.begin(), last);
    return finishWorkload("bert-large-pretraining", "BERT large with its head", bert.recipe, std::move(graph), {},
                          bert.transformer);
}

class Asker {
public:
    Expected<WorkloadPtr> workload(const Label& label) {
        WorkloadOptions options;
        options.weights = options.activations = options.kv = DType::F32;
        options.flashAttention = false;
        options.sequence = label.sequence;
        options.batch = label.batch;
        if (label.model == "bert_large") {
            auto bert = loadWorkload({"bert-large", options});
            if (!bert || !label.training) return bert;
            return withHead(**bert);
        }
        const QString path = dir_.filePath(QString::fromStdString(label.model));
        QDir().mkpath(path);
        QFile file(path + "/config.json");
        if (!file.open(QIODevice::WriteOnly)) return fail("test", "cannot write");
        file.write(configOf(label.model).c_str());
        file.close();
        return loadWorkload({file.fileName().toStdString(), options});
    }
    Expected<Estimate> ask(const Label& label, const std::string& method) {
        auto workload = this->workload(label);
        if (!workload) return tl::unexpected(workload.error());
        auto loaded = loadHardware(devices.at(label.device));
        if (!loaded) return tl::unexpected(loaded.error());
        EstimateContext context{*executor_, {}};
        context.wantTimeline = false;
        context.options = {{"launch", "eager"},
                           {"fusion", label.option == "fusion" ? "compile" : "none"},
                           {"step", label.training ? "training" : "inference"},
                           {"optimizer", "none"}};
        return estimate(*findMethod(method), {std::make_shared<const Hardware>(std::move(loaded->hardware)), *workload},
                        context);
    }

private:
    QTemporaryDir dir_;
    std::unique_ptr<Executor> executor_ = makeSerialExecutor();
};

struct Tally {
    std::vector<double> predicted, measured;
    int inside = 0;
};

void print(const std::string& name, const Tally& tally) {
    if (tally.measured.empty()) return;
    const auto s = summarise(tally.predicted, tally.measured);
    fmt::print("{}: {} rows, MAPE {:.1f} %, median {:.1f} %, bias {:+.1f} %, Kendall {:.2f}, {} inside\n", name, s.rows,
               100 * s.mape, 100 * s.medianError, 100 * s.bias, s.kendall, tally.inside);
}

}  // namespace

class TestModelEndToEnd : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!std::filesystem::exists(folder + "/gpu/neusight")) {
            QSKIP("the reference data is not here: nothing to compare with");
        }
    }
    // Static batches of LLaMA-7B under TensorRT-LLM 0.6.1 as NVIDIA published them: one prefill, then as many decode
    // steps as tokens, at the mean context. LLaMA-7B has Llama-2-7B's shapes.
    void staticBatchesOfLlama7B() {
        const auto file = readCsv(folder + "/serving/data/bench_tables/trtllm_static_batch_v0.6.1.csv");
        if (!file) QSKIP("the table of static batches is not here");
        const auto executor = makeSerialExecutor();
        const auto seconds = [&](const Method& method, const std::string& device, const WorkloadOptions& options) {
            auto workload = loadWorkload({"llama-2-7b", options});
            auto loaded = loadHardware(device);
            if (!workload || !loaded) return -1.0;
            EstimateContext context{*executor, {}};
            context.wantTimeline = false;
            const auto answer =
                estimate(method, {std::make_shared<const Hardware>(std::move(loaded->hardware)), *workload}, context);
            return answer ? answer->latency.value : -1.0;
        };
        for (const KernelMethod& kernels : kernelMethods()) {
            const Method& method = *findMethod(kernels.id);
            if (!standsAmongAll(method.card)) continue;
            Tally throughput, first;
            std::set<std::vector<std::string>> seen;
            for (const auto& cells : file->rows) {
                if (cells.size() < 9 || cells[0] != "LLaMA-7B" || cells[4] != "1") continue;
                if (!seen.insert({cells[1], cells[3], cells[5], cells[6]}).second) continue;
                const auto number = [&](std::size_t c) { return cells[c].empty() ? 0.0 : std::stod(cells[c]); };
                const std::string device = cells[1] == "H100" ? "h100-sxm" : "a100-80-sxm";
                WorkloadOptions options;
                if (cells[2] == "FP8") options.weights = options.activations = options.kv = DType::FP8;
                options.batch = static_cast<std::int64_t>(number(3));
                options.phase = Phase::Prefill;
                options.sequence = static_cast<std::int64_t>(number(5));
                const double prefill = seconds(method, device, options);
                if (prefill <= 0) continue;
                if (number(8) > 0) first.predicted.push_back(prefill), first.measured.push_back(1e-3 * number(8));
                if (number(7) <= 0) continue;
                options.phase = Phase::Decode;
                options.sequence = static_cast<std::int64_t>(number(5) + number(6) / 2);
                const double decode = seconds(method, device, options) * number(6);
                throughput.predicted.push_back(number(3) * number(6) / (prefill + decode));
                throughput.measured.push_back(number(7));
            }
            print(std::string(kernels.id) + " throughput of LLaMA-7B", throughput);
            print(std::string(kernels.id) + " first token of LLaMA-7B", first);
        }
    }
    void labelsOfNeuSight() {
        Asker asker;
        const char* verbose = std::getenv("ORRERY_ROWS");
        std::map<std::string, std::map<std::string, Tally>> tallies;
        int rows = 0, left = 0;
        for (const Label& label : labels()) {
            const bool parallel = !label.option.empty() && label.option != "fusion";
            const bool amd = label.device.starts_with("AMD");
            // Experts' sizes and capacity of its Switch are not public; four GPUs are not asked here.
            if (parallel || label.model == "switchxl4" || !devices.contains(label.device)) {
                ++left;
                continue;
            }
            rows += !amd;
            left += amd;
            for (const KernelMethod& method : kernelMethods()) {
                const std::string id(method.id);
                if (!standsAmongAll(findMethod(id)->card)) continue;
                const auto answer = asker.ask(label, id);
                if (!answer) {
                    QVERIFY2(answer.error().code == "method.not-applicable", toText(answer.error()).c_str());
                    continue;
                }
                const double seconds = answer->latency.value;
                const bool inside =
                    label.seconds >= answer->interval.low.value && label.seconds <= answer->interval.high.value;
                if (verbose) {
                    fmt::print("{} {} {} {} {}x{} {}: {:.1f} of {:.1f} ms, {:+.1f} %\n", id, label.device, label.model,
                               label.training ? "train" : "inf", label.batch, label.sequence, label.option,
                               1e3 * seconds, 1e3 * label.seconds, 100 * (seconds / label.seconds - 1));
                }
                if (amd) {  // rocBLAS on matrix units: shown, none of the targets
                    Tally& tally = tallies[id]["AMD"];
                    tally.predicted.push_back(seconds);
                    tally.measured.push_back(label.seconds);
                    tally.inside += inside;
                    continue;
                }
                for (const std::string& key : {std::string("all"),
                                               std::string(label.training             ? "training"
                                                           : label.option == "fusion" ? "compiled"
                                                                                      : "inference"),
                                               label.device, label.model}) {
                    Tally& tally = tallies[id][key];
                    tally.predicted.push_back(seconds);
                    tally.measured.push_back(label.seconds);
                    tally.inside += inside;
                }
            }
        }
        fmt::print("{} rows, {} others (several GPUs and Switch not asked, AMD apart)\n", rows, left);
        QVERIFY(rows >= 40);
        for (const auto& [id, groups] : tallies) {
            for (const auto& [key, tally] : groups) print(id + " " + key, tally);
            QVERIFY(summarise(groups.at("all").predicted, groups.at("all").measured).kendall > 0.8);
        }
        // NeuSight is 10.0 % off on its labels, a roofline 31 %.
        const Tally& hybrid = tallies.at("tile-hybrid").at("all");
        QVERIFY(summarise(hybrid.predicted, hybrid.measured).mape < 0.08);
        QVERIFY(20 * hybrid.inside >= 17 * static_cast<int>(hybrid.measured.size()));
    }
};

QTEST_GUILESS_MAIN(TestModelEndToEnd)
#include "tst_model_end_to_end.moc"
