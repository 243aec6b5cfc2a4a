#include "base/text/expression.h"
#include "evaluation/import_description.h"
#include "evaluation/reference_rows.h"
#include "evaluation/reference_table.h"
#include "learning/calibration.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace orrery;

namespace {

const std::string folder = std::string(ORRERY_REFERENCE) + "/gpu/";
const std::string bad = std::string(ORRERY_TEST_DATA) + "/bad/references/";

Expected<ReferenceTable> readOne(const std::string& file, const ReadOptions& options = {}) {
    auto read = readReferences(std::span(&file, 1), options);
    if (!read) return tl::unexpected(std::move(read.error()));
    return std::move(read->front());
}

std::string write(const QTemporaryDir& dir, const std::string& name, const std::string& text) {
    const auto path = dir.filePath(QString::fromStdString(name)).toStdString();
    if (name.ends_with(".gz")) {
        auto* file = gzopen(path.c_str(), "wb1");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
    } else {
        QFile file(QString::fromStdString(path));
        if (file.open(QIODevice::WriteOnly)) file.write(text.data(), static_cast<qint64>(text.size()));
    }
    return path;
}

const ReferenceDevice& deviceOf(const ReferenceTable& table, const ReferenceRow& row) {
    return table.devices[static_cast<std::size_t>(row.device)];
}

bool accepts(const char* filter, const ReferenceTable& table, const ReferenceRow& row) {
    return parseFilter(filter)->accepts(table, row);
}

const char* gemmHead = "gemm_dtype,m,n,k,latency\n";

}  // namespace

class TestReferenceTable : public QObject {
    Q_OBJECT
private slots:
    void arithmeticIsThatOfSchool_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("value");  // with a = 7, b = 2
        QTest::newRow("precedence") << "1 + a * b - 3" << 12.0;
        QTest::newRow("left to right") << "a - b - 1" << 4.0;
        QTest::newRow("parentheses") << "(a + 1) / b" << 4.0;
        QTest::newRow("floor") << "a // b + 1" << 4.0;
        QTest::newRow("sign") << "-a + -(b)" << -9.0;
        QTest::newRow("functions") << "max(a, b) * min(a, b)" << 14.0;
        QTest::newRow("quoted") << "`a` * 1e-1" << 0.7;
    }
    void arithmeticIsThatOfSchool() {
        QFETCH(QString, text);
        QFETCH(double, value);
        const auto expression = Expression::parse(text.toStdString());
        QVERIFY(expression);
        std::vector<double> values;
        for (const auto& name : expression->names()) values.push_back(name == "a" ? 7 : 2);
        QVERIFY(std::fabs(expression->evaluate(values) - value) < 1e-12);
    }
    void brokenArithmeticIsRefused() {
        for (const char* text : {"", "a +", "(a", "a b", "* a", "max(a)", "`a", "a $ b"}) {
            QVERIFY2(!Expression::parse(text), text);
        }
        QVERIFY(!Expression::parse(std::string(5000, '(') + "a" + std::string(5000, ')')));
        std::string sum = "a";
        for (int i = 0; i < 500; ++i) sum += "+a";
        QVERIFY(!Expression::parse(sum));
    }
    void everyShippedDescriptionIsReadAndNamesDevicesThatExist() {
        const auto& shipped = shippedImports();
        for (const auto& each : shipped.warnings) qWarning("%s", toText(each).c_str());
        QVERIFY(shipped.warnings.empty());
        QVERIFY(shipped.all.size() >= 14);
        for (const auto& each : shipped.all) {
            QVERIFY2(!each.source.empty() && !each.licence.empty() && !each.files.empty(), each.id.c_str());
        }
    }
    void fileNamesGiveTheirParts() {
        const auto found = matchFileName("{device}__{stack}__gemm.csv", "/a/b/h200_sxm__trtllm-1.3__gemm.csv.gz");
        QVERIFY(found);
        QCOMPARE(found->at("device"), std::string("h200_sxm"));
        QCOMPARE(found->at("stack"), std::string("trtllm-1.3"));
        QVERIFY(!matchFileName("{device}__{stack}__gemm.csv", "h200_sxm__gemm.csv"));
        QVERIFY(!matchFileName("{device}__{stack}__gemm.csv", "h200__x__moe.csv"));
        const auto nested = matchFileName("{device}/{any}/{any}/mlp.csv", "/x/y/a100/meta/llama/mlp.csv.gz");
        QVERIFY(nested && nested->at("device") == "a100");
        QVERIFY(!matchFileName("{device}/{any}/{any}/mlp.csv", "meta/mlp.csv"));
        QCOMPARE(plainName("Tesla V100-PCIE-32GB"), plainName("Tesla_V100-PCIE-32GB"));
    }
    void rowsBecomeKernelsByTheDescription() {
        const QTemporaryDir dir;
        const auto table = readOne(write(dir, "h200_sxm__stack-7__gemm.csv.gz",
                                         std::string(gemmHead) + "bfloat16,3,5,7,0.25\nfp8_block,128,256,512,0.5\n"
                                                                 "int4_wo,1,4096,4096,0.02\nnvfp4,64,64,64,0.01\n"));
        QVERIFY2(table, table ? "" : toText(table.error()).c_str());
        QCOMPARE(table->rows.size(), std::size_t{4});
        QCOMPARE(table->software, std::string("stack-7"));
        QCOMPARE(table->weightCopies, 5);
        QCOMPARE(deviceOf(*table, table->rows[0]).catalogue, std::string("h200-sxm"));
        const Kernel& plain = table->rows[0].kernel;
        QCOMPARE(plain.kind, KernelKind::Gemm);
        QCOMPARE(plain.m, std::int64_t{3});
        QCOMPARE(plain.n, std::int64_t{5});
        QCOMPARE(plain.k, std::int64_t{7});
        QCOMPARE(plain.flops, 2.0 * 3 * 5 * 7);
        QCOMPARE(table->rows[0].seconds, 0.25e-3);
        QCOMPARE(table->rows[0].line, 2);
        const Kernel& block = table->rows[1].kernel;
        QVERIFY(block.type == DType::FP8 && block.weightType == DType::FP8 && block.scaleBlock == 128);
        QVERIFY(block.quantisesInput);
        const Kernel& narrow = table->rows[2].kernel;
        QVERIFY(narrow.type == DType::BF16 && narrow.weightType == DType::I4);
        QVERIFY(table->rows[3].kernel.type == DType::FP4 && table->rows[3].kernel.scaleBlock == 16);
    }
    void olderTablesLackColumns() {
        const QTemporaryDir dir;
        const auto old = readOne(write(dir, "a100_sxm__s__generation_attention.csv",
                                       "batch_size,num_heads,num_key_value_heads,step,latency\n32,64,8,127,0.04\n"));
        QVERIFY(old);
        const Kernel& kernel = old->rows[0].kernel;
        QCOMPARE(kernel.attention.headDim, std::int64_t{128});
        QCOMPARE(kernel.attention.keys, std::int64_t{128});
        QCOMPARE(kernel.attention.queries, std::int64_t{1});
        QCOMPARE(kernel.attention.batch, std::int64_t{32});
        QCOMPARE(kernel.kvType, DType::BF16);
        const auto recent = readOne(write(dir, "l40s__s__generation_attention.csv",
                                          "batch_size,num_heads,num_key_value_heads,head_dim,window_size,"
                                          "kv_cache_dtype,step,latency\n2,8,8,64,128,fp8,1,0.02\n"));
        QVERIFY(recent);
        QCOMPARE(recent->rows[0].kernel.kvType, DType::FP8);
        QCOMPARE(recent->rows[0].kernel.window, std::int64_t{128});
    }
    // DeepSeek-V3: absorbed over the latent vector while decoding, expanded while reading prompts.
    void latentAttentionIsRead() {
        const QTemporaryDir dir;
        const std::string head = "mla_dtype,kv_cache_dtype,num_heads,batch_size,isl,tp_size,step,latency\n";
        const auto decode =
            readOne(write(dir, "b200_sxm__s__generation_mla.csv", head + "bfloat16,fp8,16,4,1,8,1023,0.02\n"));
        QVERIFY(decode);
        const Kernel& kernel = decode->rows[0].kernel;
        QCOMPARE(kernel.kind, KernelKind::DecodeAttention);
        QCOMPARE(kernel.kvType, DType::FP8);
        const AttentionShape& a = kernel.attention;
        QVERIFY(a.batch == 4 && a.heads == 16 && a.kvHeads == 1 && a.keys == 1024 && a.queries == 1);
        QVERIFY(a.headDim == 576 && a.valueDim == 512);
        QVERIFY(kernel.readBytes > 4.0 * 1023 * 576 && kernel.readBytes < 1.1 * 4 * (1024 * 576 + 16 * 576 * 2));
        const auto prompt =
            readOne(write(dir, "h100_sxm__s__context_mla.csv", head + "bfloat16,bfloat16,16,4,512,8,0,0.2\n"));
        QVERIFY(prompt);
        const AttentionShape& b = prompt->rows[0].kernel.attention;
        QVERIFY(b.queries == 512 && b.keys == 512 && b.heads == 16 && b.kvHeads == 16);
        QVERIFY(b.headDim == 192 && b.valueDim == 128 && b.causal);
        const auto absorbed = readOne(write(dir, "h100_sxm__s__mla_bmm.csv",
                                            "op_name,bmm_dtype,num_tokens,num_heads,latency\n"
                                            "mla_gen_pre,bfloat16,64,128,0.02\nmla_gen_post,fp8,64,128,0.02\n"));
        QVERIFY(absorbed);
        const Kernel &pre = absorbed->rows[0].kernel, &post = absorbed->rows[1].kernel;
        QVERIFY(pre.batch == 128 && pre.m == 64 && pre.n == 512 && pre.k == 128 && pre.type == DType::BF16);
        QVERIFY(post.n == 128 && post.k == 512 && post.type == DType::FP8 && post.scaleBlock == 128);
    }
    void expertsAreRead() {
        const QTemporaryDir dir;
        const std::string head =
            "moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,"
            "kernel_source,latency\n";
        const auto table =
            readOne(write(dir, "b200_sxm__s__moe.csv",
                          head + "fp8_block,16,7168,2048,8,256,2,4,balanced,deepgemm,0.3\n"
                                 "nvfp4,16,7168,2048,8,256,1,1,power_law_1.2,moe_torch_flow_nongated,0.3\n"
                                 "nvfp4,16,7168,2048,8,256,1,1,balanced,moe_torch_flow_min_latency,0.1\n"));
        QVERIFY(table);
        QCOMPARE(table->rows.size(), std::size_t{2});
        QCOMPARE(table->warnings.size(), std::size_t{1});  // the second kernel for few tokens
        const Kernel& kernel = table->rows[0].kernel;
        QCOMPARE(kernel.kind, KernelKind::Experts);
        const ExpertShape& e = kernel.experts;
        QVERIFY(e.tokens == 16 && e.rows == 32 && e.held == 64 && e.touched == 32);
        QVERIFY(e.hidden == 7168 && e.inner == 1024 && e.gated && e.skew == 0);
        QVERIFY(kernel.type == DType::FP8 && kernel.scaleBlock == 128 && kernel.quantisesInput);
        QCOMPARE(kernel.flops, 2.0 * 3 * 32 * 7168 * 1024 + 5.0 * 32 * 1024);
        const ExpertShape& skewed = table->rows[1].kernel.experts;
        QVERIFY(!skewed.gated && skewed.skew == 1.2 && skewed.touched < 128 && skewed.touched > 16);
    }
    // 480 tokens of Llama-2 70B on two ranks: 64 query and 8 KV heads of 128, 28672 inner features, gated.
    void oneFileMayHoldSeveralKernels() {
        const QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath("h100/meta/llama"));
        std::string head, row;
        for (const char* op : {"attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj"}) {
            for (const char* figure : {"median", "mean", "std"}) {
                head += std::string("time_stats.") + op + "." + figure + ",";
                row += figure == std::string("std") ? "," : "0.5,";
            }
        }
        const auto file = write(dir, "h100/meta/llama/mlp.csv.gz",
                                head +
                                    "n_head,n_kv_head,n_embd,n_expanded_embd,use_gated_mlp,num_tokens,"
                                    "num_tensor_parallel_workers\n" +
                                    row + "64,8,8192,28672,True,480,2\n");
        const auto tables = readReferences(std::span(&file, 1));
        QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
        std::map<std::string, std::pair<std::int64_t, std::int64_t>> shapes;
        for (const auto& table : *tables) {
            QVERIFY(table.warnings.empty());
            QCOMPARE(deviceOf(table, table.rows[0]).catalogue, std::string("h100-sxm"));
            QCOMPARE(table.rows[0].kernel.m, std::int64_t{480});
            shapes[table.name] = {table.rows[0].kernel.n, table.rows[0].kernel.k};
        }
        const decltype(shapes) expected{{"Vidur attn_pre_proj", {5120, 8192}},
                                        {"Vidur attn_post_proj", {8192, 4096}},
                                        {"Vidur mlp_up_proj", {28672, 8192}},
                                        {"Vidur mlp_down_proj", {8192, 14336}}};
        QVERIFY(shapes == expected);
    }
    // TensorRT-LLM scales a whole tensor to fp8, vLLM and SGLang a token.
    void aWordMayMeanAnotherThingInAnEngine() {
        const QTemporaryDir dir;
        for (const auto& [stack, block] :
             {std::pair{"trtllm-1.3.0", 0}, {"vllm-0.24.0", -1}, {"sglang-0.5.14", -1}, {"other-1", 0}}) {
            const std::string name = std::string("h100_sxm__") + stack + "__gemm.csv";
            const auto file = write(dir, name.c_str(), "gemm_dtype,m,n,k,latency\nfp8,64,4096,4096,0.02\n");
            const auto tables = readReferences(std::span(&file, 1));
            QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
            const Kernel& kernel = tables->front().rows[0].kernel;
            QCOMPARE(kernel.scaleBlock, block);
            QVERIFY(kernel.type == DType::FP8 && kernel.quantisesInput);
            QCOMPARE(kernelVariant(kernel), std::string("fp8"));
        }
    }
    // Vidur's table of attention: prompts and single tokens in one file, each kind timed in a column of its own.
    void aWordMayChooseTheColumnOfTheTime() {
        const QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath("attention"));
        std::string head;
        for (const char* op : {"attn_prefill", "attn_decode"})
            for (const char* figure : {"median", "mean", "std"})
                head += std::string("time_stats.") + op + "." + figure + ",";
        head +=
            "n_embd,n_q_head,n_kv_head,num_tensor_parallel_workers,batch_size,prefill_chunk_size,kv_cache_size,is_"
            "prefill\n";
        const auto table = readOne(write(dir, "attention/a100_any.csv.gz",
                                         head + "0.5,0.5,0.05,,,,8192,64,8,2,1,128,320,True\n"
                                                ",,,0.02,0.02,0.001,8192,64,8,2,16,0,511,False\n"));
        QVERIFY2(table, table ? "" : toText(table.error()).c_str());
        QVERIFY(table->warnings.empty());
        QCOMPARE(table->rows.size(), std::size_t{2});
        QCOMPARE(deviceOf(*table, table->rows[0]).catalogue, std::string("a100-80-sxm"));
        const ReferenceRow &prompt = table->rows[0], &token = table->rows[1];
        QCOMPARE(prompt.kernel.kind, KernelKind::PrefillAttention);
        QCOMPARE(prompt.kernel.attention.queries, std::int64_t{128});
        QCOMPARE(prompt.kernel.attention.keys, std::int64_t{448});
        QCOMPARE(prompt.kernel.attention.heads, std::int64_t{32});
        QCOMPARE(prompt.kernel.attention.kvHeads, std::int64_t{4});
        QCOMPARE(prompt.kernel.attention.headDim, std::int64_t{128});
        QVERIFY(prompt.seconds == 0.5e-3 && std::fabs(prompt.noise - 0.1) < 1e-12);
        QCOMPARE(token.kernel.kind, KernelKind::DecodeAttention);
        QCOMPARE(token.kernel.attention.batch, std::int64_t{16});
        QCOMPARE(token.kernel.attention.keys, std::int64_t{512});
        QVERIFY(token.seconds == 0.02e-3 && std::fabs(token.noise - 0.05) < 1e-12);
    }
    void rowsOutsideOnlyAreNotTheTables() {
        const QTemporaryDir dir;
        QVERIFY(QDir(dir.path()).mkpath("a100_dgx"));
        const std::string head =
            "time_stats.all_reduce.mean,time_stats.all_reduce.median,time_stats.all_reduce.std,"
            "num_workers,size,devices_per_node\n";
        const auto one = readOne(write(dir, "a100_dgx/all_reduce.csv",
                                       head + "0.1,0.1,0,8,4096,8\n0.3,0.3,0,16,4096,8\n0.2,0.2,0,2,4096,1\n"));
        QVERIFY2(one, one ? "" : toText(one.error()).c_str());
        QVERIFY(one->warnings.empty());
        QCOMPARE(one->rows.size(), std::size_t{1});
        QVERIFY(one->rows[0].kernel.ranks == 8 && one->rows[0].kernel.messageBytes == 4096);
        const auto none = readOne(write(dir, "a100_dgx/all_reduce.csv", head + "0.3,0.3,0,16,4096,8\n"));
        QVERIFY(!none && none.error().code == "reference.no-rows");
        QVERIFY(QString::fromStdString(none.error().message).contains("only"));
    }
    void unknownDevicesAreNamedAndCanBeGiven() {
        const QTemporaryDir dir;
        const auto file = write(dir, "zx81__s__gemm.csv", std::string(gemmHead) + "bfloat16,64,64,64,0.01\n");
        const auto table = readOne(file);
        QVERIFY(table);
        QCOMPARE(table->warnings.size(), std::size_t{1});
        QCOMPARE(table->warnings[0].code, std::string("reference.unknown-device"));
        QVERIFY(table->devices[0].catalogue.empty());
        const auto given = readOne(file, ReadOptions{.device = "l40s"});
        QCOMPARE(given->devices[0].catalogue, std::string("l40s"));
        QVERIFY(given->warnings.empty());
    }
    void ourOwnFormatHoldsItsRowsOrNamesThem() {
        const QTemporaryDir dir;
        const std::string head =
            "orrery: references/1\nname: mine\nsource: a bench\nlicence: CC0\nretrieved: \"2026-11-21\"\n"
            "software: cuBLAS 12\nkind: simulated\ntime: {value: time, unit: us}\nnoise: {value: std / time}\n";
        const std::string rows =
            "device,kind,dtype,function,m,n,k,time,std\nh100-sxm,gemm,fp16,,128,256,64,10,1\n"
            "h100-sxm,softmax,fp16,Softmax,128,256,,5,0.1\n";
        std::string inside = head + "rows: |\n";
        for (const auto& line : QString::fromStdString(rows).split('\n', Qt::SkipEmptyParts)) {
            inside += "  " + line.toStdString() + "\n";
        }
        write(dir, "beside.csv", rows);
        for (const auto& text : {inside, head + "file: beside.csv\n"}) {
            const auto table = readOne(write(dir, "mine.yaml", text));
            QVERIFY2(table, table ? "" : toText(table.error()).c_str());
            QCOMPARE(table->rows.size(), std::size_t{2});
            QCOMPARE(table->kind, ReferenceKind::Simulated);
            QCOMPARE(table->software, std::string("cuBLAS 12"));
            QVERIFY(std::fabs(table->rows[0].seconds - 10e-6) < 1e-15);
            QVERIFY(std::fabs(table->rows[0].noise - 0.1) < 1e-12);
            QCOMPARE(table->rows[0].kernel.k, std::int64_t{64});
            QCOMPARE(table->rows[1].kernel.kind, KernelKind::Softmax);
            QCOMPARE(table->rows[1].kernel.function, std::string_view("Softmax"));
        }
    }
    void separatorsQuotesAndMarksAreRead() {
        const QTemporaryDir dir;
        for (const char separator : {',', ';', '\t'}) {
            auto text = std::string("\xEF\xBB\xBF") + gemmHead + "\"bfloat16\",64, 64 ,64,1\r\n\r\n";
            std::replace(text.begin(), text.end(), ',', separator);
            const auto table = readOne(write(dir, "l40s__s__gemm.csv", text));
            QVERIFY2(table, table ? "" : toText(table.error()).c_str());
            QCOMPARE(table->rows.size(), std::size_t{1});
        }
    }
    void oneBadRowDoesNotTakeTheOthersWithIt() {
        const QTemporaryDir dir;
        const auto table = readOne(write(dir, "h100_sxm__s__gemm.csv",
                                         std::string(gemmHead) + "bfloat16,1024,4096,4096,0.05\n"   // 2
                                                                 "bfloat16,1024,4096,4096,nan\n"    // 3
                                                                 "bfloat16,1024,4096,4096,-1\n"     // 4
                                                                 "bfloat16,1024,4096,4096,0.05\n"   // 5: repeats line 2
                                                                 "bfloat16,1024,4096,4096,0.06\n"   // 6: measured again
                                                                 "bfloat16,8192,8192,8192,0.001\n"  // 7: 1100 PFLOP/s
                                                                 "weird,1,1,1,1\n"                  // 8
                                                                 "bfloat16,2048,4096\n"));          // 9
        QVERIFY(table);
        QCOMPARE(table->rows.size(), std::size_t{2});
        std::map<std::string, int> lines;
        for (const auto& each : table->warnings) lines[each.code] = each.place.line;
        const std::map<std::string, int> expected{{"reference.not-a-number", 3}, {"reference.time", 4},
                                                  {"reference.repeated", 5},     {"reference.absurd", 7},
                                                  {"reference.word", 8},         {"reference.short-row", 9}};
        QCOMPARE(lines, expected);
    }
    // H100 products of aiconfigurator (TensorRT-LLM 1.3, 2026-08), in ms as they stand, and a thousand times off.
    void wrongUnitsAreNoticed() {
        struct Measured {
            int m, n, k;
            double ms;
        };
        constexpr Measured all[] = {
            {113, 65536, 32, 0.00823253}, {7, 51200, 128, 0.00769333},  {3329, 16384, 256, 0.0558592},
            {513, 12288, 768, 0.0207644}, {33, 10240, 1536, 0.014704},  {2304, 7168, 3072, 0.134744},
            {11, 5120, 6144, 0.026224},   {3840, 4096, 7168, 0.302171}, {1024, 3584, 10240, 0.104043}};
        const QTemporaryDir dir;
        for (const double factor : {1e-3, 1.0, 1e3}) {
            std::string text = gemmHead;
            for (const auto& row : all) {
                text += fmt::format("bfloat16,{},{},{},{}\n", row.m, row.n, row.k, row.ms * factor);
            }
            const auto table = readOne(write(dir, "h100_sxm__s__gemm.csv", text));
            int noticed = !table && table.error().code == "reference.unit";
            if (table) {
                for (const auto& each : table->warnings) noticed += each.code == "reference.unit";
            }
            QCOMPARE(noticed, factor == 1 ? 0 : 1);
        }
    }
    void badFilesAreRefusedWithCodeAndLine_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const auto row = [](const char* file, const char* code, int line) {
            QTest::newRow(file) << QString(file) << QString(code) << line;
        };
        row("absent-file.yaml", "reference.unreadable", 5);
        row("broken-expression.yaml", "reference.expression", 4);
        row("copies-not-whole.yaml", "reference.description", 4);
        row("cut-short", "reference.unreadable", -1);
        row("empty", "reference.empty", 1);
        row("header-only", "reference.empty", 1);
        row("missing-column", "reference.no-column", 1);
        row("negative-extent", "reference.extent", 2);
        row("newer-version.yaml", "reference.version", 1);
        row("no-kind.yaml", "reference.kernel", 7);
        row("no-time.yaml", "reference.description", 1);
        row("not-a-number", "reference.not-a-number", 2);
        row("not-text", "reference.unreadable", 2);
        row("rows-twice.yaml", "reference.description", 6);
        row("seconds-for-milliseconds", "reference.unit", 2);
        row("short-rows", "reference.short-row", 2);
        row("unit-in-the-cell", "reference.unit", 2);
        row("unknown-columns.csv", "reference.unknown-table", 0);
        row("unknown-field.yaml", "reference.description", 5);
        row("unknown-type", "reference.word", 2);
        row("unknown-unit.yaml", "reference.description", 4);
        row("wrong-separator", "reference.no-column", 1);
        row("zero-and-negative-time", "reference.time", 2);
    }
    void badFilesAreRefusedWithCodeAndLine() {
        QFETCH(QString, file);
        QFETCH(QString, code);
        QFETCH(int, line);
        QString path = QString::fromStdString(bad) + file;
        if (QFileInfo(path).isDir()) path = QDir(path).entryInfoList(QDir::Files).front().filePath();
        const auto read = readOne(path.toStdString());
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().code), code);
        if (line >= 0) QCOMPARE(read.error().place.line, line);
        QVERIFY(read.error().place.file.ends_with(QFileInfo(path).fileName().toStdString()));
        QVERIFY(!read.error().expected.empty());
    }
    void noMoreRowsAreKeptThanAllowed() {
        std::string text = gemmHead;
        for (int i = 1; i <= 30; ++i) text += "bfloat16," + std::to_string(i) + ",64,64,1\n";
        auto stream = CsvStream::of(text, "t.csv");
        RowReading reading;
        reading.catalogueId = [](std::string_view) { return std::string(); };
        reading.most = 20;
        ReferenceTable table;
        const auto& imports = shippedImports().all;
        const auto gemm = std::find_if(imports.begin(), imports.end(),
                                       [](const auto& each) { return each.id == "aiconfigurator-gemm"; });
        const auto read = readRows(stream, *gemm, reading, table);
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("reference.too-many"));
        QVERIFY(table.rows.size() <= 21);
    }
    void filtersChooseByWordsAndRanges() {
        const QTemporaryDir dir;
        const auto table = readOne(write(
            dir, "h100_sxm__s__gemm.csv",
            std::string(gemmHead) + "bfloat16,64,4096,4096,0.02\nint8_wo,64,4096,4096,0.02\n"
                                    "fp8,64,4096,4096,0.02\nfp8_block,64,4096,4096,0.02\nsq,64,4096,4096,0.02\n"));
        QVERIFY(table && table->rows.size() == 5);
        const auto count = [&](const char* filter) {
            return std::count_if(table->rows.begin(), table->rows.end(),
                                 [&](const ReferenceRow& row) { return accepts(filter, *table, row); });
        };
        QCOMPARE(count(""), 5);
        QCOMPARE(count("dtype=bf16"), 1);
        QCOMPARE(count("dtype=bfloat16"), 1);
        QCOMPARE(count("dtype=fp8"), 1);
        QCOMPARE(count("dtype=fp8_block"), 1);
        QCOMPARE(count("dtype=int8_wo|sq"), 2);
        QCOMPARE(count("device=h100-sxm, kind=gemm"), 5);
        QCOMPARE(count("device=l40s|h100-sxm,m=..63"), 0);
        QCOMPARE(count("m=64,n=4000..5000"), 5);
        for (const char* wrong : {"colour=red", "dtype=bf17", "m=x", "m", "kind=matmul", "=", "m=1..x"}) {
            const auto parsed = parseFilter(wrong);
            QVERIFY2(!parsed && parsed.error().code == "reference.filter", wrong);
        }
    }
    void thePublishedSetsAreReadAsTheyAre_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("filter");
        QTest::addColumn<int>("rows");  // counted with zgrep and awk
        const auto row = [](const char* file, const char* filter, int rows) {
            QTest::newRow(qPrintable(QString("%1 %2").arg(file, filter))) << QString(file) << QString(filter) << rows;
        };
        const char* h100 = "aiconfigurator/h100_sxm__trtllm-1.3.0rc20__gemm.csv.gz";
        row(h100, "device=h100-sxm,dtype=bf16", 35700);
        row(h100, "dtype=fp8_block", 29268);
        row("aiconfigurator/a100_sxm__trtllm-1.0.0__gemm.csv.gz", "dtype=bf16", 9240);
        row("aiconfigurator/a100_sxm__trtllm-1.0.0__gemm.csv.gz", "device=a100-80-sxm,dtype=int4_wo", 6048);
        row("aiconfigurator/a100_sxm__trtllm-1.0.0__context_attention.csv.gz", "kind=prefill-attention", 4864);
        row("aiconfigurator/l40s__nccl-2.27.3__nccl.csv.gz", "collective=all-reduce,dtype=fp16,library=nccl", 63);
        row("aiconfigurator/h100_sxm__trtllm-1.3.0rc20__custom_allreduce.csv.gz", "library=custom,ranks=8", 23);
        row("kernels_published/xla_collectives.csv.gz", "device=b200-sxm,collective=all-reduce,ranks=4", 22);
        row("neusight/nv_fp32_linear_test.csv.gz", "device=t4", 1040);
        row("neusight/nv_fp32_bmm_test.csv.gz", "device=l4,kind=gemm", 2092);
        row("neusight/nv_fp32_vector_ops_test.csv.gz", "kind=softmax|normalization", 1066);
        row("neusight/nv_fp32_linear_train_Tesla_T4.csv.gz", "device=t4", 6458);
        row("llmcompass/ae_figure5_ab_real_hardware_matmul_A100.csv", "device=a100-80-sxm", 20);
        row("llmcompass/allreduce_4xA100_NVLink3_measured.csv", "ranks=4", 32);
        const char* vidur = "../serving/data/vidur/";
        const auto vidurRow = [&](const char* file, const char* filter, int rows) {
            row(qPrintable(QString(vidur) + file), filter, rows);
        };
        // is_prefill True and False; of 14658 lines those that repeat another are not kept twice.
        vidurRow("attention/a100_q64_kv8_d128_emb8192_tp2_FLASH_ATTENTION.csv.gz", "kind=prefill-attention", 4347);
        vidurRow("attention/a100_q64_kv8_d128_emb8192_tp2_FLASH_ATTENTION.csv.gz", "kind=decode-attention", 10185);
        vidurRow("old/a30_qwen2-7b_attention.csv.gz", "kind=decode-attention", 3839);
        vidurRow("network/a100_dgx/all_reduce.csv.gz", "ranks=8,device=a100-80-sxm", 994);
        vidurRow("network/h100_dgx/send_recv.csv.gz", "collective=send-receive", 994);
        vidurRow("compute/a40/meta-llama/Llama-2-7b-hf/mlp.csv.gz", "device=a40,function=Add", 564);
    }
    void thePublishedSetsAreReadAsTheyAre() {
        QFETCH(QString, file);
        QFETCH(QString, filter);
        QFETCH(int, rows);
        const auto path = folder + file.toStdString();
        if (!QFileInfo::exists(QString::fromStdString(path))) QSKIP("the reference data are not here");
        const auto table = readOne(path, ReadOptions{.filter = *parseFilter(filter.toStdString())});
        QVERIFY2(table, table ? "" : toText(table.error()).c_str());
        QCOMPARE(static_cast<int>(table->rows.size()), rows);
        for (const auto& each : table->warnings) qWarning("%s", toText(each).c_str());
    }
    // Values looked up in the files by hand.
    void conventionsOfThePublishedSetsAreKept() {
        if (!QFileInfo::exists(QString::fromStdString(folder))) QSKIP("the reference data are not here");
        const auto linear = readOne(folder + "neusight/nv_fp32_linear_test.csv.gz");
        QVERIFY(linear);  // NVIDIA L4,1,1024,2560,2560 and 1,32768,4096,1024: N is the reduction
        const Kernel& wide = linear->rows[1].kernel;
        QCOMPARE(wide.m, std::int64_t{32768});
        QCOMPARE(wide.n, std::int64_t{1024});
        QCOMPARE(wide.k, std::int64_t{4096});
        QVERIFY(wide.transposedWeight && wide.bias && wide.type == DType::F32);
        const auto conv = readOne(folder + "neusight/nv_fp32_conv2d_train.csv.gz");
        QVERIFY(conv);  // 38,893,326,3,5,1,1: 5 + 2 − 3 + 1 = 5
        QCOMPARE(conv->rows[0].kernel.convolution.outHeight, std::int64_t{5});
        QCOMPARE(conv->rows[0].kernel.flops, 2.0 * 38 * 326 * 25 * 893 * 9);
        const auto nccl = readOne(folder + "aiconfigurator/a100_sxm__nccl-2.27.3__nccl.csv.gz");
        QVERIFY(nccl);  // all_gather,half,2,256: elements
        QCOMPARE(nccl->rows[0].kernel.messageBytes, 512.0);
        const auto softmax = readOne(folder + "llmcompass/ae_figure5_cf_real_hardware_softmax_A100.csv");
        QVERIFY(softmax);  // 4096, 32, 9.99556 Gelem/s
        QVERIFY(std::fabs(softmax->rows[0].seconds - 4096 * 32 / 9.99556025250909e9) < 1e-12);
        const auto matmul = readOne(folder + "llmcompass/ae_figure5_ab_real_hardware_matmul_A100.csv");
        QVERIFY(matmul);
        QVERIFY(std::fabs(matmul->rows[0].seconds - 0.19e-3) < 1e-12);
    }
    void whatIsShippedIsReadWithoutAWarning() {
        const auto& shipped = shippedReferences();
        QVERIFY(!shipped.empty());
        for (const auto& table : shipped) {
            for (const auto& each : table.warnings) qWarning("%s", toText(each).c_str());
            QVERIFY(table.warnings.empty());
            QVERIFY(!table.rows.empty() && !table.source.empty() && !table.licence.empty());
            for (const auto& row : table.rows) QVERIFY(!deviceOf(table, row).catalogue.empty());
        }
    }
};

QTEST_GUILESS_MAIN(TestReferenceTable)
#include "tst_reference_table.moc"
